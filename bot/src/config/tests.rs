use std::io::Write;

use deskhand_core::ticket::Source;
use secrecy::ExposeSecret;

use super::*;

const EXAMPLE: &str = include_str!("../../../deploy/deskhand.example.toml");

/// Loads a file with this text and an environment with these variables.
pub(super) fn load(file: &str, env: &[(&str, &str)]) -> Result<Config, String> {
    let folder = std::env::temp_dir().join(format!("deskhand-config-{}", uuid::Uuid::new_v4()));
    std::fs::create_dir(&folder).expect("the temporary folder can be written to");
    let path = folder.join("deskhand.toml");
    std::fs::File::create(&path)
        .and_then(|mut f| f.write_all(file.as_bytes()))
        .expect("a file can be written there");
    let look_up = |name: &str| {
        env.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let config = Config::load(Some(&path), &look_up);
    std::fs::remove_dir_all(&folder).expect("what was made can be removed");
    let shown = format!("{}/", folder.display());
    config.map_err(|error| error.to_string().replace(&shown, ""))
}

pub(super) fn refuses(file: &str, env: &[(&str, &str)], sentence: &str) {
    match load(file, env) {
        Ok(_) => panic!("taken: {file} {env:?}"),
        Err(error) => assert_eq!(error, sentence),
    }
}

#[test]
fn without_any_setting_it_starts_by_itself_and_nobody_may_decide() {
    let config = Config::load(None, &|_| None).expect("nothing is needed");
    assert_eq!(config.model, ModelChoice::Offline);
    assert_eq!(config.mode, Mode::Ask);
    assert_eq!(config.addr.to_string(), "127.0.0.1:8787");
    assert_eq!(config.limits.max_steps, 40);
    assert!(config.database_url.is_none() && config.slack.is_none() && config.zendesk.is_none());
    assert!(config.approvers.is_empty() && config.team.is_none());
    assert_eq!(config.categories.len(), 16);
    assert!(
        config
            .categories
            .values()
            .all(|category| config.teams.contains_key(&category.team))
    );
}

#[test]
fn the_environment_wins_over_the_file() {
    let file = "mode = \"shadow\"\nrunners = 2\n[limits]\nmax_steps = 7\nlease = 30\n[slack]\nchannel = \"C1\"\n";
    let env = [
        ("DESKHAND_MODE", "AUTO"),
        ("DESKHAND_RUNNERS", " "),
        ("DESKHAND_APPROVAL_EXPIRY", "never"),
        ("SLACK_BOT_TOKEN", "xoxb-1"),
        ("SLACK_SIGNING_SECRET", "s"),
        ("SLACK_API_URL", "http://127.0.0.1:9/api/"),
    ];
    let config = load(file, &env).expect("all of it is right");
    assert_eq!(
        (config.mode, config.runners, config.limits.max_steps),
        (Mode::Auto, 2, 7)
    );
    assert_eq!(
        (config.limits.lease, config.limits.approval_expiry),
        (Duration::from_secs(30), None)
    );
    let slack = config.slack.expect("it is connected");
    assert_eq!(
        (slack.channel.as_deref(), slack.api_url.as_str()),
        (Some("C1"), "http://127.0.0.1:9/api")
    );
}

#[test]
fn secrets_come_from_the_environment_or_from_their_own_file_and_are_never_shown() {
    let path = std::env::temp_dir().join(format!("deskhand-secret-{}", uuid::Uuid::new_v4()));
    std::fs::write(&path, "postgres://u:hunter2@db/deskhand\n").expect("the temporary folder can be written to");
    let name = path.display().to_string();
    let config = load("", &[("DATABASE_URL_FILE", &name), ("DESKHAND_API_TOKEN", "token2")]).expect("both are right");
    let twice = load(
        "",
        &[("DATABASE_URL_FILE", &name), ("DATABASE_URL", "postgres://other")],
    );
    std::fs::remove_file(&path).expect("what was made can be removed");

    let url = config.database_url.as_ref().expect("it is set");
    assert_eq!(url.expose_secret(), "postgres://u:hunter2@db/deskhand");
    let shown = format!("{config:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("token2"), "{shown}");
    assert_eq!(
        twice.map(|_| ()),
        Err("DATABASE_URL is set twice: drop it, or drop DATABASE_URL_FILE.".to_owned())
    );
    let gone = load("", &[("SLACK_BOT_TOKEN_FILE", "/nowhere/token")]).map(|_| ());
    assert!(gone.is_err_and(|why| why.starts_with("SLACK_BOT_TOKEN_FILE cannot be read: ")));
}

#[test]
fn a_wrong_file_is_one_sentence_that_names_the_place() {
    for (file, sentence) in [
        ("mode = ", "deskhand.toml is not TOML in line 1: "),
        (
            "moed = \"ask\"",
            "moed in deskhand.toml is not a setting (did you mean mode?).",
        ),
        (
            "[slakc]\nchannel = \"C1\"",
            "slakc in deskhand.toml is not a setting (did you mean slack?).",
        ),
        (
            "[slack]\nchanel = \"C1\"",
            "slack.chanel in deskhand.toml is not a setting (did you mean channel?).",
        ),
        (
            "slack = \"C1\"",
            "slack in deskhand.toml is not a setting (did you mean slack?).",
        ),
        (
            "[slack]\nbot_token = \"xoxb-1\"",
            "slack.bot_token in deskhand.toml is a secret and does not belong in the file: set SLACK_BOT_TOKEN or SLACK_BOT_TOKEN_FILE in the environment.",
        ),
        (
            "mode = \"atuo\"",
            "mode in deskhand.toml is \"atuo\", which is not shadow, ask, auto (did you mean auto?).",
        ),
        (
            "runners = 0",
            "runners in deskhand.toml is \"0\", which is not a whole number from 1 to 256.",
        ),
        (
            "runners = 1979-05-27",
            "runners in deskhand.toml is a table or a date where text, a number or a list is wanted.",
        ),
        (
            "[approvals.reply]\nexpires = \"1h\"",
            "approvals.reply in deskhand.toml is not a setting (did you mean reply_customer?).",
        ),
        (
            "[approvals.reply_customer]\nexpiers = \"1h\"",
            "approvals.reply_customer.expiers in deskhand.toml is not a setting (did you mean expires?).",
        ),
        (
            "[approvals.reply_customer]\nexpires = \"soon\"",
            "approvals.reply_customer.expires in deskhand.toml is \"soon\", which is not a duration like 24h, or never.",
        ),
        (
            "[categories.repair]\nteam = \"ordres\"\ndescription = \"x\"",
            "categories.repair.team in deskhand.toml is \"ordres\", which is not one of the teams billing, orders, sales, support, technical, trust (did you mean orders?).",
        ),
        (
            "[categories.repair]\nteam = \"orders\"",
            "categories.repair.description in deskhand.toml is missing: the model is told what belongs there.",
        ),
        (
            "[teams]\norders = 3",
            "teams.orders in deskhand.toml is not a description in quotes.",
        ),
    ] {
        let error = load(file, &[]).map(|_| ()).expect_err(file);
        if sentence.ends_with(": ") {
            assert!(error.starts_with(sentence), "{error}");
        } else {
            assert_eq!(error, sentence);
        }
    }
    let none = Config::load(Some(Path::new("/nowhere/deskhand.toml")), &|_| None).map(|_| ());
    assert!(none.is_err_and(|error| error.to_string().starts_with("/nowhere/deskhand.toml cannot be read: ")));
}

#[test]
fn a_wrong_variable_is_one_sentence_that_names_it() {
    for (name, text, sentence) in [
        (
            "DESKHAND_ADDR",
            "8787",
            "DESKHAND_ADDR is \"8787\", which is not an address and port like 127.0.0.1:8787.",
        ),
        (
            "DESKHAND_MODEL",
            "antropic:x",
            "DESKHAND_MODEL is \"antropic:x\", which is not offline, anthropic:<name> or openai:<name> (did you mean anthropic?).",
        ),
        (
            "DESKHAND_MODEL",
            "anthropic:",
            "DESKHAND_MODEL names no model: write anthropic:<name>; `deskhand doctor` lists the names on offer.",
        ),
        (
            "DESKHAND_MODEL",
            "anthropic:some-name",
            "DESKHAND_MODEL is anthropic:some-name, but ANTHROPIC_API_KEY is not set.",
        ),
        (
            "DESKHAND_MODEL",
            "openai:some-name",
            "DESKHAND_MODEL is openai:some-name, but OPENAI_API_KEY is not set (for a server that wants no key set OPENAI_BASE_URL).",
        ),
        (
            "DESKHAND_LEASE",
            "0",
            "DESKHAND_LEASE is \"0\", which is not longer than nothing.",
        ),
        (
            "DESKHAND_QUIET_TIME",
            "5 weeks",
            "DESKHAND_QUIET_TIME is \"5 weeks\", which is not a duration like 90s, 15m, 24h or 7d.",
        ),
        (
            "DESKHAND_QUIET_TIME",
            "99999999999d",
            "DESKHAND_QUIET_TIME is \"99999999999d\", which is not shorter than ten years.",
        ),
        (
            "DESKHAND_APPROVERS",
            "slack:U1, ada",
            "DESKHAND_APPROVERS has an entry that cannot be read: \"ada\" names nobody: write slack:U…, slack:@S…, discord:…, discord:&…, local:… or api:….",
        ),
        (
            "DESKHAND_DEPLOYMENT",
            "Shop EU",
            "DESKHAND_DEPLOYMENT is \"Shop EU\", which is not at most 40 lower-case letters, digits and dashes.",
        ),
        (
            "DESKHAND_PUBLIC_URL",
            "ftp://x",
            "DESKHAND_PUBLIC_URL is \"ftp://x\", which is not an address like https://example.com.",
        ),
        (
            "OPENAI_BASE_URL",
            "https://u:p@x.example",
            "OPENAI_BASE_URL has a name or password in it: secrets have settings of their own.",
        ),
    ] {
        refuses("", &[(name, text)], sentence);
    }
}

#[test]
fn an_empty_list_is_nobody_and_an_empty_text_is_refused() {
    let nobody = load("team = []", &[]).expect("an empty list is an answer");
    assert_eq!(nobody.team, Some(Vec::new()));
    // Compose files leave empty variables behind, so they change nothing.
    let kept = load("team = [\"slack:U1\"]", &[("DESKHAND_TEAM", "")]).expect("the file is right");
    assert_eq!(kept.team.map(|team| team.len()), Some(1));
    refuses(
        "team = \"\"",
        &[],
        "team in deskhand.toml is empty: leave the line out if it is not meant to be set.",
    );
}

#[test]
fn half_a_service_is_refused() {
    refuses(
        "",
        &[("SLACK_BOT_TOKEN", "xoxb-1")],
        "SLACK_BOT_TOKEN is set, but Slack also needs SLACK_SIGNING_SECRET.",
    );
    refuses(
        "[slack]\nchannel = \"C1\"",
        &[],
        "SLACK_CHANNEL is set, but Slack also needs SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET.",
    );
    refuses(
        "[zendesk]\nurl = \"https://shop.example.com\"\nemail = \"bot@example.com\"",
        &[("ZENDESK_API_TOKEN", "t")],
        "ZENDESK_URL is set, but Zendesk also needs ZENDESK_WEBHOOK_SECRET.",
    );
    let whole = [
        ("ZENDESK_URL", "https://shop.example.com"),
        ("ZENDESK_EMAIL", "bot@example.com/token"),
        ("ZENDESK_API_TOKEN", "t"),
        ("ZENDESK_WEBHOOK_SECRET", "s"),
    ];
    refuses(
        "",
        &whole,
        "ZENDESK_EMAIL ends in /token, which Deskhand adds itself: give the address alone.",
    );
}

#[test]
fn watched_channels_are_ids_and_never_those_of_cards() {
    let slack = [
        ("SLACK_BOT_TOKEN", "xoxb-1"),
        ("SLACK_SIGNING_SECRET", "s"),
        ("SLACK_CHANNEL", "C024BE7LR"),
    ];
    let config = load("[slack]\nwatch = [\"C024BE7LT\", \"C024BE7LS\", \"C024BE7LT\"]", &slack).expect("it is right");
    assert_eq!(
        config.slack.as_ref().map(|slack| slack.watch.clone()),
        Some(vec!["C024BE7LS".to_owned(), "C024BE7LT".to_owned()])
    );
    assert!(config.watches(Source::Slack, ["C024BE7LS", "C024BE7LS"]));
    assert!(!config.watches(Source::Discord, ["C024BE7LS", "C024BE7LS"]));
    refuses(
        "[slack]\nwatch = \"#help\"",
        &slack,
        "slack.watch in deskhand.toml is \"#help\", which is not the id of a Slack channel, like C024BE7LR: the channel's \
         details show it.",
    );
    refuses(
        "[slack]\nwatch = \"C024BE7LR\"",
        &slack,
        "SLACK_WATCH names C024BE7LR, where cards go: customers would read along.",
    );
    refuses(
        "",
        &[("SLACK_WATCH", "C024BE7LR")],
        "SLACK_WATCH is set, but Slack also needs SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET.",
    );
}

#[test]
fn cards_go_to_the_channels_of_their_rule_or_to_those_of_every_chat() {
    let key = "0".repeat(64);
    let both = [
        ("SLACK_BOT_TOKEN", "xoxb-1"),
        ("SLACK_SIGNING_SECRET", "s"),
        ("SLACK_CHANNEL", "C1"),
        ("DISCORD_BOT_TOKEN", "t"),
        ("DISCORD_PUBLIC_KEY", &key),
        ("DISCORD_APPLICATION_ID", "1100000000000000001"),
        ("DISCORD_CHANNEL", "645027906669510660"),
    ];
    let file = "[approvals.escalate_ticket]\nchannel = \"C2, 645027906669510661\"\n\
                [approvals.propose_knowledge_edit]\nchannel = \"discord:645027906669510662\"\n";
    let config = load(file, &both).expect("all of it is right");
    assert_eq!(
        config.card_lanes("reply_customer"),
        ["slack:C1", "discord:645027906669510660"]
    );
    assert_eq!(
        config.card_lanes("escalate_ticket"),
        ["slack:C2", "discord:645027906669510661"]
    );
    assert_eq!(
        config.card_lanes("propose_knowledge_edit"),
        ["discord:645027906669510662"]
    );
    refuses(
        "",
        &both[3..4],
        "DISCORD_BOT_TOKEN is set, but Discord also needs DISCORD_APPLICATION_ID.",
    );
}

#[test]
fn the_gateway_is_listened_to_where_it_is_needed_or_wanted() {
    let key = "0".repeat(64);
    let plain = [
        ("DISCORD_BOT_TOKEN", "t"),
        ("DISCORD_APPLICATION_ID", "1100000000000000001"),
    ];
    let watch = ("DISCORD_WATCH", "645027906669510777");
    let with = |more: &[(&'static str, &'static str)]| [&plain[..], more].concat();
    let listens = |settings: &[(&str, &str)]| {
        let config = load("", settings).expect("all of it is right");
        config.discord.expect("Discord is connected").gateway
    };
    assert!(listens(&plain), "without a key, nothing else tells of clicks");
    let mut keyed = plain.to_vec();
    keyed.push(("DISCORD_PUBLIC_KEY", &key));
    assert!(!listens(&keyed));
    keyed.push(watch);
    assert!(listens(&keyed));
    keyed[3] = ("DISCORD_GATEWAY", "on");
    assert!(listens(&keyed));
    refuses(
        "",
        &with(&[("DISCORD_GATEWAY", "off")]),
        "DISCORD_GATEWAY is off, so clicks must come over HTTP, and DISCORD_PUBLIC_KEY is not set to check them.",
    );
    refuses(
        "",
        &with(&[("DISCORD_GATEWAY", "off"), watch]),
        "DISCORD_GATEWAY is off, but only the gateway tells what is written in the channels of DISCORD_WATCH.",
    );
    refuses(
        "",
        &with(&[("DISCORD_GATEWAY", "perhaps")]),
        "DISCORD_GATEWAY is \"perhaps\", which is not on or off.",
    );
}

#[test]
fn an_action_of_its_own_rule_keeps_the_general_ones_for_the_rest() {
    let file = "approvers = [\"slack:U1\"]\n[approvals.escalate_ticket]\nexpires = \"never\"\nchannel = \"C2\"\n\
                [approvals.propose_knowledge_edit]\napprovers = []\n";
    let config = load(file, &[]).expect("all of it is right");
    let slack: Who = "slack:U1".parse().expect("a person");
    let escalation = config.route("escalate_ticket");
    assert_eq!((escalation.approvers, escalation.expires), (&[slack][..], None));
    assert_eq!(config.card_lanes("escalate_ticket"), ["slack:C2"]);
    assert_eq!(
        config.route("reply_customer").expires,
        Some(Duration::from_secs(72 * 60 * 60))
    );
    // An empty list of its own means nobody, not everybody and not the general ones.
    assert!(config.route("propose_knowledge_edit").approvers.is_empty());
}

/// By its looks only.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";

#[test]
fn every_documented_key_is_read_and_every_key_is_documented() {
    assert!(load(EXAMPLE, &[]).is_ok(), "{:?}", load(EXAMPLE, &[]).err());

    // A line that begins with # and a key or a table, without a space between, is a setting put out of use.
    let put_to_use: String = EXAMPLE
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '[') => format!("{rest}\n"),
            Some(_) | None => format!("{line}\n"),
        })
        .collect();
    let secrets: Vec<(&str, &str)> = SETTINGS
        .iter()
        .filter(|s| s.secret)
        .map(|s| (s.name, if s.name == "MAIL_CA" { CERTIFICATE } else { "secret" }))
        // What the example's tool servers are given.
        .chain([("SHOP_TOKEN", "secret"), ("CARRIER_TOKEN", "secret")])
        .collect();
    let config = load(&put_to_use, &secrets).expect("what is documented is right");
    assert!(config.slack.is_some() && config.zendesk.is_some());
    assert_eq!(
        config.categories.get("repair").map(|category| category.team.as_str()),
        Some("workshop")
    );

    let table: toml::Table = put_to_use.parse().expect("it was read above");
    for setting in SETTINGS {
        assert!(EXAMPLE.contains(setting.name), "{} is not documented", setting.name);
        let there = match setting.table {
            "" => table.contains_key(setting.key),
            inner => table.get(inner).is_some_and(|inner| inner.get(setting.key).is_some()),
        };
        assert_eq!(there, !setting.secret, "{} in the example", setting.key);
    }
}

