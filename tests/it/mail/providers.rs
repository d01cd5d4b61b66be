//! Replies that go out over HTTP: what each of four services is sent, and what becomes of each of their answers.

use std::time::Duration;

use deskhand_tests::Bot;
use deskhand_tests::fake::mailer::{self, Mailer};

use super::{a_reply_is_on_its_way, arrives, bounce_of, by_mail_with, effect};
use crate::lines::states;

const SERVICES: [&str; 4] = ["Mailgun", "SendGrid", "Postmark", "SES"];

/// What a team sets for one of them.
fn settings<'a>(service: &str, url: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut settings = vec![("SMTP_URL", "")];
    settings.extend(match service {
        "Mailgun" => vec![
            ("MAILGUN_API_KEY", mailer::MAILGUN_KEY),
            ("MAILGUN_DOMAIN", mailer::MAILGUN_DOMAIN),
            ("MAILGUN_API_URL", url),
        ],
        "SendGrid" => vec![("SENDGRID_API_KEY", mailer::SENDGRID_KEY), ("SENDGRID_API_URL", url)],
        "Postmark" => vec![
            ("POSTMARK_SERVER_TOKEN", mailer::POSTMARK_TOKEN),
            ("POSTMARK_API_URL", url),
        ],
        _ => vec![
            ("SES_SECRET_ACCESS_KEY", mailer::SES_SECRET),
            ("SES_ACCESS_KEY_ID", mailer::SES_ID),
            ("SES_REGION", mailer::SES_REGION),
            ("SES_API_URL", url),
        ],
    });
    settings
}

async fn by(service: &str, body: impl AsyncFnOnce(&mut Bot, &Mailer)) {
    let mailer = Mailer::start().await;
    by_mail_with(&settings(service, &mailer.url), async |bot, smtp| {
        body(bot, &mailer).await;
        assert!(smtp.sent().is_empty());
    })
    .await;
}

async fn passes(bot: &mut Bot, hours: u64) {
    bot.settle().await;
    bot.advance(Duration::from_secs(hours * 3600));
    bot.settle().await;
}

