//! `deskhand mail`: what is understood of a mail. No database and no settings are needed, and nothing is stored or sent.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use deskhand_adapters::email::way::{Received, raw};
use deskhand_adapters::email::{Attachment, EmailInbound, Mailbox, Ours, inbound};
use serde_json::json;

use super::start::Context;
use super::table::styled;

/// Larger than any mail server takes in.
const LARGEST: u64 = 256 * 1024 * 1024;

#[derive(Subcommand, Debug)]
pub(super) enum Mail {
    /// Show what is understood of a mail: its new words, what is quoted, and whether a program wrote it.
    Read {
        /// A file with one mail as it came (.eml); - reads standard input.
        file: PathBuf,
    },
}

pub(super) fn run(context: &Context, mail: &Mail) -> anyhow::Result<ExitCode> {
    let Mail::Read { file } = mail;
    let bytes = bytes(file)?;
    let received = raw(&bytes);
    // Text without a header still is what somebody wrote; anything else without one is no mail.
    anyhow::ensure!(
        !received.mail.headers.is_empty() || !bytes.contains(&0),
        "{} is no mail: it is no text, and no header stands in it",
        name(file)
    );
    let understood = inbound(&received, Ours::default());
    if context.json {
        println!("{}", serde_json::to_string_pretty(&as_json(&received, &understood))?);
    } else {
        print!("{}", for_people(&received, &understood));
    }
    Ok(ExitCode::SUCCESS)
}

fn name(file: &Path) -> String {
    match file.to_str() {
        Some("-") => "Standard input".to_owned(),
        Some(_) | None => file.display().to_string(),
    }
}

fn bytes(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|opened| opened.take(LARGEST + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| anyhow::anyhow!("{} cannot be read: {error}", name(file)))?;
    anyhow::ensure!(
        bytes.len() as u64 <= LARGEST,
        "{} is larger than {} MB, which no mail is",
        name(file),
        LARGEST / 1024 / 1024
    );
    anyhow::ensure!(
        !bytes.iter().all(u8::is_ascii_whitespace),
        "{} is empty: there is no mail in it",
        name(file)
    );
    Ok(bytes)
}

fn sender(mail: Option<&Mailbox>) -> String {
    match mail {
        None => String::new(),
        Some(Mailbox { name, address }) if name.is_empty() => address.clone(),
        Some(Mailbox { name, address }) if address.is_empty() => name.clone(),
        Some(Mailbox { name, address }) => format!("{name} <{address}>"),
    }
}

fn as_json(received: &Received, understood: &EmailInbound) -> serde_json::Value {
    let attachment = |attachment: &Attachment| {
        json!({
            "name": attachment.name,
            "content_type": attachment.content_type,
            "size": attachment.size,
            "inline": attachment.inline,
        })
    };
    json!({
        "subject": received.mail.subject,
        "from": sender(received.mail.from.first()),
        "text": understood.words,
        "quoted": earlier(understood),
        "signature": understood.signature,
        "attachments": understood.attachments.iter().map(attachment).collect::<Vec<_>>(),
        "automatic": { "label": understood.automatic.kind.label(), "why": understood.automatic.why },
    })
}

/// Earlier mail, whether it was answered or passed on.
fn earlier(understood: &EmailInbound) -> String {
    let both = [&understood.quoted, &understood.passed_on];
    let there: Vec<&str> = both
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(String::as_str)
        .collect();
    there.join("\n\n")
}

fn for_people(received: &Received, understood: &EmailInbound) -> String {
    let mut out = String::new();
    let mut line = |label: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("{} {}\n", styled(&format!("{label:<12}"), "1"), shown(text)));
        }
    };
    line("From", &sender(received.mail.from.first()));
    line("Subject", &received.mail.subject);
    let automatic = &understood.automatic;
    let written = match automatic.kind.is_automatic() {
        false => "a person".to_owned(),
        true => format!("a program: {} ({})", automatic.kind.label(), automatic.why),
    };
    line("Written by", &written);
    for attachment in &understood.attachments {
        let name = match attachment.name.as_str() {
            "" => "without a name",
            name => name,
        };
        let inline = if attachment.inline {
            ", shown within the text"
        } else {
            ""
        };
        line(
            "Attached",
            &format!(
                "{name} ({}, {} bytes{inline})",
                attachment.content_type, attachment.size
            ),
        );
    }
    for doubt in &understood.doubts {
        line("Doubt", doubt);
    }
    for (label, text) in [
        ("New words", &understood.words),
        ("Signature", &understood.signature),
        ("Earlier mail", &earlier(understood)),
    ] {
        if !text.is_empty() {
            out.push_str(&format!("\n{}\n{}\n", styled(label, "1"), shown(text)));
        }
    }
    out
}

/// A stranger's text must not steer the terminal.
fn shown(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n' && c != '\t', "\u{fffd}")
}
