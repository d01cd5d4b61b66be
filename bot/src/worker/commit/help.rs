//! How a helper ends: with its report, and its parent queued again where that waited for this one last.

use deskhand_adapters::postgres::helpers;
use deskhand_adapters::postgres::runs::{self, Lease};
use deskhand_core::run::Ending;
use deskhand_core::transcript::Transcript;

use super::{Done, leave, lost_or_moved};
use crate::app::App;

pub async fn report(app: &App, lease: &Lease, transcript: &Transcript, text: &str) -> anyhow::Result<Done> {
    let mut tx = app.pool.begin().await?;
    // The ticket's lock: a parent that lies down at this moment sees this helper at work or ended, never in between.
    if runs::hold(&mut tx, lease).await?.is_err() {
        return Ok(Done::Lost);
    }
    let left = leave(app, &mut tx, lease, transcript, Vec::new(), Some(Ending::Reported)).await?;
    if left.is_err() {
        drop(tx);
        return lost_or_moved(app, lease).await;
    }
    runs::complete_if_delivered(&mut tx, lease.run).await?;
    helpers::reported(&mut tx, lease.run, text).await?;
    tx.commit().await?;
    app.announce();
    Ok(Done::Yes)
}
