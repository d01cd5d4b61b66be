//! What tests look at. A public reply that no look has touched stays on the list of [`Zendesk::unlooked`].

use super::{TicketHandle, Zendesk};

impl Zendesk {
    /// The bot's public replies on the ticket, the oldest first. Looks at all of them.
    #[track_caller]
    pub fn replies(&self, ticket: &TicketHandle) -> Vec<String> {
        self.by_bot(ticket, true)
    }

    /// The bot's internal notes.
    #[track_caller]
    pub fn notes(&self, ticket: &TicketHandle) -> Vec<String> {
        self.by_bot(ticket, false)
    }

    fn by_bot(&self, ticket: &TicketHandle, public: bool) -> Vec<String> {
        let mut desk = self.desk();
        let ticket = desk.state.ticket_mut(ticket.id);
        let ours = ticket
            .comments
            .iter_mut()
            .filter(|comment| comment.by_bot && comment.public == public);
        let seen = ours.map(|comment| {
            comment.looked = true;
            comment.body.clone()
        });
        seen.collect()
    }

    /// Exactly one public reply says this, word for word.
    #[track_caller]
    pub fn has_reply(&self, ticket: &TicketHandle, text: &str) {
        let found = {
            let mut desk = self.desk();
            let ticket = desk.state.ticket_mut(ticket.id);
            let ours = ticket
                .comments
                .iter_mut()
                .filter(|comment| comment.by_bot && comment.public);
            let same = ours.filter(|comment| comment.body.trim() == text.trim());
            same.map(|comment| comment.looked = true).count()
        };
        if found != 1 {
            let all = self.replies(ticket);
            panic!(
                "ticket {} has this reply {found} times: {text:?}; all its replies: {all:#?}",
                ticket.id
            );
        }
    }

    #[track_caller]
    pub fn has_no_replies(&self, ticket: &TicketHandle) {
        let replies = self.replies(ticket);
        assert!(replies.is_empty(), "ticket {} was answered: {replies:#?}", ticket.id);
    }

    /// In the order of the alphabet, joined by spaces.
    #[track_caller]
    pub fn tags(&self, ticket: &TicketHandle) -> Vec<String> {
        self.desk().state.ticket(ticket.id).tags.iter().cloned().collect()
    }

    #[track_caller]
    pub fn priority(&self, ticket: &TicketHandle) -> Option<String> {
        self.desk().state.ticket(ticket.id).priority.clone()
    }

    #[track_caller]
    pub fn status(&self, ticket: &TicketHandle) -> String {
        self.desk().state.ticket(ticket.id).status.clone()
    }

    /// The name of the group.
    #[track_caller]
    pub fn group(&self, ticket: &TicketHandle) -> Option<String> {
        let desk = self.desk();
        let id = desk.state.ticket(ticket.id).group_id?;
        desk.state.group(id).map(|group| group.name.clone())
    }

    /// How often the bot's account updated the ticket.
    #[track_caller]
    pub fn updates(&self, ticket: &TicketHandle) -> usize {
        self.desk().state.ticket(ticket.id).bot_updates.len()
    }

    /// Tickets that were opened through the API, follow-ups for one.
    pub fn opened_by_bot(&self) -> Vec<TicketHandle> {
        let desk = self.desk();
        let ours = desk
            .state
            .tickets
            .values()
            .filter(|ticket| ticket.submitter_id == desk.state.bot);
        let handles = ours.map(|ticket| TicketHandle {
            id: ticket.id,
            subject: ticket.subject.clone(),
        });
        handles.collect()
    }

    /// Public replies that no assertion has touched.
    pub fn unlooked(&self) -> Vec<String> {
        let desk = self.desk();
        let comments = desk
            .state
            .tickets
            .values()
            .flat_map(|ticket| ticket.comments.iter().map(move |c| (ticket.id, c)));
        let unseen = comments.filter(|(_, comment)| comment.by_bot && comment.public && !comment.looked);
        unseen
            .map(|(id, comment)| format!("ticket {id} got a reply nobody looked at: {:?}", comment.body))
            .collect()
    }
}
