//! The open approvals, one by one at the terminal: approve, edit, reject, view, skip.

use std::io::{BufRead, Write};
use std::os::unix::fs::OpenOptionsExt;

use deskhand_adapters::postgres::{approvals, mails};
use deskhand_core::approval::{Actor, Answer, Surface, Wish};
use deskhand_core::card::{Body, ButtonKind, Card};
use deskhand_core::id::ApprovalId;
use deskhand_core::show;

use super::table::{coloured_diff, styled};
use crate::app::App;
use crate::decisions::{self, Wanted};
use crate::worker::{self, AnswerTo};

/// Whoever started the program on the bot's own host.
pub(super) fn local_actor() -> Actor {
    let name = ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "terminal".into());
    Actor {
        surface: Surface::Local,
        id: name.clone(),
        name,
        workspace: None,
        roles: Vec::new(),
    }
}

/// Decides at the terminal; the same rules as everywhere.
pub(super) async fn decide(app: &App, id: ApprovalId, wish: Wish, digest: Option<String>) -> anyhow::Result<Answer> {
    let wanted = Wanted {
        approval: id,
        actor: local_actor(),
        wish,
        digest,
        delivery: uuid::Uuid::now_v7().to_string(),
        answer: AnswerTo::default(),
    };
    match decisions::try_decide(app, &wanted).await? {
        Some(answer) => Ok(answer),
        None => anyhow::bail!("{id} is being worked on right now; try again in a moment"),
    }
}

/// Where lines that a person types come from.
pub(super) trait Lines {
    /// `None` at the end, and when the person wants out of what is asked.
    fn line(&mut self, prompt: &str) -> anyhow::Result<Option<String>>;
}

/// Standard input as it is.
pub(super) struct Plain;

impl Lines for Plain {
    fn line(&mut self, prompt: &str) -> anyhow::Result<Option<String>> {
        print!("{prompt}");
        std::io::stdout().flush()?;
        let mut line = String::new();
        Ok((std::io::stdin().lock().read_line(&mut line)? > 0).then_some(line))
    }
}

/// What came of asking about one approval.
pub(super) enum Asked {
    /// With the answer's sentence told.
    Decided,
    /// It was decided, expired or withdrawn elsewhere, or is not this person's to decide; that was told.
    NotDecided,
    Skipped,
    Quit,
}

/// What a person wants to do next.
enum Choice {
    Wish(Wish),
    View,
    Skip,
    Quit,
}

/// Goes through what waits. Gives how many were decided.
pub(super) async fn all(app: &App) -> anyhow::Result<usize> {
    let mut decided = 0;
    let open = approvals::read(&app.pool, approvals::Which::Open).await?;
    let total = open.len();
    for (n, row) in open.iter().enumerate() {
        let Some(card) = worker::card(app, row.id).await? else {
            continue;
        };
        println!("\n{}", draw(&card, &format!("{} of {total}", n + 1), false));
        match one(app, row, &card, &mut Plain).await? {
            Asked::Decided => decided += 1,
            Asked::NotDecided | Asked::Skipped => {}
            Asked::Quit => return Ok(decided),
        }
    }
    Ok(decided)
}

/// Asks about one approval, whose card is on the screen, until that is settled one way or the other.
pub(super) async fn one(app: &App, row: &approvals::Row, card: &Card, lines: &mut dyn Lines) -> anyhow::Result<Asked> {
    let own = row.instructed_by == local_actor().key();
    if own {
        println!(
            "{} came from your own instruction, so somebody else must approve it.",
            row.id
        );
    }
    loop {
        match choose(card, own, lines)? {
            Choice::View => {
                println!("{}", draw(card, "", true));
                if let Some(mail) = mails::whole_of_last_words(&app.pool, row.ticket).await? {
                    println!("\n{}:\n{}", styled(show::WHOLE_MAIL, "1"), clean_lines(&mail));
                }
            }
            Choice::Skip => return Ok(Asked::Skipped),
            Choice::Quit => return Ok(Asked::Quit),
            Choice::Wish(wish) => {
                let answer = decide(app, row.id, wish, Some(row.digest.clone())).await?;
                println!("{}", styled(&answer.sentence(row.id), "1"));
                return Ok(match answer {
                    Answer::Decided(_) => Asked::Decided,
                    Answer::AlreadyDecided(_)
                    | Answer::Expired
                    | Answer::Withdrawn { .. }
                    | Answer::NotAllowed { .. }
                    | Answer::Stale
                    | Answer::Checking
                    | Answer::Unknown => Asked::NotDecided,
                });
            }
        }
    }
}

