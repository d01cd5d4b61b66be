//! `POST /slack/…`: events, interactions and commands. Answered within Slack's three seconds, after the commit.

mod said;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use deskhand_adapters::postgres::inbox;
use deskhand_adapters::signature::{self, Refused};
use deskhand_adapters::slack::form;
use deskhand_adapters::slack::inbound::{
    self, AnswerSubmitted, Click, DraftSubmitted, Malformed, Person, RejectSubmitted, SlackInbound, Spot,
};
use deskhand_core::approval::{Answer, Wish};
use deskhand_core::card::{ButtonKind, ButtonValue};
use secrecy::ExposeSecret;
use serde_json::json;

use super::{Body, body, header, unauthorized, unavailable};
use crate::app::App;
use crate::commands::{self, Asked};
use crate::decisions::{self, Wanted};
use crate::worker::{self, AnswerTo};

pub async fn events(State(app): State<App>, headers: HeaderMap, raw: Body) -> Response {
    let raw = match verified(&app, &headers, raw) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    match inbound::event(&raw) {
        Ok(SlackInbound::Challenge(challenge)) => challenge.into_response(),
        Ok(SlackInbound::Mention(said) | SlackInbound::Bang(said)) => answered(said::spoken_to(&app, &raw, said).await),
        Ok(SlackInbound::Post(post)) => answered(said::written(&app, *post).await),
        Ok(_) => StatusCode::OK.into_response(),
        Err(error) => malformed(&app, &raw, &error).await,
    }
}

pub async fn commands(State(app): State<App>, headers: HeaderMap, raw: Body) -> Response {
    let raw = match verified(&app, &headers, raw) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    match inbound::command(&raw) {
        Ok(SlackInbound::Command(given)) => {
            if let Some(refusal) = outsider(&given.by) {
                return private(&refusal);
            }
            let answer = AnswerTo {
                response_url: given.response_url,
                ..AnswerTo::default()
            };
            let asked = Asked {
                text: given.text,
                actor: given.by.actor,
                delivery: given.delivery,
                answer,
            };
            match commands::serve(&app, &asked).await {
                Ok(served) => private(&served.into_text()),
                Err(error) => {
                    tracing::error!(error = format!("{error:#}"), "a command failed");
                    private("That failed on my side; try again in a moment.")
                }
            }
        }
        Ok(_) => StatusCode::OK.into_response(),
        Err(error) => malformed(&app, &raw, &error).await,
    }
}

pub async fn interactions(State(app): State<App>, headers: HeaderMap, raw: Body) -> Response {
    let raw = match verified(&app, &headers, raw) {
        Ok(raw) => raw,
        Err(response) => return response,
    };
    match inbound::interaction(&raw) {
        Ok(SlackInbound::Click(click)) if click.value.deployment != app.config.deployment => {
            // Another deployment's card: left alone.
            StatusCode::OK.into_response()
        }
        Ok(SlackInbound::Click(click)) => answered(clicked(&app, click).await),
        Ok(SlackInbound::DraftSubmitted(submitted)) => submitted_draft(&app, submitted).await,
        Ok(SlackInbound::AnswerSubmitted(submitted)) => submitted_answer(&app, submitted).await,
        Ok(SlackInbound::RejectSubmitted(submitted)) => submitted_reason(&app, submitted).await,
        Ok(SlackInbound::Shortcut(shortcut)) => answered(said::shortcut_used(&app, shortcut).await),
        Ok(_) => StatusCode::OK.into_response(),
        Err(error) => malformed(&app, &raw, &error).await,
    }
}

fn verified(app: &App, headers: &HeaderMap, raw: Body) -> Result<Bytes, Response> {
    let raw = body(raw)?;
    verify(app, headers, &raw).map_err(|refused| unauthorized(&refused))?;
    Ok(raw)
}

fn verify(app: &App, headers: &HeaderMap, raw: &[u8]) -> Result<(), Refused> {
    let secret = app
        .config
        .slack
        .as_ref()
        .map(|slack| &slack.signing_secret)
        .ok_or(Refused::NoSecret)?;
    signature::slack(
        secret.expose_secret(),
        header(headers, "x-slack-request-timestamp")?,
        header(headers, "x-slack-signature")?,
        raw,
        app.clock.now(),
    )
}

/// Verified but unreadable: kept as bytes, answered 200, shown to the operator.
async fn malformed(app: &App, raw: &[u8], error: &Malformed) -> Response {
    let delivery = format!("malformed-{}", deskhand_core::digest::of(&hex_of(raw)));
    match inbox::keep_unmapped(&app.pool, "slack", &delivery, raw, &error.to_string()).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(error) => unavailable(&error),
    }
}

