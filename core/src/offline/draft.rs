//! A reply made of an article's own sentences. Nothing in it comes from the customer's text, and nothing is promised
//! that the article does not say.

use super::phrases::phrases;
use super::text::raw_sentences;
use crate::search::{CorpusStats, Counts, Document, Query, plain, score};
use crate::ticket::Action;

/// Characters of a passage; a longer article is better read than mailed.
const PASSAGE: usize = 900;
const SHORT_PASSAGE: usize = 280;

/// An article that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Source {
    pub id: String,
    pub title: String,
    pub language: String,
    pub body: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    pub shorter: bool,
    pub warmer: bool,
}

/// `None` when there are no sentences of ours in the customer's language, or nothing of use in the article.
pub(super) fn compose(
    source: &Source,
    question: &str,
    language: &str,
    action: Action,
    wishes: Wishes,
) -> Option<String> {
    let phrases = phrases(language)?;
    let passage = passage(source, question, if wishes.shorter { SHORT_PASSAGE } else { PASSAGE });
    if passage.is_empty() {
        return None;
    }
    let own = source.language.is_empty() || source.language == language;
    let mut paragraphs = vec![phrases.greeting.to_owned()];
    let opening = match (wishes.warmer, wishes.shorter) {
        (true, _) => format!("{} {}", phrases.thanks, phrases.apology),
        (false, true) => String::new(),
        (false, false) => phrases.thanks.to_owned(),
    };
    let lead = if own { phrases.answer } else { phrases.foreign };
    paragraphs.push(format!("{opening} {lead}").trim().to_owned());
    paragraphs.push(passage);
    if action == Action::NeedsApproval && !wishes.shorter {
        paragraphs.push(phrases.checking.to_owned());
    }
    paragraphs.push(phrases.closing.to_owned());
    Some(paragraphs.join("\n\n"))
}

/// The section that speaks most of the question, cut at the end of a sentence.
fn passage(source: &Source, question: &str, most: usize) -> String {
    let sections = sections(&plain(&source.body));
    let documents: Vec<Document<'_>> = sections
        .iter()
        .map(|(title, body)| Document {
            title,
            body,
            ..Document::default()
        })
        .collect();
    let counts: Vec<Counts> = documents.iter().map(Counts::of).collect();
    let mut stats = CorpusStats::default();
    counts.iter().for_each(|one| stats.add(one));
    let query = Query::parse(question);
    let mut best: Option<(usize, f32)> = None;
    for (at, one) in counts.iter().enumerate() {
        if sections[at].1.trim().is_empty() {
            continue;
        }
        // Early sections say what an article is about; a later one must be clearly better.
        let worth = score(&query, one, &stats).map_or(0.0, |(score, _)| score) + if at == 0 { 0.3 } else { 0.0 };
        if best.is_none_or(|(_, known)| worth > known) {
            best = Some((at, worth));
        }
    }
    let Some((at, _)) = best else { return String::new() };
    cut(sections[at].1.trim(), most)
}

/// Heading and text of each section of a plain article; the first may have no heading.
fn sections(body: &str) -> Vec<(String, String)> {
    let mut out = vec![(String::new(), String::new())];
    for line in body.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            out.push((heading.trim().to_owned(), String::new()));
        } else if let Some((_, text)) = out.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    out
}

fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut blank = false;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            blank = !out.is_empty();
            continue;
        }
        let mut fits = String::new();
        for sentence in raw_sentences(line) {
            if out.chars().count() + fits.chars().count() + sentence.chars().count() > most
                && !(out.is_empty() && fits.is_empty())
            {
                break;
            }
            if !fits.is_empty() && fits.is_char_boundary(fits.len()) && fits.ends_with(|c: char| c.is_ascii()) {
                fits.push(' ');
            }
            fits.push_str(sentence);
        }
        if fits.is_empty() {
            break;
        }
        if !out.is_empty() {
            out.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        out.push_str(&fits);
        if fits.chars().count() < line.chars().count() {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Source, Wishes, compose};
    use crate::ticket::Action;

    fn article() -> Source {
        Source {
            id: "a".into(),
            title: "Returns".into(),
            language: "en".into(),
            body: "All about returns.\n\n## How long\nYou have 30 days to return an item.\n\n## Label\nPrint the label from [your orders](https://shop.example/orders). Stick it on the box.".into(),
        }
    }

    #[test]
    fn a_draft_quotes_the_section_that_was_asked_for() {
        let text = compose(
            &article(),
            "where do I print the return label",
            "en",
            Action::AutoReply,
            Wishes::default(),
        )
        .expect("English is spoken");
        assert!(text.contains("Print the label from your orders."), "{text}");
        assert!(!text.contains("30 days") && !text.contains("https"), "{text}");
    }

    #[test]
    fn a_language_without_sentences_of_ours_is_left_to_people() {
        assert_eq!(
            compose(&article(), "label", "hi", Action::AutoReply, Wishes::default()),
            None
        );
    }

    #[test]
    fn wishes_make_it_shorter_and_warmer() {
        let usual =
            compose(&article(), "label", "en", Action::NeedsApproval, Wishes::default()).expect("English is spoken");
        let short = compose(
            &article(),
            "label",
            "en",
            Action::NeedsApproval,
            Wishes {
                shorter: true,
                warmer: false,
            },
        )
        .expect("English is spoken");
        let warm = compose(
            &article(),
            "label",
            "en",
            Action::NeedsApproval,
            Wishes {
                shorter: false,
                warmer: true,
            },
        )
        .expect("English is spoken");
        assert!(short.len() < usual.len());
        assert!(warm.contains("sorry"));
    }
}
