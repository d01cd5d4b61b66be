//! Text into tokens. A word gives itself, its light stem (`~deliv`) and, when long, its beginning (`^deliv`); a run of
//! Chinese, Japanese, Korean or Thai gives each character and each pair of neighbours.

use super::fold::{fold, unspaced};
use super::query::Query;
use super::stem::stem;

/// Letters of a beginning: five tell most words apart and still join a German compound with its first part.
const BEGINNING: usize = 5;
/// Tokens longer than this are keys, hashes or Base64: nobody searches for them.
const LONGEST: usize = 40;

/// A piece of text that [`tokens_of`] turns into tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Word(String),
    /// Characters of an unspaced script.
    Run(String),
}

/// All tokens of a field, in order, repeats included. They are unweighted: which field they come from is kept apart by
/// the caller (see [`Counts`](super::Counts)).
pub fn tokens_for_index(text: &str) -> Vec<String> {
    pieces(text).iter().flat_map(tokens_of).collect()
}

/// The distinct tokens that a query may match, synonyms included.
pub fn tokens_for_query(text: &str) -> Vec<String> {
    Query::parse(text).tokens().map(str::to_owned).collect()
}

/// The folded words of a text, unspaced runs as single characters: what rules and classifiers look at.
pub fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Word(word) => out.push(word),
            Piece::Run(run) => out.extend(run.chars().map(String::from)),
        }
    }
    out
}

pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let folded = fold(text);
    let mut out = Vec::new();
    let mut word = String::new();
    let mut run = String::new();
    let mut glue = Glue::None;
    for c in folded.chars() {
        if unspaced(c) {
            close_word(&mut word, &mut glue, &mut out);
            glue = Glue::None;
            run.push(c);
            continue;
        }
        if !run.is_empty() {
            out.push(Piece::Run(std::mem::take(&mut run)));
        }
        if c.is_alphanumeric() || ('\u{900}'..='\u{DFF}').contains(&c) {
            word.push(c);
        } else if c == '-' && !word.is_empty() {
            close_word(&mut word, &mut glue, &mut out);
        } else {
            close_word(&mut word, &mut glue, &mut out);
            glue = Glue::None;
        }
    }
    if !run.is_empty() {
        out.push(Piece::Run(run));
    }
    close_word(&mut word, &mut glue, &mut out);
    out
}

/// The first half of a hyphenated word: `wi-fi` is found as `wifi` too.
enum Glue {
    None,
    After(String),
}

fn close_word(word: &mut String, glue: &mut Glue, out: &mut Vec<Piece>) {
    if word.is_empty() {
        return;
    }
    let done = std::mem::take(word);
    if done.chars().count() > LONGEST {
        *glue = Glue::None;
        return;
    }
    if let Glue::After(before) = glue
        && before.len() + done.len() <= LONGEST
    {
        out.push(Piece::Word(format!("{before}{done}")));
    }
    // `5ghz` is also `5` and `ghz`, since half of the world writes a space there.
    if let Some(at) = done.find(|c: char| !c.is_ascii_digit())
        && at > 0
        && done.is_ascii()
    {
        out.push(Piece::Word(done[..at].to_owned()));
        if done.len() - at > 1 {
            out.push(Piece::Word(done[at..].to_owned()));
        }
    }
    *glue = Glue::After(done.clone());
    out.push(Piece::Word(done));
}

pub(super) fn tokens_of(piece: &Piece) -> Vec<String> {
    match piece {
        Piece::Word(word) => {
            let mut out = vec![word.clone()];
            out.extend(stem_token(word));
            out.extend(beginning_token(word));
            out
        }
        Piece::Run(run) => {
            let chars: Vec<char> = run.chars().collect();
            let singles = chars.iter().map(|c| c.to_string());
            let pairs = chars.windows(2).map(|pair| pair.iter().collect());
            singles.chain(pairs).collect()
        }
    }
}

pub(super) fn stem_token(word: &str) -> Option<String> {
    let stem = stem(word);
    (!stem.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then(|| format!("~{stem}"))
}

pub(super) fn beginning_token(word: &str) -> Option<String> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (at, _) = word.char_indices().nth(BEGINNING)?;
    Some(format!("^{}", &word[..at]))
}

#[cfg(test)]
mod tests {
    use super::{tokens_for_index, tokens_for_query, words};

    #[test]
    fn a_word_is_found_by_itself_its_stem_and_its_beginning() {
        assert_eq!(tokens_for_index("Deliveries"), ["deliveries", "~deliv", "^deliv"]);
    }

    #[test]
    fn unspaced_scripts_give_characters_and_pairs() {
        assert_eq!(tokens_for_index("退货"), ["退", "货", "退货"]);
        assert!(tokens_for_query("如何退货").contains(&"退货".to_owned()));
        assert!(tokens_for_query("返品したい").contains(&"返品".to_owned()));
        assert!(tokens_for_query("배송조회").contains(&"배송".to_owned()));
    }

    #[test]
    fn hyphens_and_units_do_not_hide_a_word() {
        assert!(tokens_for_index("Wi-Fi").contains(&"wifi".to_owned()));
        assert!(tokens_for_index("5GHz").contains(&"ghz".to_owned()));
        assert!(tokens_for_index("e-mail").contains(&"email".to_owned()));
    }

    #[test]
    fn keys_and_hashes_are_left_out() {
        assert!(tokens_for_index(&"a1".repeat(30)).is_empty());
    }

    #[test]
    fn mixed_text_keeps_both_scripts() {
        assert_eq!(words("订单4711 wifi"), ["订", "单", "4711", "wifi"]);
    }
}
