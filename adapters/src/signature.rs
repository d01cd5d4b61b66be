//! Signatures of webhooks.
