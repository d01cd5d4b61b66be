//! Scenarios and wire tests, one binary.

mod approvals;
mod embedded;
mod fakes;
mod llm;
mod slack_wire;
mod zendesk_wire;
