//! SNS's signature: RSA (PKCS#1 v1.5) over the notification's own fields, with a certificate that the notification names
//! (docs.aws.amazon.com, "Verifying the signatures of Amazon SNS messages").
//!
//! The certificate is trusted because it was fetched over HTTPS from a host of SNS: so [`sns_certificate_url`] is asked
//! before anything is fetched, and whoever fetches follows no redirect. Nothing is fetched here.

mod certificate;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::Value;

use super::Refused;

/// The address of the certificate that a notification names, if it is one of SNS's own.
pub fn sns_certificate_url(body: &[u8]) -> Result<String, Refused> {
    let json: Value = serde_json::from_slice(body).map_err(|_| Refused::UnknownForm)?;
    let url = json["SigningCertURL"].as_str().ok_or(Refused::NoSignature)?;
    let id = sns_path(url)
        .and_then(|path| path.strip_prefix("SimpleNotificationService-"))
        .and_then(|rest| rest.strip_suffix(".pem"));
    if id.is_some_and(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_alphanumeric())) {
        Ok(url.to_owned())
    } else {
        Err(Refused::ForeignCertificate)
    }
}

/// What follows the host in an address of SNS, `https://sns.<region>.amazonaws.com[.cn]/…`, letter by letter; `None` for
/// every other address.
pub fn sns_path(url: &str) -> Option<&str> {
    let (host, path) = url.strip_prefix("https://")?.split_once('/')?;
    let rest = host.strip_prefix("sns.")?;
    let region = rest
        .strip_suffix(".amazonaws.com")
        .or_else(|| rest.strip_suffix(".amazonaws.com.cn"))?;
    let is_region = region.len() >= 3 && region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    is_region.then_some(path)
}

/// `certificate` is the PEM behind [`sns_certificate_url`]; `topic` is the topic that is expected. Anybody may have a topic,
/// so without one that is expected nothing is accepted.
pub fn sns(body: &[u8], certificate: &str, topic: &str) -> Result<(), Refused> {
    sns_certificate_url(body)?;
    let json: Value = serde_json::from_slice(body).map_err(|_| Refused::UnknownForm)?;
    if topic.is_empty() {
        return Err(Refused::NoSecret);
    }
    if json["TopicArn"].as_str() != Some(topic) {
        return Err(Refused::ForeignTopic);
    }
    let signature = json["Signature"]
        .as_str()
        .filter(|s| !s.is_empty())
        .ok_or(Refused::NoSignature)?;
    let signature = STANDARD.decode(signature).map_err(|_| Refused::UnknownForm)?;
    let algorithm: &dyn VerificationAlgorithm = match json["SignatureVersion"].as_str() {
        Some("1") => &RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
        Some("2") => &RSA_PKCS1_2048_8192_SHA256,
        Some(_) | None => return Err(Refused::UnknownForm),
    };
    let key = certificate::rsa_key(certificate).ok_or(Refused::ForeignCertificate)?;
    let signed = signed(&json)?;
    UnparsedPublicKey::new(algorithm, key)
        .verify(signed.as_bytes(), &signature)
        .map_err(|_| Refused::Mismatch)
}

/// The fields in the order in which they are signed, each as its name and its value on a line of their own.
fn signed(json: &Value) -> Result<String, Refused> {
    let fields: &[&str] = match json["Type"].as_str() {
        Some("Notification") => &["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
        Some("SubscriptionConfirmation" | "UnsubscribeConfirmation") => &[
            "Message",
            "MessageId",
            "SubscribeURL",
            "Timestamp",
            "Token",
            "TopicArn",
            "Type",
        ],
        Some(_) | None => return Err(Refused::UnknownForm),
    };
    let mut out = String::new();
    for field in fields {
        match json[*field].as_str() {
            Some(value) => out.push_str(&format!("{field}\n{value}\n")),
            None if *field == "Subject" => {}
            None => return Err(Refused::UnknownForm),
        }
    }
    Ok(out)
}
