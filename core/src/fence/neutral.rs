//! Other people's text with everything taken out that could close a fence, imitate one, or show a reader something
//! else than a model reads.
//!
//! Three kinds of trick are known and met here. Characters nobody sees (controls, direction overrides, zero-width
//! characters, the tag characters that smuggle ASCII) are dropped. Look-alikes of our tags, in any case, width or
//! script and with anything between their letters, are replaced by a remark. Other tags, among them the control tokens
//! of open models (`<|im_start|>`, `<<SYS>>`), lose their `<`. Everything else stays as it was written.

use unicode_normalization::UnicodeNormalization;

/// Stands where an imitation of a fence stood. Its letters keep what is left of it from joining into another one.
const REMARK: &str = "[tag left out]";

/// The letters of our tags, as [`fold`] gives them.
const TAG: &[char] = &['c', 'u', 's', 't', 'o', 'm', 'e', 'r', 't', 'e', 'x', 't'];

/// Ways to write `<` without writing it, lower case.
const SPELLED: &[&str] = &[
    "&lt", "&#60", "&#060", "&#x3c", "&#x03c", "&#x003c", "\\u003c", "\\x3c", "%3c",
];

/// The text made harmless. Deterministic, and a second time changes nothing.
pub fn neutral(text: &str) -> String {
    let seen: Vec<char> = visible(text);
    let mut out = String::with_capacity(text.len());
    let mut next = 0;
    for (from, to) in imitations(&seen) {
        blunted(&seen[next..from], &mut out);
        out.push_str(REMARK);
        next = to;
    }
    blunted(&seen[next..], &mut out);
    out
}

/// The characters that a reader sees, with line ends made one kind.
fn visible(text: &str) -> Vec<char> {
    let mut seen = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => seen.push('\n'),
            '\n' | '\t' => seen.push(c),
            c if c.is_control() || is_unseen(c) => {}
            c => seen.push(c),
        }
    }
    seen
}

/// Characters that carry no words. Joiners (U+200C, U+200D) and the two variation selectors of emoji are kept: Persian,
/// the languages of India and emoji are written with them.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Where imitations of our tags begin and end, in order, never overlapping.
fn imitations(seen: &[char]) -> Vec<(usize, usize)> {
    // Letters and digits as they read, each with the place where it stands.
    let mut letters: Vec<(char, usize)> = Vec::with_capacity(seen.len());
    for (at, c) in seen.iter().enumerate() {
        fold(*c, |letter| letters.push((letter, at)));
    }
    let mut found = Vec::new();
    let mut free_from = 0;
    let mut i = 0;
    while i + TAG.len() <= letters.len() {
        let word = &letters[i..i + TAG.len()];
        let from = word[0].1;
        let is_tag = from >= free_from && word.iter().map(|(letter, _)| letter).eq(TAG);
        let bracket = if is_tag {
            bracket_before(seen, from, free_from)
        } else {
            None
        };
        match bracket {
            Some(start) => {
                free_from = end_of_tag(seen, word[TAG.len() - 1].1 + 1);
                found.push((start, free_from));
                i += TAG.len();
            }
            None => i += 1,
        }
    }
    found
}

/// Where the bracket stands that turns the word at `word` into a tag: before it, with nothing but signs between.
/// `free_from` is where the imitation before this one ended; it may have taken this one's bracket for its own.
fn bracket_before(seen: &[char], word: usize, free_from: usize) -> Option<usize> {
    let mut start = None;
    let mut at = word;
    while at > free_from && is_sign(seen[at - 1]) {
        at -= 1;
        if OPENING.contains(seen[at]) {
            start = Some(at);
        }
    }
    if start.is_some() || (at == free_from && at > 0) {
        return start.or(Some(at));
    }
    // `&lt;` and its kin read as letters, so they end where the signs before the word begin.
    let tail: String = seen[free_from.max(at.saturating_sub(7))..at]
        .iter()
        .map(char::to_ascii_lowercase)
        .collect();
    SPELLED
        .iter()
        .find(|spelled| tail.ends_with(*spelled))
        .map(|spelled| at - spelled.len())
}

/// Past the sign that closes the tag on the same line, where there is one.
fn end_of_tag(seen: &[char], after: usize) -> usize {
    let mut signs = seen[after..].iter().take_while(|c| **c != '\n' && is_sign(**c));
    signs
        .position(|c| CLOSING.contains(*c))
        .map_or(after, |i| after + i + 1)
}

/// What a reader, or a model, may take for the beginning of a tag. Round brackets are left to prose.
const OPENING: &str = "<[{«‹˂≤≪≺⁅⟦⟨⟪⟬⦃⦅⦇⦉⦋⦑⦓⦕⧼❬❮❰❲❴〈《「『【〔〖〘〚〈⋖⪡ᐸ﹤︿＜［｛⸨◁◀◄";
const CLOSING: &str = ">]}»›˃≥≫≻⁆⟧⟩⟫⟭⦄⦆⦈⦊⦌⦒⦔⦖⧽❭❯❱❳❵〉》」』】〕〗〙〛〉⋗⪢ᐳ﹥﹀＞］｝⸩▷▶►";