#[test]
fn the_example_says_what_the_defaults_are() {
    let quoted: String = EXAMPLE
        .lines()
        .take_while(|line| !line.starts_with("# ---- Per action"))
        .map(|line| match line.strip_prefix('#') {
            // Examples of what has no default stay out.
            Some(rest)
                if [
                    "pg_bin",
                    "public_url",
                    "approvers",
                    "team",
                    "admins",
                    "channel",
                    "max_cost",
                    "day_tokens",
                    "day_cost",
                    "url",
                    "email",
                    "from",
                    "addresses",
                    "sendgrid_public_key",
                    "ses_topic_arn",
                    "mailgun_domain",
                    "ses_access_key_id",
                    "ses_region",
                    "ses_api_url",
                    "public_key",
                    "application_id",
                    "watch",
                    "gateway",
                ]
                .iter()
                .any(|key| rest.starts_with(&format!("{key} ="))) =>
            {
                String::new()
            }
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => format!("{rest}\n"),
            Some(_) | None => format!("{line}\n"),
        })
        .collect();
    // Slack's address alone would be half a service.
    let quoted = quoted.replace("api_url = \"https://slack.com/api\"\n", "");
    let documented = load(&quoted, &[]).expect("defaults are right");
    let silent = load("", &[]).expect("nothing is needed");
    assert_eq!(format!("{documented:?}"), format!("{silent:?}"));
    assert!(EXAMPLE.contains("https://slack.com/api"));
}

#[test]
fn misspelt_variables_of_ours_are_named() {
    let names = [
        "DESKHAND_MODE",
        "DESKHAND_API_TOKEN_FILE",
        "DESKHAND_MODE_FILE",
        "DESKHAND_APROVERS",
        "SLACK_TEAM",
        "HOME",
    ];
    assert_eq!(
        misspelt(names),
        [
            ("DESKHAND_MODE_FILE".to_owned(), Some("DESKHAND_MODE")),
            ("DESKHAND_APROVERS".to_owned(), Some("DESKHAND_APPROVERS")),
        ]
    );
}

#[test]
fn what_is_allowed_and_hardly_meant_is_remarked_on() {
    let config = load("", &[("ANTHROPIC_API_KEY", "k")]).expect("a key alone is no error");
    assert_eq!(config.remarks().len(), 2, "{:?}", config.remarks());
    let fine = load("approvers = [\"local:*\"]", &[]).expect("all of it is right");
    assert_eq!(fine.remarks(), [""; 0]);
}