#[tokio::test]
async fn each_provider_takes_a_reply_in_its_thread() {
    for service in SERVICES {
        by(service, async |bot, mailer| {
            a_reply_is_on_its_way(bot).await;
            bot.settle().await;
            assert_eq!(mailer.answered().len(), 1, "{service}: {:?}", effect(bot).await);
            let mail = mailer.only();
            assert_eq!(mail.service, service);
            assert!(mail.from.contains("care@lamps.example"), "{service}: {}", mail.from);
            assert!(mail.to.contains("ola@berg.example"), "{service}: {}", mail.to);
            assert_eq!(mail.subject, "Re: Lamp hums [T-1001]");
            assert!(mail.reply_to.starts_with("care+1001."), "{service}: {}", mail.reply_to);
            assert_eq!(mail.header("In-Reply-To"), Some("<1@berg.example>"), "{service}");
            assert_eq!(mail.header("References"), Some("<1@berg.example>"), "{service}");
            assert_eq!(mail.header("Auto-Submitted"), None, "{service}");
            assert!(
                mail.header("X-Deskhand")
                    .is_some_and(|mark| mark.starts_with("T-1001 <deskhand.")),
                "{service}"
            );
            assert!(
                mail.text.starts_with("Please unscrew the <bulb>."),
                "{service}: {}",
                mail.text
            );
            assert!(
                mail.html.is_empty() || mail.html.contains("the &lt;bulb&gt;"),
                "{service}: {}",
                mail.html
            );
            // Amazon puts an id of its own there, and says so.
            let keeps = mail.message_id.starts_with("deskhand.") && mail.message_id.ends_with("@lamps.example");
            assert_eq!(keeps, service != "SES", "{service}: {}", mail.message_id);
            assert_eq!(effect(bot).await.0, "delivered");
            assert_eq!(states(bot).await, ["completed answered"]);
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
    }
}

#[tokio::test]
async fn a_provider_that_is_busy_is_asked_again_and_not_before_it_said() {
    for service in SERVICES {
        by(service, async |bot, mailer| {
            mailer.refuses_next(429, Some(600));
            mailer.refuses_next(503, None);
            a_reply_is_on_its_way(bot).await;
            bot.settle().await;
            bot.advance(Duration::from_secs(300));
            bot.settle().await;
            assert_eq!(mailer.answered(), [429], "{service}");
            passes(bot, 1).await;
            passes(bot, 1).await;
            assert_eq!(mailer.answered()[..2], [429, 503], "{service}");
            assert_eq!(mailer.taken().len(), 1, "{service}");
            assert_eq!(effect(bot).await.0, "delivered", "{service}");
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
    }
}

#[tokio::test]
async fn a_provider_that_refuses_is_not_asked_again_and_the_team_is_told() {
    for service in SERVICES {
        by(service, async |bot, mailer| {
            mailer.refuses_next(400, None);
            a_reply_is_on_its_way(bot).await;
            bot.model.says("Nobody is there.");
            passes(bot, 24).await;
            assert_eq!(mailer.answered(), [400], "{service}");
            let (state, why) = effect(bot).await;
            assert_eq!(state, "dead");
            assert!(
                why.starts_with(&format!("{service} said 400")) && why.contains("is not one"),
                "{why}"
            );
            bot.slack.headers()[0].says("could not be delivered");
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
    }
}

#[tokio::test]
async fn a_wrong_key_is_said_and_shown_to_nobody() {
    for (service, name, status) in [
        ("Mailgun", "MAILGUN_API_KEY", 401),
        ("SendGrid", "SENDGRID_API_KEY", 401),
        ("Postmark", "POSTMARK_SERVER_TOKEN", 401),
        ("SES", "SES_SECRET_ACCESS_KEY", 403),
    ] {
        let mailer = Mailer::start().await;
        let mut settings = settings(service, &mailer.url);
        settings.push((name, "geheim"));
        by_mail_with(&settings, async |bot, _| {
            a_reply_is_on_its_way(bot).await;
            bot.model.says("Nobody is there.");
            passes(bot, 24).await;
            assert_eq!(
                (mailer.answered(), mailer.taken().len()),
                (vec![status], 0),
                "{service}"
            );
            let (state, why) = effect(bot).await;
            assert!(
                state == "dead" && why.contains(&status.to_string()) && !why.contains("geheim"),
                "{why}"
            );
            bot.slack.headers()[0].says("could not be delivered");
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
    }
}

#[tokio::test]
async fn what_a_provider_may_have_taken_is_not_sent_twice() {
    for service in SERVICES {
        by(service, async |bot, mailer| {
            mailer.takes_next_silently();
            a_reply_is_on_its_way(bot).await;
            passes(bot, 24).await;
            assert_eq!(mailer.taken().len(), 1, "{service}");
            let (state, why) = effect(bot).await;
            assert_eq!(state, "unknown", "{service}");
            assert!(why.contains("cannot be asked whether it took the mail"), "{why}");
            bot.slack.headers()[0].says("may or may not have arrived");
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
    }
}

#[tokio::test]
async fn an_error_behind_the_request_leaves_it_unknown_as_well() {
    by("Mailgun", async |bot, mailer| {
        mailer.refuses_next(500, None);
        a_reply_is_on_its_way(bot).await;
        passes(bot, 24).await;
        assert_eq!(mailer.answered(), [500]);
        let (state, why) = effect(bot).await;
        assert!(
            state == "unknown" && why.starts_with("Mailgun: Mailgun said 500"),
            "{state}: {why}"
        );
        bot.slack.headers()[0].says("may or may not have arrived");
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

#[tokio::test]
async fn a_bounce_is_known_where_the_provider_gave_the_mail_another_id() {
    by("SES", async |bot, mailer| {
        let ticket = a_reply_is_on_its_way(bot).await;
        bot.settle().await;
        let sent = mailer.only();
        let mark = sent.header("X-Deskhand").expect("it is ours");
        let (headers, text) = bounce_of(&format!("Message-ID: <{}>\r\nX-Deskhand: {mark}", sent.message_id));
        assert_eq!(arrives(bot, &headers, &text).await, ticket);
        bot.settle().await;
        let (state, why) = effect(bot).await;
        assert!(state == "dead" && why.contains("550 5.1.1 unknown"), "{state}: {why}");
        bot.slack.headers()[0].says("The reply did not arrive");
        assert!(bot.slack.lines().iter().any(|line| line.contains("did not arrive")));
        bot.slack.only_card().says("Approved by sam");
    })
    .await;
}

/// From the test suite that AWS publishes for its signature: `get-vanilla` and `post-vanilla`.
#[test]
fn the_fakes_own_signature_is_that_of_awss_test_suite() {
    for (method, right) in [
        (
            "GET",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            "POST",
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ),
    ] {
        let of = mailer::Signable {
            method,
            path: "/",
            headers: &[("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")],
            body: b"",
            time: "20150830T123600Z",
            region: "us-east-1",
            service: "service",
        };
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        assert_eq!(mailer::aws_signature(secret, &of), right, "{method}");
    }
}
