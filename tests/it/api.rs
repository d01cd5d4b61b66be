//! The API: tickets in from any system, and everything to read.

mod opening;
mod reading;