/// What may be typed about a card: the buttons that core chose, and the terminal's own two. What came of a person's own
/// instruction they may only reject.
fn choose(card: &Card, own: bool, lines: &mut dyn Lines) -> anyhow::Result<Choice> {
    if card.buttons.iter().any(|button| button.kind == ButtonKind::Answer) {
        return answer(card, lines);
    }
    let offered = |kind| {
        let allowed = !own || matches!(kind, ButtonKind::Reject | ButtonKind::View);
        allowed && card.buttons.iter().any(|button| button.kind == kind)
    };
    let words = [
        (ButtonKind::Approve, "[a]pprove"),
        (ButtonKind::Edit, "[e]dit"),
        (ButtonKind::Reject, "[r]eject"),
        (ButtonKind::View, "[v]iew"),
    ];
    let words = words.iter().filter(|(kind, _)| offered(*kind)).map(|(_, word)| *word);
    let words: Vec<&str> = words.chain(["[s]kip", "[q]uit"]).collect();
    let prompt = format!("{} > ", words.join(" "));
    loop {
        let line = lines.line(&prompt)?;
        let Some(line) = line else { return Ok(Choice::Quit) };
        match line.trim().to_lowercase().as_str() {
            "a" | "approve" if offered(ButtonKind::Approve) => return Ok(Choice::Wish(Wish::Approve)),
            "e" | "edit" if offered(ButtonKind::Edit) => match edit(card, lines)? {
                Some(text) => return Ok(Choice::Wish(Wish::Edit { text })),
                None => println!("Nothing was changed."),
            },
            "r" | "reject" if offered(ButtonKind::Reject) => {
                // Whoever leaves this question has rejected nothing.
                if let Some(reason) = lines.line("Why? (it reaches the model; may be empty) > ")? {
                    let reason = reason.trim().to_owned();
                    return Ok(Choice::Wish(Wish::Reject { reason }));
                }
            }
            "v" | "view" if offered(ButtonKind::View) => return Ok(Choice::View),
            "s" | "skip" | "" => return Ok(Choice::Skip),
            "q" | "quit" => return Ok(Choice::Quit),
            _ => println!("Type one of the letters in brackets."),
        }
    }
}

/// A question: one of its options by number, or any other answer in words.
fn answer(card: &Card, lines: &mut dyn Lines) -> anyhow::Result<Choice> {
    for button in &card.buttons {
        if let Some(choice) = &button.choice {
            println!("  {}. {}", choice.option + 1, clean(&choice.text));
        }
    }
    let line = lines.line("Your answer, or a number above ([v]iew [s]kip [q]uit) > ")?;
    let Some(line) = line else { return Ok(Choice::Quit) };
    Ok(match line.trim() {
        "v" | "view" => Choice::View,
        "s" | "skip" | "" => Choice::Skip,
        "q" | "quit" => Choice::Quit,
        text => {
            let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let mut chosen = card.buttons.iter().filter_map(|button| button.choice.as_ref());
            Choice::Wish(match chosen.find(|choice| Some(choice.option) == number) {
                Some(choice) => Wish::Choose { option: choice.option },
                None => Wish::Answer { text: text.to_owned() },
            })
        }
    })
}

