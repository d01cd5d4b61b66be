//! The text of a file that a customer attached in a chat: fetched when the model wants to read it, and kept.

use deskhand_adapters::postgres::posts;
use deskhand_core::id::TicketId;
use deskhand_core::port::PortError;

use crate::app::App;

/// `None`: the ticket has no such file. What cannot be read is one sentence for the model.
pub(super) async fn read(app: &App, ticket: TicketId, id: &str) -> sqlx::Result<Option<Result<String, String>>> {
    let Some(file) = posts::file(&app.pool, ticket, id).await? else {
        return Ok(None);
    };
    if let Some(content) = file.content {
        return Ok(Some(Ok(content)));
    }
    let fetched = match (file.source.as_str(), &app.slack) {
        ("slack", Some(slack)) => slack.file(&file.url).await,
        (other, _) => Err(PortError::permanent(format!("no {other} is connected"))),
    };
    Ok(Some(match fetched {
        Ok(content) => {
            posts::keep_content(&app.pool, ticket, id, &content).await?;
            Ok(content)
        }
        Err(error) => {
            tracing::warn!(%ticket, %error, "a file could not be read");
            Err(match error {
                PortError::Transient { .. } => {
                    "The file could not be read just now; try it once more, or go on without it."
                }
                PortError::Gone { .. } => "The file was taken away; go on without it.",
                PortError::Ambiguous { .. }
                | PortError::Conflict { .. }
                | PortError::Closed { .. }
                | PortError::Permanent { .. } => "The file cannot be read; go on without it, and say so in a note.",
            }
            .to_owned())
        }
    }))
}
