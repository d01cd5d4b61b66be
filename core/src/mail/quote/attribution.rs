//! "On Friday Ann wrote:", in any language: the line, or the few lines it was wrapped into, above a quote.
//!
//! No client's template is known here. Such a line has two of date, time, and address, a verb of writing or an ending
//! that only a program writes, and a colon; and nothing that only a person writes. What follows it counts as well: `>`
//! lines below make weak signs enough.

use super::evidence::Evidence;
use super::lexicon::lexicon;
use super::line::Line;
use crate::mail::words::is_unspaced;

/// So many lines may one attribution be wrapped into.
const WRAPPED: usize = 4;
/// No program writes a longer one.
const LONGEST: usize = 420;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    No,
    /// Enough where quoted lines follow.
    Weak,
    Strong,
}

/// The line after the attribution that begins at `at`, if one does.
pub(super) fn ends(lines: &[&Line<'_>], at: usize) -> Option<usize> {
    let first = lines[at];
    if first.blank || first.rule || !may_start(first) {
        return None;
    }
    let mut told = false;
    for end in at..lines.len().min(at + WRAPPED) {
        let last = lines[end];
        if last.blank || last.depth != first.depth || last.length > LONGEST {
            return None;
        }
        told |= last.plain.contains(|c: char| c == '@' || c.is_ascii_digit());
        if may_end(last) && (told || quoted_below(lines, end)) && accepted(lines, at, end) {
            // A line of prose above a whole attribution is not its first line.
            let whole =
                |line: &Line<'_>| lexicon().begins("starts", &line.folded) || Evidence::of(&line.folded).points() == 3;
            let later = (at + 1..=end).any(|start| whole(lines[start]) && accepted(lines, start, end));
            let named = Evidence::of(&first.folded).address;
            return (!later || named).then_some(end + 1);
        }
    }
    None
}

fn accepted(lines: &[&Line<'_>], start: usize, end: usize) -> bool {
    let parts: Vec<&str> = lines[start..=end].iter().map(|line| line.plain.as_str()).collect();
    let plain = parts.join(" ");
    if plain.len() > LONGEST {
        return false;
    }
    match strength(&plain, &plain.to_lowercase(), end > start) {
        Strength::Strong => true,
        Strength::Weak => quoted_below(lines, end),
        Strength::No => false,
    }
}

/// A few empty lines may come between.
fn quoted_below(lines: &[&Line<'_>], end: usize) -> bool {
    let below = lines[end + 1..].iter().take(12).find(|line| !line.blank);
    below.is_some_and(|line| line.depth > lines[end].depth)
}

/// Programs begin with a preposition, a day, a number, a name with its address, or dashes.
fn may_start(line: &Line<'_>) -> bool {
    let text = &line.folded;
    let first = text.split(' ').next().unwrap_or_default();
    text.starts_with(['-', '"', '<'])
        || first.contains(|c: char| c.is_ascii_digit())
        || first.ends_with([',', '.'])
        || text.contains('@')
        || lexicon().begins("starts", text)
        || (text.ends_with(':') && (line.wrote() || Evidence::of(text).points() > 0))
}

fn may_end(line: &Line<'_>) -> bool {
    line.plain.ends_with([':', '>', '-', '"']) || line.wrote()
}

fn strength(plain: &str, folded: &str, wrapped: bool) -> Strength {
    let dashed = folded.starts_with("--") && folded.ends_with("--");
    let core = folded.trim_matches(['-', ' ', '"']);
    let closed = core.ends_with(':') || dashed;
    let core = core.trim_end_matches([':', ' ', ';']);
    let evidence = Evidence::of(core);
    let Some(verb_ends) = verb(core, wrapped) else {
        return without_verb(core, evidence, closed);
    };
    let points = evidence.points();
    let verb_last = core[verb_ends..].chars().all(|c| !c.is_alphanumeric());
    if !closed {
        return unclosed(core, evidence, verb_ends, verb_last);
    }
    if points >= 2 && (evidence.bracketed.is_some() || names_somebody(plain)) {
        Strength::Strong
    } else if points >= 1 || (verb_last && core.len() < 80 && core.split(' ').count() <= 6) {
        Strength::Weak
    } else {
        Strength::No
    }
}

/// Where the verb of writing ends. A script without spaces may have been wrapped within it.
fn verb(core: &str, wrapped: bool) -> Option<usize> {
    let found = lexicon().find("wrote", core).map(|(_, end)| end);
    found.or_else(|| {
        let tight = wrapped.then(|| core.replace(' ', ""))?;
        let (_, end) = lexicon().find("wrote", &tight)?;
        (end == tight.len()).then_some(core.len())
    })
}

/// "2026/10/09 10:53 Ann <ann@x.example>:" needs no verb: nobody writes that by hand.
fn without_verb(core: &str, evidence: Evidence, closed: bool) -> Strength {
    // A date, a time, and an address in brackets before a colon: the verb is one that is not known here.
    let told = core.split([' ', '\'']).any(|word| lexicon().is("prose", word)) || lexicon().has_unspaced("prose", core);
    if closed && !told && evidence.points() == 3 && evidence.bracketed.is_some() {
        return Strength::Strong;
    }
    let address_last = evidence.bracketed.is_some_and(|end| core[end..].chars().count() <= 12);
    if closed && evidence.date && address_last {
        Strength::Strong
    } else if evidence.date && (evidence.bracketed == Some(core.len()) || (closed && evidence.time)) {
        Strength::Weak
    } else {
        Strength::No
    }
}

/// The colon was lost, or the quoted words were glued to it.
fn unclosed(core: &str, evidence: Evidence, verb_ends: usize, verb_last: bool) -> Strength {
    let beside = |end: usize| verb_ends.saturating_sub(end) < 30;
    let glued = core[verb_ends..].trim_start().starts_with(':') && evidence.bracketed.is_some_and(beside);
    match evidence.points() {
        3 if glued || verb_last => Strength::Strong,
        2 | 3 if glued || verb_last || (evidence.date && evidence.time) => Strength::Weak,
        _ => Strength::No,
    }
}

/// What stands where the name belongs could be a name: behind the time, or, where nothing is behind it, before the date.
/// Without an address this is all that tells "On 9 Oct 2026 at 10:53, Ann Smith wrote:" from "… my colleague wrote:".
fn names_somebody(plain: &str) -> bool {
    let words = lexicon();
    let part = |c: char| {
        c == ' '
            || matches!(
                c,
                ',' | '"' | ';' | ':' | '(' | ')' | '<' | '>' | '\u{60c}' | '\u{3001}'
            )
    };
    let tokens: Vec<&str> = plain.split(part).filter(|token| !token.is_empty()).collect();
    let numbered = |token: &&str| !token.contains('@') && token.contains(|c: char| c.is_ascii_digit());
    let (Some(first), Some(last)) = (tokens.iter().position(numbered), tokens.iter().rposition(numbered)) else {
        return false;
    };
    let naming = |token: &&str| {
        let folded = token.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let none = folded.is_empty() || words.is("clock", &folded) || words.is("starts", &folded);
        !none && !words.part_of("wrote", &folded)
    };
    let behind: Vec<&str> = tokens[last + 1..].iter().copied().filter(naming).collect();
    let before: Vec<&str> = tokens[..first].iter().copied().filter(naming).collect();
    // A script without spaces has name, date, and verb in one token.
    let name = match (behind.is_empty(), before.is_empty()) {
        (false, _) => behind,
        (true, false) => before,
        (true, true) => return tokens[last].chars().any(is_unspaced) && !words.has_unspaced("prose", plain),
    };
    name.iter().all(|token| {
        let folded = token.to_lowercase();
        let lower = token.chars().next().is_some_and(char::is_lowercase);
        let prose = words.is("prose", &folded) || words.has_unspaced("prose", &folded);
        !prose && (!lower || token.contains('@') || words.is("particles", &folded))
    })
}