/// The draft in the person's editor; without one, typed anew and ended by a single dot.
pub(super) fn edit(card: &Card, lines: &mut dyn Lines) -> anyhow::Result<Option<String>> {
    let draft = match &card.body {
        Body::Draft(text) => text.clone(),
        Body::Facts(facts) => facts.last().map(|(_, value)| value.clone()).unwrap_or_default(),
        Body::Diff(_) => {
            println!("An edit of an article is changed by rejecting it with what to change.");
            return Ok(None);
        }
    };
    let editor = std::env::var("VISUAL")
        .or_else(|_| std::env::var("EDITOR"))
        .unwrap_or_default();
    let text = if editor.trim().is_empty() {
        typed_anew(lines)?
    } else {
        in_editor(&editor, &draft, card.approval)?
    };
    let Some(text) = text else { return Ok(None) };
    let text = text.trim().to_owned();
    Ok((!text.is_empty() && text != draft.trim()).then_some(text))
}

/// `None` without the dot: half a text of somebody who wanted out must not be sent.
fn typed_anew(lines: &mut dyn Lines) -> anyhow::Result<Option<String>> {
    println!("Type the new text; a line with a single dot ends it (set EDITOR to edit the draft itself):");
    let mut text = String::new();
    while let Some(line) = lines.line("")? {
        if line.trim() == "." {
            return Ok(Some(text));
        }
        text.push_str(line.trim_end_matches('\n'));
        text.push('\n');
    }
    Ok(None)
}

fn in_editor(editor: &str, draft: &str, approval: ApprovalId) -> anyhow::Result<Option<String>> {
    let path = std::env::temp_dir().join(format!("deskhand-{approval}-{}.txt", uuid::Uuid::new_v4()));
    // It is about a customer, in a folder that others can look into.
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    file.write_all(draft.as_bytes())?;
    drop(file);
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let done = std::process::Command::new(program).args(words).arg(&path).status();
    let text = std::fs::read_to_string(&path);
    std::fs::remove_file(&path)?;
    match done {
        Ok(status) if status.success() => Ok(Some(text?)),
        Ok(_) => Ok(None),
        Err(error) => {
            println!("The editor {program} does not start ({error}): see VISUAL and EDITOR.");
            Ok(None)
        }
    }
}

/// The card in text, in the order in which people read it.
pub(super) fn draw(card: &Card, place: &str, whole: bool) -> String {
    let mut lines = vec![styled(
        &format!(
            "── {} · {} · {} {place}",
            card.approval,
            card.ticket,
            clean(&card.subject)
        ),
        "1",
    )];
    lines.push(format!("from {}", clean(&card.requester)));
    lines.push(clean(&card.will));
    let words: Vec<String> = card
        .last_words
        .lines()
        .map(clean)
        .filter(|line| !line.trim().is_empty())
        .collect();
    let most = if whole { words.len() } else { 3 };
    lines.extend(words.iter().take(most).map(|line| styled(&format!("  > {line}"), "2")));
    if words.len() > most {
        lines.push(styled("  > …", "2"));
    }
    lines.push(String::new());
    let body = match &card.body {
        Body::Draft(text) => text
            .lines()
            .map(|line| format!("  {}", clean(line)))
            .collect::<Vec<_>>()
            .join("\n"),
        Body::Diff(diff) => coloured_diff(&diff.lines().map(clean).collect::<Vec<_>>().join("\n")),
        Body::Facts(facts) => facts
            .iter()
            .map(|(name, value)| format!("  {name}: {}", clean(value)))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    let body: Vec<&str> = body.lines().collect();
    let most = if whole { body.len() } else { 30 };
    lines.extend(body.iter().take(most).map(|line| (*line).to_owned()));
    if body.len() > most {
        lines.push(format!("  … {} more lines: [v]iew shows them", body.len() - most));
    }
    lines.push(String::new());
    let sure = card
        .confidence
        .map(|sure| format!(" ({:.0} % sure)", sure * 100.0))
        .unwrap_or_default();
    lines.push(format!("Why: {}{sure}", clean(&card.why)));
    if !card.sources.is_empty() {
        lines.push(format!("From: {}", clean(&card.sources.join(", "))));
    }
    lines.extend(
        card.marks
            .iter()
            .map(|mark| styled(&format!("⚠ {}", clean(&mark.text)), "33")),
    );
    lines.join("\n")
}

/// The same for a text of several lines.
pub(super) fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// No control characters from anybody's text reach the terminal.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}
