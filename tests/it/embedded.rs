//! The embedded Postgres with real servers: fresh and again, killed, shared, in awkward places, and beside other people's
//! files.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use deskhand_adapters::postgres::embedded::{self, Embedded, EmbeddedError, Options, Stopped};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use sqlx::{ConnectOptions, PgConnection};
use tempfile::TempDir;

/// A folder of the test's own that the server's account may enter.
fn place() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

fn options(data: &Path) -> Options {
    Options {
        data: data.to_owned(),
        programs: None,
        durable: false,
    }
}

async fn start(data: &Path) -> Embedded {
    embedded::start(options(data), &|_| {})
        .await
        .expect("the server starts")
}

async fn refused(options: Options) -> EmbeddedError {
    embedded::start(options, &|_| {})
        .await
        .expect_err("the start is refused")
}

async fn connect(server: &Embedded) -> PgConnection {
    server
        .connect_options()
        .connect()
        .await
        .expect("the database deskhand is there")
}

async fn remember(server: &Embedded) {
    sqlx::query("CREATE TABLE kept AS SELECT 42 AS answer")
        .execute(&mut connect(server).await)
        .await
        .expect("written");
}

async fn remembers(server: &Embedded) -> bool {
    let answer = sqlx::query_scalar::<_, i32>("SELECT answer FROM kept")
        .fetch_one(&mut connect(server).await)
        .await;
    answer.is_ok_and(|answer| answer == 42)
}

fn pid(server: &Embedded) -> Pid {
    let text = fs::read_to_string(server.data().join("cluster/postmaster.pid")).expect("the server runs");
    Pid::from_raw(
        text.lines()
            .next()
            .expect("a first line")
            .trim()
            .parse()
            .expect("a number"),
    )
}

