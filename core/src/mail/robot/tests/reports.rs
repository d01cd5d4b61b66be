//! Robots, by what gives them away.

use proptest::prelude::*;

use super::judged;
use crate::mail::robot::{Kind, Mail, judge};

#[test]
fn headers_give_robots_away_and_are_named() {
    let mails = [
        (
            "Auto-Submitted: auto-replied (vacation)",
            "auto_reply",
            "Auto-Submitted: auto-replied (vacation)",
        ),
        (
            "Auto-Submitted: auto-generated; owner-email=\"x\"",
            "auto_reply",
            "Auto-Submitted",
        ),
        ("auto-submitted: AUTO-NOTIFIED", "auto_reply", "Auto-Submitted"),
        ("X-AutoReply-From: x", "auto_reply", "X-AutoReply-From"),
        ("X-Autoresponder: yes", "auto_reply", "X-Autoresponder"),
        ("Precedence: auto_reply", "auto_reply", "Precedence"),
        ("X-FC-MachineGenerated: true", "auto_reply", "X-FC-MachineGenerated"),
        ("Delivered-To: Autoresponder", "auto_reply", "Delivered-To"),
        ("Return-Path: <>", "auto_reply", "Return-Path: <>"),
        ("Precedence: bulk", "mailing_list", "Precedence: bulk"),
        ("List-Id: Lamps <lamps.lists.example>", "mailing_list", "List-Id"),
        (
            "List-Unsubscribe: <https://n.example/u>",
            "mailing_list",
            "List-Unsubscribe",
        ),
        (
            "Content-Type: multipart/report; report-type=\"disposition-notification\"; x=y",
            "read_receipt",
            "Content-Type",
        ),
        (
            "Content-Type: multipart/report; report-type = feedback-report",
            "complaint",
            "Content-Type",
        ),
        ("X-Failed-Recipients: bob@x.example", "bounce", "X-Failed-Recipients"),
        ("X-Deskhand: 7", "loop", "X-Deskhand"),
        ("X-Loop: help@shop.example", "loop", "X-Loop"),
        ("X-Loop: lists@elsewhere.example", "human", ""),
    ];
    for (header, label, why) in mails {
        let found = judged(
            &format!("From: ann@example.com\nTo: help@shop.example\nSubject: order\n{header}"),
            "x",
        );
        assert_eq!(found.kind.label(), label, "{header}: {found:?}");
        assert!(found.why.starts_with(why), "{header}: {}", found.why);
        assert_eq!(found.kind.is_automatic(), label != "human");
    }
    assert_eq!(
        judged("From: Shop <help@shop.example>\nTo: ann@example.com", "x").kind,
        Kind::Own
    );
    assert_eq!(judged("From: a@example.com\nTo: <a@example.com>", "x").kind, Kind::Loop);
}

#[test]
fn subjects_of_programs_are_known_in_many_languages() {
    let notes = [
        ("Automatic reply: order", "I am out of the office."),
        ("Out of Office: order", "I am away from my desk until Monday."),
        ("Automatische Antwort: Bestellung", "Ich bin im Urlaub."),
        ("Réponse automatique : commande", "Je suis absent."),
        ("Respuesta automática: pedido", "Gracias."),
        ("Risposta automatica: ordine", "Grazie."),
        ("Resposta automática: pedido", "Obrigado."),
        ("Automatisch antwoord: bestelling", "Ik ben afwezig."),
        ("Odpowiedź automatyczna: zamówienie", "Jestem na urlopie."),
        ("Автоматический ответ: заказ", "Я в отпуске."),
        ("Otomatik yanıt: sipariş", "Ofis dışındayım."),
        ("رد تلقائي: طلب", "أنا خارج المكتب."),
        ("自动回复：订单", "您好，我正在休假。"),
        ("自動応答: 注文", "不在にしております。"),
        ("자동 회신: 주문", "부재중입니다."),
        ("Re: order (Automatic Response)", "Thanks."),
        ("[Auto-Reply] order", "Thanks."),
        ("Autosvar: order", "Jag är tillbaka på måndag."),
        ("Automaattinen vastaus: tilaus", "Olen lomalla."),
        ("Automatická odpověď: objednávka", "Jsem mimo kancelář."),
        ("Автоматичен отговор: поръчка", "В отпуск съм."),
        ("Automatski odgovor: narudžba", "Na godišnjem sam."),
        ("پاسخ خودکار: سفارش", "در دفتر نیستم."),
        ("Trả lời tự động: đơn hàng", "Tôi đang nghỉ phép."),
        ("Out of office Re: order", "I am out of the office until Monday."),
    ];
    for (subject, text) in notes {
        let found = judged(
            &format!("From: ann@example.com\nTo: help@shop.example\nSubject: {subject}"),
            text,
        );
        assert_eq!(found.kind.label(), "auto_reply", "{subject}: {found:?}");
        assert!(found.why.starts_with("Subject: "), "{}", found.why);
    }
    let away = judged(
        "From: a@x.example\nAuto-Submitted: auto-replied\nSubject: x",
        "Je suis en congés jusqu'à lundi.",
    );
    assert_eq!(away.kind, Kind::OutOfOffice);
}

