//! The hash chain of decisions.
