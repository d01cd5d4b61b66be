//! Edits of articles: exactly-once replacement, unified diffs.
