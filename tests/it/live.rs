//! Looking on at a run: each word as it is written, each step once, wherever the reader is cut off.

use std::time::Duration;

use deskhand_core::model::{Call, ModelReply, Stop};
use deskhand_tests::fake::by;
use deskhand_tests::fake::slack::CHANNEL;
use deskhand_tests::{API_TOKEN, Bot, scenario};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::lines::{a_reply_waits, ada_asks, sam_approves};

#[derive(Clone, Debug, PartialEq)]
struct Event {
    id: String,
    name: String,
    told: Value,
}

/// An open stream of events.
struct Stream {
    response: reqwest::Response,
    buffer: Vec<u8>,
}

async fn ask(url: &str, run: &str, last: Option<&str>, token: &str) -> reqwest::Response {
    let request = reqwest::Client::new()
        .get(format!("{url}/api/runs/{run}/events"))
        .bearer_auth(token);
    let request = match last {
        Some(id) => request.header("last-event-id", id),
        None => request,
    };
    request.send().await.expect("the bot answers")
}

async fn follow(url: &str, run: &str, last: Option<&str>) -> Stream {
    let response = ask(url, run, last, API_TOKEN).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Stream {
        response,
        buffer: Vec::new(),
    }
}

impl Stream {
    /// The next event; `None` when the stream is closed.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
                match event(std::str::from_utf8(&block).expect("UTF-8")) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk()).await;
            let chunk = chunk.expect("something comes").expect("the stream is whole")?;
            self.buffer.extend_from_slice(&chunk);
        }
    }

    /// Everything up to the close of the stream.
    async fn rest(mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }

    /// Reads until these words were told as a reply's text.
    async fn hears(&mut self, words: &str) -> Vec<Event> {
        let mut all = Vec::new();
        while texts(&all) != words {
            all.push(self.next().await.expect("the stream is open"));
        }
        all
    }
}

/// `None` for a comment that only keeps the connection alive.
fn event(block: &str) -> Option<Event> {
    let field = |name: &str| {
        block
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    Some(Event {
        id: field("id")?.to_owned(),
        name: field("event")?.to_owned(),
        told: serde_json::from_str(field("data")?).expect("JSON"),
    })
}

fn texts(events: &[Event]) -> String {
    let texts = events.iter().filter(|event| event.name == "text");
    texts.map(|event| event.told["text"].as_str().expect("text")).collect()
}

fn seqs(events: &[Event]) -> Vec<i64> {
    let steps = events.iter().filter(|event| event.name == "step");
    steps
        .map(|event| event.told["seq"].as_i64().expect("a number"))
        .collect()
}

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

async fn run_of(bot: &Bot) -> String {
    let (_, ticket) = bot.api("GET", "/api/tickets/T-1001", None).await;
    ticket["runs"][0]["id"].as_str().expect("it has a run").to_owned()
}

/// A runner has the run, and its model is in the middle of a reply.
async fn is_writing(bot: &Bot, words: &str) -> JoinHandle<anyhow::Result<usize>> {
    bot.model.holds_after(words);
    bot.works_until_the_model_thinks().await
}

#[tokio::test]
async fn a_reader_sees_a_reply_while_the_model_writes_it_and_then_the_rest_of_the_run() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "Ada wants her ").await;
        let mut stream = follow(&bot.url, &run_of(bot).await, None).await;
        let mut all = stream.hears("Ada wants her ").await;
        assert_eq!(seqs(&all), [0; 0], "nothing is written down yet");

        bot.model.says("Ada wants her 退货 settled.");
        bot.model.releases();
        work.await.expect("it ends").expect("the runner works");
        bot.settle().await;
        all.extend(stream.rest().await);

        assert_eq!(texts(&all), "Ada wants her 退货 settled.");
        assert!(!names(&all).contains(&"reset"), "{:?}", names(&all));
        let count = bot.counts("SELECT count(*) FROM step").await;
        assert_eq!(seqs(&all), (1..=count).collect::<Vec<_>>());
        let last = &all[all.len() - 2..];
        assert_eq!(names(last), ["state", "end"]);
        assert_eq!(last[0].told["state"], "completed");
        let replied = all
            .iter()
            .find(|event| event.told["kind"] == "replied")
            .expect("it replied");
        assert_eq!(replied.told["line"], "Ada wants her 退货 settled.");
        assert_eq!(replied.told["step"]["reply"]["text"], "Ada wants her 退货 settled.");
    })
    .await;
}

