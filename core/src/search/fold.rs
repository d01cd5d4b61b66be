//! One spelling for what readers take as the same: width, case and accents.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// NFKC, lower case, accents dropped from Latin, Greek, Cyrillic, Hebrew and Arabic letters. Kana keep their voicing
/// marks and Hangul stays composed: there the marks make another letter, not another accent.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
        return out;
    }
    for lower in text.nfkc().flat_map(char::to_lowercase) {
        fold_char(lower, &mut out);
    }
    out
}

fn fold_char(c: char, out: &mut String) {
    match c {
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'ø' => out.push('o'),
        'ł' => out.push('l'),
        'đ' | 'ð' => out.push('d'),
        'ı' => out.push('i'),
        'ё' => out.push('е'),
        'ς' => out.push('σ'),
        'أ' | 'إ' | 'آ' | 'ٱ' => out.push('ا'),
        'ى' => out.push('ي'),
        'ة' => out.push('ه'),
        '\u{640}' => {}
        '’' | '‘' | 'ʼ' | '`' | '´' => out.push('\''),
        '‐' | '‑' | '‒' | '–' | '—' | '−' => out.push('-'),
        c if c.is_ascii() || unspaced(c) || c >= '\u{900}' && !('\u{1E00}'..='\u{1FFF}').contains(&c) => out.push(c),
        c => decompose_canonical(c, |part| {
            if !is_combining_mark(part) {
                out.push(part);
            }
        }),
    }
}

/// Letters of scripts that are written without spaces between words (and Hangul, whose words carry endings).
pub fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'      // Thai, Lao
        | '\u{1000}'..='\u{109F}'    // Burmese
        | '\u{1100}'..='\u{11FF}'
        | '\u{1780}'..='\u{17FF}'    // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}'
        | '\u{309D}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn width_case_and_accents_make_no_difference() {
        for (written, read) in [
            ("Ｗｉ－Ｆｉ", "wi-fi"),
            ("Straße", "strasse"),
            ("Où est ma Commande", "ou est ma commande"),
            ("Zażółć", "zazolc"),
            ("İade", "iade"),
            ("ещё", "еще"),
            ("ｶﾞｲﾄﾞ", "ガイド"),
            ("배송", "배송"),
            ("ไม่ได้", "ไม่ได้"),
            ("đơn hàng", "don hang"),
        ] {
            assert_eq!(fold(written), read, "{written}");
        }
    }
}
