//! A light stem that is the same for every language, since a query of three words does not tell its language.
//!
//! It strips endings that inflect in English, German, French, Spanish, Italian, Portuguese, Dutch and Russian and are
//! seldom part of a root. It joins some words that differ; the exact word therefore always scores higher.

/// Longest first. What remains must keep [`ROOT`] letters.
const ENDINGS: &[&str] = &[
    "izations",
    "ization",
    "ifications",
    "ification",
    "ificates",
    "ificate",
    "amientos",
    "amiento",
    "imientos",
    "imiento",
    "ations",
    "aciones",
    "azioni",
    "azione",
    "ation",
    "acion",
    "acoes",
    "acao",
    "ements",
    "ement",
    "ements",
    "ungen",
    "ities",
    "ating",
    "ators",
    "ator",
    "ated",
    "ates",
    "ate",
    "ments",
    "ment",
    "iert",
    "ieren",
    "ungs",
    "ung",
    "ions",
    "ion",
    "iones",
    "ings",
    "ing",
    "ity",
    "ies",
    "ied",
    "ery",
    "eries",
    "ers",
    "ern",
    "ies",
    "ables",
    "able",
    "ados",
    "adas",
    "ado",
    "ada",
    "idos",
    "idas",
    "ido",
    "ida",
    "ando",
    "endo",
    "ees",
    "ee",
    "ez",
    "eur",
    "eux",
    "euse",
    "en",
    "er",
    "es",
    "ed",
    "em",
    "et",
    "ar",
    "ir",
    "as",
    "os",
    "is",
    "al",
    "ally",
    "ly",
    "y",
    "e",
    "a",
    "o",
    "i",
    "s",
    "x",
    "n",
    "t",
];
const CYRILLIC: &[&str] = &[
    "иями",
    "ениями",
    "ениях",
    "ением",
    "ение",
    "ения",
    "аться",
    "иться",
    "ами",
    "ями",
    "ого",
    "его",
    "ому",
    "ему",
    "ыми",
    "ими",
    "ать",
    "ить",
    "ешь",
    "ала",
    "или",
    "ило",
    "али",
    "ов",
    "ев",
    "ей",
    "ам",
    "ям",
    "ах",
    "ях",
    "ом",
    "ем",
    "ой",
    "ый",
    "ий",
    "ая",
    "яя",
    "ое",
    "ее",
    "ые",
    "ие",
    "ую",
    "юю",
    "ия",
    "ии",
    "ью",
    "а",
    "я",
    "о",
    "е",
    "и",
    "ы",
    "у",
    "ю",
    "ь",
    "й",
];
const ROOT: usize = 4;

/// The stem of a folded word, itself when nothing can be stripped; empty for words of fewer than three letters.
pub fn stem(word: &str) -> String {
    let letters = word.chars().count();
    if letters < 3 {
        return String::new();
    }
    let first = word.chars().next().unwrap_or_default();
    if first.is_ascii() {
        latin(word)
    } else if ('\u{400}'..='\u{4FF}').contains(&first) {
        strip(word, CYRILLIC, ROOT - 1).to_owned()
    } else {
        word.to_owned()
    }
}

fn latin(word: &str) -> String {
    let once = strip(word, ENDINGS, ROOT);
    // `boards` and `board`, `uses` and `use`: a plain plural may leave three letters.
    let once = if once == word && word.len() == 4 && word.ends_with('s') && !word.ends_with("ss") {
        &word[..3]
    } else {
        once
    };
    // A second, short pass joins `certificates` (-es), `charges` and `charged`, `refunding` and `refunds`.
    let twice = strip(once, &["er", "en", "es", "at", "e", "a", "o", "i", "y", "s"], ROOT);
    let mut root = twice.to_owned();
    let bytes = root.as_bytes();
    if let [.., a, b] = bytes
        && a == b
        && root.len() > ROOT
        && b.is_ascii_alphabetic()
    {
        root.pop();
    }
    root
}

fn strip<'a>(word: &'a str, endings: &[&str], root: usize) -> &'a str {
    endings
        .iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .find(|rest| rest.chars().count() >= root && rest.chars().any(|c| "aeiouyаеиоуыэюя".contains(c)))
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_one_word_meet() {
        for forms in [
            &["delivery", "deliveries", "delivered", "deliver", "delivering"][..],
            &["invoice", "invoices", "invoiced"],
            &["activate", "activation", "activated"],
            &["secure", "security"],
            &["bestellung", "bestellungen", "bestellen"],
            &["rechnung", "rechnungen"],
            &["commande", "commandes", "commander"],
            &["pedido", "pedidos"],
            &["cancelar", "cancelado", "cancelacion"],
            &["заказ", "заказа", "заказы", "заказом"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{forms:?} gave {stems:?}");
        }
    }

    #[test]
    fn short_words_are_left_alone() {
        assert_eq!(stem("is"), "");
        assert_eq!(stem("card"), "card");
    }
}
