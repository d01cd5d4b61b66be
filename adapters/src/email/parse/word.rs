//! The value of a header: unfolded, its encoded words (RFC 2047) read, bytes that nobody encoded read as they look.
//!
//! The parser's own reading decodes word by word. Programs split characters between two words, and leave out the space
//! behind one; both are read here.

use mail_parser::decoders::base64::base64_decode;

use super::one_line;
use crate::email::charset;

pub(super) fn decode(raw: &[u8]) -> String {
    let mut out = String::new();
    // Bytes of adjacent words of one charset, which only together are whole characters.
    let mut open: Option<(String, Vec<u8>)> = None;
    let mut rest = raw;
    while let Some(start) = find(rest, b"=?") {
        let (before, word) = rest.split_at(start);
        let Some((label, bytes, after)) = encoded(word) else {
            close(&mut out, &mut open);
            out.push_str(&charset::decode(&rest[..start + 2], None));
            rest = &rest[start + 2..];
            continue;
        };
        if !before.iter().all(u8::is_ascii_whitespace) {
            close(&mut out, &mut open);
            out.push_str(&charset::decode(before, None));
        } else if open.is_none() {
            out.push_str(&charset::decode(before, None));
        }
        match &mut open {
            Some((charset, read)) if charset.eq_ignore_ascii_case(&label) => read.extend(bytes),
            _ => {
                close(&mut out, &mut open);
                open = Some((label, bytes));
            }
        }
        rest = after;
    }
    close(&mut out, &mut open);
    out.push_str(&charset::decode(rest, None));
    one_line(&out)
}

fn close(out: &mut String, open: &mut Option<(String, Vec<u8>)>) {
    if let Some((label, bytes)) = open.take() {
        out.push_str(&charset::decode(&bytes, Some(&label)));
    }
}

/// `=?charset?B?…?=` at the start: its charset, its bytes, and what follows.
fn encoded(word: &[u8]) -> Option<(String, Vec<u8>, &[u8])> {
    let inner = &word[2..];
    let label_ends = find(&inner[..inner.len().min(60)], b"?").filter(|end| *end > 0)?;
    let label = std::str::from_utf8(&inner[..label_ends]).ok()?;
    // RFC 2231 allows a language behind the charset.
    let label = label.split('*').next().unwrap_or(label).to_owned();
    let kind = *inner.get(label_ends + 1)?;
    if inner.get(label_ends + 2) != Some(&b'?') {
        return None;
    }
    let text = &inner[label_ends + 3..];
    let ends = find(&text[..text.len().min(4000)], b"?=")?;
    let bytes = match kind {
        b'B' | b'b' => base64_decode(&text[..ends])?,
        b'Q' | b'q' => quoted(&text[..ends]),
        _ => return None,
    };
    Some((label, bytes, &text[ends + 2..]))
}

fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let hex = |index: usize| text.get(index).and_then(|digit| char::from(*digit).to_digit(16));
        match (text[at], hex(at + 1), hex(at + 2)) {
            (b'=', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 2;
            }
            (b'_', _, _) => out.push(b' '),
            (other, _, _) => out.push(other),
        }
        at += 1;
    }
    out
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn words_are_read_as_programs_write_them() {
        let cases: [(&[u8], &str); 8] = [
            (b"=?utf-8?q?L=C3=A5mpe?= hums", "L\u{e5}mpe hums"),
            (b"=?utf-8?B?w6U=?=\r\n =?utf-8?B?w6U=?=", "\u{e5}\u{e5}"),
            (b"=?utf-8?Q?=C3?= =?utf-8?Q?=A5?=", "\u{e5}"),
            (b"[=?iso-8859-1?Q?L=E5mpe?=] a", "[L\u{e5}mpe] a"),
            (b"=?us-ascii*en?Q?a_b?=", "a b"),
            (b"a =?b? c", "a =?b? c"),
            (b" plain\r\n\tfolded\r\n", "plain folded"),
            (b"L\xe5mpa i k\xf6ket", "L\u{e5}mpa i k\u{f6}ket"),
        ];
        for (raw, expected) in cases {
            assert_eq!(decode(raw), expected);
        }
    }
}
