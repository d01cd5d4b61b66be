mod shared;

use proptest::prelude::*;

use super::parse;

const LETTER: &str = "From: \"Ola Berg\" <Ola@Berg.example>\r\nTo: care@lamps.example, Kim <kim@lamps.example>\r\n\
    Subject: =?utf-8?B?TGFtcGUgw7hsbGU=?=\r\nMessage-ID: <1@berg.example>\r\nIn-Reply-To: <t7.1@lamps.example>\r\n\
    References: <a@b.example>\r\n <t7.1@lamps.example>\r\nDate: Thu, 3 Sep 2026 18:02:11 +0200\r\nX-Odd: a\r\n b\r\n\
    MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=q\r\n\r\n--q\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
    It hums.\r\n--q\r\nContent-Type: image/png; name=\"hum.png\"\r\nContent-Disposition: inline\r\nContent-ID: <p1@x>\r\n\
    Content-Transfer-Encoding: base64\r\n\r\niVBORw==\r\n--q\r\nContent-Type: text/csv; charset=utf-8\r\n\
    Content-Disposition: attachment; filename*=utf-8''m%C3%A5l.csv\r\n\r\na;b\r\n--q--\r\n";

#[test]
fn a_letter_is_read_with_all_that_is_in_it() {
    let mail = parse(LETTER.as_bytes());
    assert_eq!(mail.subject, "Lampe ølle");
    assert_eq!(
        (mail.from[0].name.as_str(), mail.from[0].address.as_str()),
        ("Ola Berg", "ola@berg.example")
    );
    assert_eq!(
        mail.to.iter().map(|to| to.address.as_str()).collect::<Vec<_>>(),
        ["care@lamps.example", "kim@lamps.example"]
    );
    assert_eq!(
        (mail.message_id.as_str(), &mail.in_reply_to[..]),
        ("1@berg.example", &["t7.1@lamps.example".to_owned()][..])
    );
    assert_eq!(mail.references, ["a@b.example", "t7.1@lamps.example"]);
    assert_eq!(
        mail.date.map(|date| date.to_rfc3339()).as_deref(),
        Some("2026-09-03T16:02:11+00:00")
    );
    assert_eq!((mail.text.trim(), mail.header("x-odd")), ("It hums.", Some("a b")));
    let [picture, table] = mail.attachments.as_slice() else {
        panic!("{:?}", mail.attachments)
    };
    assert!(picture.inline && picture.content_id == "p1@x" && picture.size == 4 && picture.text.is_none());
    assert_eq!(
        (table.name.as_str(), table.inline, table.text.as_deref().map(str::trim)),
        ("mål.csv", false, Some("a;b"))
    );
}

#[test]
fn undeclared_charsets_are_read_in_body_and_subject() {
    let (body, _, _) = encoding_rs::GBK.encode("您好，我上周买的台灯到今天还没有收到，请帮我查询一下物流信息，谢谢。");
    let (subject, _, _) = encoding_rs::GBK.encode("我上周买的台灯还没有收到");
    let mut raw = b"From: x@y.example\r\nSubject: ".to_vec();
    raw.extend_from_slice(&subject);
    raw.extend_from_slice(b"\r\nContent-Type: text/plain\r\n\r\n");
    raw.extend_from_slice(&body);
    let mail = parse(&raw);
    assert_eq!(mail.subject, "我上周买的台灯还没有收到");
    assert!(mail.text.starts_with("您好，我上周"), "{}", mail.text);
}

#[test]
fn an_html_letter_is_read_as_text_and_a_stub_does_not_hide_it() {
    let html = "From: x@y.example\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>It <b>hums</b>.</p>";
    assert_eq!(
        (parse(html.as_bytes()).text.as_str(), parse(html.as_bytes()).from_html),
        ("It hums.", true)
    );
    let stub = "From: x@y.example\r\nContent-Type: multipart/alternative; boundary=q\r\n\r\n--q\r\nContent-Type: text/plain\r\n\r\n\
                \r\n--q\r\nContent-Type: text/html\r\n\r\n<p>It hums.</p>\r\n--q--\r\n";
    assert_eq!(parse(stub.as_bytes()).text.trim(), "It hums.");
}

#[test]
fn what_is_no_mail_at_all_is_still_one() {
    assert_eq!(parse(b""), super::ParsedMail::default());
    assert!(parse(b"just words\n").text.contains("just words") || !parse(b"just words\n").headers.is_empty());
    let cut = &LETTER.as_bytes()[..LETTER.len() / 2];
    assert_eq!(parse(cut).from[0].address, "ola@berg.example");
}

#[test]
fn bombs_come_back() {
    let mut nested = String::new();
    for level in 0..3000 {
        nested.push_str(&format!(
            "Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n"
        ));
    }
    assert!(parse(nested.as_bytes()).parts.len() > 1);
    let mails = "Content-Type: message/rfc822\r\n\r\n".repeat(5000);
    let _ = parse(mails.as_bytes());
    let parts = format!(
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n{}",
        "--b\r\n\r\nx\r\n".repeat(20_000)
    );
    assert!(parse(parts.as_bytes()).text.len() < 1_000_000);
}

proptest! {
    #[test]
    fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn any_damage_to_a_letter_is_taken(at in 0..LETTER.len(), length in 0..60_usize, put in ".{0,30}") {
        let mut raw = LETTER.as_bytes().to_vec();
        raw.splice(at..(at + length).min(LETTER.len()), put.bytes());
        let _ = parse(&raw);
    }
}
