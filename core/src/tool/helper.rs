//! Helpers: runs beside the run that asked for them, which only look things up and report. They decide nothing.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reach, Tool, Use, parse_as, schema_of, shown};

/// How many helpers of a run are at work at once.
pub const AT_ONCE: usize = 3;
/// Replies of a helper's model: it looks something up, it does not work a ticket.
pub const STEPS: u32 = 16;

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct SpawnHelper {
    /// What to find out and what to report, whole in itself: the helper sees the ticket, but nothing that you said or
    /// read.
    #[schemars(length(min = 1, max = 2000))]
    pub task: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct ListHelpers {}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct WaitHelper {
    /// Numbers of the helpers; leave out for all of them.
    #[serde(default)]
    #[schemars(length(max = 20), inner(range(min = 1)))]
    pub helpers: Vec<i32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct CloseHelper {
    /// The helper's number.
    #[schemars(range(min = 1))]
    pub helper: i32,
}

/// What is done about helpers.
#[derive(Clone, Debug, PartialEq)]
pub enum HelperUse {
    Spawn(SpawnHelper),
    List(ListHelpers),
    Wait(WaitHelper),
    Close(CloseHelper),
}

pub static SPAWN_HELPER: Tool = Tool {
    name: "spawn_helper",
    description: "Starts a helper that looks something up beside you, with read-only tools: at most three at once. Worth \
                  it for several searches that do not depend on each other. Fetch the report with wait_helper; a helper \
                  that is still at work when you conclude is closed.",
    reach: Reach::Records,
    label: "Start a helper",
    activity: |args| format!("Starting a helper: {}", shown(args, "task")),
    schema: schema_of::<SpawnHelper>,
    parse: |args| parse_as(args, |a| Use::Helper(HelperUse::Spawn(a))),
};

pub static LIST_HELPERS: Tool = Tool {
    name: "list_helpers",
    description: "Lists your helpers, what each is to find out, and how it stands.",
    reach: Reach::Records,
    label: "List helpers",
    activity: |_| "Looking at the helpers".into(),
    schema: schema_of::<ListHelpers>,
    parse: |args| parse_as(args, |a| Use::Helper(HelperUse::List(a))),
};

pub static WAIT_HELPER: Tool = Tool {
    name: "wait_helper",
    description: "Waits until helpers have ended, and gives their reports.",
    reach: Reach::Records,
    label: "Wait for helpers",
    activity: |args| match args["helpers"].as_array().map(Vec::len) {
        None | Some(0) => "Waiting for the helpers".into(),
        Some(_) => format!("Waiting for helpers {}", shown(args, "helpers")),
    },
    schema: schema_of::<WaitHelper>,
    parse: |args| parse_as(args, |a| Use::Helper(HelperUse::Wait(a))),
};

pub static CLOSE_HELPER: Tool = Tool {
    name: "close_helper",
    description: "Closes a helper whose report is not needed any more.",
    reach: Reach::Records,
    label: "Close a helper",
    activity: |args| format!("Closing helper {}", shown(args, "helper")),
    schema: schema_of::<CloseHelper>,
    parse: |args| parse_as(args, |a| Use::Helper(HelperUse::Close(a))),
};
