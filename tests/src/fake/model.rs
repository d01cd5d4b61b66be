//! A model that says what the test wrote down, in order, and checks every request that it gets.
//!
//! It is not a small model: it never looks at what it is asked in order to answer, except in a reply that the test wrote
//! as a closure. What it checks is what every provider refuses, and what our prompt promises about customers' words.

mod check;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use deskhand_core::model::{Call, ModelReply, ModelRequest, Stop, Usage};
use deskhand_core::port::{Model, ModelError, Sink};
use serde_json::Value;
use tokio::sync::watch;

type Answering = Box<dyn FnOnce(&ModelRequest) -> Result<ModelReply, ModelError> + Send>;

struct Scripted {
    /// How the line is named when it stays unused.
    name: String,
    answer: Answering,
}

#[derive(Default)]
struct Pages {
    lines: VecDeque<Scripted>,
    requests: Vec<ModelRequest>,
    violations: Vec<String>,
    down: bool,
    /// What it writes before it waits at the gate.
    begins: String,
}

/// A scripted model. Cheap to clone; all clones read from the same script.
#[derive(Clone)]
pub struct Script {
    pages: Arc<Mutex<Pages>>,
    /// Whether replies are held back.
    held: Arc<watch::Sender<bool>>,
    /// How many requests stand before the closed gate.
    thinking: Arc<watch::Sender<usize>>,
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    pub fn new() -> Self {
        Self {
            pages: Arc::default(),
            held: Arc::new(watch::Sender::new(false)),
            thinking: Arc::new(watch::Sender::new(0)),
        }
    }

    /// The next reply is one call.
    pub fn calls(&self, name: &str, args: Value) {
        self.calls_many([(name, args)]);
    }

