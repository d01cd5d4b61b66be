//! Tool servers that speak the Model Context Protocol: child processes on their standard input and output, and servers
//! at an HTTP address.
//!
//! Each server has a keeper of its own, so that one that is broken costs the others nothing. What its tools may do is
//! the settings' to say, never the server's. Nothing is started before it is needed: see [`Servers::ready`].

mod call;
mod child;
mod http;
mod keeper;
mod listed;
mod names;
mod said;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use deskhand_core::port::{ServerState, ToolServer, Tools, ToolsError};
use deskhand_core::retry::RetryPolicy;
use deskhand_core::step::Outcome;
use deskhand_core::tool::outside::{OutsideTool, Rule, ToolUse};
use rmcp::RoleClient;
use rmcp::service::Peer;
use secrecy::SecretString;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use url::Url;

use listed::Listed;

/// How patiently a server that ended or cannot be reached is tried again; it is never given up.
pub const RESTARTS: RetryPolicy = RetryPolicy {
    base: Duration::from_secs(1),
    cap: Duration::from_secs(60),
    attempts: u32::MAX,
    longest_told: Duration::from_secs(60),
};

/// How long the first runs of a process wait for its servers.
const START: Duration = Duration::from_secs(20);

/// One server, as the settings name it.
#[derive(Clone, Debug)]
pub struct Server {
    /// Stands before the names of its tools: letters, digits, `-` and single `_` inside, at most 24 characters.
    pub name: String,
    pub reach: Reach,
    /// For its greeting, for its list of tools, and for each call.
    pub timeout: Duration,
    /// For the tools of which nothing else is said.
    pub rule: Rule,
    /// Takes the server's word for which tools only read, and which may be called twice.
    pub trust_hints: bool,
    /// By the server's own name of the tool.
    pub rules: BTreeMap<String, Rule>,
    pub restarts: RetryPolicy,
}

#[derive(Clone, Debug)]
pub enum Reach {
    /// A program of ours to start. It gets these variables, and of our own environment only what a program needs to run.
    Child {
        command: String,
        args: Vec<String>,
        env: Vec<(String, SecretString)>,
    },
    /// Streamable HTTP. The token is sent as a bearer token, to this origin only.
    Http { url: Url, token: Option<SecretString> },
}

/// All servers of the settings. Dropping it ends their processes.
pub struct Servers {
    shared: Arc<Shared>,
    keepers: Mutex<Option<Keepers>>,
}

/// The keepers at work.
struct Keepers {
    since: Instant,
    _tasks: JoinSet<()>,
}

struct Shared {
    kept: Vec<Kept>,
    /// What all of them offer, sorted by name.
    offered: RwLock<Arc<[OutsideTool]>>,
}

/// A server and how it stands now.
struct Kept {
    settings: Server,
    standing: watch::Sender<Standing>,
    /// It said that its tools have changed.
    changed: Arc<Notify>,
}

/// A connection to a server.
#[derive(Clone)]
struct Link {
    peer: Peer<RoleClient>,
    /// A call found it broken. Of this connection alone: a late call of an earlier one must not end its successor.
    broken: Arc<Notify>,
}

struct Standing {
    state: ServerState,
    error: Option<String>,
    remarks: Vec<String>,
    /// As last listed, also while it is down.
    tools: Arc<[Listed]>,
    link: Option<Link>,
}

impl Servers {
    pub fn new(servers: Vec<Server>) -> Self {
        let kept = servers.into_iter().map(|settings| Kept {
            settings,
            standing: watch::Sender::new(Standing {
                state: ServerState::Starting,
                error: None,
                remarks: Vec::new(),
                tools: [].into(),
                link: None,
            }),
            changed: Arc::default(),
        });
        let shared = Shared {
            kept: kept.collect(),
            offered: RwLock::new([].into()),
        };
        Self {
            shared: Arc::new(shared),
            keepers: Mutex::default(),
        }
    }

    /// Comes back once a server stands as wanted.
    pub async fn until(&self, name: &str, wanted: impl Fn(&ToolServer) -> bool) {
        if let Some(kept) = self.shared.kept.iter().find(|kept| kept.settings.name == name) {
            let mut standing = kept.standing.subscribe();
            // The sender lives as long as we do.
            let _ = standing.wait_for(|now| wanted(&now.shown(name))).await;
        }
    }

    /// Starts the keepers, once; gives when that was.
    fn start(&self) -> Instant {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        let keepers = keepers.get_or_insert_with(|| {
            let mut tasks = JoinSet::new();
            for which in 0..self.shared.kept.len() {
                tasks.spawn(keeper::keep(Arc::clone(&self.shared), which));
            }
            Keepers {
                since: Instant::now(),
                _tasks: tasks,
            }
        });
        keepers.since
    }
}

impl Standing {
    fn shown(&self, name: &str) -> ToolServer {
        ToolServer {
            name: name.to_owned(),
            state: self.state,
            tools: self.tools.len(),
            error: self.error.clone(),
            remarks: self.remarks.clone(),
        }
    }
}

impl Shared {
    /// Puts together anew what is offered.
    fn refresh(&self) {
        let mut all: Vec<OutsideTool> = Vec::new();
        for kept in &self.kept {
            all.extend(kept.standing.borrow().tools.iter().map(|listed| listed.tool.clone()));
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        *self.offered.write().unwrap_or_else(PoisonError::into_inner) = all.into();
    }
}

#[async_trait]
impl Tools for Servers {
    fn offered(&self) -> Arc<[OutsideTool]> {
        Arc::clone(&self.shared.offered.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn call(&self, used: &ToolUse) -> Result<Outcome, ToolsError> {
        for kept in &self.shared.kept {
            let found = {
                let standing = kept.standing.borrow();
                let listed = standing.tools.iter().find(|listed| listed.tool.name == used.tool);
                listed.map(|listed| (listed.own_name.clone(), standing.link.clone(), standing.error.clone()))
            };
            match found {
                None => {}
                Some((own_name, Some(link), _)) => {
                    return call::call(&kept.settings, &link, own_name, &used.args).await;
                }
                Some((_, None, error)) => {
                    let why = error.unwrap_or_else(|| "it is not connected".into());
                    let why = format!("the tool server {} is down ({why})", kept.settings.name);
                    return Err(ToolsError::NotCalled { why });
                }
            }
        }
        Err(ToolsError::NotCalled {
            why: "no tool server offers it now".into(),
        })
    }

    async fn ready(&self) {
        let since = self.start();
        let all = async {
            for kept in &self.shared.kept {
                let mut standing = kept.standing.subscribe();
                let _ = standing.wait_for(|now| now.state != ServerState::Starting).await;
            }
        };
        // Whoever is slower than that is offered once it is there.
        let _ = timeout_at(since + START, all).await;
    }

    fn servers(&self) -> Vec<ToolServer> {
        let shown = |kept: &Kept| kept.standing.borrow().shown(&kept.settings.name);
        self.shared.kept.iter().map(shown).collect()
    }
}
