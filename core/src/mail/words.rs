//! Folding of text, and word lists beside the code: what mail programs write, by meaning rather than by language.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Sections of phrases, folded. See the head of a list for its form.
#[derive(Debug)]
pub(super) struct Words {
    sections: HashMap<&'static str, Vec<Phrase>>,
    /// Whole phrases without their spaces, by section.
    whole: HashMap<&'static str, HashSet<String>>,
}

#[derive(Debug)]
pub(super) struct Phrase {
    text: String,
    /// Further letters may follow.
    open: bool,
    /// Written in a script that puts no spaces between words.
    unspaced: bool,
}

impl Words {
    pub(super) fn read(list: &'static str) -> Self {
        let mut sections: HashMap<&'static str, Vec<Phrase>> = HashMap::new();
        let mut section = "";
        for line in list.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = name;
                continue;
            }
            let phrases = sections.entry(section).or_default();
            phrases.extend(
                line.split(';')
                    .map(str::trim)
                    .filter(|p| !p.is_empty())
                    .map(Phrase::read),
            );
        }
        let whole = |phrases: &Vec<Phrase>| {
            let closed = phrases.iter().filter(|phrase| !phrase.open);
            closed.map(|phrase| without_spaces(&phrase.text)).collect()
        };
        let whole = sections.iter().map(|(name, phrases)| (*name, whole(phrases))).collect();
        Self { sections, whole }
    }

    pub(super) fn of(&self, section: &str) -> &[Phrase] {
        self.sections.get(section).map_or(&[], Vec::as_slice)
    }

    /// Where a phrase of the section stands in the folded text: the first place of the longest one that is there.
    pub(super) fn find(&self, section: &str, text: &str) -> Option<(usize, usize)> {
        let found = self.of(section).iter().filter_map(|phrase| phrase.find(text));
        found.max_by_key(|(start, end)| end - start)
    }

    pub(super) fn has(&self, section: &str, text: &str) -> bool {
        self.of(section).iter().any(|phrase| phrase.find(text).is_some())
    }

    /// A phrase in a script without spaces is in the folded text.
    pub(super) fn has_unspaced(&self, section: &str, text: &str) -> bool {
        self.of(section)
            .iter()
            .any(|phrase| phrase.unspaced && text.contains(&phrase.text))
    }

    /// The word is a phrase of the section or one of its words.
    pub(super) fn part_of(&self, section: &str, word: &str) -> bool {
        self.of(section)
            .iter()
            .any(|phrase| phrase.text.split(' ').any(|part| part == word))
    }

    /// The folded text begins with a phrase of the section.
    pub(super) fn begins(&self, section: &str, text: &str) -> bool {
        self.of(section).iter().any(|phrase| phrase.begins(text))
    }

    /// The folded text is one of the section's phrases and nothing else; spaces do not matter.
    pub(super) fn is(&self, section: &str, text: &str) -> bool {
        self.whole
            .get(section)
            .is_some_and(|whole| whole.contains(&without_spaces(text)))
    }
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|c| *c != ' ').collect()
}

impl Phrase {
    fn read(written: &str) -> Self {
        let open = written.ends_with('*');
        let text = fold(written.trim_end_matches('*'));
        let unspaced = text.chars().any(is_unspaced);
        Self { text, open, unspaced }
    }

    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let mut from = 0;
        while let Some(at) = text[from..].find(&self.text) {
            let (start, end) = (from + at, from + at + self.text.len());
            if self.unspaced || (parts_before(text, start) && (self.open || parts_after(text, end))) {
                return Some((start, end));
            }
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
        None
    }

    fn begins(&self, text: &str) -> bool {
        text.starts_with(&self.text) && (self.unspaced || self.open || parts_after(text, self.text.len()))
    }
}

fn parts_before(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c))
}

fn parts_after(text: &str, at: usize) -> bool {
    text[at..]
        .chars()
        .next()
        .is_none_or(|c| !c.is_alphanumeric() || is_unspaced(c))
}

/// Chinese, Japanese, Korean, Thai: words are not parted by spaces, or carry their endings without one.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0e7f}' | '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}')
}

/// Text as people see it, with one spelling of everything that can be spelled in several ways: width, accents (taken
/// away), digits, spaces; invisible characters are gone, and the four entities that broken converters leave are read.
pub(super) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let read;
    let text = if text.contains('&') {
        read = text
            .replace("&nbsp;", " ")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"");
        &read
    } else {
        text
    };
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if c.is_ascii() || ('\u{ac00}'..='\u{d7a3}').contains(&c) {
            out.push(c);
        } else if !is_invisible(c) {
            for part in std::iter::once(c).nfkd().filter(|part| !is_combining_mark(*part)) {
                match plainer(part) {
                    _ if part.is_whitespace() && out.ends_with(' ') => {}
                    Some(plainer) => out.push(plainer),
                    None => out.push(part),
                }
            }
        }
    }
    out.truncate(out.trim_end().len());
    out
}

pub(super) fn fold(text: &str) -> String {
    tidy(text).to_lowercase()
}

/// Marks of direction, joiners, and the like: they are in names and dates of right-to-left mail, and nobody sees them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Digits of other scripts, and the letters whose strokes Unicode does not take apart.
fn plainer(c: char) -> Option<char> {
    let zero = match c {
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6f0}'..='\u{6f9}' => 0x6f0,
        '\u{966}'..='\u{96f}' => 0x966,
        '\u{9e6}'..='\u{9ef}' => 0x9e6,
        '\u{e50}'..='\u{e59}' => 0xe50,
        'ł' => return Some('l'),
        'Ł' => return Some('L'),
        'ø' => return Some('o'),
        'Ø' => return Some('O'),
        'đ' => return Some('d'),
        'Đ' => return Some('D'),
        'ı' => return Some('i'),
        _ => return None,
    };
    char::from_digit(u32::from(c) - zero, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_is_left_of_many() {
        assert_eq!(fold("Envoyé\u{a0}: \u{200f}À"), "envoye : a");
        assert_eq!(fold("发件人：\u{3000}王"), "发件人: 王");
        assert_eq!(fold("٩ أكتوبر ٢٠٢٦"), fold("9 أكتوبر 2026"));
        assert_eq!(fold("İLETİ &nbsp;x"), "ileti x");
        assert_eq!(fold("Wysłano ٣"), "wyslano 3");
    }

    #[test]
    fn phrases_are_found_as_words_where_words_are_parted() {
        let words = Words::read("[a]\nwrote; sent*\n写道");
        assert_eq!(words.find("a", "ann wrote:"), Some((4, 9)));
        assert_eq!(words.find("a", "ghostwrote"), None);
        assert!(words.has("a", "is sentenced"));
        assert!(words.has("a", "王写道:"));
        assert!(words.is("a", "w rote") && !words.is("a", "sent"));
    }
}
