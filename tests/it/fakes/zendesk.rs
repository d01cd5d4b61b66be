//! The help desk refuses, applies and tells as Zendesk does.

use deskhand_tests::fake::by;
use deskhand_tests::fake::clock::{Clock, seconds};
use deskhand_tests::fake::wire::{Forgery, zendesk_signature};
use deskhand_tests::fake::zendesk::{self, Hook, TicketHandle, Zendesk};
use serde_json::{Value, json};

use super::{Listener, basic, client};

struct Desk {
    zendesk: Zendesk,
    clock: Clock,
    bot: Listener,
    http: reqwest::Client,
}

impl Desk {
    async fn new() -> Self {
        let clock = Clock::new();
        let zendesk = Zendesk::start(clock.clone()).await;
        let (bot, url) = Listener::start().await;
        zendesk.bot_is_at(&url);
        let http = client();
        Self {
            zendesk,
            clock,
            bot,
            http,
        }
    }

    async fn ticket(&self) -> TicketHandle {
        self.zendesk
            .opens("Where is my parcel?", "Order 4711 has not come.", by("ada@example.com"))
            .await
    }

    fn asks(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let user = format!("{}/token", zendesk::EMAIL);
        let request = self
            .http
            .request(method, format!("{}/api/v2/{path}", self.zendesk.url()));
        request.header("authorization", basic(&user, zendesk::TOKEN))
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        answered(self.asks(reqwest::Method::GET, path)).await
    }

    async fn put(&self, ticket: &TicketHandle, body: Value) -> (u16, Value) {
        answered(
            self.asks(reqwest::Method::PUT, &format!("tickets/{}.json", ticket.id))
                .json(&body),
        )
        .await
    }
}

async fn answered(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    let text = response.text().await.expect("a body");
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[tokio::test]
async fn an_update_replies_notes_and_leaves_an_audit_with_the_writers_metadata() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    let change = json!({ "ticket": {
        "priority": "high", "tags": ["billing"], "metadata": { "marker": "E-1" },
        "comment": { "body": "It left us on Monday.", "public": true },
    } });
    let (status, answer) = desk.put(&ticket, change).await;
    assert_eq!(
        (status, &answer["audit"]["metadata"]["custom"]["marker"]),
        (200, &json!("E-1"))
    );
    assert_eq!(desk.zendesk.unlooked().len(), 1);
    desk.zendesk.has_reply(&ticket, "It left us on Monday.");
    assert!(desk.zendesk.unlooked().is_empty());
    assert_eq!(desk.zendesk.priority(&ticket).as_deref(), Some("high"));
    assert_eq!(desk.zendesk.tags(&ticket), ["billing"]);
    let (_, audits) = desk
        .get(&format!("tickets/{}/audits.json?page[size]=100", ticket.id))
        .await;
    assert_eq!(audits["audits"][1]["metadata"]["custom"]["marker"], "E-1");
    assert_eq!(desk.zendesk.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_stale_stamp_is_a_conflict_and_the_ticket_stays_as_it_is() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    let (_, read) = desk.get(&format!("tickets/{}.json", ticket.id)).await;
    let stamp = read["ticket"]["updated_at"].clone();
    let change = json!({ "ticket": { "priority": "low", "safe_update": true, "updated_stamp": stamp } });
    desk.clock.advance(seconds(1));
    desk.zendesk.comments(&ticket, "Hello?", by("ada@example.com")).await;
    let (status, answer) = desk.put(&ticket, change).await;
    assert_eq!((status, &answer["error"]), (409, &json!("UpdateConflict")));
    assert_eq!(desk.zendesk.priority(&ticket), None);
}

#[tokio::test]
async fn two_changes_within_a_second_have_the_same_stamp() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    let (_, read) = desk.get(&format!("tickets/{}.json", ticket.id)).await;
    desk.clock.advance(std::time::Duration::from_millis(400));
    desk.zendesk
        .agent_comments(&ticket, "I take this.", "Robin", true)
        .await;
    let change = json!({ "ticket": {
        "priority": "low", "safe_update": true, "updated_stamp": read["ticket"]["updated_at"],
    } });
    assert_eq!(desk.put(&ticket, change).await.0, 200);
}

#[tokio::test]
async fn without_the_wrapper_nothing_changes_and_the_answer_is_200() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    assert_eq!(desk.put(&ticket, json!({ "priority": "urgent" })).await.0, 200);
    assert_eq!(desk.zendesk.priority(&ticket), None);
    assert_eq!(desk.zendesk.violations().len(), 1);
}

