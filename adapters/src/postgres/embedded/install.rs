//! When the machine has no server: what a person types to get one, and typing it for root on Debian and Ubuntu.
//!
//! The distribution's package is wanted for its programs only. Left to itself it would also make a cluster and serve it
//! on port 5432, so both are switched off while it is being installed, and on again afterwards.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use nix::unistd::Uid;

use super::error::EmbeddedError;

/// What decides about the command.
struct System<'a> {
    /// As Rust names it: `linux`, `macos`, `freebsd` …
    os: &'a str,
    /// The text of `/etc/os-release`, empty where there is none.
    release: &'a str,
    root: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    /// We install it with apt-get.
    Apt,
    /// A person installs it with this command.
    Tell(String),
}

/// Installs the distribution's server where we may; elsewhere an error with the command to type.
pub(super) async fn install(say: &(dyn Fn(&str) + Send + Sync)) -> Result<(), EmbeddedError> {
    match here(plan) {
        Plan::Apt => {
            say(
                "No Postgres server was found; installing the distribution's own (`apt-get install postgresql`), without starting its service.",
            );
            apt().await
        }
        Plan::Tell(command) => Err(EmbeddedError::NoServer { command }),
    }
}

/// The command for this machine.
pub(super) fn command_here() -> String {
    here(command)
}

fn here<T>(decide: impl FnOnce(&System<'_>) -> T) -> T {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    decide(&System {
        os: std::env::consts::OS,
        release: &release,
        root: Uid::effective().is_root(),
    })
}

fn plan(system: &System<'_>) -> Plan {
    if system.root && system.is_like(&["debian", "ubuntu"]) {
        Plan::Apt
    } else {
        Plan::Tell(command(system))
    }
}

fn command(system: &System<'_>) -> String {
    let (needs_root, command) = match system.os {
        "linux" if system.is_like(&["debian", "ubuntu"]) => (true, "apt-get install postgresql"),
        "linux" if system.is_like(&["fedora", "rhel", "centos"]) => (true, "dnf install postgresql-server"),
        "linux" if system.is_like(&["alpine"]) => (true, "apk add postgresql"),
        "linux" if system.is_like(&["arch"]) => (true, "pacman -S postgresql"),
        "linux" if system.is_like(&["suse", "opensuse"]) => (true, "zypper install postgresql-server"),
        "linux" if system.is_like(&["gentoo"]) => (true, "emerge dev-db/postgresql"),
        "linux" if system.is_like(&["nixos"]) => (false, "nix-shell -p postgresql"),
        "macos" => (false, "brew install postgresql@17"),
        "freebsd" => (true, "pkg install postgresql17-server"),
        "openbsd" => (true, "pkg_add postgresql-server"),
        _ => return "the package with the PostgreSQL server, see https://www.postgresql.org/download/".into(),
    };
    if needs_root && !system.root {
        format!("sudo {command}")
    } else {
        command.into()
    }
}

impl System<'_> {
    /// Whether `ID` or `ID_LIKE` of os-release(5) names one of these.
    fn is_like(&self, names: &[&str]) -> bool {
        let values = self
            .release
            .lines()
            .filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")));
        values
            .flat_map(|value| value.trim_matches(['"', '\'']).split_whitespace())
            .any(|id| names.contains(&id))
    }
}

async fn apt() -> Result<(), EmbeddedError> {
    let _quiet = Quiet::begin();
    // A fresh container has no package lists. Where the update fails, the lists at hand may still do.
    let _ = apt_get(&["update"]).await;
    let installed = apt_get(&["install", "--yes", "--no-install-recommends", "postgresql"]).await;
    installed.map_err(|said| EmbeddedError::Install {
        command: "apt-get install postgresql".into(),
        said,
    })
}

