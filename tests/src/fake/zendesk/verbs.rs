//! What people do at the help desk: requesters write, agents work, webhooks misbehave.
//!
//! Each verb comes back when the bot has answered the webhooks that it made.

use super::change::Change;
use super::state::{Comment, Opening, Role, Ticket, via};
use super::webhook::Delivery;
use super::{TicketHandle, Zendesk};
use crate::fake::Who;

impl Zendesk {
    /// A customer writes in. Their name is made up from the address.
    pub async fn opens(&self, subject: &str, body: &str, who: Who) -> TicketHandle {
        let (handle, by) = {
            let mut desk = self.desk();
            let now = self.inner.clock.now();
            let by = desk.state.customer(&who.0);
            let (id, group) = (desk.state.fresh_ticket_id(), desk.state.group_named("Support"));
            let opening = Opening {
                subject: subject.to_owned(),
                requester_id: by,
                submitter_id: by,
                channel: "mail",
            };
            let mut ticket = Ticket::open(id, opening, Some(group), now);
            ticket.description = body.to_owned();
            desk.state.tickets.insert(id, ticket);
            let first = Change {
                comment: Some((body.to_owned(), true)),
                via: Some(via("mail")),
                ..Change::default()
            };
            desk.state
                .apply(id, &first, by, now)
                .expect("a new ticket takes its first comment");
            let subject = subject.to_owned();
            (TicketHandle { id, subject }, by)
        };
        self.inner.tell(handle.id, None, by).await;
        handle
    }

    /// A customer, or anybody else with an address, writes on a ticket. Gives back the comment's id.
    pub async fn comments(&self, ticket: &TicketHandle, text: &str, who: Who) -> u64 {
        let by = self.desk().state.customer(&who.0);
        let change = Change {
            comment: Some((text.to_owned(), true)),
            via: Some(via("mail")),
            ..Change::default()
        };
        self.changes(ticket, change, by).await;
        self.newest_comment(ticket)
    }

    /// A person at the help desk writes a public reply or an internal note.
    pub async fn agent_comments(&self, ticket: &TicketHandle, text: &str, name: &str, public: bool) -> u64 {
        let by = self.desk().state.agent(name);
        let change = Change {
            comment: Some((text.to_owned(), public)),
            ..Change::default()
        };
        self.changes(ticket, change, by).await;
        self.newest_comment(ticket)
    }

    /// A person takes the ticket.
    pub async fn assigns(&self, ticket: &TicketHandle, name: &str) {
        let by = self.desk().state.agent(name);
        let change = Change {
            assignee_id: Some(Some(by)),
            ..Change::default()
        };
        self.changes(ticket, change, by).await;
    }

    /// A person sets it to solved.
    pub async fn solves(&self, ticket: &TicketHandle) {
        self.sets_status(ticket, "solved").await;
    }

    /// Closed for good: nobody can change it any more.
    pub async fn closes(&self, ticket: &TicketHandle) {
        self.sets_status(ticket, "closed").await;
    }

    async fn sets_status(&self, ticket: &TicketHandle, status: &str) {
        let by = self.desk().state.agent("Robin");
        let assignee = self.desk().state.ticket(ticket.id).assignee_id.or(Some(by));
        let change = Change {
            status: Some(status.to_owned()),
            assignee_id: Some(assignee),
            ..Change::default()
        };
        self.changes(ticket, change, by).await;
    }

    /// A person sets the priority: low, normal, high, urgent.
    pub async fn prioritises(&self, ticket: &TicketHandle, priority: &str) {
        let by = self.desk().state.agent("Robin");
        let change = Change {
            priority: Some(Some(priority.to_owned())),
            ..Change::default()
        };
        self.changes(ticket, change, by).await;
    }

    /// The first ticket is merged into the second: closed, tagged, with a note on both.
    pub async fn merges(&self, from: &TicketHandle, into: &TicketHandle) {
        let (by, before) = {
            let mut desk = self.desk();
            let by = desk.state.agent("Robin");
            let before = desk.state.ticket(from.id).clone();
            let mut tags: Vec<String> = before.tags.iter().cloned().collect();
            tags.push("closed_by_merge".to_owned());
            let change = Change {
                comment: Some((
                    format!("This request was closed and merged into request #{}", into.id),
                    false,
                )),
                status: Some("closed".to_owned()),
                tags: Some(tags),
                assignee_id: Some(before.assignee_id.or(Some(by))),
                via: Some(merge_via("to", into)),
                ..Change::default()
            };
            let applied = desk.state.apply(from.id, &change, by, self.inner.clock.now());
            applied.expect("an open ticket can be merged");
            desk.state.ticket_mut(from.id).merged_into = Some(into.id);
            (by, Box::new(before))
        };
        self.inner.tell(from.id, Some(before), by).await;
        let told = format!(
            "Request #{} \"{}\" was closed and merged into this request.",
            from.id, from.subject
        );
        let change = Change {
            comment: Some((told, false)),
            via: Some(merge_via("from", from)),
            ..Change::default()
        };
        self.changes(into, change, by).await;
    }

