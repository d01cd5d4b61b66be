//! Keeping below other people's rate limits.
