//! Making a cluster. It is made beside its place and moved there when it is whole, so that a cluster in its place is
//! never a half-made one, whatever was killed when.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Output, Stdio};

use uuid::Uuid;

use super::NAME;
use super::error::EmbeddedError;
use super::home::Home;
use super::owner::Account;
use super::programs::Programs;

const UNFINISHED: &str = "cluster-unfinished-";

/// The major version that made the cluster, `15`; `None` when there is no cluster yet.
pub(super) fn version(cluster: &Path) -> Result<Option<String>, EmbeddedError> {
    let file = cluster.join("PG_VERSION");
    match fs::read_to_string(&file) {
        Ok(version) => Ok(Some(version.trim().to_owned())),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound && !cluster.exists() => Ok(None),
        // There is a folder, but no cluster in it: not made by us, since ours are whole. It is not ours to remove.
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Err(EmbeddedError::Foreign {
            folder: cluster.to_owned(),
        }),
        Err(refused) => Err(EmbeddedError::io("read", &file)(refused)),
    }
}

/// Makes the home's cluster; removes what earlier attempts have left (the home bears our marker, or we were not here).
pub(super) async fn make(home: &Home, programs: &Programs, account: &Account) -> Result<(), EmbeddedError> {
    remove_unfinished(home)?;
    // A name of its own: an initdb that outlived its killed Deskhand may still be writing to its old one.
    let unfinished = home.folder().join(format!("{UNFINISHED}{}", Uuid::new_v4().simple()));
    account.make_folder(&unfinished)?;

    let mut output = initdb(programs, account, &unfinished, "C.UTF-8").await?;
    if !output.status.success() && said(&output).contains("invalid locale") {
        // Older systems have no C.UTF-8. We sort and compare by code point either way.
        output = initdb(programs, account, &unfinished, "C").await?;
    }
    if !output.status.success() {
        remove_unfinished(home)?;
        return Err(EmbeddedError::NotMade {
            home: home.folder().to_owned(),
            said: said(&output),
        });
    }

    let place = home.cluster();
    fs::rename(&unfinished, &place).map_err(EmbeddedError::io("move the new cluster to", &place))
}

/// Writes a new cluster down to the disk, in the background and beyond our own end. A thousand files take seconds on a
/// busy disk, which a newcomer would spend waiting for an empty database; what is committed meanwhile is written down
/// as ever, and only a power cut in the first moments of a first start is not survived.
pub(super) fn sync_in_background(home: &Home, programs: &Programs, account: &Account) {
    let mut command = account.command(&programs.initdb());
    command
        .arg("--sync-only")
        .arg("--pgdata")
        .arg(home.cluster())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Ok(mut child) = command.process_group(0).spawn() {
        let folder = home.folder().to_owned();
        std::thread::spawn(move || {
            let synced = child.wait().and_then(|_| File::open(&folder)?.sync_all());
            if let Err(refused) = synced {
                tracing::warn!("the new database is not yet safe from a power cut: {refused}");
            }
        });
    }
}

async fn initdb(programs: &Programs, account: &Account, folder: &Path, locale: &str) -> Result<Output, EmbeddedError> {
    let mut command = account.command(&programs.initdb());
    // Trust is for the socket, whose folder is the guard; nothing listens on TCP, and if it did, it would let nobody in.
    command.args([
        "--auth-local=trust",
        "--auth-host=reject",
        "--encoding=UTF8",
        "--no-instructions",
        "--no-sync",
    ]);
    command
        .arg(format!("--username={NAME}"))
        .arg(format!("--locale={locale}"))
        .arg("--pgdata")
        .arg(folder);
    let mut command = tokio::process::Command::from(command);
    let output = command.kill_on_drop(true).output().await;
    output.map_err(EmbeddedError::io("run", &programs.initdb()))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ")
}

fn remove_unfinished(home: &Home) -> Result<(), EmbeddedError> {
    let entries = fs::read_dir(home.folder()).map_err(EmbeddedError::io("read", home.folder()))?;
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(EmbeddedError::io("remove the half-made", &path))?;
        }
    }
    Ok(())
}
