//! Wake-ups between processes. They only wake: everything polls as well, so one that is lost costs a second at most.

use std::time::Duration;

use deskhand_adapters::postgres::wake;
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// At most one notification in this time, however much becomes ready: each takes a lock that all of them share.
const EVERY: Duration = Duration::from_millis(5);

/// Tells other processes, after the commits and never in them.
pub async fn announce(app: App, cancel: CancellationToken) {
    loop {
        tokio::select! {
            () = app.news.notified() => {}
            () = cancel.cancelled() => return,
        }
        if let Err(error) = wake::notify(&app.pool, &app.instance).await {
            tracing::debug!(%error, "other processes were not woken; they poll");
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Hears other processes. Losing the connection only costs time.
pub async fn listen(app: App, cancel: CancellationToken) {
    while !cancel.is_cancelled() {
        let listened = async {
            let mut wakes = wake::listen(&app.pool).await?;
            loop {
                let from = tokio::select! {
                    from = wakes.next() => from?,
                    () = cancel.cancelled() => return Ok::<(), sqlx::Error>(()),
                };
                if from.as_deref() != Some(app.instance.as_str()) {
                    app.wake();
                }
            }
        };
        if let Err(error) = listened.await {
            tracing::warn!(%error, "listening for wake-ups failed; trying again");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}