#[tokio::test]
async fn a_reply_that_follows_at_once_does_not_take_back_the_one_before_it() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "First I ").await;
        let mut stream = follow(&bot.url, &run_of(bot).await, None).await;
        let mut all = stream.hears("First I ").await;

        let model = bot.model.clone();
        bot.model.answers(move |_| {
            // The next reply is in the middle of its words before anybody has looked at the store.
            model.holds_after("It is ");
            let call = Call {
                id: "call_0".into(),
                name: "list_tickets".into(),
                args: json!({}),
            };
            Ok(ModelReply {
                text: "First I look around. ".into(),
                calls: vec![call],
                stop: Stop::Calls,
                ..ModelReply::default()
            })
        });
        bot.model.says("It is all there.");
        bot.model.releases();
        while !texts(&all).ends_with("It is ") {
            all.push(stream.next().await.expect("the stream is open"));
        }
        assert_eq!(texts(&all), "First I look around. It is ");
        assert!(!names(&all).contains(&"reset"), "{:?}", names(&all));

        bot.model.releases();
        work.await.expect("it ends").expect("the runner works");
        bot.settle().await;
        all.extend(stream.rest().await);
        assert_eq!(texts(&all), "First I look around. It is all there.");
    })
    .await;
}

#[tokio::test]
async fn a_reader_who_reconnects_at_every_event_to_any_replica_is_told_the_same() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        let run = run_of(bot).await;
        let mut stream = follow(&bot.url, &run, None).await;
        let mut early = Vec::new();
        while names(&early).last() != Some(&"state") {
            early.push(stream.next().await.expect("the stream is open"));
        }
        assert_eq!(early[early.len() - 1].told["state"], "waiting");

        bot.model.says("Ada is answered.");
        sam_approves(bot).await;
        bot.settle().await;
        bot.zendesk.has_reply(&ticket, "Your refund left us on Monday.");
        early.extend(stream.rest().await);

        let replica = bot.replica().await;
        let whole = follow(&replica.url, &run, None).await.rest().await;
        assert_eq!(seqs(&early), seqs(&whole), "whoever looked on and whoever comes late");
        assert_eq!(texts(&early), texts(&whole));
        assert_eq!(whole.last().expect("events").name, "end");

        let mut pieces: Vec<Event> = Vec::new();
        for n in 0..whole.len() {
            let url = [&bot.url, &replica.url][n % 2];
            let last = pieces.last().map(|event| event.id.clone());
            let mut stream = follow(url, &run, last.as_deref()).await;
            pieces.push(stream.next().await.expect("there is more"));
        }
        assert_eq!(pieces, whole);
        let end = &whole[whole.len() - 1].id;
        assert_eq!(ask(&bot.url, &run, Some(end), API_TOKEN).await.status(), 204);
    })
    .await;
}

#[tokio::test]
async fn a_replica_shows_a_reply_that_another_process_writes_and_takes_over_its_reader() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "Ada wants ").await;
        let run = run_of(bot).await;
        let replica = bot.replica().await;
        let seen = follow(&replica.url, &run, None).await.hears("Ada wants ").await;

        bot.model.says("Ada wants her money.");
        bot.model.releases();
        work.await.expect("it ends").expect("the runner works");
        bot.settle().await;
        let last = seen.last().map(|event| event.id.as_str());
        for url in [&bot.url, &replica.url] {
            let rest = follow(url, &run, last).await.rest().await;
            assert_eq!(texts(&rest), "her money.");
            assert!(!names(&rest).contains(&"reset"), "{:?}", names(&rest));
        }
    })
    .await;
}

