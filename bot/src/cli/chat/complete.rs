//! What a line that is being typed may become: commands, the words that they take, tickets.

use deskhand_core::command;

use super::own;

/// One completion: what is shown, and what the whole line becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) shown: String,
    pub(super) line: String,
}

/// Completes the line up to the cursor. Tickets come with their subject. Instructions are the person's own words: with a
/// ticket at hand only what begins with `/` or with a ticket's number is completed.
pub(super) fn complete(line: &str, tickets: &[(String, String)], at_hand: bool) -> Vec<Completion> {
    let typed = line.trim_start();
    let (slash, rest) = match typed.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => ("", typed),
    };
    let mut all = Vec::new();
    if !slash.is_empty() || !at_hand {
        let own = own::NAMES
            .iter()
            .filter(|(name, _)| !slash.is_empty() && name.starts_with(rest));
        all.extend(own.map(|(name, sentence)| completion(format!("/{name}"), sentence)));
        let suggestions = command::suggest(rest);
        all.extend(
            suggestions
                .iter()
                .map(|s| completion(format!("{slash}{}", s.text), s.sentence)),
        );
    }
    if let Some((before, number)) = ticket_begun(slash, rest) {
        let begun = number.to_uppercase();
        let fitting = tickets.iter().filter(|(id, _)| id.starts_with(&begun));
        all.extend(fitting.map(|(id, subject)| Completion {
            shown: format!("{id}  {subject}"),
            line: format!("{slash}{before}{id} "),
        }));
    }
    all.sort_by(|a, b| a.shown.cmp(&b.shown));
    all.dedup();
    all
}

fn completion(text: String, sentence: &str) -> Completion {
    Completion {
        shown: format!("{text}  {sentence}"),
        line: text,
    }
}

/// Where a ticket's number may stand: at the head of the line, or alone behind a command that takes one.
fn ticket_begun<'a>(slash: &str, rest: &'a str) -> Option<(&'a str, &'a str)> {
    let Some((word, number)) = rest.rsplit_once(' ') else {
        let begins = rest.starts_with(['T', 't']) && rest[1..].chars().all(|c| c == '-' || c.is_ascii_digit());
        return (slash.is_empty() && begins).then_some(("", rest));
    };
    let takes_one = command::help()
        .iter()
        .any(|line| line.name == word.trim() && line.argument == "<ticket>");
    (takes_one && number.chars().count() < 12).then(|| (&rest[..=word.len()], number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(line: &str, at_hand: bool) -> Vec<String> {
        let tickets = ["T-1001", "T-1002", "T-2001"].map(|id| (id.to_owned(), "Kettle".to_owned()));
        let all = complete(line, &tickets, at_hand);
        all.into_iter().map(|completion| completion.line).collect()
    }

    #[test]
    fn commands_are_completed_with_their_words_and_tickets() {
        assert_eq!(lines("/sk", true), ["/skills"]);
        assert_eq!(lines("/re", true), ["/reject", "/release", "/resume"]);
        assert_eq!(lines("/mode s", true), ["/mode shadow"]);
        assert_eq!(lines("/runs T-1", true), ["/runs T-1001 ", "/runs T-1002 "]);
        assert_eq!(lines("/exi", true), ["/exit"]);
        assert_eq!(lines("sk", false), ["skills"]);
    }

    #[test]
    fn an_instruction_is_left_alone() {
        assert!(lines("sk", true).is_empty());
        assert!(lines("tell her t", true).is_empty());
        assert!(lines("the", true).is_empty());
        assert_eq!(lines("t-2", true), ["T-2001 "]);
    }
}
