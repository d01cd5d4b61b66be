//! Reading a mailbox: every mail goes through the same door as a webhook, and only then counts as read.
//!
//! How far it was read is kept in the store, and goes up after the mail is durable: a crash in between reads it again, and
//! its digest makes that a repeat. One process of all replicas reads, by an advisory lock.

use std::time::Duration;

use deskhand_adapters::email::imap::{Fetched, Imap, Mailbox, Which};
use deskhand_adapters::email::way::raw;
use deskhand_adapters::postgres::inbox::Delivery;
use deskhand_adapters::postgres::mails;
use deskhand_core::ticket::Source;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use super::{Way, kept_headers, mapped, nothing};
use crate::app::App;
use crate::http::intake;

/// The largest mail that is fetched.
const LARGEST: u32 = 50 * 1024 * 1024;

/// Between two looks where the server does not tell by itself; and the longest wait where it does, since servers end
/// what idles for half an hour.
const LOOK: Duration = Duration::from_secs(30);
const IDLE: Duration = Duration::from_secs(15 * 60);

/// Any number that nothing else locks.
const LOCK: i64 = 0x6d61_696c;

/// Reads the mailbox until it is cancelled; does nothing where none is set.
pub async fn work(app: App, cancel: CancellationToken) {
    let Some(url) = &app.config.mail.imap_url else { return };
    let imap = match Imap::new(url.expose_secret()) {
        Ok(imap) => imap.trusting(app.config.mail.house()),
        Err(why) => {
            tracing::error!("IMAP_URL {why}");
            return;
        }
    };
    let mut pause = Duration::from_secs(1);
    while !cancel.is_cancelled() {
        let ended = tokio::select! {
            ended = own(&app, &imap) => ended,
            () = cancel.cancelled() => return,
        };
        match ended {
            Ok(()) => pause = LOOK,
            Err(error) => {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "the mailbox could not be read; trying again"
                );
                pause = (pause * 2).min(Duration::from_secs(300));
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = cancel.cancelled() => return,
        }
    }
}

/// Reads as the one owner, until something fails. Ends at once where another replica is the owner.
async fn own(app: &App, imap: &Imap) -> anyhow::Result<()> {
    let mut guard = app.pool.acquire().await?.detach();
    let ours = deskhand_adapters::postgres::mails::lock(&mut guard, LOCK).await?;
    if !ours {
        return Ok(());
    }
    let mut mailbox = imap.open().await?;
    loop {
        read(app, imap, &mut mailbox).await?;
        mailbox.wait(if mailbox.idles() { IDLE } else { LOOK }).await?;
        // The lock is the connection's: without it somebody else may be reading already.
        mails::ping(&mut guard).await?;
    }
}

/// One look: whatever is new goes into the inbox. Gives how many mails that were.
pub async fn look(app: &App, imap: &Imap) -> anyhow::Result<usize> {
    let mut mailbox = imap.open().await?;
    let count = read(app, imap, &mut mailbox).await?;
    mailbox.close().await;
    Ok(count)
}

async fn read(app: &App, imap: &Imap, mailbox: &mut Mailbox) -> anyhow::Result<usize> {
    let (key, validity) = (imap.key(), i64::from(mailbox.validity));
    let which = match mails::seen(&app.pool, &key).await? {
        Some((known, seen)) if known == validity => Which::After(u32::try_from(seen).unwrap_or_default()),
        Some(_) => Which::Recent,
        None => Which::Unseen,
    };
    // Before the look: what comes in between is behind it, and is found by the next one.
    let newest = i64::from(mailbox.newest().await?);
    let uids = mailbox.uids(which, app.clock.now().date_naive()).await?;
    for uid in &uids {
        take(app, imap, mailbox, *uid).await?;
        // The first look is done only as a whole: the old mails between stay unread.
        if let Which::After(_) = which {
            mails::set_seen(&app.pool, &key, validity, i64::from(*uid)).await?;
        }
    }
    if !matches!(which, Which::After(_)) {
        let seen = uids.last().map_or(newest, |last| newest.max(i64::from(*last)));
        mails::set_seen(&app.pool, &key, validity, seen).await?;
    }
    Ok(uids.len())
}

async fn take(app: &App, imap: &Imap, mailbox: &mut Mailbox, uid: u32) -> anyhow::Result<()> {
    let (body, problem) = match mailbox.fetch(uid, LARGEST).await? {
        Fetched::Mail(body) => (body, None),
        Fetched::Gone => return Ok(()),
        Fetched::TooLarge(size) => {
            let why = format!("the mail has {size} bytes, which is more than is read: it stays in the mailbox");
            (Vec::new(), Some(why))
        }
    };
    let (received, body) = tokio::task::spawn_blocking(move || (raw(&body), body)).await?;
    let (delivery_id, meant) = match problem {
        Some(why) => (format!("{}:{}:{uid}", imap.key(), mailbox.validity), Err(why)),
        None if body.is_empty() => (
            format!("{}:{}:{uid}", imap.key(), mailbox.validity),
            Ok(nothing("an empty mail")),
        ),
        None => (received.delivery.clone(), mapped(app, &received).await?),
    };
    let delivery = Delivery {
        source: Source::Email,
        delivery_id,
        headers: kept_headers(Way::Raw, "message/rfc822"),
        body,
        mapped: meant,
    };
    intake::accept(app, delivery).await.map_err(anyhow::Error::msg)?;
    mailbox.mark_seen(uid).await?;
    Ok(())
}
