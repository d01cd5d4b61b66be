//! Four services that take mail over HTTP, at one address: Mailgun, SendGrid, Postmark and Amazon SES.
//!
//! Each checks its own proof and the shape of what it is sent, and answers as its documentation has it. What they took is
//! kept in one form, whichever way it came.

mod aws;
mod skin;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::State as Held;
use axum::http::{Request, Response};
use tokio_util::task::AbortOnDropHandle;

use super::wire::{Asked, serve};

pub use aws::{Signable, signature as aws_signature};

pub const MAILGUN_KEY: &str = "key-of-mailgun";
pub const MAILGUN_DOMAIN: &str = "lamps.example";
pub const SENDGRID_KEY: &str = "SG.key-of-sendgrid";
pub const POSTMARK_TOKEN: &str = "token-of-postmark";
pub const SES_REGION: &str = "eu-west-1";
pub const SES_ID: &str = "AKIDEXAMPLE";
pub const SES_SECRET: &str = "secret-of-ses";

/// A mail that one of them took, as its addressee gets it.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    pub service: &'static str,
    pub from: String,
    pub to: String,
    pub subject: String,
    pub reply_to: String,
    pub message_id: String,
    /// All others, by name.
    pub headers: Vec<(String, String)>,
    pub text: String,
    pub html: String,
}

impl Taken {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

enum Next {
    Refused {
        status: u16,
        retry_after: Option<u64>,
    },
    /// The mail is kept, and the connection breaks before the answer.
    TakenSilently,
}

#[derive(Default)]
struct State {
    taken: Vec<Taken>,
    next: VecDeque<Next>,
    /// Statuses of all that was answered.
    answered: Vec<u16>,
}

/// What a service answers; `retry-after` in seconds.
struct Answer {
    status: u16,
    kind: &'static str,
    body: String,
    retry_after: Option<u64>,
}

pub struct Mailer {
    pub url: String,
    state: Arc<Mutex<State>>,
    _server: AbortOnDropHandle<()>,
}

impl Mailer {
    pub async fn start() -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&state));
        let (url, server) = serve(router).await;
        Self {
            url,
            state,
            _server: server,
        }
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next mail is answered with this status, in the service's own words, and not taken.
    pub fn refuses_next(&self, status: u16, retry_after: Option<u64>) {
        self.locked().next.push_back(Next::Refused { status, retry_after });
    }

    /// The next mail is taken, and the connection breaks before the service says so.
    pub fn takes_next_silently(&self) {
        self.locked().next.push_back(Next::TakenSilently);
    }

    pub fn taken(&self) -> Vec<Taken> {
        self.locked().taken.clone()
    }

    /// The one mail that was taken.
    pub fn only(&self) -> Taken {
        let mut taken = self.taken();
        assert_eq!(taken.len(), 1, "mails that were taken");
        taken.remove(0)
    }

    /// The statuses of all answers, in order; a lost answer has none.
    pub fn answered(&self) -> Vec<u16> {
        self.locked().answered.clone()
    }
}

async fn answer(Held(state): Held<Arc<Mutex<State>>>, request: Request<Body>) -> Response<Body> {
    let asked = Asked::read(request).await;
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let number = state.taken.len() + 1;
    let answer = match skin::judged(&asked, number) {
        Err(refused) => refused,
        Ok((taken, welcome)) => match state.next.pop_front() {
            Some(Next::Refused { status, retry_after }) => skin::refused(taken.service, status, retry_after),
            Some(Next::TakenSilently) => {
                state.taken.push(taken);
                asked.breaker.breaks();
                return Response::new(Body::empty());
            }
            None => {
                state.taken.push(taken);
                welcome
            }
        },
    };
    state.answered.push(answer.status);
    let mut response = Response::builder()
        .status(answer.status)
        .header("content-type", answer.kind);
    if let Some(seconds) = answer.retry_after {
        response = response.header("retry-after", seconds);
    }
    response
        .body(Body::from(answer.body))
        .expect("plain headers and a text")
}
