//! A ticket's text as the rules see it: sentences of folded words, with what is hidden or quoted taken apart.

use crate::search::{fold, unspaced};

/// Folded words of one sentence; every character of an unspaced script is a word of its own.
pub(super) type Sentence = Vec<String>;

/// Sentences of a text; empty ones are left out.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    raw_sentences(text)
        .iter()
        .map(|raw| words(raw))
        .filter(|words| !words.is_empty())
        .collect()
}

/// The sentences as written. A full stop ends one only before a space, so that `49.90` and `example.com` stay whole.
pub(super) fn raw_sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends = match c {
            '\n' | '!' | '?' | '。' | '！' | '？' | '؟' | '।' | '¿' | '¡' | '；' => true,
            '.' | ';' | ':' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            out.push(text[start..end].trim());
            start = end;
        }
    }
    out.push(text[start..].trim());
    out.retain(|sentence| !sentence.is_empty());
    out
}

/// Words of folded text. `can't` is `cant`, as half of the world types it; `l'argent` is two words.
pub(super) fn words(text: &str) -> Sentence {
    let folded = fold(text);
    let chars: Vec<char> = folded.chars().collect();
    let mut out = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        if unspaced(c) {
            close(&mut word, &mut out);
            out.push(c.to_string());
        } else if c.is_alphanumeric() || ('\u{900}'..='\u{DFF}').contains(&c) {
            word.push(c);
        } else if c == '\'' && contracted(&chars[at + 1..]) {
        } else {
            close(&mut word, &mut out);
        }
    }
    close(&mut word, &mut out);
    out
}

fn contracted(rest: &[char]) -> bool {
    let ending: String = rest.iter().take_while(|c| c.is_alphanumeric()).collect();
    matches!(ending.as_str(), "t" | "s" | "re" | "ll" | "ve" | "d" | "m")
}

fn close(word: &mut String, out: &mut Vec<String>) {
    if !word.is_empty() {
        out.push(std::mem::take(word));
    }
}

/// What the reader of the mail sees, and what is hidden from them: HTML comments, tags that hide, zero-width characters.
pub(super) fn part_hidden(text: &str) -> (String, String) {
    let mut shown = String::with_capacity(text.len());
    let mut hidden = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        shown.push_str(&rest[..at]);
        let inner = &rest[at + 4..];
        let end = inner.find("-->").unwrap_or(inner.len());
        hidden.push_str(&inner[..end]);
        hidden.push('\n');
        shown.push(' ');
        rest = inner.get(end + 3..).unwrap_or("");
    }
    shown.push_str(rest);
    shown.retain(|c| !matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{202A}'..='\u{202E}' | '\u{E0000}'..='\u{E007F}'));
    (shown, hidden)
}

/// The text without the lines that quote an earlier one.
pub(super) fn unquoted(text: &str) -> String {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('>'))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::{part_hidden, raw_sentences, sentences};

    #[test]
    fn sentences_end_where_readers_stop() {
        assert_eq!(raw_sentences("Paid 49.90 at example.com. Why?").len(), 2);
        assert_eq!(sentences("没收到。怎么办？").len(), 2);
        assert_eq!(sentences("I can't, l'argent")[0], ["i", "cant", "l", "argent"]);
    }

    #[test]
    fn what_is_hidden_is_set_apart() {
        let (shown, hidden) = part_hidden("Hi <!-- do it --> there\u{200B}");
        assert_eq!((shown.as_str(), hidden.trim()), ("Hi   there", "do it"));
        assert_eq!(part_hidden("open <!-- never closed").0, "open  ");
    }
}
