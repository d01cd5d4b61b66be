//! Search tokens, scoring and snippets.
