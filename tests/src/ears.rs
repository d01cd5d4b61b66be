//! Processes of the bot that listen to Discord's gateway, and waiting until they have dealt with what they were told.

use std::time::Duration;

use deskhand::app::App;
use deskhand::discord::gateway;
use futures_util::future::select_all;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::Bot;
use crate::fake::discord::Told;

/// One process that listens, or would.
pub(crate) struct Ear {
    listening: watch::Receiver<gateway::Listening>,
    _work: AbortOnDropHandle<()>,
}

impl Ear {
    pub(crate) fn of(app: &App) -> Self {
        Self {
            listening: app.listening.subscribe(),
            _work: AbortOnDropHandle::new(tokio::spawn(gateway::work(app.clone(), CancellationToken::new()))),
        }
    }
}

impl Bot {
    /// Listens from now on, where the settings say so. Comes back when it hears: what is said before that, nobody hears.
    pub(crate) async fn listens(&mut self) {
        if self.app.config.discord.as_ref().is_some_and(|discord| discord.gateway) {
            self.ears.push(Ear::of(&self.app));
            self.has_heard().await;
        }
    }

    /// Another process would listen as well.
    pub fn another_process_would_listen(&mut self) {
        let app = self.another_app();
        self.ears.push(Ear::of(&app));
    }

    /// The process that has listened for longest dies.
    pub fn its_listener_dies(&mut self) {
        self.ears.remove(0);
    }

    /// Why nobody listens any more; `None` while somebody does.
    pub async fn stops_listening(&self) -> String {
        let mut listening = self.ears[0].listening.clone();
        let stopped = listening.wait_for(|listening| listening.stopped.is_some());
        let stopped = tokio::time::timeout(PATIENCE, stopped).await.expect("it stops");
        stopped.expect("the bot is there").stopped.clone().unwrap_or_default()
    }

    /// Comes back when everything that Discord told was dealt with, also what it tells after a connection that broke. Where
    /// nobody listens, nothing is waited for.
    pub async fn has_heard(&self) {
        let heard = tokio::time::timeout(PATIENCE, self.hears());
        assert!(heard.await.is_ok(), "the bot does not hear what Discord tells");
    }

    async fn hears(&self) {
        let mut told = self.discord.told();
        let mut ears: Vec<_> = self.ears.iter().map(|ear| ear.listening.clone()).collect();
        loop {
            let wanted = told.borrow_and_update().clone();
            ears.retain_mut(|ear| ear.borrow_and_update().stopped.is_none());
            if ears.is_empty() || ears.iter().any(|ear| has(&wanted, &ear.borrow())) {
                return;
            }
            let news = select_all(ears.iter_mut().map(|ear| Box::pin(ear.changed())));
            tokio::select! {
                _ = told.changed() => {}
                _ = news => {}
            }
        }
    }
}

/// Only for a bot that never hears: nothing is judged by it.
const PATIENCE: Duration = Duration::from_secs(60);

fn has(told: &Told, ear: &gateway::Listening) -> bool {
    !told.session.is_empty() && told.session == ear.session && told.seq <= ear.seq
}