/// `Err`: the last of what it said.
async fn apt_get(arguments: &[&str]) -> Result<(), String> {
    let mut command = tokio::process::Command::new("apt-get");
    command.args(["-q", "-o", "DPkg::Lock::Timeout=120"]).args(arguments);
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    let output = command.output().await.map_err(|missing| missing.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>();
    Err(lines[lines.len().saturating_sub(4)..].join("; "))
}

const CREATECLUSTER: &str = "/etc/postgresql-common/createcluster.d";

/// Files that keep the package from making and starting a server; gone when this is dropped.
struct Quiet {
    made: Vec<PathBuf>,
}

impl Quiet {
    fn begin() -> Self {
        let mut quiet = Self { made: Vec::new() };
        // pg_createcluster(8): the package's own switch, there before the package is.
        let settings = Path::new("/etc/postgresql-common/createcluster.d");
        if fs::create_dir_all(settings).is_ok() {
            quiet.make(
                &settings.join("deskhand.conf"),
                0o644,
                "create_main_cluster = false\nstart_conf = 'manual'\n",
            );
        }
        // Debian Policy 9.3.3.1: 101 forbids to start a service. An administrator's own file is left alone. Should we be
        // killed here, ours forbids nothing any more.
        let pid = std::process::id();
        let policy = format!(
            "#!/bin/sh\n# Made by Deskhand while it installs Postgres; may be removed.\n\
             kill -0 {pid} 2>/dev/null || exit 0\ncase \"$1\" in postgresql*) exit 101 ;; esac\nexit 0\n"
        );
        quiet.make(Path::new("/usr/sbin/policy-rc.d"), 0o755, &policy);
        quiet
    }

    fn make(&mut self, path: &Path, mode: u32, text: &str) {
        // Where the file cannot be made, the package does what it always does, which is a nuisance, not a failure.
        if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).mode(mode).open(path) {
            self.made.push(path.to_owned());
            let _ = file.write_all(text.as_bytes());
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        for path in &self.made {
            let _ = fs::remove_file(path);
        }
        // Stays if others have files in it.
        let _ = fs::remove_dir(CREATECLUSTER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(os: &str, release: &str, root: bool) -> Plan {
        plan(&System { os, release, root })
    }

    #[test]
    fn root_on_debian_and_its_kin_installs_by_itself() {
        assert_eq!(planned("linux", "NAME=\"Debian\"\nID=debian\n", true), Plan::Apt);
        assert_eq!(planned("linux", "ID=ubuntu\nID_LIKE=debian\n", true), Plan::Apt);
        assert_eq!(
            planned("linux", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", true),
            Plan::Apt
        );
    }

    #[test]
    fn everybody_else_is_told_the_command_of_their_system() {
        for (os, release, root, command) in [
            ("linux", "ID=debian", false, "sudo apt-get install postgresql"),
            (
                "linux",
                "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"",
                false,
                "sudo dnf install postgresql-server",
            ),
            ("linux", "ID=fedora", true, "dnf install postgresql-server"),
            ("linux", "ID=alpine", true, "apk add postgresql"),
            ("linux", "ID=manjaro\nID_LIKE=arch", false, "sudo pacman -S postgresql"),
            (
                "linux",
                "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"",
                false,
                "sudo zypper install postgresql-server",
            ),
            ("linux", "ID=nixos", false, "nix-shell -p postgresql"),
            ("macos", "", false, "brew install postgresql@17"),
            ("freebsd", "ID=freebsd", false, "sudo pkg install postgresql17-server"),
        ] {
            assert_eq!(planned(os, release, root), Plan::Tell(command.into()));
        }
    }

    #[test]
    fn an_unknown_system_is_sent_to_the_makers() {
        let Plan::Tell(command) = planned("linux", "", true) else {
            panic!("nothing is installed on an unknown system")
        };
        assert!(command.ends_with("https://www.postgresql.org/download/"), "{command}");
    }

    #[test]
    fn a_release_that_only_mentions_debian_is_not_debian() {
        assert_eq!(
            planned("linux", "ID=alpine\nPRETTY_NAME=\"not debian\"", true),
            Plan::Tell("apk add postgresql".into())
        );
    }
}
