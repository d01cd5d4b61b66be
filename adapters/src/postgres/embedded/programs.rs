//! The machine's Postgres server programs: the folder that has `postgres` and `initdb`.
//!
//! Debian keeps them off PATH on purpose, and each packager has a place of his own, hence the list.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::EmbeddedError;
use super::install;
use super::owner::Account;

/// The oldest major version that Postgres's makers still keep.
const OLDEST: u32 = 14;

/// Folders of packagers: in `.0`, each entry that begins with `.1` and goes on with a version, and therein `.2`.
const PLACES: [(&str, &str, &str); 9] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/usr/lib", "postgresql", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/opt/homebrew/opt", "postgresql@", "bin"),
    ("/usr/local/opt", "postgresql@", "bin"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql@", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
    ("/usr/local", "pgsql-", "bin"),
];

/// Programs that were tried: they run, and say this version.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) folder: PathBuf,
    pub(super) version: String,
}

impl Programs {
    pub(super) fn postgres(&self) -> PathBuf {
        self.folder.join("postgres")
    }

    pub(super) fn initdb(&self) -> PathBuf {
        self.folder.join("initdb")
    }

    /// Tries them as the account that will run them: programs in somebody's home may be out of its reach.
    async fn try_out(folder: PathBuf, account: &Account) -> Option<Self> {
        if !folder.join("initdb").is_file() {
            return None;
        }
        let mut command = tokio::process::Command::from(account.command(&folder.join("postgres")));
        let output = command
            .arg("-V")
            .output()
            .await
            .ok()
            .filter(|output| output.status.success())?;
        let said = String::from_utf8(output.stdout).ok()?;
        Some(Self {
            folder,
            version: version_in(&said)?.to_owned(),
        })
    }

    fn number(&self) -> u32 {
        leading_number(&self.version)
    }

    /// As `PG_VERSION` has it: the major version, which decides about a cluster's files.
    fn made(&self, wanted: &str) -> bool {
        self.version == wanted
            || self
                .version
                .strip_prefix(wanted)
                .is_some_and(|rest| !rest.starts_with(char::is_numeric))
    }
}

/// Finds programs of the wanted major version (any, if `None`), installing them where that can be done.
pub(super) async fn find_or_install(
    setting: Option<&Path>,
    wanted: Option<&str>,
    account: &Account,
    cluster: &Path,
    say: &(dyn Fn(&str) + Send + Sync),
) -> Result<Programs, EmbeddedError> {
    let mut found = try_out_all(setting, account).await;
    if found.is_empty() {
        if let Some(folder) = setting {
            return Err(EmbeddedError::NoProgramsThere {
                folder: folder.to_owned(),
                account: account.name(),
            });
        }
        install::install(say).await?;
        found = try_out_all(None, account).await;
    }
    choose(found, wanted, cluster)
}

async fn try_out_all(setting: Option<&Path>, account: &Account) -> Vec<Programs> {
    let folders = match setting {
        Some(folder) => vec![folder.to_owned()],
        None => candidates(std::env::var_os("PATH").as_deref()),
    };
    let mut found = Vec::new();
    for folder in folders {
        found.extend(Programs::try_out(folder, account).await);
    }
    found
}

fn choose(found: Vec<Programs>, wanted: Option<&str>, cluster: &Path) -> Result<Programs, EmbeddedError> {
    let versions = found
        .iter()
        .map(|programs| programs.version.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    if found.is_empty() {
        return Err(EmbeddedError::NoServer {
            command: install::command_here(),
        });
    }
    let suits = |programs: &Programs| match wanted {
        Some(wanted) => programs.made(wanted),
        None => programs.number() >= OLDEST,
    };
    match (found.into_iter().find(suits), wanted) {
        (Some(programs), _) => Ok(programs),
        (None, Some(wanted)) => Err(EmbeddedError::OtherVersion {
            cluster: cluster.to_owned(),
            wanted: wanted.into(),
            found: versions,
        }),
        (None, None) => Err(EmbeddedError::TooOld {
            minimum: OLDEST,
            found: versions,
            command: install::command_here(),
        }),
    }
}

/// Folders that may have the programs, the best first: PATH in its order, then the usual places, highest version first.
fn candidates(path: Option<&OsStr>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for entry in path
        .map(std::env::split_paths)
        .into_iter()
        .flatten()
        .filter(|entry| entry.is_absolute())
    {
        // Through symbolic links: Postgres looks for its other files beside its real self.
        if let Some(folder) = entry
            .join("postgres")
            .canonicalize()
            .ok()
            .and_then(|p| p.parent().map(Path::to_owned))
        {
            folders.push(folder);
        }
    }
    let mut usual = Vec::new();
    for (above, prefix, below) in PLACES {
        for entry in fs::read_dir(above).into_iter().flatten().flatten() {
            let version = entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_prefix(prefix))
                .map(leading_number);
            if let Some(version) = version.filter(|version| *version > 0) {
                usual.push((version, entry.path().join(below)));
            }
        }
    }
    usual.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    folders.extend(usual.into_iter().map(|(_, folder)| folder));
    folders.extend(["/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin"].map(PathBuf::from));
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())));
    folders
}

fn leading_number(text: &str) -> u32 {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .map_or(text, |end| &text[..end]);
    digits.parse().unwrap_or(0)
}

/// `postgres (PostgreSQL) 15.8 (Debian …)` → `15.8`
fn version_in(said: &str) -> Option<&str> {
    said.split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(versions: &[&str]) -> Vec<Programs> {
        versions
            .iter()
            .map(|v| Programs {
                folder: format!("/pg/{v}").into(),
                version: (*v).into(),
            })
            .collect()
    }

    fn chosen(versions: &[&str], wanted: Option<&str>) -> String {
        match choose(installed(versions), wanted, Path::new("/data/cluster")) {
            Ok(programs) => programs.version,
            Err(refused) => refused.to_string(),
        }
    }

    #[test]
    fn a_version_is_read_from_what_postgres_says() {
        assert_eq!(version_in("postgres (PostgreSQL) 15.8 (Debian 15.8-1)"), Some("15.8"));
        assert_eq!(version_in("postgres (PostgreSQL) 18beta2"), Some("18beta2"));
        assert_eq!(version_in("bash: postgres"), None);
    }

    #[test]
    fn a_new_cluster_takes_the_first_that_is_not_too_old() {
        assert_eq!(chosen(&["9.6.1", "16.2", "17.0"], None), "16.2");
        let refused = chosen(&["9.6.1", "13.4"], None);
        assert!(
            refused.starts_with("Deskhand needs Postgres 14 or newer, but found only 9.6.1, 13.4"),
            "{refused}"
        );
    }

    #[test]
    fn a_cluster_takes_the_programs_that_made_it() {
        assert_eq!(chosen(&["17.0", "15.8"], Some("15")), "15.8");
        assert_eq!(chosen(&["18beta2"], Some("18")), "18beta2");
        assert_eq!(
            chosen(&["17.0", "15.8"], Some("1")),
            "The database in /data/cluster was made by Postgres 1, but only 17.0, 15.8 is installed: install Postgres 1, \
             or name its programs in DESKHAND_PG_BIN, or move that folder away to begin with an empty database"
        );
    }
}
