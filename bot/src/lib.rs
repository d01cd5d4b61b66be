//! The shell.

pub mod config;
