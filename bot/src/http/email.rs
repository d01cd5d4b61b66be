//! `POST /webhooks/email/{mailgun,sendgrid,postmark,ses,raw}`: mail, each way with its own proof. What is not proved leaves
//! no trace; what is, is durable before it is answered, whatever its shape.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use deskhand_adapters::email::way::{MapError, mailgun_proof};
use deskhand_adapters::postgres::inbox::{self, Delivery};
use deskhand_adapters::signature::{self, Refused};
use deskhand_core::inbound::Inbound;
use deskhand_core::ticket::Source;
use secrecy::ExposeSecret;
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use super::{body, header, intake, unauthorized, unavailable};
use crate::app::App;
use crate::mail::{self, Read, Way};

/// A mail with photographs has 35 MB at most providers, and a third more in base64.
pub(super) const LIMIT: usize = 50 * 1024 * 1024;

/// Megabytes of mail that are read in at the same time: four of the largest, or many small ones. Until it is stored, a mail
/// takes a few times its size.
static AT_ONCE: Semaphore = Semaphore::const_new(4 * (LIMIT >> 20));

/// How many megabytes a delivery says that it has; whoever does not say may have the most.
fn megabytes(headers: &HeaderMap) -> u32 {
    let said = header(headers, "content-length").ok().flatten();
    let length = said.and_then(|length| length.parse().ok()).unwrap_or(LIMIT);
    u32::try_from(length.min(LIMIT) >> 20).unwrap_or_default() + 1
}

pub async fn mailgun(State(app): State<App>, request: Request) -> Response {
    serve(app, request, Way::Mailgun).await
}

pub async fn sendgrid(State(app): State<App>, request: Request) -> Response {
    serve(app, request, Way::SendGrid).await
}

pub async fn postmark(State(app): State<App>, request: Request) -> Response {
    serve(app, request, Way::Postmark).await
}

pub async fn ses(State(app): State<App>, request: Request) -> Response {
    serve(app, request, Way::Ses).await
}

pub async fn raw(State(app): State<App>, request: Request) -> Response {
    serve(app, request, Way::Raw).await
}

async fn serve(app: App, request: Request, way: Way) -> Response {
    let headers = request.headers().clone();
    // Before a large body is read, as far as the headers alone can tell.
    if let Err(refused) = verify_head(&app, way, &headers, request.uri().query().unwrap_or_default()) {
        return unauthorized(&refused);
    }
    let Ok(_place) = AT_ONCE.acquire_many(megabytes(&headers).min(50)).await else {
        return unavailable(&"the intake of mail is closed");
    };
    let raw = match body(Bytes::from_request(request, &()).await) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    let content_type = match header(&headers, "content-type") {
        Ok(content_type) => content_type.unwrap_or_default().to_owned(),
        Err(_) => String::new(),
    };
    match verify_body(&app, way, &headers, &content_type, &raw).await {
        Ok(()) => take(&app, way, &content_type, raw.into()).await,
        Err(Unproved::Refused(refused)) => unauthorized(&refused),
        Err(Unproved::NotNow(why)) => unavailable(&why),
    }
}

/// Why a delivery is not taken.
enum Unproved {
    Refused(Refused),
    /// What is needed to check it could not be had: the sender tries again.
    NotNow(String),
}

