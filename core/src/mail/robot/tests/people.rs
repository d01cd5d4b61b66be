//! People who write short, odd, or about robots.

use super::judged;
use crate::mail::robot::Kind;

#[test]
fn people_are_not_taken_for_robots() {
    let mails = [
        ("Subject: ?", "?"),
        ("Subject:", "help"),
        ("Subject: order", ""),
        ("Subject: STOP", "STOP"),
        ("Subject: unsubscribe", "unsubscribe"),
        (
            "Subject: Out of office chairs?",
            "Do you have office chairs, or are you out of them?",
        ),
        (
            "Subject: Vacation: which adapter do I need?",
            "Which adapter do I need in Japan?",
        ),
        (
            "Subject: Automatic reply: how do I switch it off?",
            "I get it each time. How do I switch it off?",
        ),
        ("Subject: I got your automatic reply", "but no answer since."),
        ("Subject: autoreply loop in your app", "Your app answers itself."),
        (
            "Subject: Undeliverable parcel",
            "The parcel came back as undeliverable.",
        ),
        (
            "Subject: Returned mail 4711",
            "My returned parcel: where is the refund?",
        ),
        (
            "Subject: Delivery failure notice from the courier",
            "They did not find the house.",
        ),
        ("Subject: Re: Re: Re: Re: Fwd: Re: order", "ok"),
        ("Subject: ping", "test"),
        ("Subject: AUTO", "My car does not take your charger. Why?"),
        ("Subject: Auto", "Das Ladegerät passt nicht in mein Auto."),
        (
            "Subject: Re: Automatic reply: order",
            "Thanks. Then please answer when you are back.",
        ),
        ("Subject: Urlaub", "Ich fahre ab Montag weg. Bitte vorher liefern."),
        ("Subject: Abwesenheit", "Können Sie das Paket so lange lagern?"),
        ("Subject: 休假期间能送货吗", "我休假期间能送货吗？"),
        ("Subject: 自动回复功能怎么关", "自动回复功能怎么关？"),
        ("Subject: 退信", "你们发的邮件被退信了，我收不到验证码。"),
        ("From: postmaster.jones@example.com\nSubject: order", "Where is it?"),
        (
            "From: noreply@example.com\nSubject: order",
            "Sent from this address by mistake. Where is it?",
        ),
        (
            "From: daemon@example.com\nSubject: order",
            "My name is Daemon. Where is it?",
        ),
        ("Precedence: normal\nSubject: order", "Where is it?"),
        ("Auto-Submitted: no\nSubject: order", "Where is it?"),
        ("Auto-Submitted: No (a person)\nSubject: order", "Where is it?"),
        ("X-Autoreply: no\nSubject: order", "Where is it?"),
        ("X-Auto-Response-Suppress: All\nSubject: order", "Where is it?"),
        ("Feedback-ID: 1:shop:form\nSubject: Contact form", "Where is it?"),
        (
            "List-Unsubscribe: <mailto:u@crm.example>\nIn-Reply-To: <1@shop.example>\nSubject: Re: order",
            "Thank you.",
        ),
        (
            "List-Id: <help.shop.example>\nPrecedence: list\nSubject: order",
            "Where is it?",
        ),
        (
            "List-Post: <mailto:help@shop.example>\nPrecedence: list\nSubject: order",
            "Where is it?",
        ),
        (
            "Content-Type: multipart/mixed; boundary=b\nSubject: report-type=delivery-status",
            "Where is it?",
        ),
        (
            "Disposition-Notification-To: <ann@example.com>\nSubject: order",
            "Where is it?",
        ),
        ("Return-Receipt-To: <ann@example.com>\nSubject: order", "Where is it?"),
        (
            "Return-Path: <ann@example.com>\nX-Priority: 1\nSubject: order",
            "Where?",
        ),
        (
            "From: help@shop.example\nReply-To: ann@example.com\nSubject: Form: order",
            "Where is it?",
        ),
        (
            "X-MS-Exchange-Inbox-Rules-Loop: info@shop.example\nSubject: order",
            "Where is it?",
        ),
        ("Subject: Semester", "Jag åker på semester, kan ni skicka innan?"),
        ("Subject: İzin", "İzin günümde teslim edebilir misiniz?"),
        ("Subject: Absence de réponse", "Je n'ai eu aucune réponse depuis lundi."),
        ("Subject: (auto) parts", "Which parts fit my auto?"),
    ];
    for (headers, text) in mails {
        let from = if headers.contains("From:") {
            ""
        } else {
            "From: Ann <ann@example.com>\n"
        };
        let found = judged(&format!("{from}{headers}\nTo: help@shop.example"), text);
        assert_eq!(found.kind, Kind::Person, "{headers}: {}", found.why);
    }
}

#[test]
fn a_wish_for_silence_is_heard_and_says_nothing_of_its_sender() {
    let found = judged(
        "From: ann@example.com\nX-Auto-Response-Suppress: DR, OOF, AutoReply\nSubject: q",
        "Where?",
    );
    assert_eq!((found.kind, found.no_automatic_answer), (Kind::Person, true));
    let found = judged(
        "From: ann@example.com\nX-Auto-Response-Suppress: DR, RN\nSubject: q",
        "Where?",
    );
    assert_eq!((found.kind, found.no_automatic_answer), (Kind::Person, false));
}