    /// The next reply is several calls. Their ids start anew with every reply, as some servers have it: an id is unique
    /// within its reply and nowhere else.
    pub fn calls_many<'a>(&self, calls: impl IntoIterator<Item = (&'a str, Value)>) {
        self.replies(reply_with_calls(calls, Stop::Calls));
    }

    /// The next reply is text, and ends the turn.
    pub fn says(&self, text: &str) {
        self.replies(ModelReply {
            text: text.to_owned(),
            usage: USAGE,
            ..ModelReply::default()
        });
    }

    /// The next reply is this one.
    pub fn replies(&self, reply: ModelReply) {
        let name = match reply.calls.as_slice() {
            [] if reply.text.is_empty() => "an empty reply".to_owned(),
            [] => format!("says {:?}", reply.text),
            calls => format!(
                "calls {}",
                calls
                    .iter()
                    .map(|call| call.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        self.scripts(name, move |_| Ok(reply));
    }

    /// The next request fails.
    pub fn fails_with(&self, error: ModelError) {
        self.scripts(format!("fails: {error}"), move |_| Err(error));
    }

    /// The next reply is cut off by the token limit in the middle of a call.
    pub fn cuts_off(&self) {
        let half = Value::String("{\"text\": \"Your refund lef".to_owned());
        let mut reply = reply_with_calls([("reply_customer", half)], Stop::Length);
        reply.text = "I will answer the cust".to_owned();
        self.replies(reply);
    }

    /// The next reply holds thoughts only: neither text nor calls.
    pub fn thinks_only(&self) {
        self.replies(ModelReply {
            usage: USAGE,
            ..ModelReply::default()
        });
    }

    /// The next reply is made from the request, so that a test can look at it.
    pub fn answers(&self, answer: impl FnOnce(&ModelRequest) -> Result<ModelReply, ModelError> + Send + 'static) {
        self.scripts("a closure".to_owned(), answer);
    }

    fn scripts(
        &self,
        name: String,
        answer: impl FnOnce(&ModelRequest) -> Result<ModelReply, ModelError> + Send + 'static,
    ) {
        let answer = Box::new(answer);
        self.pages().lines.push_back(Scripted { name, answer });
    }

    /// Answers every request with an error that may pass, and takes no line of the script, until told otherwise.
    pub fn is_down(&self, down: bool) {
        self.pages().down = down;
    }

    /// Takes back what was scripted and not asked for, where a test cannot know how often it will be.
    pub fn forgets(&self) {
        self.pages().lines.clear();
    }

    /// From now on requests wait, so that a test can act while the model is at work.
    pub fn holds(&self) {
        self.held.send_replace(true);
    }

    /// From now on requests wait in the middle of their reply, after these words.
    pub fn holds_after(&self, words: &str) {
        words.clone_into(&mut self.pages().begins);
        self.holds();
    }

    pub fn releases(&self) {
        self.pages().begins.clear();
        self.held.send_replace(false);
    }

    /// Comes back when a request waits before the held gate.
    pub async fn is_thinking(&self) {
        let waits = async { self.thinking.subscribe().wait_for(|n| *n > 0).await.is_ok() };
        let asked = tokio::time::timeout(Duration::from_secs(20), waits).await;
        assert_eq!(asked, Ok(true), "nobody asked the model");
    }

    /// All requests so far, the oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.pages().requests.clone()
    }

    /// The newest request.
    #[track_caller]
    pub fn last_request(&self) -> ModelRequest {
        let last = self.pages().requests.last().cloned();
        last.expect("the model was never asked")
    }

    /// What was scripted and never asked for.
    pub fn unused(&self) -> Vec<String> {
        self.pages().lines.iter().map(|line| line.name.clone()).collect()
    }

    /// What no provider would have taken, or what broke our own promises.
    pub fn violations(&self) -> Vec<String> {
        self.pages().violations.clone()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Model for Script {
    fn name(&self) -> &str {
        "script"
    }

    async fn reply(&self, request: &ModelRequest, sink: &mut dyn Sink) -> Result<ModelReply, ModelError> {
        let wrong = check::faults(request);
        self.pages().requests.push(request.clone());
        if !wrong.is_empty() {
            let why = format!("the request is refused: {}", wrong.join("; "));
            self.pages().violations.extend(wrong);
            return Err(ModelError::Permanent { why });
        }
        let begins = self.pages().begins.clone();
        for word in begins.split_inclusive(' ') {
            sink.text(word);
        }
        let waiting = Waiting::before(&self.thinking);
        let opened = self.held.subscribe().wait_for(|held| !held).await.is_ok();
        drop(waiting);
        if self.pages().down {
            let why = "the provider is overloaded (529)".to_owned();
            return Err(ModelError::Transient { why, retry_after: None });
        }
        let line = self.pages().lines.pop_front();
        let Some(line) = line.filter(|_| opened) else {
            let why = "the model was asked and nothing was scripted".to_owned();
            self.pages().violations.push(why.clone());
            return Err(ModelError::Permanent { why });
        };
        let reply = (line.answer)(request)?;
        let rest = reply.text.strip_prefix(&begins).unwrap_or(&reply.text);
        for word in rest.split_inclusive(' ') {
            sink.text(word);
        }
        Ok(reply)
    }

    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        Ok(vec!["script".to_owned()])
    }
}

/// Counts a request while it stands before the gate, also when its caller gives up on it.
struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    fn before(gate: &'a watch::Sender<usize>) -> Self {
        gate.send_modify(|n| *n += 1);
        Self(gate)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

/// The same for every reply: budgets can be counted by hand.
const USAGE: Usage = Usage {
    input: 100,
    output: 20,
    cache_read: 0,
    cache_write: 0,
};

fn reply_with_calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>, stop: Stop) -> ModelReply {
    let calls = calls.into_iter().enumerate().map(|(n, (name, args))| Call {
        id: format!("call_{n}"),
        name: name.to_owned(),
        args,
    });
    ModelReply {
        calls: calls.collect(),
        stop,
        usage: USAGE,
        ..ModelReply::default()
    }
}
