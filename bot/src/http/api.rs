//! `/api/…`: tickets in from any system, and everything to read. A bearer token opens it.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deskhand_adapters::postgres::inbox::Delivery;
use deskhand_adapters::postgres::tickets::{self, Filter};
use deskhand_adapters::postgres::{approvals, mails, outbox, runs};
use deskhand_core::approval::{Actor, Answer, Surface, Wish};
use deskhand_core::command::TicketRef;
use deskhand_core::id::{ApprovalId, RunId, TicketId};
use deskhand_core::inbound::{Happening, Inbound, NewComment, Told};
use deskhand_core::show;
use deskhand_core::ticket::{Author, OutsideId, Priority, Requester, Source};
use deskhand_core::transcript::{self, Transcript};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use super::{Body, body, intake, sentence, unavailable};
use crate::app::App;
use crate::decisions::{self, Wanted};
use crate::worker::AnswerTo;
use crate::worker::perform::resolve;

/// A ticket from any system.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTicket {
    /// The sender's own number: a second post with it adds to the same ticket.
    #[serde(default)]
    external_id: Option<String>,
    #[serde(default)]
    subject: String,
    body: String,
    requester: NewRequester,
    #[serde(default)]
    priority: Option<Priority>,
    /// Makes a repeat harmless; the `Idempotency-Key` header does the same.
    #[serde(default)]
    idempotency_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRequester {
    #[serde(default)]
    name: String,
    #[serde(default, alias = "address")]
    email: String,
}

pub(super) fn authorized(app: &App, headers: &HeaderMap) -> Result<(), Response> {
    let Some(token) = &app.config.api_token else {
        return Err(sentence(
            StatusCode::UNAUTHORIZED,
            "The API is closed: DESKHAND_API_TOKEN is not set.",
        ));
    };
    let given = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    match given {
        Some(given) if bool::from(given.as_bytes().ct_eq(token.expose_secret().as_bytes())) => Ok(()),
        Some(_) | None => Err(sentence(
            StatusCode::UNAUTHORIZED,
            "The bearer token is missing or wrong.",
        )),
    }
}

/// Reads JSON with one sentence for what is wrong with it.
fn read<'a, T: Deserialize<'a>>(raw: &'a Bytes) -> Result<T, Response> {
    serde_json::from_slice(raw).map_err(|error| {
        sentence(
            StatusCode::BAD_REQUEST,
            format!("The body is not what this takes: {error}."),
        )
    })
}

/// An id is looked up in an index, which holds no long ones.
const LONGEST_ID: usize = 200;

fn is_id(text: &str) -> bool {
    text.chars().count() <= LONGEST_ID && !text.chars().any(char::is_control)
}