#[tokio::test]
async fn refusals_have_zendesks_shapes() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    let refused = |body: Value| desk.put(&ticket, body);

    let (status, answer) = refused(json!({ "ticket": { "comment": { "body": "x".repeat(65_536) } } })).await;
    assert_eq!((status, &answer["error"]), (422, &json!("RecordInvalid")));
    let (status, answer) = refused(json!({ "ticket": { "group_id": 7 } })).await;
    assert_eq!(
        (status, &answer["details"]["group_id"][0]["description"]),
        (422, &json!("Group: is invalid"))
    );
    desk.zendesk.closes(&ticket).await;
    let (status, answer) = refused(json!({ "ticket": { "priority": "low" } })).await;
    let why = &answer["details"]["status"][0]["description"];
    assert_eq!((status, why), (422, &json!("Status: closed prevents ticket update")));

    let (status, answer) = desk.get("tickets/1.json").await;
    assert_eq!((status, &answer["error"]), (404, &json!("RecordNotFound")));
    let url = format!("{}/api/v2/tickets/{}.json", desk.zendesk.url(), ticket.id);
    let wrong = basic(&format!("{}/token", zendesk::EMAIL), "guess");
    let (status, answer) = answered(desk.http.get(url).header("authorization", wrong)).await;
    assert_eq!((status, answer), (401, json!({ "error": "Couldn't authenticate you" })));
}

#[tokio::test]
async fn it_slows_down_until_the_clock_has_moved_and_counts_who_comes_early() {
    let desk = Desk::new().await;
    desk.zendesk.slow_down(93);
    let response = desk
        .asks(reqwest::Method::GET, "users/me.json")
        .send()
        .await
        .expect("an answer");
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "93");
    assert_eq!(desk.zendesk.came_too_early(), 0);
    desk.clock.advance(seconds(92));
    assert_eq!(desk.get("users/me.json").await.0, 429);
    assert_eq!(desk.zendesk.came_too_early(), 1);
    desk.clock.advance(seconds(1));
    assert_eq!(desk.get("users/me.json").await.0, 200);
}

#[tokio::test]
async fn a_lost_answer_was_applied_and_a_lost_request_was_not() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    let reply = |text: &str| {
        let body = json!({ "ticket": { "comment": { "body": text } } });
        desk.asks(reqwest::Method::PUT, &format!("tickets/{}.json", ticket.id))
            .json(&body)
    };
    desk.zendesk.times_out_after_applying_next_write();
    assert!(reply("one").send().await.is_err());
    desk.zendesk.times_out_before_applying_next_write();
    assert!(reply("two").send().await.is_err());
    assert_eq!(desk.zendesk.replies(&ticket), ["one"]);
    assert_eq!(reply("three").send().await.expect("an answer").status(), 200);
    desk.zendesk.is_down(true);
    assert_eq!(desk.get("groups.json").await.0, 503);
}

#[tokio::test]
async fn an_idempotency_key_creates_once_and_refuses_another_body() {
    let desk = Desk::new().await;
    let create = |text: &str| {
        let body = json!({ "ticket": { "subject": "Follow-up", "comment": { "body": text } } });
        desk.asks(reqwest::Method::POST, "tickets.json")
            .header("idempotency-key", "k-1")
            .json(&body)
    };
    let first = create("a").send().await.expect("an answer");
    assert_eq!(
        (first.status().as_u16(), &first.headers()["x-idempotency-lookup"]),
        (201, &"miss".parse().expect("ok"))
    );
    let again = create("a").send().await.expect("an answer");
    assert_eq!(
        (again.status().as_u16(), &again.headers()["x-idempotency-lookup"]),
        (201, &"hit".parse().expect("ok"))
    );
    let (status, answer) = answered(create("b")).await;
    assert_eq!((status, &answer["error"]), (400, &json!("IdempotentRequestError")));
    assert_eq!(desk.zendesk.opened_by_bot().len(), 1);
}

#[tokio::test]
async fn comments_come_in_pages_with_their_authors() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    for n in 2..=5 {
        desk.zendesk
            .comments(&ticket, &format!("Comment {n}"), by("ada@example.com"))
            .await;
    }
    let path = format!("tickets/{}/comments.json?include=users&page[size]=2", ticket.id);
    let (mut bodies, mut after) = (Vec::new(), String::new());
    loop {
        let (_, page) = desk.get(&format!("{path}{after}")).await;
        assert_eq!(page["users"][0]["email"], "ada@example.com");
        let list = page["comments"].as_array().expect("a list");
        bodies.extend(
            list.iter()
                .map(|comment| comment["body"].as_str().unwrap_or("").to_owned()),
        );
        if page["meta"]["has_more"] != true {
            break;
        }
        after = format!(
            "&page[after]={}",
            page["meta"]["after_cursor"].as_str().expect("a cursor")
        );
    }
    assert_eq!(bodies.len(), 5);
    assert_eq!(bodies[4], "Comment 5");
}

