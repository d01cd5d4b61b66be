//! Checks of the loop: a scene, what happened in it, and what the run does about it, line by line.

mod any;
mod asking;
mod calls;
mod endings;
mod helping;
mod knowledge;
mod late;
mod questions;
pub(crate) mod scene;
mod starting;
