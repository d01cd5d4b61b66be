//! Scenarios and wire tests, one binary.

mod embedded;
mod llm;
mod slack_wire;
mod zendesk_wire;
