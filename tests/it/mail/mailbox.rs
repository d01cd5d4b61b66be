//! A mailbox read over IMAP, from a real server: Dovecot, which `.ci/run` installs. Without it the test says so and ends.

use std::path::Path;
use std::process::Stdio;

use deskhand::mail::mailbox;
use deskhand_adapters::email::imap::Imap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{by_mail, said};

const PROGRAM: &str = "/usr/lib/dovecot/imap";

/// Signs in on behalf of the client and hands the connection to Dovecot's own IMAP program: all but the log-in is real.
/// The service with its users and ports would want root and the machine to itself.
struct Server {
    port: u16,
    folder: tempfile::TempDir,
}

impl Server {
    async fn start() -> Option<Self> {
        if !Path::new(PROGRAM).is_file() {
            println!("skipped: Dovecot is not installed");
            return None;
        }
        let folder = tempfile::tempdir().expect("the temporary folder can be written to");
        let config = format!(
            "mail_location = maildir:{0}/mail\nbase_dir = {0}/run\nlog_path = {0}/log\nssl = no\n",
            folder.path().display()
        );
        std::fs::write(folder.path().join("dovecot.conf"), config).expect("it can be written");
        give(folder.path());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let home = folder.path().to_owned();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let home = home.clone();
                tokio::spawn(async move {
                    // A client that hangs up is no failure of the server's.
                    let _ = serve(stream, &home).await;
                });
            }
        });
        Some(Self { port, folder })
    }

    fn imap(&self) -> Imap {
        Imap::new(&format!("imap://care:x@127.0.0.1:{}", self.port)).expect("it is right")
    }

    /// As a mail server puts a mail into a Maildir.
    fn receives(&self, name: &str, id: &str, text: &str) {
        let folder = self.folder.path().join("mail/new");
        std::fs::create_dir_all(&folder).expect("it can be made");
        give(&self.folder.path().join("mail"));
        give(&folder);
        let mail =
            format!("From: ola@berg.example\nTo: care@lamps.example\nSubject: {id}\nMessage-ID: <{id}>\n\n{text}\n");
        std::fs::write(folder.join(name), mail).expect("it can be written");
        give(&folder.join(name));
    }

    /// The numbers of the mailbox lose their meaning.
    fn forgets_its_numbers(&self) {
        let folder = self.folder.path().join("mail");
        for entry in std::fs::read_dir(&folder).expect("readable").flatten() {
            if entry.file_name().to_string_lossy().starts_with("dovecot.index") {
                std::fs::remove_file(entry.path()).expect("it can be removed");
            }
        }
        let list = folder.join("dovecot-uidlist");
        let text = std::fs::read_to_string(&list).expect("readable");
        std::fs::write(&list, text.replacen(" V1", " V2", 1)).expect("it can be written");
    }
}

/// Dovecot refuses to work as root, as which CI runs.
const NOBODY: u32 = 65534;

fn give(path: &Path) {
    if nix::unistd::geteuid().is_root() {
        let (user, group) = (nix::unistd::Uid::from_raw(NOBODY), nix::unistd::Gid::from_raw(NOBODY));
        nix::unistd::chown(path, Some(user), Some(group)).expect("root may");
    }
}

async fn serve(mut stream: TcpStream, home: &Path) -> std::io::Result<()> {
    stream.write_all(b"* OK ready\r\n").await?;
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(stream.read_u8().await?);
    }
    let tag = String::from_utf8_lossy(&line)
        .split(' ')
        .next()
        .unwrap_or_default()
        .to_owned();
    stream.write_all(format!("{tag} OK signed in\r\n").as_bytes()).await?;
    let mut command = tokio::process::Command::new(PROGRAM);
    if nix::unistd::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut child = command
        .args(["-c", &home.join("dovecot.conf").display().to_string()])
        .env("USER", "nobody")
        .env("HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let (mut to, mut from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    // Its greeting stands for the log-in that was answered above.
    let mut greeting = Vec::new();
    while !greeting.ends_with(b"\r\n") {
        greeting.push(from.read_u8().await?);
    }
    let (mut reading, mut writing) = stream.split();
    tokio::select! {
        done = tokio::io::copy(&mut reading, &mut to) => done.map(|_| ()),
        done = tokio::io::copy(&mut from, &mut writing) => done.map(|_| ()),
    }
}

#[tokio::test]
async fn a_mailbox_is_read_once_whatever_happens_to_its_numbers() {
    let Some(server) = Server::start().await else { return };
    by_mail(async |bot, _| {
        let imap = server.imap();
        server.receives("1.first", "1@berg.example", "My lamp hums.");
        assert_eq!(mailbox::look(&bot.app, &imap).await.expect("it answers"), 1);
        assert_eq!(mailbox::look(&bot.app, &imap).await.expect("it answers"), 0);
        server.receives("2.second", "2@berg.example", "The second one.");
        assert_eq!(mailbox::look(&bot.app, &imap).await.expect("it answers"), 1);
        server.forgets_its_numbers();
        server.receives("3.third", "3@berg.example", "The third one.");
        mailbox::look(&bot.app, &imap).await.expect("it answers");
        assert_eq!(
            said(bot).await,
            [
                "requester: My lamp hums.",
                "requester: The second one.",
                "requester: The third one."
            ]
        );
    })
    .await;
}
