//! Scenarios and wire tests, one binary.

mod approvals;
mod conversation;
mod crashes;
mod embedded;
mod fakes;
mod intake;
mod lines;
mod llm;
mod rules;
mod slack_wire;
mod zendesk_wire;
