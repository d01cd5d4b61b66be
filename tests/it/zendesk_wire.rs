//! zendesk_wire
