//! SES through SNS: a notification whose `Message` is JSON with the raw mail, as text or base64; or a pointer to S3; or
//! the topic's question whether we want its notifications.
//! Source: docs.aws.amazon.com, "Contents of notifications for Amazon SES email receiving".

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::email::parse::parse;
use crate::signature::sns_path;

use super::{MapError, Received, digest, received};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SesNotice {
    Mail(Box<Received>),
    /// Whoever set the topic up must open this address once. It is one of SNS's own, and nothing here opens it.
    Confirm {
        url: String,
    },
    /// Understood, and no mail.
    Nothing {
        why: String,
    },
}

/// Where the mail lies, for whoever fetches it.
fn in_s3(action: &Value) -> MapError {
    let named = |key: &str| {
        let name = action[key].as_str().unwrap_or_default();
        name.chars().filter(|c| !c.is_control()).take(200).collect::<String>()
    };
    let (bucket, key) = (named("bucketName"), named("objectKey"));
    MapError {
        why: format!(
            "The mail lies in S3 (bucket {bucket}, key {key}), to which there is no access: post that object to \
             /webhooks/email/raw, and let the rule publish to SNS instead."
        ),
    }
}

/// A notification that `signature::sns` found genuine.
pub fn ses(body: &[u8]) -> Result<SesNotice, MapError> {
    let outer: Value = serde_json::from_slice(body).map_err(|_| MapError::new("The body is no JSON."))?;
    match outer["Type"].as_str().unwrap_or_default() {
        "SubscriptionConfirmation" => {
            let url = outer["SubscribeURL"].as_str().unwrap_or_default();
            if sns_path(url).is_some() {
                return Ok(SesNotice::Confirm { url: url.to_owned() });
            }
            return Err(MapError::new("The address for confirming is not one of SNS."));
        }
        "UnsubscribeConfirmation" => {
            return Ok(SesNotice::Nothing {
                why: "The topic was unsubscribed.".to_owned(),
            });
        }
        "Notification" => {}
        _ => return Err(MapError::new("A notification of a kind that is not known.")),
    }
    let inner: Value = serde_json::from_str(outer["Message"].as_str().unwrap_or_default())
        .map_err(|_| MapError::new("The notification's Message is no JSON."))?;
    let receipt = &inner["receipt"];
    let Some(content) = inner["content"].as_str() else {
        if receipt["action"]["type"].as_str() == Some("S3") {
            return Err(in_s3(&receipt["action"]));
        }
        return Ok(SesNotice::Nothing {
            why: "A notification without a mail.".to_owned(),
        });
    };
    let raw = if receipt["action"]["encoding"].as_str() == Some("BASE64") {
        STANDARD
            .decode(content)
            .map_err(|_| MapError::new("The mail is no base64."))?
    } else {
        content.as_bytes().to_vec()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let to = receipt["recipients"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_lowercase)
        .collect();
    let id = inner["mail"]["messageId"].as_str().filter(|id| !id.is_empty());
    let delivery = format!("ses:{}", id.map_or_else(|| digest(&raw), str::to_owned));
    let mut received = received(delivery, parse(&raw), text(&inner["mail"]["source"]), to);
    for (key, why) in [
        ("spamVerdict", "SES takes this mail for spam."),
        ("virusVerdict", "SES found a virus in this mail."),
        ("dmarcVerdict", "The sender's domain disowns this mail (DMARC failed)."),
    ] {
        if receipt[key]["status"].as_str() == Some("FAIL") && !received.doubts.iter().any(|doubt| doubt == why) {
            received.doubts.push(why.to_owned());
        }
    }
    Ok(SesNotice::Mail(Box::new(received)))
}
