//! Clicks and commands that were kept: served here, after the chat was asked about the person.

use deskhand_adapters::postgres::{approvals, inbox};
use deskhand_core::approval::Answer;
use deskhand_core::roster::Membership;

use crate::app::App;
use crate::commands::{self, Asked, Served};
use crate::decisions::{self, Wanted};
use crate::people;
use crate::worker::answer;

/// After so many tries it is given up, and the operator sees it in the inbox.
const TRIES: i32 = 20;

/// Serves what is due. Gives how many rows that were.
pub async fn serve(app: &App) -> anyhow::Result<usize> {
    let rows = inbox::take_kept(&app.pool, 20, app.clock.moved()).await?;
    let count = rows.len();
    for row in rows {
        let served = match row.kind.as_str() {
            "click" => click(app, &row.body).await,
            "command" => command(app, &row.body).await,
            "confirm" => confirm(&row.body).await,
            other => Err(anyhow::anyhow!("a kept {other} is not known to this version")),
        };
        match served {
            Ok(true) => inbox::end_kept(&app.pool, row.id, None).await?,
            Ok(false) if row.attempts < TRIES => {}
            Ok(false) => inbox::end_kept(&app.pool, row.id, Some("it could not be served in time")).await?,
            Err(error) => {
                tracing::error!(
                    inbox.id = row.id,
                    error = format!("{error:#}"),
                    "a kept click or command failed"
                );
                if row.attempts >= TRIES {
                    inbox::end_kept(&app.pool, row.id, Some(&format!("{error:#}"))).await?;
                }
            }
        }
    }
    Ok(count)
}

async fn click(app: &App, body: &[u8]) -> anyhow::Result<bool> {
    let wanted: Wanted = serde_json::from_slice(body)?;
    let Some(about) = approvals::about(&app.pool, wanted.approval).await? else {
        decisions::tell(app, &wanted, &Answer::Unknown).await?;
        return Ok(true);
    };
    let list = app.config.route(&about.tool).approvers;
    if people::is_of_ours(app, &wanted.actor).is_none() {
        people::look_up(app, list, &wanted.actor).await?;
    }
    if people::is_of_ours(app, &wanted.actor) == Some(false) {
        decisions::tell(app, &wanted, &decisions::elsewhere()).await?;
        return Ok(true);
    }
    if let Membership::Unknown(_) = people::on_list(app, list, &wanted.actor).await? {
        people::look_up(app, list, &wanted.actor).await?;
    }
    let known = match people::is_of_ours(app, &wanted.actor) {
        Some(_) => Some(people::on_list(app, list, &wanted.actor).await?),
        None => None,
    };
    let given = match known {
        Some(Membership::Yes) => decisions::press(app, &wanted, about, true).await?,
        Some(Membership::No) => decisions::press(app, &wanted, about, false).await?,
        // What cannot be checked is refused, and said so.
        Some(Membership::Unknown(_)) | None => {
            let why =
                "Your rights could not be checked just now, so nothing was changed. Try again in a minute.".into();
            Some(Answer::NotAllowed { why })
        }
    };
    let Some(given) = given else { return Ok(false) };
    decisions::tell(app, &wanted, &given).await?;
    Ok(true)
}

async fn confirm(body: &[u8]) -> anyhow::Result<bool> {
    crate::mail::confirm(std::str::from_utf8(body)?).await?;
    Ok(true)
}

async fn command(app: &App, body: &[u8]) -> anyhow::Result<bool> {
    let mut asked: Asked = serde_json::from_slice(body)?;
    people::call_by_name(app, &mut asked.actor).await?;
    let served = match commands::run(app, &asked).await? {
        Some(served) => served,
        None => {
            people::look_up(app, &people::who_may_command(app, &asked.actor), &asked.actor).await?;
            commands::run(app, &asked).await?.unwrap_or_else(|| {
                Served::Private("Your rights could not be checked just now. Try again in a minute.".into())
            })
        }
    };
    let to = served.to(&asked.actor, asked.answer.clone());
    answer(app, asked.actor.surface, to).await?;
    Ok(true)
}
