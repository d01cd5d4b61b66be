//! What goes out arrives, once, or a person is told: Zendesk and Slack on their bad days.

mod bookkeeping;
mod dead;
mod slack;
mod unclear;
mod zendesk;
