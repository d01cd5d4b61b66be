//! Scenarios and wire tests, one binary.

mod api;
mod approvals;
mod boundaries;
mod cards;
mod commands;
mod conversation;
mod crashes;
mod delivery;
mod discord;
mod discord_wire;
mod embedded;
mod fakes;
mod helpers;
mod intake;
mod learning;
mod lines;
mod live;
mod llm;
mod mail;
mod mcp;
mod provider;
mod questions;
mod rules;
mod slack_wire;
mod steering;
mod zendesk_wire;
