//! What keyboards, chats and phones do to a typed line, undone: curly quotes, full-width letters, odd spaces and dashes.
//!
//! Applied to keywords and ticket numbers only. Instructions and queries keep their words; they lose no more than the
//! white space and the pair of quotes around them.

use unicode_normalization::UnicodeNormalization;

/// How many characters of a wrong word are shown back.
const SHOWN: usize = 40;

/// The first word in plain characters, and the trimmed text behind it, untouched.
pub(super) fn first_word(text: &str) -> (String, &str) {
    let text = text.trim_matches(blank);
    let end = text.find(blank).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (plain(word), rest.trim_matches(blank))
}

/// Without one pair of quotes around the whole.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim_matches(blank);
    for (open, close) in [
        ('"', '"'),
        ('\u{201c}', '\u{201d}'),
        ('\u{201e}', '\u{201c}'),
        ('\'', '\''),
        ('`', '`'),
    ] {
        if let Some(inner) = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close))
            && !inner.contains([open, close])
        {
            return inner.trim_matches(blank);
        }
    }
    text
}

/// A wrong word as an answer quotes it.
pub(super) fn clip(word: &str) -> String {
    let mut clipped: String = word.chars().take(SHOWN).collect();
    if clipped.len() < word.len() {
        clipped.push('…');
    }
    clipped
}

/// Full-width letters become ordinary ones, any dash becomes `-`, and quotes and closing punctuation go.
fn plain(word: &str) -> String {
    let word: String = word
        .nfkc()
        .filter(|c| !invisible(*c))
        .map(|c| if dash(c) { '-' } else { c })
        .collect();
    word.trim_matches(quote)
        .trim_end_matches([',', '.', ';', ':', '!', '、', '。', ')'])
        .trim_start_matches(['(', '#'])
        .trim_matches(quote)
        .to_owned()
}

fn blank(c: char) -> bool {
    c.is_whitespace() || invisible(c)
}

/// Zero-width characters and direction marks, which arrive by copy and paste.
fn invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
}

fn dash(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30fc}')
}

fn quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '*' | '«' | '»' | '「' | '」' | '\u{2018}'..='\u{201f}'
    )
}
