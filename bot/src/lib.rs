//! The shell of Deskhand: routes, workers, commands. It decides nothing; core does.

pub mod app;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod config;
pub mod decisions;
pub mod discord;
pub mod follow;
pub mod heard;
pub mod http;
pub mod kept;
pub mod learning;
pub mod live;
pub mod mail;
pub mod models;
pub mod outside;
pub mod people;
pub mod questions;
pub mod worker;
