//! The other side of the wire, in a process of its own, so that its CPU is not counted as the bot's: many connections
//! that are kept open, each sending its next webhook when the last one was answered.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::meter::{milliseconds, percentile};
use crate::webhook::{self, Signed};

/// The first argument that makes this program the other side.
pub(crate) const WORD: &str = "__load";

#[derive(Serialize, Deserialize)]
struct Order {
    /// `127.0.0.1:4711`
    address: String,
    connections: usize,
    requests: usize,
}

/// What the other side saw.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// The other side with its requests made and signed, waiting for the word.
pub(crate) struct Ready {
    child: Child,
    word: ChildStdin,
    said: BufReader<ChildStdout>,
}

pub(crate) async fn prepare(url: &str, connections: usize, requests: usize) -> anyhow::Result<Ready> {
    let address = url.trim_start_matches("http://").to_owned();
    let order = Order {
        address,
        connections,
        requests,
    };
    let mut child = Command::new(std::env::current_exe()?)
        .args([WORD, &serde_json::to_string(&order)?])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let word = child.stdin.take().context("the child has an input")?;
    let mut said = BufReader::new(child.stdout.take().context("the child has an output")?);
    let mut line = String::new();
    said.read_line(&mut line).await?;
    ensure!(line.trim() == "ready", "the sender did not get ready");
    Ok(Ready { child, word, said })
}

impl Ready {
    pub(crate) async fn go(mut self) -> anyhow::Result<Seen> {
        self.word.write_all(b"go\n").await?;
        let mut line = String::new();
        self.said.read_line(&mut line).await?;
        self.child.wait().await?;
        serde_json::from_str(&line).context("the sender failed")
    }
}

pub(crate) async fn child(order: Option<String>) -> anyhow::Result<()> {
    let order: Order = serde_json::from_str(&order.context("no order")?)?;
    let each = order.requests / order.connections;
    let mut lines = Vec::new();
    for _ in 0..order.connections {
        let requests: Vec<Vec<u8>> = (0..each)
            .map(|_| {
                let (number, body) = webhook::comment();
                on_the_wire("/webhooks/zendesk", &order.address, &webhook::zendesk(&number, body))
            })
            .collect();
        lines.push((TcpStream::connect(&order.address).await?, requests));
    }
    println!("ready");
    let mut word = String::new();
    BufReader::new(tokio::io::stdin()).read_line(&mut word).await?;
    let start = Instant::now();
    let senders: Vec<_> = lines
        .into_iter()
        .map(|(stream, requests)| tokio::spawn(send(stream, requests)))
        .collect();
    let mut times = Vec::new();
    for sender in senders {
        times.extend(sender.await??);
    }
    let per_second = times.len() as f64 / start.elapsed().as_secs_f64();
    let seen = Seen {
        per_second,
        p50: percentile(&mut times, 0.5),
        p99: percentile(&mut times, 0.99),
    };
    println!("{}", serde_json::to_string(&seen)?);
    Ok(())
}

pub(crate) fn on_the_wire(path: &str, host: &str, signed: &Signed) -> Vec<u8> {
    let mut bytes = format!("POST {path} HTTP/1.1\r\nhost: {host}\r\n").into_bytes();
    for (name, value) in &signed.headers {
        bytes.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    bytes.extend(format!("content-length: {}\r\n\r\n", signed.body.len()).into_bytes());
    bytes.extend(&signed.body);
    bytes
}

async fn send(mut stream: TcpStream, requests: Vec<Vec<u8>>) -> anyhow::Result<Vec<f64>> {
    stream.set_nodelay(true)?;
    let mut times = Vec::with_capacity(requests.len());
    let mut buffer = Vec::with_capacity(4096);
    for request in requests {
        let start = Instant::now();
        stream.write_all(&request).await?;
        answered(&mut stream, &mut buffer).await?;
        times.push(milliseconds(start.elapsed()));
    }
    Ok(times)
}

/// Reads one answer whole; anything but 200 ends the benchmark.
pub(crate) async fn answered(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    buffer.clear();
    loop {
        ensure!(stream.read_buf(buffer).await? > 0, "the bot closed the connection");
        let Some(head) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
        if !text.starts_with("http/1.1 200") {
            bail!("the bot answered {}", text.lines().next().unwrap_or_default());
        }
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.context("an answer without a length")?.trim().parse()?;
        if buffer.len() >= head + 4 + length {
            return Ok(());
        }
    }
}