#[tokio::test]
async fn a_reply_that_is_lost_with_its_runner_is_taken_back_for_two_readers() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "Hello, I am ").await;
        let run = run_of(bot).await;
        let mut readers = [follow(&bot.url, &run, None).await, follow(&bot.url, &run, None).await];
        for reader in &mut readers {
            reader.hears("Hello, I am ").await;
        }
        work.abort();
        let _ = work.await;
        bot.model.releases();
        bot.model.says("Ada wants her money.");
        bot.advance(Duration::from_secs(600));
        bot.settle().await;
        let [one, other] = readers;
        let (one, other) = (one.rest().await, other.rest().await);
        assert_eq!(texts(&one), "Ada wants her money.");
        let reset = names(&one).iter().position(|name| *name == "reset").expect("a reset");
        assert!(texts(&one[..reset]).is_empty(), "first the old text goes");
        let told = |events: &[Event]| (seqs(events), texts(events));
        assert_eq!(told(&one), told(&other));
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_is_cut_off_is_taken_back_and_asked_for_again() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "Hello, I am ").await;
        let mut stream = follow(&bot.url, &run_of(bot).await, None).await;
        let mut all = stream.hears("Hello, I am ").await;
        bot.model.is_down(true);
        bot.model.releases();
        work.await.expect("it ends").expect("the runner works");

        bot.model.is_down(false);
        bot.model.says("Ada wants her money.");
        bot.advance(Duration::from_secs(120));
        bot.settle().await;
        all.extend(stream.rest().await);
        let reset = names(&all).iter().position(|name| *name == "reset").expect("a reset");
        assert_eq!(texts(&all[reset..]), "Ada wants her money.");
        let count = bot.counts("SELECT count(*) FROM step").await;
        assert_eq!(seqs(&all), (1..=count).collect::<Vec<_>>(), "each step once");
    })
    .await;
}

#[tokio::test]
async fn the_last_words_of_a_stopped_run_come_before_its_end() {
    scenario(async |bot| {
        ada_asks(bot).await;
        let work = is_writing(bot, "Dear Ada, ").await;
        let mut stream = follow(&bot.url, &run_of(bot).await, None).await;
        let mut all = stream.hears("Dear Ada, ").await;
        let stops = bot.slack.commands("/triage stop T-1001", by("sam"), CHANNEL).await;
        let said = stops.told().join("\n");
        work.await.expect("it ends").expect("the runner lets go");
        bot.model.releases();
        bot.settle().await;
        all.extend(stream.rest().await);
        let names = names(&all);
        assert!(!names.contains(&"reset"), "{names:?}; {said}");
        assert_eq!(names.last(), Some(&"end"));
        let partial = all
            .iter()
            .find(|event| event.told["kind"] == "partial")
            .expect("a partial reply");
        assert_eq!(partial.told["step"]["text"], "Dear Ada, ");
    })
    .await;
}

#[tokio::test]
async fn a_process_that_is_about_to_end_ends_its_streams() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        bot.slack.only_card().is_about(&ticket);
        let stream = follow(&bot.url, &run_of(bot).await, None).await;
        bot.app.followers.close();
        let told = stream.rest().await;
        assert!(!names(&told).contains(&"end"), "the run goes on: {told:?}");
    })
    .await;
}

#[tokio::test]
async fn who_asks_for_what_is_not_there_is_told_so_in_one_sentence() {
    scenario(async |bot| {
        let ticket = a_reply_waits(bot).await;
        bot.slack.only_card().is_about(&ticket);
        let run = run_of(bot).await;
        let nobody = "0190a000-0000-7000-8000-000000000000";
        for (run, last, token, status, sentence) in [
            ("T-1001", None, API_TOKEN, 400, "A run's id is a UUID."),
            (nobody, None, API_TOKEN, 404, "There is no such run."),
            (
                run.as_str(),
                None,
                "wrong",
                401,
                "The bearer token is missing or wrong.",
            ),
            (
                run.as_str(),
                Some("seven"),
                API_TOKEN,
                400,
                "Last-Event-ID: \"seven\" is not the id of an event, like 7 or 7.3.120.9f3a11c2~running.",
            ),
        ] {
            let response = ask(&bot.url, run, last, token).await;
            assert_eq!(response.status(), status);
            let answer: Value = response.json().await.expect("JSON");
            assert_eq!(answer["error"], sentence);
        }
    })
    .await;
}
