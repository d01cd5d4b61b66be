use secrecy::ExposeSecret;

use super::*;
use crate::config::tests::{load, refuses};

#[test]
fn a_server_is_a_program_or_an_address_and_asks_unless_told_otherwise() {
    let file = "[mcp.shop]\ncommand = \"npx\"\nargs = [\"-y\", \"shop\"]\nenv = [\"SHOP_TOKEN\"]\n\
                [mcp.carrier-2]\nurl = \"https://carrier.example/mcp\"\ntoken = \"CARRIER\"\nrule = \"allow\"\n\
                timeout = \"5s\"\ntrust_hints = true\n[mcp.carrier-2.tools]\nbook = \"ask\"\n";
    let env = [("SHOP_TOKEN", "one-secret"), ("CARRIER", "other-secret")];
    let config = load(file, &env).expect("all of it is right");
    let shown = format!("{config:?}");
    assert!(
        !shown.contains("one-secret") && !shown.contains("other-secret"),
        "{shown}"
    );
    let [carrier, shop] = config.mcp.as_slice() else {
        panic!("{shown}")
    };
    assert_eq!(
        (shop.rule, shop.trust_hints, shop.timeout.as_secs()),
        (Rule::Ask, false, 60)
    );
    match &shop.reach {
        Reach::Child { command, args, env } => {
            assert_eq!((command.as_str(), args.len()), ("npx", 2));
            assert_eq!(
                (env[0].0.as_str(), env[0].1.expose_secret()),
                ("SHOP_TOKEN", "one-secret")
            );
        }
        Reach::Http { .. } => panic!("{shown}"),
    }
    assert_eq!(
        (carrier.rule, carrier.trust_hints, carrier.timeout.as_secs()),
        (Rule::Allow, true, 5)
    );
    assert_eq!(carrier.rules.get("book"), Some(&Rule::Ask));
    match &carrier.reach {
        Reach::Http { url, token } => {
            assert_eq!(url.as_str(), "https://carrier.example/mcp");
            assert_eq!(token.as_ref().map(ExposeSecret::expose_secret), Some("other-secret"));
        }
        Reach::Child { .. } => panic!("{shown}"),
    }
}

#[test]
fn a_wrong_server_is_one_sentence() {
    let shop = |lines: &str, sentence: &str| refuses(&format!("[mcp.shop]\n{lines}"), &[], sentence);
    shop(
        "rule = \"ask\"",
        "mcp.shop.command in deskhand.toml is missing: a server has command or url.",
    );
    shop(
        "command = \"a\"\nurl = \"https://a.example\"",
        "mcp.shop.url in deskhand.toml does not go with command: a server has one of them.",
    );
    shop(
        "command = \"a\"\ntoken = \"A\"",
        "mcp.shop.token in deskhand.toml does not go with command.",
    );
    shop(
        "command = \"a\"\nenv = [\"SHOP_TOKEN\"]",
        "mcp.shop.env in deskhand.toml names a variable that is not set in the environment.",
    );
    shop(
        "url = \"https://a.example\"\ntoken = \"Bearer s3cr3t\"",
        "mcp.shop.token in deskhand.toml has to name a variable of the environment; the value itself does not belong in \
         the file.",
    );
    shop(
        "url = \"https://a.example\"\ntoken = \"ghp_abc123\"",
        "mcp.shop.token in deskhand.toml names a variable that is not set in the environment.",
    );
    shop(
        "command = \"a\"\nrule = \"alow\"",
        "mcp.shop.rule in deskhand.toml is \"alow\", which is not allow, ask, deny (did you mean allow?).",
    );
    shop(
        "command = \"a\"\ntools = { book = \"never\" }",
        "mcp.shop.tools.book in deskhand.toml is \"never\", which is not allow, ask, deny.",
    );
    shop(
        "comand = \"a\"",
        "mcp.shop.comand in deskhand.toml is not a setting (did you mean command?).",
    );
    shop(
        "command = \"a\"\ntrust_hints = \"yes\"",
        "mcp.shop.trust_hints in deskhand.toml is neither true nor false.",
    );
    shop(
        "command = \"a\"\nargs = \"-y\"",
        "mcp.shop.args in deskhand.toml is not a list of arguments like [\"--stdio\"].",
    );
    shop(
        "command = \"a\"\ntimeout = \"0s\"",
        "mcp.shop.timeout in deskhand.toml is \"0s\", which is not longer than nothing.",
    );
    refuses(
        "[mcp.two__parts]\ncommand = \"a\"",
        &[],
        "mcp.two__parts in deskhand.toml is not a tool server's name: at most 24 letters, digits, dashes and single \
         underscores inside.",
    );
    refuses("mcp = 7", &[], "mcp in deskhand.toml is not a table.");
}
