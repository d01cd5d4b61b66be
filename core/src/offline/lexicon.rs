//! What customers say, by meaning and language, read from the word lists beside the rules.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::text::{Sentence, words};
use crate::search::unspaced;

const LISTS: [&str; 6] = [
    include_str!("rules/lexicon.txt"),
    include_str!("rules/lexicon_trouble.txt"),
    include_str!("rules/lexicon_tone.txt"),
    include_str!("rules/lexicon_request.txt"),
    include_str!("rules/lexicon_injection.txt"),
    include_str!("rules/lexicon_seldom.txt"),
];

/// How many words a `..` may skip; characters of unspaced scripts count less each.
const GAP_WORDS: usize = 4;
const GAP_CHARACTERS: usize = 10;

#[derive(Debug)]
enum Element {
    Word(String),
    Begins(String),
    Ends(String),
    Holds(String),
    Gap,
}

#[derive(Debug)]
struct Phrase {
    meaning: usize,
    language: &'static str,
    elements: Vec<Element>,
    written: &'static str,
}

pub(super) struct Lexicon {
    meanings: Vec<&'static str>,
    phrases: Vec<Phrase>,
    /// Phrases whose first word is just this.
    by_word: HashMap<String, Vec<usize>>,
    /// Phrases whose first word begins with these few characters, one at least.
    by_beginning: HashMap<String, Vec<usize>>,
    /// Phrases whose first word ends with, or holds, these few characters.
    by_part: HashMap<[char; 2], Vec<usize>>,
}

/// Characters of a beginning that is looked up; a shorter one is looked up as it is.
const BEGINNING: usize = 3;

/// A phrase that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub meaning: &'static str,
    pub language: &'static str,
    pub phrase: &'static str,
    /// Words that it spans.
    pub length: usize,
}

pub(super) fn lexicon() -> &'static Lexicon {
    static READ: OnceLock<Lexicon> = OnceLock::new();
    READ.get_or_init(|| Lexicon::read(&LISTS))
}

impl Lexicon {
    fn read(lists: &[&'static str]) -> Self {
        let mut lexicon = Self {
            meanings: Vec::new(),
            phrases: Vec::new(),
            by_word: HashMap::new(),
            by_beginning: HashMap::new(),
            by_part: HashMap::new(),
        };
        for line in lists.iter().flat_map(|list| list.lines()).map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                lexicon.meanings.push(name);
            } else if let Some((language, phrases)) = line.split_once(": ")
                && !line.starts_with('#')
            {
                let meaning = lexicon.meanings.len().saturating_sub(1);
                for written in phrases.split(';').map(str::trim) {
                    lexicon.add(Phrase {
                        meaning,
                        language,
                        elements: elements(written),
                        written,
                    });
                }
            }
        }
        lexicon
    }

    fn add(&mut self, phrase: Phrase) {
        let at = self.phrases.len();
        match phrase.elements.first() {
            Some(Element::Word(text)) => self.by_word.entry(text.clone()).or_default().push(at),
            Some(Element::Begins(text)) => {
                let beginning: String = text.chars().take(BEGINNING).collect();
                self.by_beginning.entry(beginning).or_default().push(at);
            }
            Some(Element::Ends(text) | Element::Holds(text)) => {
                let mut chars = text.chars();
                let (Some(first), Some(second)) = (chars.next(), chars.next()) else {
                    return;
                };
                self.by_part.entry([first, second]).or_default().push(at);
            }
            Some(Element::Gap) | None => return,
        }
        self.phrases.push(phrase);
    }

    /// Whether a meaning of this name is in the lists: a rule that names another is a slip of its author.
    #[cfg(test)]
    pub(super) fn knows(&self, meaning: &str) -> bool {
        self.meanings.contains(&meaning)
    }

    /// Every phrase in a sentence, in any language, each once.
    pub(super) fn find(&self, sentence: &Sentence) -> Vec<Found> {
        let mut out: Vec<Found> = Vec::new();
        for (at, word) in sentence.iter().enumerate() {
            for phrase in self.candidates(word).into_iter().map(|place| &self.phrases[place]) {
                let Some(length) = matches(&sentence[at..], &phrase.elements) else {
                    continue;
                };
                let found = Found {
                    meaning: self.meanings[phrase.meaning],
                    language: phrase.language,
                    phrase: phrase.written,
                    length,
                };
                if !out.contains(&found) {
                    out.push(found);
                }
            }
        }
        out
    }
}