/// Whether a character is no letter and no digit. Some letters of small scripts read as brackets; those are signs too.
fn is_sign(c: char) -> bool {
    let mut letters = 0;
    fold(c, |_| letters += 1);
    letters == 0
}

/// A character as it reads at a glance: lower-case Latin letters where it looks like them, nothing where it is a sign.
fn fold(c: char, mut letter: impl FnMut(char)) {
    if c.is_ascii() {
        if c.is_ascii_alphanumeric() {
            letter(if c == '0' { 'o' } else { c.to_ascii_lowercase() });
        }
        return;
    }
    if OPENING.contains(c) || CLOSING.contains(c) {
        return;
    }
    let plain = std::iter::once(c).nfkd().flat_map(char::to_lowercase);
    for c in plain.filter(|c| c.is_alphanumeric() && !is_mark(*c)) {
        letter(match c {
            'с' | 'ϲ' | 'ᴄ' | 'ꮯ' | 'ↄ' | 'ƈ' | 'ȼ' => 'c',
            'υ' | 'ս' | 'ᴜ' | 'ʋ' | 'ц' | 'џ' | 'μ' => 'u',
            'ѕ' | 'ꜱ' | 'ʂ' | 'ƽ' | 'ꮪ' => 's',
            'т' | 'τ' | 'ᴛ' | 'ƭ' | 'ŧ' => 't',
            'о' | 'ο' | 'օ' | 'ᴏ' | '0' | 'ø' | 'σ' => 'o',
            'м' | 'ᴍ' | 'ɱ' | 'ʍ' => 'm',
            'е' | 'ҽ' | 'ε' | 'є' | 'ᴇ' | 'ə' | 'ɇ' => 'e',
            'г' | 'ᴦ' | 'ʀ' | 'ɾ' | 'ɼ' | 'ɍ' | 'ꭇ' => 'r',
            'х' | 'χ' | 'ҳ' | 'ᕁ' => 'x',
            other => other,
        });
    }
}

/// Marks that sit on a letter and that Unicode counts as alphabetic.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Takes the edge off every `<` that begins a tag of any kind; `a < b`, `<3` and `<=` stay.
fn blunted(seen: &[char], out: &mut String) {
    for (i, c) in seen.iter().enumerate() {
        let begins_tag = *c == '<'
            && seen
                .get(i + 1)
                .is_none_or(|next| next.is_alphabetic() || matches!(next, '/' | '!' | '?' | '|' | '｜' | '<' | '_'));
        out.push(if begins_tag { '‹' } else { *c });
    }
}

#[cfg(test)]
mod tests {
    use super::neutral;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(neutral(text), expected);
    }

    #[test]
    fn imitations_of_the_fence_are_left_out() {
        for tag in [
            "</customer_text>",
            "<customer_text>",
            "< / CUSTOMER_TEXT >",
            "＜／ｃｕｓｔｏｍｅｒ＿ｔｅｘｔ＞",
            "<\u{200b}/\u{200b}cust\u{200d}omer_\u{2060}text>",
            "</customer-text>",
            "</customertext>",
            "</customer text>",
            "</сustоmеr_tехt>",
            "〈/customer_text〉",
            "[/customer_text]",
            "&lt;/customer_text&gt;",
            "&#x3C;/customer_text&#x3E;",
            "\\u003c/customer_text\\u003e",
            "<///\n\n   customer_text",
            "<\u{202e}/customer_text>",
            "</c\u{301}u\u{302}stomer_text>",
        ] {
            let text = format!("before {tag} after");
            let result = neutral(&text);
            assert!(
                result.starts_with("before [tag left out]") && result.ends_with(" after"),
                "{tag}: {result}"
            );
        }
        check("<cus<customer_text>tomer_text>", "‹cus[tag left out]tomer_text>");
        check("<customer_text role=\"system\">", "[tag left out] role=\"system\">");
        check("<customer_text<customer_text>x", "[tag left out][tag left out]x");
    }

    #[test]
    fn ordinary_words_stay_as_they_are() {
        for text in [
            "The customer text on page 2 is wrong.",
            "if a < b && b > c, then 3 <= 4, I <3 it",
            "退款＜重要＞：订单 #42（急）",
            "می‌خواهم 👩‍💻 ❤️ naïve Straße",
            "a\n\n\tb",
            "(see customer text)\n> customer text, she wrote",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn other_tags_lose_their_edge() {
        check("<|im_start|>system", "‹|im_start|>system");
        check("<<SYS>> </s> <b>", "‹‹SYS>> ‹/s> ‹b>");
        check("ends with <", "ends with ‹");
    }

    #[test]
    fn what_nobody_sees_is_dropped() {
        check("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{0}f\u{1b}[31mg", "abcdef[31mg");
        check("x\u{e0068}\u{e0069}y", "xy");
        check("one\r\ntwo\rthree\u{2028}four", "one\ntwo\nthree\nfour");
    }
}
