//! The fields of a posted form, as bytes: `multipart/form-data` and `application/x-www-form-urlencoded`.

use mail_parser::{MessageParser, MimeHeaders};

use super::charset;

pub(super) struct Field {
    pub name: String,
    /// Set for files.
    pub file: Option<String>,
    pub content_type: String,
    pub bytes: Vec<u8>,
}

pub(super) struct Form(Vec<Field>);

impl Form {
    /// Reads what it can; a body that is no form has no fields.
    pub(super) fn read(content_type: &str, body: &[u8]) -> Self {
        if content_type.to_ascii_lowercase().contains("urlencoded") {
            let pairs = url::form_urlencoded::parse(body);
            let field = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| Field {
                name: name.into_owned(),
                file: None,
                content_type: "text/plain".to_owned(),
                bytes: value.into_owned().into_bytes(),
            };
            return Self(pairs.map(field).collect());
        }
        // A multipart form is a multipart mail with other headers.
        let mut mail = format!("Content-Type: {}\r\n\r\n", content_type.replace(['\r', '\n'], " ")).into_bytes();
        mail.extend_from_slice(body);
        let Some(message) = MessageParser::default().parse(&mail) else {
            return Self(Vec::new());
        };
        let fields = message.parts.iter().filter_map(|part| {
            let disposition = part.content_disposition()?;
            let bytes = mail.get(part.offset_body as usize..part.offset_end as usize)?;
            let text = |name: &str| {
                disposition
                    .attribute(name)
                    .map(|value| charset::decode(value.as_bytes(), None))
            };
            let kind = part.content_type();
            Some(Field {
                name: text("name")?,
                file: text("filename"),
                content_type: kind.map_or_else(String::new, |kind| {
                    format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("plain"))
                }),
                bytes: bytes.to_vec(),
            })
        });
        Self(fields.collect())
    }

    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0
            .iter()
            .find(|field| field.name == name)
            .map(|field| field.bytes.as_slice())
    }

    /// A text field; empty if it is not there.
    pub(super) fn text(&self, name: &str) -> String {
        self.bytes(name)
            .map(|bytes| charset::decode(bytes, None))
            .unwrap_or_default()
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &Field> {
        self.0.iter().filter(|field| field.file.is_some())
    }
}