fn of_process(pid: Pid, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

#[tokio::test]
async fn a_restart_finds_what_the_first_start_kept() {
    let data = place();
    let said = Mutex::new(Vec::new());
    let say = |words: &str| said.lock().expect("no panic in here").push(words.to_owned());
    let durable = Options {
        durable: true,
        ..options(data.path())
    };

    let server = embedded::start(durable.clone(), &say).await.expect("a fresh start");
    remember(&server).await;
    assert_eq!(server.stop().await.expect("stops"), Stopped::ServerStopped);
    let again = embedded::start(durable, &say).await.expect("a second start");
    assert!(remembers(&again).await);
    assert_eq!(again.stop().await.expect("stops"), Stopped::ServerStopped);

    let said = said.into_inner().expect("no panic in here");
    assert_eq!(said.len(), 1, "only the first start has something to tell: {said:?}");
    assert!(said[0].starts_with("Making a database in "), "{said:?}");
}

#[tokio::test]
async fn a_killed_server_comes_back_with_its_data() {
    let data = place();
    // Tests' own servers may forget a second or so; this one may not.
    let durable = Options {
        durable: true,
        ..options(data.path())
    };
    let server = embedded::start(durable.clone(), &|_| {}).await.expect("a fresh start");
    remember(&server).await;
    let killed = pid(&server);
    kill(killed, Signal::SIGKILL).expect("it runs");
    drop(server);

    let again = embedded::start(durable, &|_| {}).await.expect("a start after the kill");
    assert_ne!(pid(&again), killed);
    assert!(remembers(&again).await);
    again.stop().await.expect("stops");
}

#[tokio::test]
async fn a_stale_number_that_is_another_process_now_is_no_server() {
    let data = place();
    let server = start(data.path()).await;
    let (home, socket) = (server.data().to_owned(), server.socket().to_owned());
    server.stop().await.expect("stops");
    let ours = format!("{}\n{}\n", std::process::id(), home.join("cluster").display());
    fs::write(home.join("cluster/postmaster.pid"), &ours).expect("written");
    fs::write(socket.join(".s.PGSQL.5432.lock"), &ours).expect("written");

    start(data.path()).await.stop().await.expect("stops");
}

#[tokio::test]
async fn an_empty_pid_file_left_by_a_full_disk_is_no_server() {
    let data = place();
    let server = start(data.path()).await;
    let home = server.data().to_owned();
    server.stop().await.expect("stops");
    fs::write(home.join("cluster/postmaster.pid"), "").expect("written");

    start(data.path()).await.stop().await.expect("stops");
}

#[tokio::test]
async fn two_starts_at_once_share_a_server_and_the_last_one_out_stops_it() {
    let data = place();
    let (one, two) = tokio::join!(start(data.path()), start(data.path()));
    assert_eq!(pid(&one), pid(&two));

    assert_eq!(one.stop().await.expect("leaves"), Stopped::LeftToOthers);
    remember(&two).await;
    assert_eq!(two.stop().await.expect("stops"), Stopped::ServerStopped);
}

#[tokio::test]
async fn a_share_that_was_dropped_hangs_nobody_and_its_server_is_joined() {
    let data = place();
    let server = start(data.path()).await;
    let left = pid(&server);
    drop(server);

    let again = start(data.path()).await;
    assert_eq!(pid(&again), left);
    assert_eq!(again.stop().await.expect("stops"), Stopped::ServerStopped);
}

#[tokio::test]
async fn stopping_a_server_that_somebody_killed_is_no_failure() {
    let data = place();
    let server = start(data.path()).await;
    let home = server.data().to_owned();
    kill(pid(&server), Signal::SIGINT).expect("it runs");
    while home.join("cluster/postmaster.pid").exists() {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.stop().await.expect("leaves"), Stopped::WasDown);
}

#[tokio::test]
async fn a_path_may_contain_spaces_commas_and_quotes() {
    let data = place();
    let server = start(&data.path().join("help desk, \"new\" 'one'")).await;
    remember(&server).await;
    server.stop().await.expect("stops");
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_gets_a_short_folder_and_keeps_it() {
    let data = place();
    let long = data.path().join("a-rather-long-name/".repeat(8));
    let server = start(&long).await;
    let socket = server.socket().to_owned();
    assert!(socket.as_os_str().len() < 60, "{}", socket.display());
    assert!(server.data().starts_with(data.path()), "only the socket moves");
    remember(&server).await;
    server.stop().await.expect("stops");

    let again = start(&long).await;
    assert_eq!(again.socket(), socket);
    again.stop().await.expect("stops");

    // Somebody else puts a folder of that name there, and lets everybody in.
    fs::remove_dir_all(&socket).expect("removed");
    fs::create_dir(&socket).expect("made");
    fs::set_permissions(&socket, Permissions::from_mode(0o777)).expect("opened");
    let third = start(&long).await;
    assert_ne!(third.socket(), socket);
    assert!(remembers(&third).await);
    let last = third.socket().to_owned();
    third.stop().await.expect("stops");
    fs::remove_dir_all(socket).expect("removed");
    fs::remove_dir_all(last).expect("removed");
}

#[tokio::test]
async fn a_folder_in_roots_own_home_is_replaced_by_the_systems_and_that_is_said() {
    if !Uid::effective().is_root() {
        return println!("skipped: only root has this trouble");
    }
    // What root's own home is to everybody else: a folder that they cannot enter.
    let closed = place();
    fs::set_permissions(closed.path(), Permissions::from_mode(0o700)).expect("it is ours");
    let said = Mutex::new(String::new());
    let say = |words: &str| said.lock().expect("no panic in here").push_str(words);

    let server = embedded::start(options(&closed.path().join("data")), &say)
        .await
        .expect("starts");
    let home = server.data().to_owned();
    assert!(home.starts_with("/var/lib/deskhand"), "{}", home.display());
    remember(&server).await;
    server.stop().await.expect("stops");
    let again = start(&closed.path().join("data")).await;
    assert_eq!(again.data(), home);
    assert!(remembers(&again).await);
    again.stop().await.expect("stops");
    fs::remove_dir_all(&home).expect("removed");
    // Stays if this machine has other databases of Deskhand's there.
    let _ = fs::remove_dir("/var/lib/deskhand");

    let said = said.into_inner().expect("no panic in here");
    assert!(
        said.contains(&format!("The database lies in {}", home.display())),
        "{said}"
    );
}

#[tokio::test]
async fn a_half_made_cluster_of_ours_is_removed_and_made_anew() {
    let data = place();
    start(data.path()).await.stop().await.expect("stops");
    let home = data.path().join("postgres");
    let half = home.join("cluster-unfinished-0");
    fs::rename(home.join("cluster"), &half).expect("moved");
    fs::remove_dir_all(half.join("global")).expect("removed");

    start(data.path()).await.stop().await.expect("stops");
    assert!(!half.exists());
}

#[tokio::test]
async fn a_folder_without_our_marker_is_refused_and_left_alone() {
    let data = place();
    let theirs = data.path().join("postgres/cluster-unfinished-0");
    fs::create_dir_all(&theirs).expect("made");
    fs::write(theirs.join("thesis.txt"), "years of work").expect("written");

    let error = refused(options(data.path())).await;
    assert!(matches!(error, EmbeddedError::Foreign { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("was not made by Deskhand, so it is left alone"),
        "{error}"
    );
    assert!(theirs.join("thesis.txt").exists());
}

#[tokio::test]
async fn a_folder_in_the_clusters_place_that_is_none_is_refused_and_left_alone() {
    let data = place();
    start(data.path()).await.stop().await.expect("stops");
    let version = data.path().join("postgres/cluster/PG_VERSION");
    fs::remove_file(&version).expect("removed");

    let error = refused(options(data.path())).await;
    assert!(matches!(error, EmbeddedError::Foreign { .. }), "{error}");
    assert!(version.with_file_name("global").exists());
}

#[tokio::test]
async fn a_cluster_of_another_version_is_one_clear_sentence() {
    let data = place();
    start(data.path()).await.stop().await.expect("stops");
    fs::write(data.path().join("postgres/cluster/PG_VERSION"), "13\n").expect("written");

    let error = refused(options(data.path())).await.to_string();
    assert!(error.contains("was made by Postgres 13, but only "), "{error}");
    assert!(error.contains("is installed: install Postgres 13"), "{error}");
}

#[tokio::test]
async fn a_setting_without_programs_is_named() {
    let data = place();
    let wrong = Options {
        programs: Some(data.path().to_owned()),
        ..options(data.path())
    };
    let error = refused(wrong).await.to_string();
    assert!(
        error.starts_with(&format!("DESKHAND_PG_BIN is {}, but", data.path().display())),
        "{error}"
    );
}

#[tokio::test]
async fn the_server_hears_nothing_but_a_private_socket() {
    let data = place();
    let server = start(data.path()).await;
    let addresses = sqlx::query_scalar::<_, String>("SHOW listen_addresses")
        .fetch_one(&mut connect(&server).await)
        .await;
    assert_eq!(addresses.expect("an answer"), "");
    let folder = fs::metadata(server.socket()).expect("there");
    assert_eq!(folder.mode() & 0o777, 0o700);

    if Path::new("/proc/net/tcp").exists() {
        let listening = ["net/tcp", "net/tcp6"].map(|file| fs::read_to_string(of_process(pid(&server), file)));
        let inodes = listening.into_iter().flatten().flat_map(|table| {
            table
                .lines()
                .filter_map(|line| Some(format!("socket:[{}]", line.split_whitespace().nth(9)?)))
                .collect::<Vec<_>>()
        });
        let tcp = inodes.collect::<Vec<_>>();
        let files = fs::read_dir(of_process(pid(&server), "fd"))
            .expect("ours or root's to read")
            .flatten();
        let open = files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .map(|link| link.display().to_string());
        let sockets = open.filter(|link| link.starts_with("socket:")).collect::<Vec<_>>();
        assert!(!sockets.is_empty(), "the Unix socket at least");
        assert!(sockets.iter().all(|socket| !tcp.contains(socket)), "{sockets:?}");
    }
    server.stop().await.expect("stops");
}

#[tokio::test]
async fn the_server_is_a_stranger_to_our_account_terminal_and_environment() {
    if !Path::new("/proc/self").exists() {
        return println!("skipped: there is no /proc to look into");
    }
    let data = place();
    let server = start(data.path()).await;
    let process = pid(&server);
    let status = fs::read_to_string(of_process(process, "status")).expect("it runs");
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .expect("a field")
            .trim()
            .to_owned()
    };
    let stat = fs::read_to_string(of_process(process, "stat")).expect("it runs");
    let session = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(3))
        .expect("a session");
    assert_eq!(
        session,
        process.to_string(),
        "a session of its own, so that Ctrl-C does not reach it"
    );

    let environment = fs::read(of_process(process, "environ")).expect("ours or root's to read");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "we have it");
    assert!(
        !String::from_utf8_lossy(&environment).contains("CARGO_MANIFEST_DIR"),
        "the server has not"
    );

    if Uid::effective().is_root() {
        assert!(
            !field("Uid:").split_whitespace().any(|uid| uid == "0"),
            "{}",
            field("Uid:")
        );
        assert!(
            !field("Gid:").split_whitespace().any(|gid| gid == "0"),
            "{}",
            field("Gid:")
        );
        assert_eq!(field("Groups:"), "", "root's groups are dropped");
    } else {
        println!("skipped the part about accounts: only root switches");
    }
    server.stop().await.expect("stops");
}
