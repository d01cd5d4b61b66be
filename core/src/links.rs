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
        | \b(?<host>(?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]+)(?<rest>[/?\#:][^\s<>"'`）」』】》]*)?
        "#,
    )
    .expect("the pattern is fixed and valid")
});

/// The ends of names that mail programs make links of where nothing else says that they are one.
const ENDS: &[&str] = &[
    "ai", "app", "at", "biz", "br", "ch", "click", "cloud", "cn", "co", "com", "cz", "de", "dev", "dk", "es", "eu",
    "fi", "fr", "gl", "gr", "help", "hk", "hu", "in", "info", "io", "it", "jp", "kr", "link", "live", "ly", "me", "mx",
    "net", "nl", "nz", "online", "org", "page", "pl", "pro", "pt", "ro", "ru", "sg", "shop", "site", "store",
    "support", "tk", "top", "tr", "tw", "ua", "uk", "us", "xyz", "zip",
];

static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        (?:[€$£¥￥₩₽₹]|\b(?:eur|usd|gbp|jpy|cny|rmb|chf|pln|rub|try|krw)\b)\s?(?:\d{1,3}(?:\x20\d{3})+\b(?:[.,]\d+)?|\d(?:[\d.,']*\d)?)
        | (?:\b\d{1,3}(?:\x20\d{3})+\b(?:[.,]\d+)?|\d(?:[\d.,']*\d)?)\s?(?:[€$£¥￥₩₽₹]|元|円|块|원|(?:eur|euros?|usd|dollars?|gbp|jpy|yen|cny|rmb|yuan|chf|pln|z[łl]|rub|руб|try|tl|krw)\b)
        ",
    )
    .expect("the pattern is fixed and valid")
});

/// Links and addresses in their canonical form: NFKC, lower-case host and scheme, no trailing punctuation, no
/// `https://` or `www.`, so that two spellings of one target are equal.
pub fn links(text: &str) -> BTreeSet<String> {
    let text: String = text.nfkc().filter(|c| !is_invisible(*c)).collect();
    LINK.captures_iter(&text)
        .filter(|found| {
            let rest = found.name("rest").map_or("", |rest| rest.as_str());
            found.name("host").is_none_or(|host| is_named(host.as_str(), rest))
        })
        .map(|found| canonical(&found[0]))
        .filter(|link| !link.is_empty())
        .collect()
}

/// Whether dotted words without a scheme are a link: by their path, their beginning, or one of their ends. Any end
/// counts, not only the last, so that `shop.com.evil` is not taken for `shop.com`.
fn is_named(host: &str, rest: &str) -> bool {
    let host = host.to_lowercase();
    rest.starts_with('/') || host.starts_with("www.") || host.split('.').skip(1).any(|label| ENDS.contains(&label))
}

/// Amounts of money as written, without spaces.
///
/// NFKC has made plain spaces of the narrow and unbreakable ones that stand between thousands.
pub fn amounts(text: &str) -> BTreeSet<String> {
    let text: String = text.nfkc().filter(|c| !is_invisible(*c)).collect();
    AMOUNT
        .find_iter(&text)
        .map(|found| found.as_str().split_whitespace().collect::<String>().to_lowercase())
        .map(|amount| amount.trim_end_matches(['.', ',', '\'']).to_owned())
        .collect()
}

/// The number of an [amount](amounts), so that `€5,000`, `5.000,00 EUR` and `5000 €` are equal. The currency does not
/// count: a number that a customer named is theirs in any.
pub fn worth(amount: &str) -> String {
    let number = amount.trim_matches(|c: char| !c.is_ascii_digit());
    // A separator with one or two digits behind it parts the cents; every other one parts thousands.
    let cents = number.rfind(['.', ',']).filter(|at| number.len() - at <= 3);
    let (whole, cents) = cents.map_or((number, ""), |at| (&number[..at], &number[at + 1..]));
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (whole, cents) = (digits(whole), digits(cents));
    let (whole, cents) = (whole.trim_start_matches('0'), cents.trim_end_matches('0'));
    if cents.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}.{cents}")
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

fn canonical(link: &str) -> String {
    let link = link.trim_end_matches([
        '.', ',', ';', ':', '!', '?', ')', ']', '}', '*', '_', '。', '，', '！', '？', '、',
    ]);
    let rest = ["https://", "http://", "mailto:"]
        .iter()
        .find_map(|scheme| without(link, scheme))
        .unwrap_or(link);
    let rest = without(rest, "www.").unwrap_or(rest);
    // Schemes that are left, such as ftp://, have their slashes before the host.
    let host_from = rest.find("://").map_or(0, |at| at + 3);
    let at = rest[host_from..]
        .find(['/', '?', '#'])
        .map_or(rest.len(), |at| host_from + at);
    // Paths keep their letters' case: two paths that differ in it are two targets.
    let (host, path) = rest.split_at(at);
    format!("{}{}", host.to_lowercase(), path.trim_end_matches('/'))
}

/// The text after a prefix of ASCII letters in either case.
fn without<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
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
        check("shop.com.evil and shop.com", &["shop.com", "shop.com.evil"]);
        check(
            "evil.example/pay, www.evil.example",
            &["evil.example", "evil.example/pay"],
        );
        check("Z.B. am Montag.Bitte und/oder v1.2.3", &[]);
        check("ftp://Files.example/A", &["ftp://files.example/A"]);
        check("HTTPS://WWW.Shop.example?Q=1", &["shop.example?Q=1"]);
        check("write to mailto:Ada@Example.com", &["ada@example.com"]);
    }

    #[test]
    fn letters_whose_case_changes_their_length_keep_their_place() {
        check("x.com/\u{1e9e}\u{1e9e}", &["x.com/\u{1e9e}\u{1e9e}"]);
        check("https://\u{130}x.com/A\u{130}", &["i\u{307}x.com/A\u{130}"]);
    }

    #[test]
    fn amounts_are_equal_however_they_are_written() {
        for (text, expected) in [
            ("5000 EUR", "5000"),
            ("€5,000", "5000"),
            ("5.000,00 €", "5000"),
            ("5'000.00 CHF", "5000"),
            ("5\u{202f}000 €", "5000"),
            ("1 234 567,80 €", "1234567.8"),
            ("$49.90", "49.9"),
            ("49,90 Euro", "49.9"),
            ("３００元", "300"),
        ] {
            let found = amounts(text);
            assert_eq!(
                found.iter().map(|amount| worth(amount)).collect::<Vec<_>>(),
                [expected],
                "{text}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_searched(text in "[a-z\u{130}\u{1e9e}ﬁK./:?#@ 0-9€,'(]{0,40}|\\PC{0,40}") {
            for link in links(&text).into_iter().chain(links(&format!("x.com/{text}"))) {
                proptest::prop_assert!(!link.contains(char::is_whitespace));
            }
            for amount in amounts(&text) {
                worth(&amount);
            }
        }
    }

    #[test]
    fn amounts_are_found_with_their_currency() {
        let found = amounts("49.90 EUR, $5,000, 300元, 20 %, order 4711, €12");
        let expected = ["$5,000", "300元", "49.90eur", "€12"];
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
}
