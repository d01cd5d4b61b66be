//! What stands under the words and belongs to nobody's question: `-- ` signatures, "sent from my phone", disclaimers,
//! the footers of mailing lists.
//!
//! A name under a greeting without any delimiter stays with the words: a telephone number there is as often the answer
//! as it is decoration, and keeping a line too many costs less than losing one.

use super::lexicon::lexicon;
use super::line::Line;

/// Lines with words that a signature may have.
const SIGNATURE: usize = 25;
/// The same for one that only a drawn rule parts from the words.
const FOOTER: usize = 14;

/// Lines that a disclaimer's paragraph may have.
const PARAGRAPH: usize = 30;

/// Where the signature begins in a stretch of lines; their count if there is none. Applied to what remains, it finds
/// nothing more.
pub(super) fn begins(lines: &[&Line<'_>]) -> usize {
    let mut cut = lines.len();
    loop {
        while cut > 0 && lines[cut - 1].blank {
            cut -= 1;
        }
        let kept = &lines[..cut];
        let next = program_line(kept)
            .or_else(|| delimiter(kept))
            .or_else(|| disclaimer(kept));
        match next {
            Some(next) => cut = next,
            None => return cut,
        }
    }
}

/// "Sent from my iPhone", "Get Outlook for iOS", "Virus-free".
fn program_line(lines: &[&Line<'_>]) -> Option<usize> {
    let at = lines.len().checked_sub(1)?;
    let line = lines[at];
    if says_program(&line.folded) {
        return Some(at);
    }
    // Outlook's link may be wrapped onto a line of its own.
    let above = at.checked_sub(1).map(|above| &lines[above].folded)?;
    let link = line.folded.trim_matches(['<', '>', '(', ')']).starts_with("http") && !line.folded.contains(' ');
    (link && says_program(above)).then_some(at - 1)
}

fn says_program(folded: &str) -> bool {
    if is_offer(folded) {
        return true;
    }
    let text = without_links(folded);
    let text = text.trim_matches([' ', '.', '-', '_', '[', ']', '!', '~', '\u{2022}']);
    let characters = text.chars().count();
    if !(4..=110).contains(&characters) || text.ends_with(['?', ':']) {
        return false;
    }
    let words = lexicon();
    let count = text.split(' ').count();
    let branded = words.has("brands", text);
    let checked = words.has("checkers", text) && words.has("checked", text);
    let plain = !text.contains([',', ';', '?', '!', '。', '，', '\u{60c}']) && !text.contains(". ");
    checked
        || (plain && count <= 12 && words.begins("sent from", text) && (branded || count <= 7))
        || (plain && branded && count <= 12 && characters <= 80 && words.has("sent", text) && !is_told(text))
}

/// "Get Outlook for iOS" in any language: the program's name, few words, and its maker's own link behind them.
fn is_offer(folded: &str) -> bool {
    let short = folded.split(' ').count() <= 8;
    short && folded.contains("outlook") && (folded.contains("https://aka.ms/") || folded.contains("http://aka.ms/"))
}

/// A person's sentence about a phone or a program, not the program's own line: "I sent it from my phone".
fn is_told(text: &str) -> bool {
    let words = lexicon();
    let spoken = text.split([' ', '\'']).filter(|token| {
        !matches!(
            *token,
            "my" | "mein" | "mijn" | "mi" | "meinem" | "mon" | "o" | "u" | "su"
        )
    });
    spoken.clone().any(|token| words.is("prose", token))
        || text.contains(['我', '私', '나']) && !text.contains("我的") && !text.contains("나의")
}

fn without_links(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(' ') {
        let kept = word
            .find("<http")
            .or_else(|| word.find("(http"))
            .or_else(|| word.find("http"))
            .map_or(word, |at| &word[..at]);
        if !kept.is_empty() {
            out.push_str(kept);
            out.push(' ');
        }
    }
    out
}

/// `-- ` as RFC 3676 has it, without its space, or as a dash that a phone made of it; else a drawn rule above what looks
/// like a signature; else the card that NetEase draws with bars.
fn delimiter(lines: &[&Line<'_>]) -> Option<usize> {
    let mut seen = 0;
    for at in (0..lines.len()).rev() {
        let line = lines[at];
        if line.blank {
            continue;
        }
        let below = &lines[at + 1..];
        if is_delimiter(line) {
            let formal = line.text().trim_start_matches(['>', ' ']) == "-- ";
            return (formal || is_signature(below, SIGNATURE)).then_some(at);
        }
        let parted = at == 0 || lines[at - 1].blank;
        let barred = line.plain.contains('|') && line.plain.chars().all(|c| c == '|' || c == ' ');
        if parted && ((line.rule && line.length >= 3) || barred) && seen > 0 && is_signature(below, FOOTER) {
            return Some(at);
        }
        seen += 1;
        if seen > SIGNATURE {
            return None;
        }
    }
    None
}

fn is_delimiter(line: &Line<'_>) -> bool {
    matches!(
        line.plain.as_str(),
        "--" | "\u{2014}" | "\u{2014}\u{2014}" | "\u{2013}" | "- -"
    )
}

/// Few short lines, none of them a sentence or the next point of a list.
fn is_signature(lines: &[&Line<'_>], most: usize) -> bool {
    let written = lines.iter().filter(|line| !line.blank);
    let sentence = |line: &&&Line<'_>| {
        let asks = line.folded.ends_with(['?', '!', '\u{3002}']) || line.folded.ends_with('؟');
        asks || (line.folded.ends_with('.') && line.folded.split(' ').count() > 6) || line.length > 140
    };
    written.clone().count() <= most && written.filter(sentence).count() == 0
}

/// A last paragraph that speaks of a mail, of confidence, and of its reader.
fn disclaimer(lines: &[&Line<'_>]) -> Option<usize> {
    let length = lines
        .iter()
        .rev()
        .take(PARAGRAPH + 1)
        .take_while(|line| !line.blank)
        .count();
    if length == 0 || length > PARAGRAPH {
        return None;
    }
    let start = lines.len() - length;
    let text: Vec<&str> = lines[start..].iter().map(|line| line.folded.as_str()).collect();
    let text = text.join(" ");
    if text.chars().count() < 40 || text.ends_with('?') {
        return None;
    }
    let words = lexicon();
    let says = ["mail", "confidential", "reader"]
        .iter()
        .all(|section| words.has(section, &text));
    says.then_some(start)
}
