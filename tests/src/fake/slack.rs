//! A fake Slack workspace.