impl From<Refused> for Unproved {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

fn verify_head(app: &App, way: Way, headers: &HeaderMap, query: &str) -> Result<(), Refused> {
    let config = &app.config.mail;
    match way {
        Way::Mailgun => config.mailgun_key.as_ref().map(|_| ()).ok_or(Refused::NoSecret),
        Way::SendGrid => config.sendgrid_key.as_ref().map(|_| ()).ok_or(Refused::NoSecret),
        Way::Ses => config.ses_topic.as_ref().map(|_| ()).ok_or(Refused::NoSecret),
        Way::Postmark => {
            let auth = config.postmark_auth.as_ref().ok_or(Refused::NoSecret)?;
            let (name, password) = auth.expose_secret().split_once(':').unwrap_or(("", ""));
            signature::basic(name, password, header(headers, "authorization")?)
        }
        Way::Raw => {
            let token = config.webhook_token.as_ref().ok_or(Refused::NoSecret)?;
            let bearer = header(headers, "authorization")?
                .and_then(|value| value.split_once(' '))
                .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
                .map(|(_, token)| token.trim().to_owned());
            // Some mail servers can post to an address, and set no header.
            let in_address = || {
                let pairs = url::form_urlencoded::parse(query.as_bytes());
                pairs
                    .into_iter()
                    .find(|(name, _)| name == "token")
                    .map(|(_, token)| token.into_owned())
            };
            let given = bearer.or_else(in_address).ok_or(Refused::NoSignature)?;
            match bool::from(given.as_bytes().ct_eq(token.expose_secret().as_bytes())) {
                true => Ok(()),
                false => Err(Refused::Mismatch),
            }
        }
    }
}

async fn verify_body(
    app: &App,
    way: Way,
    headers: &HeaderMap,
    content_type: &str,
    body: &Bytes,
) -> Result<(), Unproved> {
    let config = &app.config.mail;
    match way {
        Way::Postmark | Way::Raw => Ok(()),
        Way::Mailgun => {
            let key = config.mailgun_key.as_ref().ok_or(Refused::NoSecret)?;
            let (kind, body) = (content_type.to_owned(), body.clone());
            let proof = aside(move || mailgun_proof(&kind, &body)).await?;
            // A retry keeps its old timestamp for eight hours, and a token is taken once: no window is needed.
            Ok(signature::mailgun(
                key.expose_secret(),
                &proof.timestamp,
                &proof.token,
                &proof.signature,
                app.clock.now(),
                None,
            )?)
        }
        Way::SendGrid => {
            let key = config.sendgrid_key.clone().ok_or(Refused::NoSecret)?;
            let own = |name| header(headers, name).map(|value| value.map(str::to_owned));
            let time = own("x-twilio-email-event-webhook-timestamp")?;
            let given = own("x-twilio-email-event-webhook-signature")?;
            let (body, now) = (body.clone(), app.clock.now());
            let proved = move || signature::sendgrid(&key, time.as_deref(), given.as_deref(), &body, now, None);
            Ok(aside(proved).await??)
        }
        Way::Ses => {
            let topic = config.ses_topic.clone().ok_or(Refused::NoSecret)?;
            let first = body.clone();
            let url = aside(move || signature::sns_certificate_url(&first)).await??;
            let certificate = app.certificates.get(&url).await.map_err(Unproved::NotNow)?;
            let body = body.clone();
            Ok(aside(move || signature::sns(&body, &certificate, &topic)).await??)
        }
    }
}

/// Work over a whole body, apart from the threads that serve everybody: it may have 50 MB.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Unproved> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Unproved::NotNow(error.to_string()))
}

async fn take(app: &App, way: Way, content_type: &str, body: Vec<u8>) -> Response {
    let kind = content_type.to_owned();
    let parsed = tokio::task::spawn_blocking(move || {
        let read = mail::read(way, &kind, &body);
        // What names itself needs no name of its bytes.
        let digest = match &read {
            Ok(Read::Mail(received)) => received.delivery.clone(),
            Ok(Read::Nothing { .. } | Read::Confirm { .. }) | Err(_) => {
                format!("{way:?}:{}", uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, &body))
            }
        };
        (read, body, digest)
    });
    let (read, body, id) = match parsed.await {
        Ok(parsed) => parsed,
        Err(error) => return unavailable(&error),
    };
    match delivery(app, way, content_type, body, (id, read)).await {
        Ok(Some(delivery)) => match intake::accept(app, delivery).await {
            Ok(accepted) => {
                let ticket = accepted.ticket.map(|ticket| ticket.to_string());
                axum::Json(json!({ "repeat": accepted.repeat, "ticket": ticket })).into_response()
            }
            Err(error) => unavailable(&error),
        },
        Ok(None) => axum::Json(json!({ "repeat": false, "ticket": null })).into_response(),
        Err(error) => unavailable(&format!("{error:#}")),
    }
}

/// `None` where it is written down already, being no mail. The id is that of the mail, or made of the bytes: the same bytes have
/// the same one.
async fn delivery(
    app: &App,
    way: Way,
    content_type: &str,
    body: Vec<u8>,
    (id, read): (String, Result<Read, MapError>),
) -> anyhow::Result<Option<Delivery>> {
    let mapped: Result<Inbound, String> = match read {
        Ok(Read::Mail(received)) => mail::mapped(app, &received).await?,
        Ok(Read::Nothing { why }) => Ok(mail::nothing(why)),
        Ok(Read::Confirm { url }) => {
            // A worker opens it: a handler calls nobody.
            inbox::keep(&app.pool, Source::Email.as_str(), "confirm", &id, url.as_bytes()).await?;
            return Ok(None);
        }
        Err(error) => Err(error.to_string()),
    };
    Ok(Some(Delivery {
        source: Source::Email,
        delivery_id: id,
        headers: mail::kept_headers(way, content_type),
        body,
        mapped,
    }))
}
