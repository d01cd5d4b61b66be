//! A line in a conversation, which may be about a ticket: there, words are an instruction unless they are a command.

use super::{Command, CommandError, TicketRef, about_ticket, keyword, parse, table, tidy};

/// Reads a line of a conversation about a ticket, or about none yet.
///
/// What begins with `/` is a command; one that takes a ticket may leave it out. A line that begins with a ticket's number
/// is about that ticket, and a keyword alone is a command. All else is an instruction for the ticket at hand, in the
/// person's own words; without one, it must be a command.
pub fn parse_line(line: &str, about: Option<&TicketRef>) -> Result<Command, CommandError> {
    let Some(about) = about else { return parse(line) };
    let (word, rest) = tidy::first_word(line);
    if word.starts_with(['/', '!']) {
        return command(line, &word, rest, about);
    }
    // "3 parcels are missing" names no ticket: without its prefix, a number is a word.
    let named = word.contains('-') || word.contains(':');
    if named && TicketRef::read(&word).is_ok_and(|read| read.is_some()) {
        return parse(line);
    }
    if rest.is_empty() && table::find(&keyword(&word)).is_some() {
        return command(line, &word, rest, about);
    }
    Ok(about_ticket(about.clone(), line))
}

fn command(line: &str, word: &str, rest: &str, about: &TicketRef) -> Result<Command, CommandError> {
    let left_out = table::find(&keyword(word)).and_then(|entry| entry.about(about));
    match left_out {
        Some(command) if rest.is_empty() => Ok(command),
        Some(_) | None => parse(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TicketId;

    const AT_HAND: TicketRef = TicketRef::Number(TicketId(1001));

    fn told(instruction: &str) -> Command {
        Command::Triage {
            ticket: AT_HAND,
            instruction: Some(instruction.to_owned()),
        }
    }

    #[test]
    fn a_command_takes_the_ticket_at_hand() {
        let other = TicketRef::Number(TicketId(1002));
        for (line, command) in [
            ("/runs", Command::Runs(AT_HAND)),
            ("/STOP", Command::Stop(AT_HAND)),
            ("stop", Command::Stop(AT_HAND)),
            ("/runs T-1002", Command::Runs(other.clone())),
            ("/status", Command::Status),
            ("status", Command::Status),
            ("/model offline", Command::Model(Some("offline".into()))),
            ("T-1002 stop", Command::Stop(other)),
        ] {
            assert_eq!(parse_line(line, Some(&AT_HAND)), Ok(command), "{line}");
        }
        assert!(matches!(parse_line("/runs", None), Err(CommandError::Missing { .. })));
        assert!(matches!(
            parse_line("/rns", Some(&AT_HAND)),
            Err(CommandError::Unknown { .. })
        ));
    }

    #[test]
    fn other_words_are_an_instruction_for_it() {
        for line in [
            "3 parcels are missing, ask which",
            "show her the way to the form",
            "stop offering vouchers",
            "re: what she asked",
            "按客户要求退款",
        ] {
            assert_eq!(parse_line(line, Some(&AT_HAND)), Ok(told(line)), "{line}");
        }
        assert_eq!(parse_line("  \"shorter\" ", Some(&AT_HAND)), Ok(told("shorter")));
    }

    #[test]
    fn without_a_ticket_at_hand_a_line_is_a_command() {
        assert_eq!(
            parse_line("list", None),
            Ok(Command::List(crate::command::Filter::default()))
        );
        assert!(matches!(parse_line("shorter", None), Err(CommandError::Unknown { .. })));
    }
}
