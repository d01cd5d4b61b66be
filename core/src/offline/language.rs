//! Which language a text is in: by script, then by small words, letters and the words of the rules' lists.
//!
//! Made for tickets, which are short. It knows nothing of dialects, and simplified and traditional Chinese are both `zh`.

mod profiles;

use std::collections::HashMap;
use std::sync::OnceLock;

use unicode_normalization::UnicodeNormalization;

use super::lexicon::lexicon;
use super::text::sentences;
use profiles::LATIN;

/// A language and how sure the guess is, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guess {
    /// BCP 47 primary tag.
    pub language: &'static str,
    pub confidence: f64,
}

/// The language of a text; `en` at confidence 0 when nothing tells.
pub fn guess(text: &str) -> Guess {
    let scripts = Scripts::of(text);
    let letters = scripts.total();
    if letters == 0 {
        return Guess {
            language: "en",
            confidence: 0.0,
        };
    }
    let share = |count: usize| count as f64 / letters as f64;
    let east = scripts.han + scripts.kana + scripts.hangul;
    // A few Latin names and order numbers stand in every Chinese ticket; a few Chinese words seldom stand in others.
    if share(east) >= 0.25 {
        let language = if scripts.hangul * 2 >= east {
            "ko"
        } else if scripts.kana * 12 >= east {
            "ja"
        } else {
            "zh"
        };
        return Guess {
            language,
            confidence: 0.6 + 0.4 * share(east).min(1.0),
        };
    }
    let others: [(usize, &[&'static str]); 7] = [
        (scripts.cyrillic, &["ru", "uk", "bg"]),
        (scripts.arabic, &["ar", "fa"]),
        (scripts.hebrew, &["he"]),
        (scripts.greek, &["el"]),
        (scripts.thai, &["th"]),
        (scripts.devanagari, &["hi"]),
        (scripts.latin, &[]),
    ];
    let Some((count, tags)) = others.into_iter().max_by_key(|(count, _)| *count) else {
        return Guess {
            language: "en",
            confidence: 0.0,
        };
    };
    match tags {
        [] => latin(text),
        ["ru", ..] => Guess {
            language: cyrillic(text),
            confidence: 0.5 + 0.45 * share(count),
        },
        ["ar", ..] => {
            let persian = text
                .chars()
                .filter(|c| matches!(c, 'پ' | 'چ' | 'ژ' | 'گ' | 'ک' | 'ی'))
                .count();
            Guess {
                language: if persian * 25 > count { "fa" } else { "ar" },
                confidence: 0.5 + 0.45 * share(count),
            }
        }
        [tag, ..] => Guess {
            language: tag,
            confidence: 0.5 + 0.5 * share(count),
        },
    }
}

/// The language of a ticket. The body decides; the subject helps when the body is short.
pub fn guess_ticket(subject: &str, body: &str) -> Guess {
    let body_guess = guess(body);
    if body.chars().filter(|c| c.is_alphabetic()).count() > 60 && body_guess.confidence > 0.7 {
        return body_guess;
    }
    let both = guess(&format!("{subject}\n{body}\n{body}"));
    if both.confidence > 0.0 { both } else { body_guess }
}

#[derive(Default)]
struct Scripts {
    latin: usize,
    cyrillic: usize,
    arabic: usize,
    hebrew: usize,
    greek: usize,
    thai: usize,
    devanagari: usize,
    han: usize,
    kana: usize,
    hangul: usize,
}

impl Scripts {
    fn of(text: &str) -> Self {
        let mut counts = Self::default();
        for c in text.nfkc().filter(|c| c.is_alphabetic()) {
            let count = match c {
                '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => &mut counts.greek,
                '\u{400}'..='\u{52F}' => &mut counts.cyrillic,
                '\u{590}'..='\u{5FF}' => &mut counts.hebrew,
                '\u{600}'..='\u{6FF}' | '\u{750}'..='\u{77F}' => &mut counts.arabic,
                '\u{900}'..='\u{97F}' => &mut counts.devanagari,
                '\u{E00}'..='\u{E7F}' => &mut counts.thai,
                '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => &mut counts.kana,
                '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}' => &mut counts.han,
                '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7AF}' => &mut counts.hangul,
                _ => &mut counts.latin,
            };
            *count += 1;
        }
        counts
    }

    fn total(&self) -> usize {
        let spaced = self.latin + self.cyrillic + self.arabic + self.hebrew + self.greek + self.thai + self.devanagari;
        spaced + self.han + self.kana + self.hangul
    }
}

fn cyrillic(text: &str) -> &'static str {
    let lower = text.to_lowercase();
    let count = |letters: &str| lower.chars().filter(|c| letters.contains(*c)).count();
    let ukrainian = count("іїєґ");
    let russian = count("ыэё");
    let bulgarian = lower
        .split_whitespace()
        .filter(|word| ["съм", "не", "да", "ми", "от", "за", "поръчка", "поръчката", "моля"].contains(word))
        .count();
    if ukrainian > russian {
        "uk"
    } else if russian == 0 && bulgarian >= 2 && count("ъ") > 0 {
        "bg"
    } else {
        "ru"
    }
}

/// The languages of each small word.
fn speakers() -> &'static HashMap<&'static str, Vec<&'static str>> {
    static READ: OnceLock<HashMap<&'static str, Vec<&'static str>>> = OnceLock::new();
    READ.get_or_init(|| {
        let mut speakers: HashMap<&'static str, Vec<&'static str>> = HashMap::new();
        for profile in LATIN {
            for word in profile.small_words.split_ascii_whitespace() {
                speakers.entry(word).or_default().push(profile.tag);
            }
        }
        speakers.values_mut().for_each(Vec::dedup);
        speakers
    })
}

