//! Many deliveries at the same moment share transactions, and one that is bad fails alone.

use std::sync::Arc;

use deskhand::http::intake;
use deskhand_adapters::postgres::inbox::{self, Delivery};
use deskhand_core::inbound::{Happening, Inbound};
use deskhand_core::ticket::{OutsideId, Source};
use deskhand_tests::fake::by;
use deskhand_tests::{Bot, scenario_with};
use serde_json::json;
use tokio::task::JoinSet;

use crate::lines::runs;

const CROWD: i64 = 50;

#[tokio::test]
async fn fifty_tickets_at_once_share_transactions_and_each_has_its_run() {
    scenario_with(&[("MODEL_OF_THE_SCENARIO", "offline")], async |bot| {
        crowd(bot).await;
        assert_eq!(bot.counts("SELECT count(*) FROM inbox").await, CROWD);
        assert_eq!(bot.counts("SELECT count(*) FROM ticket").await, CROWD);
        assert_eq!(runs(bot).await, CROWD);
        let transactions = bot.counts("SELECT count(DISTINCT xmin::text) FROM inbox").await;
        assert!(
            transactions < CROWD / 2,
            "{CROWD} deliveries took {transactions} transactions"
        );
    })
    .await;
}

async fn crowd(bot: &Bot) {
    let zendesk = Arc::new(bot.zendesk.clone());
    let mut all = JoinSet::new();
    for n in 0..CROWD {
        let zendesk = Arc::clone(&zendesk);
        all.spawn(async move {
            let who = by(format!("customer{n}@example.com"));
            zendesk
                .opens(&format!("Question {n}"), "Where is my parcel?", who)
                .await;
        });
    }
    all.join_all().await;
}

#[tokio::test]
async fn one_bad_delivery_does_not_fail_its_neighbours() {
    scenario_with(&[("MODEL_OF_THE_SCENARIO", "offline")], async |bot| {
        // A payload that maps, and that the database will not take: its ticket's number holds NUL.
        let app = bot.app.clone();
        let bad = tokio::spawn(async move { intake::accept(&app, poison()).await });
        let zendesk = bot.zendesk.clone();
        let broken = tokio::spawn(async move {
            for body in [&b"{\"a\":\"\0\"}"[..], b"{not json", b"\xff"] {
                assert_eq!(zendesk.sends_bytes(body).await, Some(200));
            }
        });
        crowd(bot).await;
        broken.await.expect("they are answered");
        let accepted = bad.await.expect("it is answered").expect("it is kept");
        assert_eq!((accepted.repeat, accepted.ticket), (false, None));

        assert_eq!(bot.counts("SELECT count(*) FROM ticket").await, CROWD);
        assert_eq!(runs(bot).await, CROWD);
        let kept = inbox::unmapped(bot.pool()).await.expect("the database answers");
        assert_eq!(kept.len(), 4);
        let why = kept
            .iter()
            .find(|row| row.delivery_id == "bad-1")
            .map(|row| row.error.clone());
        assert!(why.is_some_and(|why| why.contains("could not be stored")));
    })
    .await;
}

fn poison() -> Delivery {
    Delivery {
        source: Source::Zendesk,
        delivery_id: "bad-1".into(),
        headers: json!({}),
        body: b"{}".to_vec(),
        mapped: Ok(Inbound {
            ticket: OutsideId {
                source: Source::Zendesk,
                id: "7\0".into(),
            },
            what: Happening::Told(Box::default()),
        }),
    }
}