fn hex_of(raw: &[u8]) -> String {
    raw.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn answered(done: anyhow::Result<()>) -> Response {
    match done {
        Ok(()) => StatusCode::OK.into_response(),
        Err(error) => unavailable(&format!("{error:#}")),
    }
}

fn private(text: &str) -> Response {
    axum::Json(json!({ "response_type": "ephemeral", "text": deskhand_adapters::slack::escape::escape(text) }))
        .into_response()
}

fn outsider(by: &Person) -> Option<String> {
    by.outsider
        .then(|| "This is for the support team of this workspace; nothing was done.".to_owned())
}

/// Whom to answer about something on a card.
fn answer_to(spot: Option<&Spot>, response_url: Option<String>, by: &Person) -> AnswerTo {
    AnswerTo {
        response_url,
        channel: spot.map(|spot| spot.channel.clone()),
        thread: spot.and_then(|spot| spot.thread_ts.clone()),
        person: Some(by.actor.id.clone()),
        ..AnswerTo::default()
    }
}

async fn clicked(app: &App, click: Click) -> anyhow::Result<()> {
    let answer = answer_to(click.spot.as_ref(), click.response_url.clone(), &click.by);
    if let Some(text) = outsider(&click.by) {
        return worker::answer(app, click.by.actor.surface, AnswerTo { text, ..answer }).await;
    }
    let wish = match (click.kind, click.option) {
        (ButtonKind::Approve, _) => Some(Wish::Approve),
        (ButtonKind::Choose, Some(option)) => Some(Wish::Choose { option }),
        (ButtonKind::Choose, None)
        | (ButtonKind::Edit | ButtonKind::Reject | ButtonKind::View | ButtonKind::Answer, _) => None,
    };
    match wish {
        Some(wish) => {
            let wanted = Wanted {
                approval: click.value.approval,
                actor: click.by.actor,
                wish,
                digest: Some(click.value.digest),
                delivery: click.delivery,
                answer,
            };
            let given = decisions::decide(app, &wanted).await?;
            decisions::tell(app, &wanted, &given).await
        }
        None => {
            // The form is opened empty before anything is looked up, since its trigger lives three seconds; filling it is
            // not waited for.
            let app = app.clone();
            tokio::spawn(async move {
                if let Err(error) = open_form(&app, &click).await {
                    tracing::warn!(error = format!("{error:#}"), "a form could not be opened");
                }
            });
            Ok(())
        }
    }
}

async fn open_form(app: &App, click: &Click) -> anyhow::Result<()> {
    let Some(slack) = &app.slack else { return Ok(()) };
    let open = slack.open_modal(&click.trigger_id, &form::loading()).await?;
    let view = match worker::full(app, click.value.approval).await? {
        None => form::note("Not found", &Answer::Unknown.sentence(click.value.approval)),
        Some((card, mail)) => match (click.kind, &card.settled, &click.spot) {
            (ButtonKind::View, ..) => form::full(&card, &mail),
            (_, Some(settled), _) => form::note("Already settled", &settled.line),
            (ButtonKind::Edit, None, Some(spot)) => form::edit(&click.value, spot, card.body.editable()),
            (ButtonKind::Reject, None, Some(spot)) => form::reject(&click.value, spot),
            (ButtonKind::Answer, None, Some(spot)) => form::question(&click.value, spot, &card.will),
            (
                ButtonKind::Edit | ButtonKind::Reject | ButtonKind::Approve | ButtonKind::Choose | ButtonKind::Answer,
                None,
                _,
            ) => form::note("Not here", "Open the card in its channel and press the button there."),
        },
    };
    Ok(slack.update_modal(&open.view_id, &open.hash, &view).await?)
}

async fn submitted_draft(app: &App, submitted: DraftSubmitted) -> Response {
    let form = submitted.form;
    let refusal = outsider(&form.by);
    let wanted = wanted(
        form.by,
        form.value,
        form.delivery,
        &form.spot,
        Wish::Edit { text: submitted.text },
    );
    match decide_form(app, &wanted, refusal).await {
        Ok(None) => axum::Json(form::clear()).into_response(),
        // Refused inside the form, keeping what was typed.
        Ok(Some(sentence)) => axum::Json(form::errors(&[(form::FIRST_INPUT, &sentence)])).into_response(),
        Err(error) => unavailable(&format!("{error:#}")),
    }
}

async fn submitted_answer(app: &App, submitted: AnswerSubmitted) -> Response {
    let form = submitted.form;
    let refusal = outsider(&form.by);
    let wish = Wish::Answer { text: submitted.text };
    let wanted = wanted(form.by, form.value, form.delivery, &form.spot, wish);
    match decide_form(app, &wanted, refusal).await {
        Ok(None) => axum::Json(form::clear()).into_response(),
        Ok(Some(sentence)) => axum::Json(form::errors(&[(form::ANSWER_INPUT, &sentence)])).into_response(),
        Err(error) => unavailable(&format!("{error:#}")),
    }
}

async fn submitted_reason(app: &App, submitted: RejectSubmitted) -> Response {
    let form = submitted.form;
    let refusal = outsider(&form.by);
    let wanted = wanted(
        form.by,
        form.value,
        form.delivery,
        &form.spot,
        Wish::Reject {
            reason: submitted.reason,
        },
    );
    match decide_form(app, &wanted, refusal).await {
        Ok(None) => axum::Json(form::clear()).into_response(),
        Ok(Some(sentence)) => axum::Json(form::update(&form::note("Nothing changed", &sentence))).into_response(),
        Err(error) => unavailable(&format!("{error:#}")),
    }
}

fn wanted(by: Person, value: ButtonValue, delivery: String, spot: &Spot, wish: Wish) -> Wanted {
    let answer = answer_to(Some(spot), None, &by);
    Wanted {
        approval: value.approval,
        actor: by.actor,
        wish,
        digest: Some(value.digest),
        delivery,
        answer,
    }
}

/// The sentence that refuses it, where it was refused.
async fn decide_form(app: &App, wanted: &Wanted, refusal: Option<String>) -> anyhow::Result<Option<String>> {
    if refusal.is_some() {
        return Ok(refusal);
    }
    match decisions::decide(app, wanted).await? {
        Answer::Decided(_) => Ok(None),
        Answer::Checking => {
            // The form closes; the answer follows from the inbox.
            decisions::tell(app, wanted, &Answer::Checking).await?;
            Ok(None)
        }
        other => Ok(Some(other.sentence(wanted.approval))),
    }
}
