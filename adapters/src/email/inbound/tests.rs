use std::path::PathBuf;

use deskhand_core::inbound::{Happening, Told};
use deskhand_core::mail::robot::Kind;
use deskhand_core::ticket::Author;

use super::{EmailInbound, Ours, inbound};
use crate::email::{thread, way};

const KEY: &str = "a key for replies";

fn understood(raw: &[u8]) -> EmailInbound {
    let addresses = ["care@lamps.example".to_owned()];
    inbound(
        &way::raw(raw),
        Ours {
            addresses: &addresses,
            reply_key: KEY,
        },
    )
}

fn letter(headers: &str, body: &str) -> EmailInbound {
    understood(format!("From: Ola Berg <ola@berg.example>\r\n{headers}\r\n\r\n{body}").as_bytes())
}

fn told(found: &EmailInbound) -> &Told {
    match &found.inbound.what {
        Happening::Told(told) => told,
        other @ (Happening::NeedsRead { .. }
        | Happening::Merged { .. }
        | Happening::Closed
        | Happening::Nothing { .. }) => {
            panic!("{other:?}")
        }
    }
}

#[test]
fn a_reply_is_its_new_words_and_keeps_the_rest_beside_them() {
    let found = letter(
        "To: care@lamps.example, Kim <kim@berg.example>\r\nMessage-ID: <2@berg.example>\r\n\
         In-Reply-To: <deskhand.7-1@lamps.example>\r\nReferences: <1@berg.example> <deskhand.7-1@lamps.example>\r\nSubject: Re: Lamp",
        "It still hums.\r\n\r\n-- \r\nOla\r\n\r\nOn Thu, 3 Sep 2026 at 18:02, Care <care@lamps.example> wrote:\r\n> We replaced it.\r\n",
    );
    let comment = &told(&found).comments[0];
    assert_eq!(
        (comment.body.as_str(), comment.author),
        ("It still hums.", Author::Requester)
    );
    assert_eq!(comment.outside_id.as_deref(), Some("2@berg.example"));
    assert!(
        found.quoted.contains("We replaced it.") && found.signature.contains("Ola") && found.whole.contains("wrote:")
    );
    assert_eq!(found.thread.effects, ["7-1"]);
    assert_eq!(found.thread.ids, ["deskhand.7-1@lamps.example", "1@berg.example"]);
    assert_eq!(found.inbound.ticket.id, "1@berg.example");
    assert_eq!(
        found.copied.iter().map(|to| to.address.as_str()).collect::<Vec<_>>(),
        ["kim@berg.example"]
    );
    assert!(!told(&found).automatic);
}

#[test]
fn only_a_signed_address_names_a_ticket() {
    let signed = thread::reply_address("care@lamps.example", "1001", KEY).expect("an address");
    assert_eq!(
        letter(&format!("To: <{signed}>\r\nSubject: x"), "a")
            .thread
            .ticket
            .as_deref(),
        Some("1001")
    );
    let forged = letter(
        "To: <care+1001.00000000000000000000@lamps.example>\r\nSubject: Re: [T-1001] x",
        "a",
    );
    assert_eq!(forged.thread.ticket, None);
    assert!(forged.copied.is_empty());
}

#[test]
fn a_mail_without_an_id_has_the_same_one_each_time() {
    let id = |body: &str| {
        told(&letter("To: care@lamps.example\r\nSubject: x", body)).comments[0]
            .outside_id
            .clone()
    };
    assert_eq!(id("a"), id("a"));
    assert_ne!(id("a"), id("b"));
}

#[test]
fn a_forward_tells_who_wrote_the_mail_within() {
    let found = letter(
        "To: care@lamps.example\r\nSubject: WG: Lampe brummt",
        "Bitte übernehmen.\r\n\r\nVon: Eva Lund <eva@lund.example>\r\nGesendet: Donnerstag, 3. September 2026 18:02\r\n\
         An: Ola Berg <ola@berg.example>\r\nBetreff: Lampe brummt\r\n\r\nSie brummt.\r\n",
    );
    let original = found.forwarded.as_ref().expect("a forward");
    assert_eq!(
        (original.address.as_str(), original.body.as_str()),
        ("eva@lund.example", "Sie brummt.")
    );
    assert_eq!(found.words, "Bitte übernehmen.");
    // What the words are about is part of what was said.
    let body = &told(&found).comments[0].body;
    assert!(
        body.starts_with("Bitte übernehmen.\n\nVon: Eva Lund") && body.ends_with("Sie brummt."),
        "{body}"
    );
}

#[test]
fn robots_and_our_own_mail_are_marked() {
    assert!(told(&letter("Auto-Submitted: auto-replied\r\nSubject: x", "away")).automatic);
    let own = understood(b"From: care@lamps.example\r\nX-Deskhand: 7-1\r\nTo: ola@berg.example\r\n\r\nHello");
    assert_eq!(
        (own.automatic.kind.clone(), told(&own).comments[0].author),
        (Kind::Own, Author::Requester)
    );
    assert_eq!(told(&own).comments[0].marker, None, "anybody can write such a header");
}

#[test]
fn a_form_on_a_site_speaks_for_the_customer_it_names() {
    let found = understood(
        b"From: Shop <care@lamps.example>\r\nReply-To: Ola <ola@berg.example>\r\nTo: care@lamps.example\r\n\r\nIt hums.",
    );
    let requester = told(&found).requester.clone().expect("a requester");
    assert_eq!(
        (requester.address.as_str(), told(&found).automatic),
        ("ola@berg.example", false)
    );
    assert_eq!(told(&found).comments[0].author, Author::Requester);
}

#[test]
fn a_bounce_names_the_effect_whose_mail_came_back() {
    let raw = "Return-Path: <>\r\nFrom: MAILER-DAEMON@mx.example\r\nTo: care@lamps.example\r\nSubject: Undelivered\r\n\
               Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\
               It failed.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\n\
               Final-Recipient: rfc822; ola@berg.example\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b\r\n\
               Content-Type: message/rfc822\r\n\r\nMessage-ID: <deskhand.7-1@lamps.example>\r\nSubject: Re: Lamp\r\n\r\nhi\r\n--b--\r\n";
    let found = understood(raw.as_bytes());
    let Kind::Bounce(bounce) = &found.automatic.kind else {
        panic!("{:?}", found.automatic)
    };
    assert_eq!(bounce.recipients, ["ola@berg.example"]);
    assert_eq!(bounce.status.as_deref(), Some("5.1.1"));
    assert_eq!(bounce.original.as_deref().and_then(thread::effect_of), Some("7-1"));
}

#[test]
fn the_bounces_outside_of_the_repository_are_known_when_parsed() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/mail/bounces"));
    if !folder.is_dir() {
        println!("skipped: ../shared is not there");
        return;
    }
    let text = std::fs::read_to_string(folder.join("labels.json")).expect("readable");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    for (name, label) in file["labels"].as_object().expect("labels") {
        let raw = std::fs::read(folder.join(format!("{name}.eml"))).expect("readable");
        let found = understood(&raw).automatic;
        let whole = String::from_utf8_lossy(&raw).to_lowercase().replace("\r\n", "\n");
        let returns = whole
            .split_once("\n\n")
            .is_some_and(|(_, body)| body.contains("\nmessage-id:"));
        let lacks_id = matches!(&found.kind, Kind::Bounce(bounce) if returns && bounce.original.is_none());
        if Some(found.kind.label()) != label.as_str() || lacks_id {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
