//! The folder of the Unix socket. Its mode, 0700, is the only thing that guards the database.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::error::EmbeddedError;
use super::home::Home;
use super::owner::Account;

/// No port is opened; Postgres names its socket file after this number.
pub(super) const PORT: u16 = 5432;

/// What the system allows for a socket's path: 103 bytes on macOS, 107 on Linux.
const LONGEST: usize = 103;

/// Where the name of a socket folder outside of the home is kept.
const RECORD: &str = "socket-folder";

const SHORT: &str = "/tmp";

/// The socket folder of this home, made if missing.
pub(super) fn folder(home: &Home, account: &Account) -> Result<PathBuf, EmbeddedError> {
    let folder = home.folder().join("socket");
    if file(&folder).as_os_str().len() > LONGEST {
        return short_folder(home, account);
    }
    if fs::symlink_metadata(&folder).is_err() {
        account.make_folder(&folder)?;
    }
    if account.keeps_private(&folder) {
        return Ok(folder);
    }
    Err(EmbeddedError::Open {
        folder,
        account: account.name(),
    })
}

/// The socket's own path.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join(format!(".s.PGSQL.{PORT}"))
}

/// The folder as a value of `unix_socket_directories`: a list, in which a name with commas or spaces stands in quotes.
pub(super) fn as_setting(folder: &Path) -> std::ffi::OsString {
    let mut value = b"unix_socket_directories=\"".to_vec();
    for &byte in folder.as_os_str().as_bytes() {
        value.extend(if byte == b'"' {
            &b"\"\""[..]
        } else {
            std::slice::from_ref(&byte)
        });
    }
    value.push(b'"');
    std::ffi::OsStr::from_bytes(&value).to_owned()
}

/// A folder in `/tmp` for a home whose path is too long. Anybody may write there, so: its name cannot be guessed, it is
/// made anew or not at all, and the name kept in the home is believed only while the folder is still the account's own.
fn short_folder(home: &Home, account: &Account) -> Result<PathBuf, EmbeddedError> {
    let mut record = home.open(RECORD)?;
    let mut names = String::new();
    record
        .read_to_string(&mut names)
        .map_err(EmbeddedError::io("read", &home.folder().join(RECORD)))?;
    // The last line counts: a folder that was swept away, as /tmp is now and then, is followed by its successor.
    if let Some(kept) = names.lines().last().map(PathBuf::from)
        && kept.parent() == Some(Path::new(SHORT))
        && account.keeps_private(&kept)
    {
        return Ok(kept);
    }
    let above = fs::metadata(SHORT).map_err(EmbeddedError::io("look at", Path::new(SHORT)))?;
    if above.mode() & 0o022 != 0 && above.mode() & 0o1000 == 0 {
        // Without the sticky bit anybody could put another folder in the place of ours.
        return Err(EmbeddedError::Writable { folder: SHORT.into() });
    }
    let made = Path::new(SHORT).join(format!("deskhand-{}", Uuid::new_v4().simple()));
    account.make_folder(&made)?;
    let line = format!("{}\n", made.display());
    record
        .write_all(line.as_bytes())
        .map_err(EmbeddedError::io("write", &home.folder().join(RECORD)))?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_commas_spaces_and_quotes_is_one_item_of_the_list() {
        let value = as_setting(Path::new("/a, b/\"c\""));
        assert_eq!(value.to_str(), Some(r#"unix_socket_directories="/a, b/""c""""#));
    }
}
