//! The decisions of Deskhand: data in, data out.
//!
//! This crate performs no I/O, holds no clock and spawns nothing. The same transcript and the same facts always give the
//! same answer, which is why most checks live here.

pub mod approval;
pub mod article;
pub mod budget;
pub mod card;
pub mod command;
pub mod context;
pub mod delivery;
pub mod diff;
pub mod digest;
pub mod effect;
pub mod facts;
pub mod fence;
pub mod follow;
pub mod grant;
pub mod heard;
pub mod history;
pub mod id;
pub mod inbound;
pub mod ledger;
pub mod links;
pub mod mail;
pub mod model;
pub mod near;
pub mod next;
pub mod offline;
pub mod policy;
pub mod port;
pub mod prompt;
pub mod replay;
pub mod retry;
pub mod roster;
pub mod run;
pub mod search;
pub mod show;
pub mod skill;
pub mod step;
pub mod ticket;
pub mod tool;
pub mod transcript;
