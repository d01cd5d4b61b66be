//! The program: arguments in, exit code out.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    // One TLS provider for every client in the process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    deskhand::cli::main().await
}
