//! Whom the server runs as: ourselves, or an unprivileged account when we are root, since Postgres refuses root.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::{Gid, Uid, User};

use super::error::EmbeddedError;

/// An account to run Postgres's programs as.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    uid: Uid,
    gid: Gid,
    /// False when the account is our own, so that nothing needs to be switched or given away.
    other: bool,
}

impl Account {
    /// Root uses the owner of the cluster if there is one, else `postgres`, else `nobody`.
    pub(super) fn choose(cluster: &Path) -> Result<Self, EmbeddedError> {
        let owner = match fs::symlink_metadata(cluster) {
            Ok(found) => Some((Uid::from_raw(found.uid()), Gid::from_raw(found.gid()))),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => None,
            Err(refused) => return Err(EmbeddedError::io("look at", cluster)(refused)),
        };
        let me = Uid::effective();
        match owner {
            Some((uid, _)) if uid.is_root() => Err(EmbeddedError::BelongsToRoot {
                cluster: cluster.to_owned(),
            }),
            Some((uid, gid)) if me.is_root() => Ok(Self { uid, gid, other: true }),
            Some((uid, _)) if uid != me => Err(EmbeddedError::OtherAccount {
                folder: cluster.to_owned(),
                owner: name(uid),
                wanted: name(me),
            }),
            None if me.is_root() => Self::unprivileged().ok_or(EmbeddedError::NoAccount),
            Some(_) | None => Ok(Self {
                uid: me,
                gid: Gid::effective(),
                other: false,
            }),
        }
    }

    fn unprivileged() -> Option<Self> {
        // By name, not by number: initdb insists on an entry in the password file.
        let user = ["postgres", "nobody"]
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())?;
        (!user.uid.is_root()).then_some(Self {
            uid: user.uid,
            gid: user.gid,
            other: true,
        })
    }

    pub(super) fn uid(&self) -> u32 {
        self.uid.as_raw()
    }

    pub(super) fn name(&self) -> String {
        name(self.uid)
    }

    /// A program to be run as this account, in `/` and with next to no environment: what the account runs can be read
    /// by whoever else runs as it, so our secrets must not be in there; and Postgres is swayed by many variables.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir("/")
            .stdin(Stdio::null())
            .env_clear()
            .env("LC_ALL", "C")
            .env("TZ", "UTC");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if self.other {
            // The standard library drops root's supplementary groups when it is told a uid and no groups.
            command.uid(self.uid.as_raw()).gid(self.gid.as_raw());
        }
        command
    }

    /// Whether this account may enter `folder`, found out by entering it: mode bits alone miss ACLs and mounts.
    pub(super) async fn may_enter(&self, folder: &Path) -> bool {
        if !self.other {
            return true;
        }
        // The shell enters it: whether a child enters its working directory before or after the switch is not ours to say.
        let mut command = self.command(Path::new("/bin/sh"));
        command
            .args(["-c", "cd -- \"$1\"", "sh"])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        tokio::process::Command::from(command)
            .status()
            .await
            .is_ok_and(|status| status.success())
    }

    /// Makes a folder of this account's that nobody else may enter. Fails if there is anything by that name.
    pub(super) fn make_folder(&self, folder: &Path) -> Result<(), EmbeddedError> {
        fs::DirBuilder::new()
            .mode(0o700)
            .create(folder)
            .map_err(EmbeddedError::io("make the folder", folder))?;
        if self.other {
            // Never through a symbolic link: the folder above may be the account's, who could have swapped it.
            let given = lchown(folder, Some(self.uid.as_raw()), Some(self.gid.as_raw()));
            given.map_err(EmbeddedError::io("give away", folder))?;
        }
        Ok(())
    }

    /// Whether `folder` is a real folder of this account's that nobody else may enter.
    pub(super) fn keeps_private(&self, folder: &Path) -> bool {
        fs::symlink_metadata(folder).is_ok_and(|m| m.is_dir() && m.uid() == self.uid() && m.mode() & 0o077 == 0)
    }
}

/// The account's name, or its number where it has none.
pub(super) fn name(uid: Uid) -> String {
    User::from_uid(uid)
        .ok()
        .flatten()
        .map_or_else(|| uid.to_string(), |user| user.name)
}
