//! What only a conversation at the terminal knows beside the grammar: leaving, clearing the screen, deciding by a line.

use deskhand_core::approval::Wish;
use deskhand_core::id::ApprovalId;

/// Names and what they do, for help and for completion.
pub(super) const NAMES: [(&str, &str); 6] = [
    ("approve", "Approves what waits on the ticket at hand, or A-17."),
    (
        "edit",
        "Approves it with another text: typed behind it, or in your editor.",
    ),
    (
        "reject",
        "Rejects it; words behind it are the reason and reach the model.",
    ),
    ("answer", "Answers a question of the bot, with the words behind it."),
    ("clear", "Clears the screen; ticket and run stay."),
    (
        "exit",
        "Leaves, as Ctrl-D does. What is under way goes on where a runner is.",
    ),
];

/// Behind the help that every surface shows.
pub(super) const HELP: &str = "\
In this conversation:
• A line without a slash is an instruction for the ticket at hand; commands may leave its number out.
• /approve [A-17], /edit [A-17] [text], /reject [A-17] [reason]: decide what waits.
• /answer [A-17] text: answers a question of the bot.
• /clear: clears the screen. /exit, Ctrl-D: leaves.
• Ctrl-C while the bot works: pauses the run; your next instruction, or /resume, lets it go on.";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Own {
    Exit,
    Clear,
    /// `None`: the only one that waits on the ticket at hand.
    Decide {
        approval: Option<ApprovalId>,
        wish: Said,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    Wish(Wish),
    /// The text is still to be asked for.
    Edit,
}

/// `None` for a line that is none of these; an error is a sentence.
pub(super) fn parse(line: &str) -> Option<Result<Own, String>> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (slash, rest) = (word.starts_with('/'), rest.trim());
    let keyword = word.trim_start_matches('/').to_lowercase();
    match (keyword.as_str(), slash || rest.is_empty()) {
        ("exit" | "quit", true) => Some(nothing_behind(rest, Own::Exit, "exit")),
        ("clear", true) => Some(nothing_behind(rest, Own::Clear, "clear")),
        ("approve" | "edit" | "reject" | "answer", _) if slash => Some(decision(&keyword, rest)),
        _ => None,
    }
}

fn nothing_behind(rest: &str, own: Own, name: &str) -> Result<Own, String> {
    match rest {
        "" => Ok(own),
        _ => Err(format!("{name} takes no argument.")),
    }
}

fn decision(keyword: &str, rest: &str) -> Result<Own, String> {
    let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let named: Option<ApprovalId> = word.parse().ok().filter(|_| word.contains('-'));
    let text = match named {
        Some(_) => behind.trim(),
        None => rest,
    };
    let wish = match (keyword, text) {
        ("approve", "") => Said::Wish(Wish::Approve),
        ("approve", _) => return Err("approve takes one approval, like A-17; edit takes another text.".into()),
        ("reject", reason) => Said::Wish(Wish::Reject {
            reason: reason.to_owned(),
        }),
        ("answer", "") => return Err("answer needs your words: /answer Yes, within 30 days.".into()),
        ("answer", text) => Said::Wish(Wish::Answer { text: text.to_owned() }),
        (_, "") => Said::Edit,
        (_, text) => Said::Wish(Wish::Edit { text: text.to_owned() }),
    };
    Ok(Own::Decide { approval: named, wish })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(approval: Option<i64>, wish: Said) -> Option<Result<Own, String>> {
        let approval = approval.map(ApprovalId);
        Some(Ok(Own::Decide { approval, wish }))
    }

    #[test]
    fn decisions_name_an_approval_or_none() {
        let reject = |reason: &str| Said::Wish(Wish::Reject { reason: reason.into() });
        assert_eq!(parse("/approve"), decide(None, Said::Wish(Wish::Approve)));
        assert_eq!(parse("/approve A-17"), decide(Some(17), Said::Wish(Wish::Approve)));
        assert_eq!(parse("/reject a-17  too long"), decide(Some(17), reject("too long")));
        assert_eq!(
            parse("/reject 17 words are too many"),
            decide(None, reject("17 words are too many"))
        );
        assert_eq!(parse("/edit A-17"), decide(Some(17), Said::Edit));
        let text = Said::Wish(Wish::Edit {
            text: "On Tuesday.".into(),
        });
        assert_eq!(parse("/edit On Tuesday."), decide(None, text));
        assert!(matches!(parse("/approve it now"), Some(Err(_))));
        let answer = Said::Wish(Wish::Answer {
            text: "Yes, in May.".into(),
        });
        assert_eq!(parse("/answer A-17 Yes, in May."), decide(Some(17), answer.clone()));
        assert_eq!(parse("/answer Yes, in May."), decide(None, answer));
        assert!(matches!(parse("/answer A-17"), Some(Err(_))));
    }

    #[test]
    fn words_of_an_instruction_are_no_command() {
        for line in [
            "approve her claim in the note",
            "exit strategy",
            "reject",
            "T-1001",
            "/runs",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
        assert_eq!(parse("exit"), Some(Ok(Own::Exit)));
        assert_eq!(parse("/QUIT"), Some(Ok(Own::Exit)));
        assert!(matches!(parse("/clear all"), Some(Err(_))));
    }
}