    async fn changes(&self, ticket: &TicketHandle, change: Change, by: u64) {
        let before = {
            let mut desk = self.desk();
            let before = Box::new(desk.state.ticket(ticket.id).clone());
            let applied = desk.state.apply(ticket.id, &change, by, self.inner.clock.now());
            applied
                .map_err(|refusal| refusal.body)
                .expect("the desk takes what people do");
            before
        };
        self.inner.tell(ticket.id, Some(before), by).await;
    }

    fn newest_comment(&self, ticket: &TicketHandle) -> u64 {
        let desk = self.desk();
        desk.state
            .ticket(ticket.id)
            .comments
            .last()
            .map_or(0, |comment| comment.id)
    }

    /// Sends the newest webhook again under the same invocation id, signed anew.
    #[track_caller]
    pub fn repeats_last_delivery(&self) -> impl Future<Output = Option<u16>> + '_ {
        let last = self.inner.sent().pop().expect("a webhook was sent");
        self.inner.deliver(last.invocation, last.body)
    }

    /// Sends the newest webhook again under another invocation id: the same comment, told twice.
    #[track_caller]
    pub fn repeats_last_delivery_under_another_id(&self) -> impl Future<Output = Option<u16>> + '_ {
        let last = self.inner.sent().pop().expect("a webhook was sent");
        self.inner.deliver(self.inner.fresh_invocation(), last.body)
    }

    /// Tells of the ticket's newest comment once more, as an event with an id of its own.
    pub async fn tells_newest_comment_again(&self, ticket: &TicketHandle) -> Option<u16> {
        let body = {
            let mut desk = self.desk();
            let sequence = desk.state.fresh_id();
            let comment: Comment = desk.state.ticket(ticket.id).comments.last().cloned()?;
            super::webhook::comment_added(&desk.state, ticket.id, &comment, self.inner.clock.now(), sequence)
        };
        self.inner.deliver(self.inner.fresh_invocation(), body).await
    }

    /// A trigger fires for the ticket, whichever webhooks are set up. `template` has Zendesk's placeholders.
    pub async fn sends_trigger(&self, ticket: &TicketHandle, template: &str) -> Option<u16> {
        let body = {
            let desk = self.desk();
            let by = desk.state.ticket(ticket.id).requester_id;
            super::webhook::trigger(&desk.state, &self.inner.url, ticket.id, None, by, template)?
        };
        self.inner.deliver(self.inner.fresh_invocation(), body).await
    }

    /// Sends any bytes, rightly signed.
    pub async fn sends_bytes(&self, body: &[u8]) -> Option<u16> {
        self.inner.deliver(self.inner.fresh_invocation(), body.to_vec()).await
    }

    /// Tells of the bot's own writes since the last time. Gives back how many there were.
    pub async fn delivers_echoes(&self) -> usize {
        self.inner.deliver_echoes().await
    }

    /// Sends again what the bot refused with 409, 429 or 503, or did not answer. Gives back how many there were.
    pub async fn redelivers(&self) -> usize {
        self.inner.deliver_again().await
    }

    /// All webhooks sent so far, the oldest first.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.inner.sent()
    }

    /// Hires a person, or names one that is there.
    pub fn hires(&self, name: &str) -> u64 {
        self.desk().state.agent(name)
    }

    /// A person with a name of their own, for what a made-up one cannot show.
    pub fn knows_customer(&self, name: &str, email: &str) -> u64 {
        self.desk().state.joins(name, email, Role::EndUser)
    }
}

fn merge_via(side: &str, other: &TicketHandle) -> serde_json::Value {
    let mut via = via("web");
    via["source"][side] = serde_json::json!({ "ticket_id": other.id, "subject": other.subject });
    via["source"]["rel"] = "merge".into();
    via
}
