//! The fields of a posted form, as bytes: `multipart/form-data` and `application/x-www-form-urlencoded`.

use std::borrow::Cow;

use mail_parser::{MessageParser, MimeHeaders};

use super::charset;

pub(super) struct Field<'a> {
    pub name: String,
    /// Set for files.
    pub file: Option<String>,
    pub content_type: String,
    pub bytes: Cow<'a, [u8]>,
}

/// Borrows what it can: a form may have 50 MB.
pub(super) struct Form<'a>(Vec<Field<'a>>);

impl<'a> Form<'a> {
    /// Reads what it can; a body that is no form has no fields.
    pub(super) fn read(content_type: &str, body: &'a [u8]) -> Self {
        if content_type.to_ascii_lowercase().contains("urlencoded") {
            let pairs = url::form_urlencoded::parse(body);
            let field = |(name, value): (Cow<'a, str>, Cow<'a, str>)| Field {
                name: name.into_owned(),
                file: None,
                content_type: "text/plain".to_owned(),
                bytes: match value {
                    Cow::Borrowed(value) => Cow::Borrowed(value.as_bytes()),
                    Cow::Owned(value) => Cow::Owned(value.into_bytes()),
                },
            };
            return Self(pairs.map(field).collect());
        }
        Self(parts(content_type, body).into_iter().filter_map(field).collect())
    }

    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0
            .iter()
            .find(|field| field.name == name)
            .map(|field| &*field.bytes)
    }

    /// A text field; empty if it is not there.
    pub(super) fn text(&self, name: &str) -> String {
        self.bytes(name)
            .map(|bytes| charset::decode(bytes, None))
            .unwrap_or_default()
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &Field<'a>> {
        self.0.iter().filter(|field| field.file.is_some())
    }
}

/// No provider sends more fields.
const FIELDS: usize = 2000;

/// What stands between the boundaries. A form is flat: reading it as a mail would follow whatever a stranger nests in it, and
/// this is done before anything of it is proved.
fn parts<'a>(content_type: &str, body: &'a [u8]) -> Vec<&'a [u8]> {
    let head = format!("Content-Type: {}\r\n\r\n", content_type.replace(['\r', '\n'], " "));
    let Some(head) = MessageParser::default().parse_headers(&head) else {
        return Vec::new();
    };
    let Some(boundary) = head.content_type().and_then(|kind| kind.attribute("boundary")) else {
        return Vec::new();
    };
    let mark = format!("--{boundary}").into_bytes();
    let mut found = Vec::new();
    let mut start = None;
    let mut at = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let rest = line.strip_prefix(mark.as_slice()).map(<[u8]>::trim_ascii_end);
        if matches!(rest, Some(b"" | b"--")) {
            if let Some(start) = start {
                // The line break before a boundary is the boundary's.
                let part: &[u8] = &body[start..at];
                let part = part.strip_suffix(b"\n").unwrap_or(part);
                found.push(part.strip_suffix(b"\r").unwrap_or(part));
            }
            if rest == Some(b"--") || found.len() >= FIELDS {
                return found;
            }
            start = Some(at + line.len());
        }
        at += line.len();
    }
    // A form that was cut off ends where it ends.
    found.extend(start.map(|start| &body[start..]));
    found
}

fn field(part: &[u8]) -> Option<Field<'_>> {
    let (head, bytes) = headed(part);
    let head = MessageParser::default().parse_headers(head)?;
    let disposition = head.content_disposition()?;
    let text = |name: &str| {
        disposition
            .attribute(name)
            .map(|value| charset::decode(value.as_bytes(), None))
    };
    let kind = head.content_type();
    Some(Field {
        name: text("name")?,
        file: text("filename"),
        content_type: kind.map_or_else(String::new, |kind| {
            format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("plain"))
        }),
        bytes: Cow::Borrowed(bytes),
    })
}

/// The lines up to the first empty one, and what follows it.
fn headed(part: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    for line in part.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if line.trim_ascii().is_empty() {
            break;
        }
    }
    part.split_at(at)
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn a_form_is_flat_whatever_is_nested_in_it() {
        let nested = "Content-Type: message/rfc822\r\n\r\n".repeat(100_000);
        let body = format!(
            "--b\r\nContent-Disposition: form-data; name=\"one\"\r\n{nested}\r\n--bc\r\n--b\r\n\
             Content-Disposition: form-data; name=\"two\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n\r\nx\r\n\r\n--b--\r\n"
        );
        let form = Form::read("multipart/form-data; boundary=\"b\"", body.as_bytes());
        assert!(form.bytes("one").is_some_and(|bytes| bytes.ends_with(b"\r\n--bc")));
        assert_eq!(form.bytes("two"), Some(b"\r\nx\r\n".as_slice()));
        assert_eq!(form.files().count(), 1);
        let cut = Form::read(
            "multipart/form-data; boundary=b",
            b"--b\nContent-Disposition: form-data; name=a\n\ncut",
        );
        assert_eq!(cut.text("a"), "cut");
        assert_eq!(Form::read("text/plain", b"--b\n").files().count(), 0);
    }
}
