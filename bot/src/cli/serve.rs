//! `deskhand serve`: the bot as a service, whole or in parts.

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::start::Context;
use crate::discord::gateway;
use crate::http;
use crate::learning;
use crate::mail::mailbox;
use crate::outside;
use crate::worker::{dispatcher, runner, sweeper, wakes};

#[derive(Args, Debug)]
pub(super) struct Serve {
    /// Only these parts; replicas may share the work as they like.
    #[arg(long, value_delimiter = ',', value_name = "PARTS")]
    only: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Http,
    Runner,
    Dispatcher,
    Sweeper,
}

pub(super) async fn run(context: &Context, serve: &Serve) -> anyhow::Result<ExitCode> {
    let config = context.settings()?;
    for remark in config.remarks() {
        eprintln!("deskhand: {remark}");
    }
    let has = |part| serve.only.is_empty() || serve.only.contains(&part);
    // Before anything is started, so that a port in use leaves nothing behind.
    let listener = match has(Part::Http) {
        true => Some(
            TcpListener::bind(config.addr)
                .await
                .with_context(|| format!("DESKHAND_ADDR: {} cannot be listened on", config.addr))?,
        ),
        false => None,
    };
    let started = context.start_with(config).await?;
    let app = started.app.clone();

    let cancel = CancellationToken::new();
    let tracker = TaskTracker::new();
    if let Some(listener) = listener {
        eprintln!("deskhand: listening on http://{}", listener.local_addr()?);
        let (app, stop) = (app.clone(), cancel.clone());
        tracker.spawn(async move {
            let served = axum::serve(listener, http::router(app))
                .with_graceful_shutdown(stop.cancelled_owned())
                .await;
            if let Err(error) = served {
                tracing::error!(%error, "the listener failed");
            }
        });
    }
    if has(Part::Http) {
        tracker.spawn(gateway::work(app.clone(), cancel.clone()));
    }
    if has(Part::Runner) {
        if let Some(tools) = app.tools.clone() {
            // Ahead of the first ticket; a run waits for it.
            tracker.spawn(async move { tools.ready().await });
        }
        tracker.spawn(runner::work(app.clone(), cancel.clone()));
    }
    if has(Part::Dispatcher) {
        tracker.spawn(dispatcher::work(app.clone(), cancel.clone()));
    }
    if has(Part::Sweeper) {
        tracker.spawn(sweeper::work(app.clone(), cancel.clone()));
        tracker.spawn(learning::teach(app.clone(), cancel.clone()));
        tracker.spawn(mailbox::work(app.clone(), cancel.clone()));
    }
    tracker.spawn(wakes::listen(app.clone(), cancel.clone()));
    tracker.spawn(wakes::announce(app.clone(), cancel.clone()));
    tracker.spawn(learning::follow(app.clone(), cancel.clone()));
    tracker.spawn({
        let app = app.clone();
        async move { outside::learn_who_we_are(&app).await }
    });
    tracker.close();

    asked_to_stop().await?;
    eprintln!("deskhand: stopping; what is under way is put back or finished");
    app.closing.store(true, Ordering::Relaxed);
    app.followers.close();
    cancel.cancel();
    tokio::select! {
        () = tracker.wait() => {}
        () = tokio::time::sleep(std::time::Duration::from_secs(20)) => tracing::warn!("something did not stop in time; its leases run out"),
    }
    started.stop().await;
    Ok(ExitCode::SUCCESS)
}

async fn asked_to_stop() -> anyhow::Result<()> {
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done?,
        _ = term.recv() => {}
    }
    Ok(())
}