fn latin(text: &str) -> Guess {
    let sentences = sentences(text);
    let mut scores: HashMap<&'static str, f64> = HashMap::new();
    for word in sentences.iter().flatten() {
        let speakers = speakers().get(word.as_str()).map(Vec::as_slice).unwrap_or_default();
        for tag in speakers {
            *scores.entry(tag).or_default() += 1.0 / (speakers.len() as f64).sqrt();
        }
    }
    let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
    for profile in LATIN {
        for letter in profile.letters {
            // Pairs of plain letters are everywhere; a letter that few languages have says much.
            let weight = if letter.is_ascii() { 0.12 } else { 0.5 };
            let writers = LATIN.iter().filter(|other| other.letters.contains(letter)).count() as f64;
            let times = lower.matches(letter).count().min(6) as f64;
            *scores.entry(profile.tag).or_default() += weight * times / writers;
        }
    }
    for found in sentences.iter().flat_map(|sentence| lexicon().find(sentence)) {
        // A wildcard may stand for anything, so a whole word says more.
        let weight = if found.phrase.contains('*') { 0.25 } else { 0.45 };
        *scores.entry(found.language).or_default() += weight * found.length as f64;
    }
    // Languages that hardly any desk sees must show more than a word that they share.
    for rare in ["ro", "hu", "id", "vi"] {
        if let Some(score) = scores.get_mut(rare) {
            *score -= 0.4;
        }
    }
    scores.retain(|tag, _| LATIN.iter().any(|profile| profile.tag == *tag));
    let mut ranked: Vec<(&'static str, f64)> = scores.into_iter().filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    match ranked.as_slice() {
        [] => Guess {
            language: "en",
            confidence: 0.0,
        },
        [(only, score)] => Guess {
            language: only,
            confidence: (0.5 + score * 0.2).min(0.98),
        },
        [(best, score), (_, next), ..] => {
            let margin = (score - next) / score;
            let evidence = (score / 3.0).min(1.0);
            Guess {
                language: best,
                confidence: (0.35 + 0.4 * margin + 0.25 * evidence).min(0.98),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{guess, guess_ticket};

    #[test]
    fn short_texts_in_many_languages_are_told_apart() {
        for (language, text) in [
            ("en", "My kettle leaks, what now?"),
            ("de", "Der Wasserkocher tropft, was nun?"),
            ("fr", "La bouilloire fuit, que faire ?"),
            ("es", "La tetera gotea, ¿qué hago?"),
            ("it", "Il bollitore perde, cosa devo fare?"),
            ("pt", "A chaleira está a pingar, o que faço?"),
            ("nl", "De waterkoker lekt, wat nu?"),
            ("pl", "Czajnik przecieka, co mam robić?"),
            ("ru", "Чайник протекает, что делать?"),
            ("uk", "Чайник протікає, що робити?"),
            ("tr", "Su ısıtıcısı damlatıyor, ne yapmalıyım?"),
            ("ar", "الغلاية تسرب الماء، ماذا أفعل؟"),
            ("he", "הקומקום דולף, מה לעשות?"),
            ("zh", "水壶漏水怎么办"),
            ("ja", "やかんが水漏れします"),
            ("ko", "주전자에서 물이 샙니다"),
            ("sv", "Vattenkokaren läcker, vad ska jag göra?"),
            ("da", "Elkedlen lækker, hvad skal jeg gøre?"),
            ("no", "Vannkokeren lekker, hva skal jeg gjøre nå?"),
            ("fi", "Vedenkeitin vuotaa, mitä minä teen?"),
            ("cs", "Konvice teče, co mám dělat?"),
            ("el", "Ο βραστήρας στάζει, τι να κάνω;"),
            ("hi", "केतली से पानी टपक रहा है"),
            ("th", "กาต้มน้ำรั่ว ทำอย่างไรดี"),
            ("vi", "Ấm đun nước bị rò rỉ, tôi phải làm sao?"),
            ("id", "Ketel saya bocor, apa yang harus dilakukan?"),
        ] {
            assert_eq!(guess(text).language, language, "{text}");
        }
    }

    #[test]
    fn a_foreign_product_name_does_not_change_the_language() {
        assert_eq!(guess("我的 Acme Kettle Pro 2000 坏了，无法加热").language, "zh");
        assert_eq!(
            guess_ticket("Re: Order 4711", "Wann kommt denn nun mein Paket an?").language,
            "de"
        );
    }

    #[test]
    fn nothing_to_go_by_is_english_without_confidence() {
        assert_eq!(guess("12345 !!").confidence, 0.0);
    }
}