#[tokio::test]
async fn webhooks_are_signed_and_a_repeat_keeps_its_invocation() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    let created = desk.bot.last();
    assert_eq!(created.path, "/webhooks/zendesk");
    let timestamp = created.header("x-zendesk-webhook-signature-timestamp");
    let expected = zendesk_signature(zendesk::SECRET, timestamp, &created.body);
    assert_eq!(created.header("x-zendesk-webhook-signature"), expected);
    assert_eq!(created.json()["type"], "zen:event-type:ticket.created");
    assert_eq!(created.json()["detail"]["id"], ticket.id.to_string());

    let comment = desk.zendesk.comments(&ticket, "Hello?", by("ada@example.com")).await;
    let told = desk.bot.last();
    assert_eq!(told.json()["event"]["comment"]["id"], comment.to_string());
    desk.zendesk.repeats_last_delivery().await;
    let invocation = "x-zendesk-webhook-invocation-id";
    assert_eq!(desk.bot.last().header(invocation), told.header(invocation));
    desk.zendesk.repeats_last_delivery_under_another_id().await;
    assert_ne!(desk.bot.last().header(invocation), told.header(invocation));
    assert_eq!(desk.bot.last().body, told.body);

    desk.zendesk.forges_next(Forgery::ChangedBody);
    desk.zendesk
        .comments(&ticket, "Hello again?", by("ada@example.com"))
        .await;
    let forged = desk.bot.last();
    let timestamp = forged.header("x-zendesk-webhook-signature-timestamp");
    let expected = zendesk_signature(zendesk::SECRET, timestamp, &forged.body);
    assert_ne!(forged.header("x-zendesk-webhook-signature"), expected);
}

#[tokio::test]
async fn the_bots_own_words_come_back_to_it() {
    let desk = Desk::new().await;
    let ticket = desk.ticket().await;
    desk.put(&ticket, json!({ "ticket": { "comment": { "body": "Hello." } } }))
        .await;
    assert_eq!(desk.bot.heard().len(), 1);
    assert_eq!(desk.zendesk.delivers_echoes().await, 1);
    let echo = desk.bot.last().json();
    assert_eq!(echo["event"]["comment"]["body"], "Hello.");
    assert_eq!(echo["event"]["comment"]["author"]["is_staff"], true);

    desk.zendesk.echoes_before_answering(true);
    desk.put(&ticket, json!({ "ticket": { "comment": { "body": "And again." } } }))
        .await;
    assert_eq!(desk.bot.last().json()["event"]["comment"]["body"], "And again.");
    assert_eq!(desk.zendesk.replies(&ticket).len(), 2);
}

#[tokio::test]
async fn a_trigger_renders_its_template_and_escapes_nothing() {
    let desk = Desk::new().await;
    desk.zendesk.subscribes(Hook::Trigger);
    desk.zendesk
        .uses_trigger_template(r#"{"id":"{{ticket.id}}","subject":"{{ ticket.title }}","x":"{{ticket.nonsense}}"}"#);
    let ticket = desk.zendesk.opens("Plain", "Words.", by("ada@example.com")).await;
    assert_eq!(
        desk.bot.last().json(),
        json!({ "id": ticket.id.to_string(), "subject": "Plain", "x": "" })
    );
    desk.zendesk
        .opens("She said \"hello\"", "Words.", by("ada@example.com"))
        .await;
    assert!(serde_json::from_slice::<Value>(&desk.bot.last().body).is_err());
}

#[tokio::test]
async fn a_merged_ticket_is_closed_tagged_and_told_of() {
    let desk = Desk::new().await;
    let (from, into) = (desk.ticket().await, desk.ticket().await);
    desk.zendesk.merges(&from, &into).await;
    assert_eq!(desk.zendesk.status(&from), "closed");
    assert_eq!(desk.zendesk.tags(&from), ["closed_by_merge"]);
    let told = desk.bot.heard().into_iter().map(|heard| heard.json());
    let merged = told
        .filter(|body| body["type"] == "zen:event-type:ticket.merged")
        .collect::<Vec<_>>();
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0]["event"]["target_ticket_id"], into.id.to_string());
}

#[tokio::test]
async fn what_the_bot_could_not_take_is_sent_again() {
    let desk = Desk::new().await;
    desk.bot.answers(503, "");
    desk.ticket().await;
    desk.bot.answers(200, "");
    assert_eq!(desk.zendesk.redelivers().await, 1);
    assert_eq!(desk.bot.heard()[0].body, desk.bot.heard()[1].body);
    assert_eq!(desk.zendesk.redelivers().await, 0);
    desk.bot.answers(500, "");
    desk.ticket().await;
    assert_eq!(desk.zendesk.violations(), ["a genuine webhook was answered 500"]);
}
