//! slack_wire
