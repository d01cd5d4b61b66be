//! AWS's signature version 4, from the documents of AWS ("Create a signed AWS API request") and over `ring`: no line of it
//! is shared with what the bot signs with.

use ring::{digest, hmac};

use crate::fake::wire::Asked;

/// What a request must bear, for these headers of it (names in lower case, in the order in which they are signed).
pub struct Signable<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: &'a [u8],
    /// `20260903T180200Z`
    pub time: &'a str,
    pub region: &'a str,
    pub service: &'a str,
}

fn hash(bytes: &[u8]) -> String {
    hex::encode(digest::digest(&digest::SHA256, bytes))
}

/// The signature, in hexadecimal digits.
pub fn signature(secret: &str, of: &Signable<'_>) -> String {
    let mut request = format!("{}\n{}\n\n", of.method, of.path);
    for (name, value) in of.headers {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        request.push_str(&format!("{name}:{value}\n"));
    }
    let names: Vec<&str> = of.headers.iter().map(|(name, _)| *name).collect();
    request.push_str(&format!("\n{}\n{}", names.join(";"), hash(of.body)));
    let day = &of.time[..8];
    let scope = [day, of.region, of.service, "aws4_request"];
    let text = format!(
        "AWS4-HMAC-SHA256\n{}\n{}\n{}",
        of.time,
        scope.join("/"),
        hash(request.as_bytes())
    );
    let mut key = hmac::Key::new(hmac::HMAC_SHA256, format!("AWS4{secret}").as_bytes());
    for part in scope {
        let tag = hmac::sign(&key, part.as_bytes());
        key = hmac::Key::new(hmac::HMAC_SHA256, tag.as_ref());
    }
    hex::encode(hmac::sign(&key, text.as_bytes()))
}

/// Whether a request to SES is signed by who has the secret; else the code of the error that AWS answers.
pub(super) fn verify(asked: &Asked, region: &str, id: &str, secret: &str) -> Result<(), &'static str> {
    let header = asked
        .header("authorization")
        .ok_or("MissingAuthenticationTokenException")?;
    let parameters = header
        .strip_prefix("AWS4-HMAC-SHA256 ")
        .ok_or("IncompleteSignatureException")?;
    let named = |name: &str| {
        let mut parts = parameters.split(',').filter_map(|part| part.trim().split_once('='));
        parts.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let (Some(credential), Some(names), Some(given)) =
        (named("Credential"), named("SignedHeaders"), named("Signature"))
    else {
        return Err("IncompleteSignatureException");
    };
    let time = asked.header("x-amz-date").filter(|time| time.len() == 16);
    let time = time.ok_or("IncompleteSignatureException")?;
    let names: Vec<&str> = names.split(';').collect();
    if !names.is_sorted() || !names.contains(&"host") || !names.contains(&"x-amz-date") {
        return Err("InvalidSignatureException");
    }
    if credential != format!("{id}/{}/{region}/ses/aws4_request", &time[..8]) {
        return Err("UnrecognizedClientException");
    }
    let headers: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (*name, asked.header(name).unwrap_or_default()))
        .collect();
    let right = signature(
        secret,
        &Signable {
            method: asked.method.as_str(),
            path: &asked.path,
            headers: &headers,
            body: &asked.body,
            time,
            region,
            service: "ses",
        },
    );
    if given == right {
        Ok(())
    } else {
        Err("InvalidSignatureException")
    }
}
