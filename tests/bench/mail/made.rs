//! Mails that are made: usual ones, large ones as people send them, and those that somebody made to do harm.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const MB: usize = 1 << 20;

pub(super) type Made = (&'static str, Vec<u8>);

const HEAD: &str = "From: Ola Berg <ola@berg.example>\r\nTo: care@lamps.example\r\nSubject: Lamp hums\r\n\
                    Date: Thu, 3 Sep 2026 18:02:00 +0200\r\nMessage-ID: <1@berg.example>\r\nMIME-Version: 1.0\r\n";

fn mail(kind: &str, body: &str) -> Vec<u8> {
    format!("{HEAD}Content-Type: {kind}\r\n\r\n{body}").into_bytes()
}

/// Replies with a quote and a signature, half of them with HTML beside the text.
pub(super) fn usual(many: usize) -> Vec<Vec<u8>> {
    let one = |n: usize| {
        let words = format!("Lamp {n} still hums.\r\nWhat can I do?\r\n");
        let old = "> Please unscrew the bulb.\r\n".repeat(1 + n % 30);
        let text = format!(
            "{words}\r\n-- \r\nOla Berg\r\n\r\nOn 3 Sep 2026 at 18:02, Care <care@lamps.example> wrote:\r\n{old}"
        );
        if n.is_multiple_of(2) {
            return mail("text/plain; charset=utf-8", &text);
        }
        let html = format!("<html><body><p>{words}</p><blockquote>{old}</blockquote></body></html>");
        let body = format!(
            "--b\r\nContent-Type: text/plain\r\n\r\n{text}\r\n--b\r\nContent-Type: text/html\r\n\r\n{html}\r\n--b--\r\n"
        );
        mail("multipart/alternative; boundary=b", &body)
    };
    (0..many).map(one).collect()
}

/// What fills so many megabytes, lines and all.
fn filled(line: &str, megabytes: usize) -> String {
    line.repeat(megabytes * MB / line.len())
}

fn base64(megabytes: usize) -> String {
    // 57 bytes make a line of 76.
    let line = format!("{}\r\n", STANDARD.encode([0xa5; 57]));
    filled(&line, megabytes)
}

fn attached(kind: &str, body: &str) -> Vec<u8> {
    let parts = format!(
        "--b\r\nContent-Type: text/plain\r\n\r\nSee the photo.\r\n--b\r\nContent-Type: {kind}\r\n\
         Content-Disposition: attachment; filename=lamp\r\nContent-Transfer-Encoding: base64\r\n\r\n{body}\r\n--b--\r\n"
    );
    mail("multipart/mixed; boundary=b", &parts)
}

/// As large as providers let through.
pub(super) fn large(megabytes: usize) -> Vec<Made> {
    let text = filled(
        "It hums, and it hums, and what I can do about it nobody says.\r\n",
        megabytes,
    );
    let html = format!(
        "<html><body>{}</body></html>",
        filled(
            "<p>It <b>hums</b>, <a href=\"https://x.example\">see</a>.</p>\r\n",
            megabytes
        )
    );
    let table = format!(
        "<table>{}</table>",
        filled("<tr><td>Lamp</td><td>2</td></tr>\r\n", megabytes)
    );
    let photos = format!(
        "--b\r\nContent-Type: image/jpeg\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
        base64(1)
    );
    let photos = format!("{}--b--\r\n", photos.repeat(megabytes));
    vec![
        ("one attachment", attached("image/jpeg", &base64(megabytes))),
        ("a text attachment", attached("text/csv", &base64(megabytes))),
        ("photographs of 1 MB", mail("multipart/mixed; boundary=b", &photos)),
        ("text", mail("text/plain; charset=utf-8", &text)),
        (
            "text without a charset",
            mail("text/plain", &text.replace('e', "\u{e9}")),
        ),
        ("HTML", mail("text/html; charset=utf-8", &html)),
        ("an HTML table", mail("text/html; charset=utf-8", &table)),
        ("one line", mail("text/plain", &filled("hum ", megabytes))),
    ]
}

/// Larger than any mail server takes.
pub(super) fn huge(megabytes: usize) -> Vec<Made> {
    vec![
        ("one attachment", attached("application/zip", &base64(megabytes))),
        (
            "text",
            mail("text/plain", &filled("It hums, and nobody says why.\r\n", megabytes)),
        ),
    ]
}

/// Made to do harm: `share` is a hundredth of each.
pub(super) fn bombs(share: usize) -> Vec<Made> {
    let nested = |open: &str, many: usize| format!("<html><body>{}deep", open.repeat(many * share / 100));
    let html = |body: &str| mail("text/html; charset=utf-8", body);
    let within = "Content-Type: message/rfc822\r\n\r\n".repeat(4_000 * share);
    let multiparts: String = (0..30 * share)
        .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"))
        .collect();
    let parts = "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n".repeat(5_000 * share);
    let headed = |lines: &str| format!("{HEAD}{lines}\r\nx").into_bytes();
    let long = format!("X-Long: {}\r\n", "word ".repeat(200_000 * share));
    let references = format!("References: {}\r\n", "<a@b.example>\r\n ".repeat(10_000 * share));
    let to = format!("Cc: {}\r\n", "ola@berg.example, ".repeat(10_000 * share));
    let encoded = format!("X-Word: {}\r\n", "=?utf-8?B?w6k=?= ".repeat(10_000 * share));
    vec![
        ("bomb: <div> 5,000 deep", html(&nested("<div>", 5_000))),
        ("bomb: <div> 80,000 deep", html(&nested("<div>", 80_000))),
        ("bomb: <b> 100,000 deep", html(&nested("<b>", 100_000))),
        ("bomb: <b><p> 50,000 deep", html(&nested("<b><p>", 50_000))),
        ("bomb: <table> 20,000 deep", html(&nested("<table><tr><td>", 20_000))),
        (
            "bomb: <a> <b> <i> misnested",
            html(&nested("<a><b><i></a></b>", 25_000)),
        ),
        (
            "bomb: <font> never closed in 20,000 <p>",
            html(&nested("<p><font color=x></p>", 20_000)),
        ),
        (
            "bomb: <select><option> 30,000",
            html(&nested("<select><option>", 30_000)),
        ),
        ("bomb: blockquotes 50,000 deep", html(&nested("<blockquote>", 50_000))),
        (
            "bomb: attributes, 500 kB of them",
            html(&format!("<p {}>deep", "a=b ".repeat(1_200 * share))),
        ),
        ("bomb: <, 500 kB", html(&"<".repeat(5_000 * share))),
        ("bomb: &, 500 kB", html(&"&amp".repeat(1_250 * share))),
        (
            "bomb: quote marks, 2 MB in one line",
            mail("text/plain", &"> ".repeat(10_000 * share)),
        ),
        (
            "bomb: quote marks, 100 deep in 20,000 lines",
            mail("text/plain", &format!("{}x\r\n", ">".repeat(100)).repeat(200 * share)),
        ),
        (
            "bomb: 100,000 introductions",
            mail(
                "text/plain",
                &"On 3 Sep 2026, Ola <o@b.example> wrote:\r\n".repeat(1_000 * share),
            ),
        ),
        (
            "bomb: 100,000 heads of passed on mail",
            mail(
                "text/plain",
                &"From: a@b.example\r\nSent: x\r\nTo: y\r\n\r\n".repeat(1_000 * share),
            ),
        ),
        ("bomb: mails in mails, 400,000 deep", mail("message/rfc822", &within)),
        (
            "bomb: multiparts 3,000 deep",
            format!("{HEAD}{multiparts}").into_bytes(),
        ),
        ("bomb: 500,000 parts", mail("multipart/mixed; boundary=b", &parts)),
        ("bomb: 500,000 headers", headed(&"X-A: b\r\n".repeat(5_000 * share))),
        ("bomb: one header of 100 MB", headed(&long)),
        ("bomb: 1,000,000 references", headed(&references)),
        ("bomb: 1,000,000 people in Cc", headed(&to)),
        ("bomb: 1,000,000 encoded words", headed(&encoded)),
    ]
}