pub async fn open(State(app): State<App>, headers: HeaderMap, raw: Body) -> Response {
    if let Err(response) = authorized(&app, &headers) {
        return response;
    }
    let raw = match body(raw) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    let new: NewTicket = match read(&raw) {
        Ok(new) => new,
        Err(response) => return response,
    };
    if new.body.trim().is_empty() {
        return sentence(StatusCode::BAD_REQUEST, "The body of the ticket is empty.");
    }
    let key = headers
        .get("idempotency-key")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let delivery_id = new
        .idempotency_key
        .or(key)
        .unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let external = new
        .external_id
        .filter(|id| !id.trim().is_empty())
        .unwrap_or_else(|| delivery_id.clone());
    if let Some(name) = [("idempotency key", &delivery_id), ("external_id", &external)]
        .into_iter()
        .find_map(|(name, id)| (!is_id(id)).then_some(name))
    {
        let why = format!("The {name} has at most {LONGEST_ID} characters, none of them a control character.");
        return sentence(StatusCode::BAD_REQUEST, why);
    }
    let comment = NewComment {
        outside_id: Some(delivery_id.clone()),
        author: Author::Requester,
        author_name: new.requester.name.clone(),
        public: true,
        body: new.body,
        created_at: None,
        marker: None,
    };
    let told = Told {
        subject: Some(new.subject),
        requester: Some(Requester {
            name: new.requester.name,
            address: new.requester.email,
        }),
        priority: new.priority,
        comments: vec![comment],
        ..Told::default()
    };
    let ticket = OutsideId {
        source: Source::Api,
        id: external,
    };
    let delivery = Delivery {
        source: Source::Api,
        delivery_id,
        headers: json!({}),
        body: raw.to_vec(),
        mapped: Ok(Inbound {
            ticket: ticket.clone(),
            what: Happening::Told(Box::new(told)),
        }),
    };
    let accepted = match intake::accept(&app, delivery).await {
        Ok(accepted) => accepted,
        Err(error) => return unavailable(&error),
    };
    // A repeat names the ticket that the first one opened.
    let id = match accepted.ticket {
        Some(id) => Some(id),
        None => match tickets::find_outside(&app.pool, &ticket).await {
            Ok(id) => id,
            Err(error) => return unavailable(&error),
        },
    };
    let status = if accepted.repeat {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let answer = json!({ "ticket": id.map(|id| id.to_string()), "repeat": accepted.repeat, "run": accepted.run });
    (status, Json(answer)).into_response()
}

pub async fn list(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Err(response) = authorized(&app, &headers) {
        return response;
    }
    match tickets::list(
        &app.pool,
        &Filter {
            most: 200,
            ..Filter::default()
        },
    )
    .await
    {
        Ok(rows) => {
            let tickets: Vec<Value> = rows.iter().map(listed).collect();
            Json(json!({ "tickets": tickets })).into_response()
        }
        Err(error) => unavailable(&error),
    }
}

fn listed(row: &tickets::Listed) -> Value {
    json!({
        "ticket": TicketId(row.id).to_string(), "source": row.source, "outside_id": row.outside_id,
        "subject": row.subject, "requester": row.requester, "state": row.state, "triage": row.triage,
        "trouble": row.trouble, "updated_at": row.updated_at,
    })
}

pub async fn ticket(State(app): State<App>, headers: HeaderMap, Path(ticket): Path<String>) -> Response {
    if let Err(response) = authorized(&app, &headers) {
        return response;
    }
    let reference = match ticket.parse::<TicketRef>() {
        Ok(reference) => reference,
        Err(error) => return sentence(StatusCode::BAD_REQUEST, error.to_string()),
    };
    match whole_ticket(&app, &reference).await {
        Ok(Some(value)) => Json(value).into_response(),
        Ok(None) => sentence(StatusCode::NOT_FOUND, format!("There is no ticket {reference} here.")),
        Err(error) => unavailable(&error),
    }
}

/// A ticket with its comments, runs, approvals and effects, as `show --json` prints it too.
pub async fn whole_ticket(app: &App, reference: &TicketRef) -> sqlx::Result<Option<Value>> {
    let Some(id) = resolve(app, reference).await? else {
        return Ok(None);
    };
    let Some(whole) = tickets::get(&app.pool, id).await? else {
        return Ok(None);
    };
    let t = &whole.ticket;
    let approvals: Vec<Value> = approvals::read(&app.pool, approvals::Which::OfTicket(id))
        .await?
        .iter()
        .map(approval)
        .collect();
    let mut comments = json!(tickets::comments(&app.pool, id, 0).await?);
    let wholes = mails::wholes(&app.pool, id).await?;
    for comment in comments.as_array_mut().into_iter().flatten() {
        // A mail is stored whole: quote and signature are beside the words that became the comment.
        if let Some((_, whole)) = wholes.iter().find(|(of, _)| comment["id"] == *of) {
            comment["whole"] = json!(whole);
        }
    }
    Ok(Some(json!({
        "ticket": t.id.to_string(), "source": t.outside.source, "outside_id": t.outside.id, "subject": t.subject,
        "requester": t.requester, "state": t.state, "version": t.version, "triage": t.triage, "url": whole.url,
        "trouble": whole.trouble, "created_at": t.created_at, "updated_at": t.updated_at,
        "comments": comments,
        "runs": runs::of_ticket(&app.pool, id).await?,
        "approvals": approvals,
        "effects": outbox::list(&app.pool, Some(id)).await?,
    })))
}

pub async fn run(State(app): State<App>, headers: HeaderMap, Path(run): Path<String>) -> Response {
    if let Err(response) = authorized(&app, &headers) {
        return response;
    }
    let Ok(id) = run.parse::<RunId>() else {
        return sentence(StatusCode::BAD_REQUEST, "A run's id is a UUID.");
    };
    let found = async {
        let Some(run) = runs::get(&app.pool, id).await? else {
            return Ok::<_, sqlx::Error>(None);
        };
        let transcript = Transcript::new(runs::steps(&app.pool, id, 0).await?);
        let lines: Vec<Value> = transcript
            .steps()
            .iter()
            .map(|step| json!({ "seq": step.seq, "at": step.at, "line": transcript::line(&transcript, step), "step": step.kind }))
            .collect();
        let usage = transcript.usage();
        Ok(Some(
            json!({ "run": run, "ticket": TicketId(run.ticket_id).to_string(), "usage": usage, "steps": lines }),
        ))
    };
    match found.await {
        Ok(Some(value)) => Json(value).into_response(),
        Ok(None) => sentence(StatusCode::NOT_FOUND, "There is no such run."),
        Err(error) => unavailable(&error),
    }
}

pub async fn approvals(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Err(response) = authorized(&app, &headers) {
        return response;
    }
    match approvals::read(&app.pool, approvals::Which::Open).await {
        Ok(rows) => Json(json!({ "approvals": rows.iter().map(approval).collect::<Vec<_>>() })).into_response(),
        Err(error) => unavailable(&error),
    }
}

/// An approval as the API and `--json` show it.
pub fn approval(row: &approvals::Row) -> Value {
    json!({
        "approval": row.id.to_string(), "ticket": row.ticket.to_string(), "run": row.run, "tool": row.tool,
        "will": show::will(&row.effect), "effect": row.effect, "digest": row.digest, "why": row.why,
        "marks": row.marks, "state": row.state, "decision": row.decision, "expires_at": row.expires_at,
        "executed": row.executed, "created_at": row.created_at,
    })
}

/// What a listed `api:` actor decides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decide {
    /// The `<name>` of `api:<name>` on the approvers' list.
    actor: String,
    decision: DecideAs,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    /// The digest that the decision is about, or at least its first twelve characters.
    digest: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DecideAs {
    #[serde(alias = "approved")]
    Approve,
    #[serde(alias = "edited")]
    Edit,
    #[serde(alias = "rejected")]
    Reject,
    /// A question, with its text.
    #[serde(alias = "answered")]
    Answer,
}

pub async fn decide(State(app): State<App>, headers: HeaderMap, Path(id): Path<String>, raw: Body) -> Response {
    if let Err(response) = authorized(&app, &headers) {
        return response;
    }
    let raw = match body(raw) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    let decide: Decide = match read(&raw) {
        Ok(decide) => decide,
        Err(response) => return response,
    };
    let Ok(approval) = id.parse::<ApprovalId>() else {
        return sentence(StatusCode::BAD_REQUEST, "An approval is named like A-17.");
    };
    if decide.digest.len() < deskhand_core::digest::PREFIX {
        return sentence(
            StatusCode::BAD_REQUEST,
            "The digest needs at least its first twelve characters.",
        );
    }
    let wish = match (decide.decision, decide.text, decide.reason) {
        (DecideAs::Approve, ..) => Wish::Approve,
        (DecideAs::Edit, Some(text), _) => Wish::Edit { text },
        (DecideAs::Edit, None, _) => return sentence(StatusCode::BAD_REQUEST, "An edit needs its text."),
        (DecideAs::Answer, Some(text), _) => Wish::Answer { text },
        (DecideAs::Answer, None, _) => return sentence(StatusCode::BAD_REQUEST, "An answer needs its text."),
        (DecideAs::Reject, _, reason) => Wish::Reject {
            reason: reason.unwrap_or_default(),
        },
    };
    let name = decide.actor.trim().trim_start_matches("api:").to_owned();
    let actor = Actor {
        surface: Surface::Api,
        id: name.clone(),
        name,
        workspace: None,
        roles: Vec::new(),
    };
    let wanted = Wanted {
        approval,
        actor,
        wish,
        digest: Some(decide.digest),
        delivery: uuid::Uuid::now_v7().to_string(),
        answer: AnswerTo::default(),
    };
    match decisions::try_decide(&app, &wanted).await {
        Ok(Some(answer)) => decided(approval, &answer),
        Ok(None) => unavailable(&"the approval is being worked on"),
        Err(error) => unavailable(&format!("{error:#}")),
    }
}

fn decided(id: ApprovalId, answer: &Answer) -> Response {
    let (status, word) = match answer {
        Answer::Decided(_) => (StatusCode::OK, "decided"),
        Answer::AlreadyDecided(_) => (StatusCode::CONFLICT, "already_decided"),
        Answer::Expired => (StatusCode::CONFLICT, "expired"),
        Answer::Withdrawn { .. } => (StatusCode::CONFLICT, "withdrawn"),
        Answer::Stale => (StatusCode::CONFLICT, "stale"),
        Answer::NotAllowed { .. } => (StatusCode::FORBIDDEN, "not_allowed"),
        Answer::Checking => (StatusCode::ACCEPTED, "checking"),
        Answer::Unknown => (StatusCode::NOT_FOUND, "unknown"),
    };
    (status, Json(json!({ "result": word, "sentence": answer.sentence(id) }))).into_response()
}
