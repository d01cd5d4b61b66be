//! The workers beside a conversation: the same as a service has, without its listener.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::outside;
use crate::worker::{dispatcher, runner, sweeper, wakes};

/// The workers beside the conversation.
pub(super) struct Work {
    cancel: CancellationToken,
    tasks: TaskTracker,
    app: App,
}

impl Work {
    pub(super) fn begin(app: &App) -> Self {
        let (cancel, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(runner::work(app.clone(), cancel.clone()));
        tasks.spawn(dispatcher::work(app.clone(), cancel.clone()));
        tasks.spawn(sweeper::work(app.clone(), cancel.clone()));
        tasks.spawn(wakes::listen(app.clone(), cancel.clone()));
        tasks.spawn(wakes::announce(app.clone(), cancel.clone()));
        let own = app.clone();
        tasks.spawn(async move { outside::learn_who_we_are(&own).await });
        tasks.close();
        Self {
            cancel,
            tasks,
            app: app.clone(),
        }
    }

    /// What is under way is put back, for whoever works next.
    pub(super) async fn end(self) {
        self.app.followers.close();
        self.cancel.cancel();
        let limit = Duration::from_secs(5);
        if tokio::time::timeout(limit, self.tasks.wait()).await.is_err() {
            tracing::warn!("something did not stop in time; its leases run out");
        }
    }
}
