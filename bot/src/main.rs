//! The program: arguments in, exit code out.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    // A reader that went away (`deskhand list | head`) ends a command quietly. What serves, works runs or greets tool servers
    // ignores the signal, as Rust does: there it would come from a connection that broke, or from a server that died.
    let first = std::env::args().nth(1);
    if !matches!(first.as_deref(), Some("serve" | "chat" | "demo" | "triage" | "doctor")) {
        // SAFETY: nothing else runs yet, and the default action takes no handler of ours.
        let _ = unsafe {
            nix::sys::signal::signal(nix::sys::signal::Signal::SIGPIPE, nix::sys::signal::SigHandler::SigDfl)
        };
    }
    // One TLS provider for every client in the process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    deskhand::cli::main().await
}
