//! Where the server's files lie: in the data folder, or, when root hands the server to an account that cannot go there,
//! in a folder of the system's named after it. Only a folder that bears our marker is ever used or cleaned.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::Uid;
use sha2::{Digest, Sha256};

use super::error::EmbeddedError;
use super::owner::{self, Account};

const MARKER: &str = "made-by-deskhand";
const MARKER_TEXT: &str = "Deskhand made this folder for its embedded Postgres and removes half-made clusters in it.\n";
const SYSTEM_FOLDER: &str = "/var/lib/deskhand";

/// The folder of one server, with our marker in it.
#[derive(Clone, Debug)]
pub(super) struct Home {
    folder: PathBuf,
}

/// Finds or makes the home that belongs to `data`, and the account that its server runs as.
pub(super) async fn claim(data: &Path, say: &(dyn Fn(&str) + Send + Sync)) -> Result<(Home, Account), EmbeddedError> {
    let data = make_data_folder(data)?;
    let home = Home {
        folder: data.join("postgres"),
    };
    let account = Account::choose(&home.cluster())?;
    if account.may_enter(&data).await {
        home.mark(&account)?;
        return Ok((home, account));
    }
    if home.cluster().exists() {
        // Another place would show an empty database where there is a full one.
        return Err(EmbeddedError::Barred {
            folder: home.cluster(),
            account: account.name(),
        });
    }

    let above = Path::new(SYSTEM_FOLDER);
    let made = DirBuilder::new().recursive(true).mode(0o755).create(above);
    made.map_err(EmbeddedError::io("make the folder", above))?;
    let home = Home {
        folder: above.join(fingerprint(&data)),
    };
    let account = Account::choose(&home.cluster())?;
    home.mark(&account)?;
    if !account.may_enter(&home.folder).await {
        return Err(EmbeddedError::Barred {
            folder: home.folder,
            account: account.name(),
        });
    }
    say(&format!(
        "The database lies in {}, since the account {} that it runs as cannot enter {}.",
        home.folder.display(),
        account.name(),
        data.display()
    ));
    Ok((home, account))
}

fn make_data_folder(data: &Path) -> Result<PathBuf, EmbeddedError> {
    if !data.exists() {
        fs::create_dir_all(data).map_err(EmbeddedError::io("make the data folder", data))?;
        if Uid::effective().is_root() {
            // Root's umask may be strict, but the account that the server runs as has to pass here.
            let opened = fs::set_permissions(data, Permissions::from_mode(0o755));
            opened.map_err(EmbeddedError::io("open the data folder", data))?;
        }
    }
    data.canonicalize()
        .map_err(EmbeddedError::io("enter the data folder", data))
}

/// A short name that stays the same for the same folder.
fn fingerprint(folder: &Path) -> String {
    hex::encode(&Sha256::digest(folder.as_os_str().as_encoded_bytes())[..8])
}

impl Home {
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn cluster(&self) -> PathBuf {
        self.folder.join("cluster")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    /// Opens a file of the home for reading and appending, made if missing, readable by its owner only.
    pub(super) fn open(&self, name: &str) -> Result<File, EmbeddedError> {
        let path = self.folder.join(name);
        let mut options = OpenOptions::new();
        // As root we may be in another account's folder: a symbolic link there must not lead us astray.
        options
            .read(true)
            .append(true)
            .mode(0o600)
            .custom_flags(OFlag::O_NOFOLLOW.bits());
        let opened = match options.open(&path) {
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                match options.clone().create_new(true).open(&path) {
                    // Root's files in another account's home are that account's, so that it can start without root too.
                    Ok(made) => self.give_to_owner(made),
                    Err(raced) if raced.kind() == io::ErrorKind::AlreadyExists => options.open(&path),
                    refused => refused,
                }
            }
            found => found,
        };
        opened.map_err(EmbeddedError::io("open", &path))
    }

    fn give_to_owner(&self, file: File) -> io::Result<File> {
        if Uid::effective().is_root() {
            let home = fs::metadata(&self.folder)?;
            fchown(&file, Some(home.uid()), Some(home.gid()))?;
        }
        Ok(file)
    }

    /// Makes the folder if it is missing, checks that it is safe and ours, and leaves the marker.
    fn mark(&self, account: &Account) -> Result<(), EmbeddedError> {
        let folder = &self.folder;
        match DirBuilder::new().mode(0o755).create(folder) {
            Ok(()) => {
                let opened = fs::set_permissions(folder, Permissions::from_mode(0o755));
                opened.map_err(EmbeddedError::io("open", folder))?;
            }
            Err(there) if there.kind() == io::ErrorKind::AlreadyExists => {}
            Err(refused) => return Err(EmbeddedError::io("make the folder", folder)(refused)),
        }
        let found = fs::metadata(folder).map_err(EmbeddedError::io("look at", folder))?;
        let me = Uid::effective().as_raw();
        if found.uid() != me && !(me == 0 && found.uid() == account.uid()) {
            return Err(EmbeddedError::OtherAccount {
                folder: folder.clone(),
                owner: owner::name(Uid::from_raw(found.uid())),
                wanted: owner::name(Uid::from_raw(me)),
            });
        }
        if !found.is_dir() || found.mode() & 0o022 != 0 {
            return Err(EmbeddedError::Writable { folder: folder.clone() });
        }
        // The marker is the first thing that ever comes in, so anything without it is not ours.
        if !folder.join(MARKER).exists() {
            let mut entries = fs::read_dir(folder).map_err(EmbeddedError::io("read", folder))?;
            // Looked at once more: a second start may have marked it in between.
            if entries.next().is_some() && !folder.join(MARKER).exists() {
                return Err(EmbeddedError::Foreign { folder: folder.clone() });
            }
            let mut marker = self.open(MARKER)?;
            let written = io::Write::write_all(&mut marker, MARKER_TEXT.as_bytes());
            written.map_err(EmbeddedError::io("write to", folder))?;
        }
        Ok(())
    }
}
