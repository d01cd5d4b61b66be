//! Zendesk.
