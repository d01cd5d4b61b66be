//! A fake Zendesk account.
