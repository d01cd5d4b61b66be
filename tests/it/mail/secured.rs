//! The way out over a mail server that wants TLS and a name: what is sent there, and what is never sent.

use deskhand_adapters::email::house;
use deskhand_adapters::email::out::{Letter, Post, Smtp as Client};
use deskhand_core::port::PortError;
use deskhand_tests::fake::smtp::{Guard, NAME, PASSWORD, Smtp};

use super::{a_reply_is_on_its_way, by_mail_with, effect};
use crate::lines::states;

fn letter() -> Letter {
    Letter {
        from: "Lampshop Care <care@lamps.example>".into(),
        to: "ola@berg.example".into(),
        subject: "Re: Lamp".into(),
        message_id: "deskhand.7@lamps.example".into(),
        text: "Please unscrew the bulb.".into(),
        ..Letter::default()
    }
}

fn client(url: &str, pem: &str) -> Client {
    let limit = std::time::Duration::from_secs(20);
    Client::new(url, limit, &house::read(pem)).expect("the address is right")
}

#[tokio::test]
async fn a_reply_goes_out_over_tls_to_a_server_that_wants_a_password() {
    for (guard, mechanism) in [(Guard::Starttls, "PLAIN"), (Guard::Wrapped, "LOGIN")] {
        let server = Smtp::guarded(guard, mechanism).await;
        let url = server.url();
        let settings = [("SMTP_URL", url.as_str()), ("MAIL_CA", server.certificate())];
        by_mail_with(&settings, async |bot, open| {
            a_reply_is_on_its_way(bot).await;
            bot.settle().await;
            assert!(open.sent().is_empty());
            let (state, why) = effect(bot).await;
            assert_eq!(state, "delivered", "{guard:?}: {why}");
            assert_eq!(server.only().mail.subject, "Re: Lamp hums [T-1001]");
            assert_eq!(states(bot).await, ["completed answered"]);
            bot.slack.only_card().says("Approved by sam");
        })
        .await;
        let heard = server.heard();
        assert_eq!(
            heard.contains(&"STARTTLS".to_owned()),
            guard == Guard::Starttls,
            "{heard:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_does_not_offer_tls_hears_neither_password_nor_mail() {
    let server = Smtp::guarded(Guard::Stripped, "PLAIN").await;
    let client = client(&server.url(), server.certificate());
    let refused = client.send(&letter()).await.expect_err("it is not sent");
    assert!(matches!(refused, PortError::Transient { .. }), "{refused}");
    assert!(refused.to_string().contains("does not offer TLS"), "{refused}");
    assert!(client.check().await.is_err());
    let heard = server.heard();
    assert!(
        heard.iter().all(|verb| ["EHLO", "QUIT"].contains(&verb.as_str())),
        "{heard:?}"
    );
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_in_one_sentence() {
    for guard in [Guard::Starttls, Guard::Wrapped] {
        let server = Smtp::guarded(guard, "PLAIN").await;
        let other = Smtp::guarded(guard, "PLAIN").await;
        for pem in ["", other.certificate()] {
            let client = client(&server.url(), pem);
            let refused = client.send(&letter()).await.expect_err("it is not sent").to_string();
            assert!(
                refused.contains("certificate is not believed") && refused.contains("MAIL_CA_FILE"),
                "{refused}"
            );
            assert!(!refused.contains('\n') && !refused.contains("geheim"), "{refused}");
        }
        // The right certificate, for another name.
        let elsewhere = server.url().replace("localhost", "127.0.0.1");
        let refused = client(&elsewhere, server.certificate()).send(&letter()).await;
        assert!(refused.is_err_and(|error| error.to_string().contains("certificate is not believed")));
        assert!(!server.heard().iter().any(|verb| verb == "AUTH" || verb == "MAIL"));
    }
}

#[tokio::test]
async fn a_wrong_password_is_said_and_not_shown() {
    for (guard, mechanism) in [(Guard::Starttls, "LOGIN"), (Guard::Wrapped, "PLAIN")] {
        let server = Smtp::guarded(guard, mechanism).await;
        let client = client(&server.url_for(guard, "falsch"), server.certificate());
        let refused = client.send(&letter()).await.expect_err("it is not sent");
        let said = refused.to_string();
        assert!(
            matches!(refused, PortError::Permanent { .. }) && said.contains("535"),
            "{said}"
        );
        assert!(
            !said.contains("falsch") && !said.contains(NAME) && !said.contains(PASSWORD),
            "{said}"
        );
        assert!(server.sent().is_empty());
    }
}
