//! Checks of the loop.