#[test]
fn a_bounce_tells_who_was_not_reached_why_and_with_which_mail() {
    let headers = [
        ("From".to_owned(), "MAILER-DAEMON@mx.example".to_owned()),
        (
            "Content-Type".to_owned(),
            "multipart/report; report-type=delivery-status".to_owned(),
        ),
    ];
    let report = "Reporting-MTA: dns; mx.example\n\nOriginal-Recipient: rfc822;Bob@x.example\n\
                  Final-Recipient: rfc822; bob@x.example\nAction: failed\nStatus: 5.1.1\n\
                  Diagnostic-Code: smtp; 550 no such person\n";
    let returned = "Received: x\nMessage-ID:\n <t7.1@shop.example>\nSubject: Re: lamp\n";
    let mail = Mail {
        headers: &headers,
        report,
        returned,
        text: "It failed.",
        ..Mail::default()
    };
    let Kind::Bounce(bounce) = judge(&mail).kind else {
        panic!("no bounce")
    };
    assert_eq!(bounce.recipients, ["bob@x.example"]);
    assert_eq!(bounce.status.as_deref(), Some("5.1.1"));
    assert_eq!(bounce.diagnostic.as_deref(), Some("smtp; 550 no such person"));
    assert_eq!(bounce.original.as_deref(), Some("t7.1@shop.example"));
    assert!(!bounce.delayed);
    let label = |report| {
        judge(&Mail {
            headers: &headers,
            report,
            text: "x",
            ..Mail::default()
        })
        .kind
        .label()
    };
    assert_eq!(label("Action: delayed\nStatus: 4.4.1\n"), "bounce_delayed");
    assert_eq!(label("Action: delivered\nStatus: 2.0.0\n"), "read_receipt");
}

#[test]
fn a_bounce_of_an_old_server_is_read_from_its_text() {
    let text = "Hi. This is the mail program at mx.example.\nI wasn't able to deliver your message.\n\n\
                <bob@x.example>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n\
                --- Below this line is a copy of the message.\n\nReturn-Path: <help@shop.example>\n\
                Message-Id: <t7.1@shop.example>\nTo: bob@x.example\n";
    let found = judged(
        "From: MAILER-DAEMON@mx.example\nTo: help@shop.example\nSubject: failure notice",
        text,
    );
    let Kind::Bounce(bounce) = found.kind else {
        panic!("{found:?}")
    };
    assert_eq!(bounce.recipients, ["bob@x.example"]);
    assert_eq!(
        (bounce.status.as_deref(), bounce.original.as_deref()),
        (Some("5.1.1"), Some("t7.1@shop.example"))
    );
}

proptest! {
    #[test]
    fn any_headers_and_text_are_taken(
        headers in proptest::collection::vec((".{0,20}", ".{0,40}"), 0..8),
        text in any::<String>(),
    ) {
        let mail = Mail { headers: &headers, subject: &text, text: &text, report: &text, returned: &text, ..Mail::default() };
        let found = judge(&mail);
        prop_assert_eq!(found.kind == Kind::Person, found.why.is_empty());
    }
}
