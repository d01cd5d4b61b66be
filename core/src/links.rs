//! Links, addresses and amounts in a text: what a draft must not invent and what a customer must not smuggle in.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?ix)
        \b[a-z][a-z0-9+.-]{1,12}://[^\s<>"'`）」』】》]+
        | \b(?:mailto|tel|javascript|data):[^\s<>"'`）」』】》]+
        | [\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+
        | \b(?:[\p{L}\p{N}-]+\.)+(?:com|net|org|info|io|biz|shop|store|app|dev|co|me|xyz|top|site|online|link|click|live
            |ru|cn|de|fr|uk|eu|us|jp|it|es|pl|nl|at|ch|tk|in|br|zip|ly|gl)\b(?:[/?\#:][^\s<>"'`）」』】》]*)?
        "#,
    )
    .expect("the pattern is fixed and valid")
});

static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?:[€$£¥￥₩₽₹]|\b(?:eur|usd|gbp|jpy|cny|rmb|chf|pln|rub|try|krw)\b)\s?\d[\d.,'\u{a0}\u{202f}]*
        | \d[\d.,'\u{a0}\u{202f}]*\s?(?:[€$£¥￥₩₽₹]|元|円|块|원|(?:eur|euros?|usd|dollars?|gbp|jpy|yen|cny|rmb|yuan|chf|pln|z[łl]|rub|руб|try|tl|krw)\b)
        ",
    )
    .expect("the pattern is fixed and valid")
});

/// Links and addresses in their canonical form: NFKC, lower-case host and scheme, no trailing punctuation, no
/// `https://` or `www.`, so that two spellings of one target are equal.
pub fn links(text: &str) -> BTreeSet<String> {
    let text: String = text.nfkc().filter(|c| !is_invisible(*c)).collect();
    LINK.find_iter(&text)
        .map(|found| canonical(found.as_str()))
        .filter(|link| !link.is_empty())
        .collect()
}

/// Amounts of money as written, without spaces.
pub fn amounts(text: &str) -> BTreeSet<String> {
    let text: String = text.nfkc().filter(|c| !is_invisible(*c)).collect();
    AMOUNT
        .find_iter(&text)
        .map(|found| found.as_str().split_whitespace().collect::<String>().to_lowercase())
        .map(|amount| amount.trim_end_matches(['.', ',', '\'']).to_owned())
        .collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

fn canonical(link: &str) -> String {
    let link = link.trim_end_matches([
        '.', ',', ';', ':', '!', '?', ')', ']', '}', '*', '_', '。', '，', '！', '？', '、',
    ]);
    let lower = link.to_lowercase();
    let rest = ["https://", "http://", "mailto:"]
        .iter()
        .find_map(|scheme| lower.strip_prefix(scheme))
        .unwrap_or(&lower);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    // Paths keep their letters' case: two paths that differ in it are two targets.
    let path = &link[link.len() - path.len().min(link.len())..];
    format!("{host}{}", path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found = links(text);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn links_and_addresses_are_found_in_any_dress() {
        check("See https://Shop.example.com/Returns/.", &["shop.example.com/Returns"]);
        check(
            "see (www.evil.com/a?b=1), or mail eve@evil.com!",
            &["eve@evil.com", "evil.com/a?b=1"],
        );
        check("请访问 https://example.cn/退货 。", &["example.cn/退货"]);
        check("evil\u{200b}.com", &["evil.com"]);
        check("ｅｖｉｌ．ｃｏｍ", &["evil.com"]);
        check("javascript:alert(1)", &["javascript:alert(1"]);
        check("Order 4711 costs 3.50 and arrives on 12.10. at 10:30", &[]);
        check(
            "two spellings: http://a.example/x and https://www.a.example/x/",
            &["a.example/x"],
        );
    }

    #[test]
    fn amounts_are_found_with_their_currency() {
        let found = amounts("49.90 EUR, $5,000, 300元, 20 %, order 4711, €12");
        let expected = ["$5,000", "300元", "49.90eur", "€12"];
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
}
