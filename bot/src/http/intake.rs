//! The door through which deliveries come in: those that wait at the same moment share one transaction.
//!
//! Each delivery is answered only after the commit that holds it. A batch that fails is done again one by one, so that
//! one bad delivery does not fail its neighbours; a single one that fails for what it holds is kept as bytes.

use std::sync::atomic::{AtomicBool, Ordering};

use deskhand_adapters::postgres::inbox::{self, Accepted, Delivery, Intake};
use tokio::sync::{Mutex, oneshot};

use crate::app::App;

/// As many deliveries at most share a transaction.
const MOST: usize = 128;

struct Waiting {
    delivery: Delivery,
    answer: oneshot::Sender<Result<Accepted, String>>,
}

/// The deliveries that wait, and whether somebody is writing a batch.
#[derive(Default)]
pub struct Door {
    waiting: Mutex<Vec<Waiting>>,
    writing: AtomicBool,
}

/// Writes a delivery down, together with whatever else waits.
pub async fn accept(app: &App, delivery: Delivery) -> Result<Accepted, String> {
    let (answer, answered) = oneshot::channel();
    app.door.waiting.lock().await.push(Waiting { delivery, answer });
    // Whoever comes while nobody writes becomes the writer, for all that wait by then and come meanwhile.
    if !app.door.writing.swap(true, Ordering::AcqRel) {
        // A task of its own: a sender that hangs up must not take the others' batch with it.
        tokio::spawn(write_until_empty(app.clone()));
    }
    answered.await.unwrap_or_else(|_| Err("the batch was given up".into()))
}

async fn write_until_empty(app: App) {
    loop {
        let batch: Vec<Waiting> = {
            let mut waiting = app.door.waiting.lock().await;
            let most = waiting.len().min(MOST);
            if most == 0 {
                // Under the lock, so that nobody can queue between the look and the flag.
                app.door.writing.store(false, Ordering::Release);
                return;
            }
            waiting.drain(..most).collect()
        };
        let (deliveries, answers): (Vec<Delivery>, Vec<_>) = batch
            .into_iter()
            .map(|waiting| (waiting.delivery, waiting.answer))
            .unzip();
        let results = write(&app, &deliveries).await;
        for (answer, result) in answers.into_iter().zip(results) {
            // A sender that hung up asks again and finds its delivery here.
            let _ = answer.send(result);
        }
        app.announce();
    }
}

async fn write(app: &App, deliveries: &[Delivery]) -> Vec<Result<Accepted, String>> {
    let intake = match app.intake().await {
        Ok(intake) => intake,
        Err(error) => return deliveries.iter().map(|_| Err(error.to_string())).collect(),
    };
    match inbox::accept(&app.pool, deliveries, intake).await {
        Ok(accepted) => accepted.into_iter().map(Ok).collect(),
        Err(error) if deliveries.len() > 1 => {
            tracing::warn!(%error, deliveries = deliveries.len(), "a batch failed; its deliveries go one by one");
            let mut results = Vec::with_capacity(deliveries.len());
            for delivery in deliveries {
                results.push(alone(app, delivery, intake).await);
            }
            results
        }
        Err(_) => {
            let mut results = Vec::new();
            for delivery in deliveries {
                results.push(alone(app, delivery, intake).await);
            }
            results
        }
    }
}

/// One delivery by itself. What the database refuses for what it holds is kept unmapped; what fails otherwise fails.
async fn alone(app: &App, delivery: &Delivery, intake: Intake) -> Result<Accepted, String> {
    let error = match inbox::accept(&app.pool, std::slice::from_ref(delivery), intake).await {
        Ok(accepted) => return Ok(accepted.into_iter().next().unwrap_or_default()),
        Err(error) => error,
    };
    if error.as_database_error().is_none() {
        return Err(error.to_string());
    }
    let mut kept = delivery.clone();
    kept.mapped = Err(format!("It could not be stored as a ticket: {error}"));
    match inbox::accept(&app.pool, std::slice::from_ref(&kept), intake).await {
        Ok(accepted) => Ok(accepted.into_iter().next().unwrap_or_default()),
        Err(error) => Err(error.to_string()),
    }
}