impl Lexicon {
    /// Phrases that may begin with a word, in the order of the lists.
    fn candidates(&self, word: &str) -> Vec<usize> {
        let mut out: Vec<usize> = self.by_word.get(word).cloned().unwrap_or_default();
        let chars: Vec<char> = word.chars().collect();
        for (at, _) in word.char_indices().skip(1).take(BEGINNING) {
            out.extend(self.by_beginning.get(&word[..at]).into_iter().flatten());
        }
        if chars.len() <= BEGINNING {
            out.extend(self.by_beginning.get(word).into_iter().flatten());
        }
        for pair in chars.windows(2) {
            out.extend(self.by_part.get(&[pair[0], pair[1]]).into_iter().flatten());
        }
        out.sort_unstable();
        out.dedup();
        out
    }
}

/// How many words the phrase takes at the beginning of `sentence`.
fn matches(sentence: &[String], elements: &[Element]) -> Option<usize> {
    let [element, rest @ ..] = elements else { return Some(0) };
    if let Element::Gap = element {
        let mut skipped = 0;
        let mut budget = GAP_WORDS * GAP_CHARACTERS;
        loop {
            if let Some(length) = matches(&sentence[skipped..], rest) {
                return Some(skipped + length);
            }
            let word = sentence.get(skipped)?;
            let cost = if word.starts_with(unspaced) {
                GAP_WORDS
            } else {
                GAP_CHARACTERS
            };
            budget = budget.checked_sub(cost)?;
            skipped += 1;
        }
    }
    let word = sentence.first()?;
    let fits = match element {
        Element::Word(text) => word == text,
        Element::Begins(text) => word.starts_with(text.as_str()),
        Element::Ends(text) => word.ends_with(text.as_str()),
        Element::Holds(text) => word.contains(text.as_str()),
        Element::Gap => false,
    };
    if !fits {
        return None;
    }
    matches(&sentence[1..], rest).map(|length| length + 1)
}

fn elements(written: &str) -> Vec<Element> {
    let mut out = Vec::new();
    for (part_number, part) in written.split("..").enumerate() {
        if part_number > 0 {
            out.push(Element::Gap);
        }
        for piece in part.split_whitespace() {
            let bare = words(piece);
            match (
                piece.strip_prefix('*').is_some(),
                piece.strip_suffix('*').is_some(),
                bare.as_slice(),
            ) {
                (true, true, [only]) if piece.len() > 1 => out.push(Element::Holds(only.clone())),
                (true, false, [only]) => out.push(Element::Ends(only.clone())),
                // A star after an unspaced character says nothing: whatever follows is the next word.
                (false, true, [only]) if !only.starts_with(unspaced) => out.push(Element::Begins(only.clone())),
                _ => out.extend(bare.into_iter().map(Element::Word)),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Lexicon, lexicon};
    use crate::offline::text::sentences;

    fn found(text: &str, meaning: &str) -> bool {
        sentences(text)
            .iter()
            .any(|one| lexicon().find(one).iter().any(|found| found.meaning == meaning))
    }

    #[test]
    fn phrases_match_by_word_beginning_compound_and_gap() {
        let lists = ["[a]\nde: *rechnung*; wo ist\n[b]\nen: charged .. twice; cancel*\nzh: 改.. 地址"];
        let lexicon = Lexicon::read(&lists);
        for (text, meanings) in [
            ("Die Monatsrechnungen bitte", &["a"][..]),
            ("you charged my credit card twice", &["b"]),
            ("charged for one two three four five six twice", &[]),
            ("cancellation", &["b"]),
            ("能改一下收货地址吗", &["b"]),
            ("wo, ist", &["a"]),
        ] {
            let got: Vec<_> = sentences(text)
                .iter()
                .flat_map(|one| lexicon.find(one))
                .map(|one| one.meaning)
                .collect();
            assert_eq!(got, meanings, "{text}");
        }
    }

    #[test]
    fn one_meaning_is_found_in_many_languages() {
        for text in [
            "I want a refund",
            "Ich möchte mein Geld zurück",
            "Je demande un remboursement",
            "quiero un reembolso",
            "voglio un rimborso",
            "quero um reembolso",
            "terugbetaling graag",
            "proszę o zwrot pieniędzy",
            "верните деньги",
            "para iadesi istiyorum",
            "أريد استرداد المبلغ",
            "请退款",
            "返金してください",
            "환불해 주세요",
        ] {
            assert!(found(text, "refund"), "{text}");
        }
    }
}
