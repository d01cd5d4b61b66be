//! Dates, times, and addresses in a line, found without knowing its language: a year beside a day, two numbers with a
//! colon, something with an `@`.

/// What a folded text holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    pub date: bool,
    pub time: bool,
    /// Where an address in brackets ends, the bracket included.
    pub bracketed: Option<usize>,
    /// An address stands there, bracketed or not.
    pub address: bool,
}

impl Evidence {
    pub(super) fn of(text: &str) -> Self {
        let numbers = numbers(text);
        let (address, bracketed) = address(text);
        Self {
            date: has_date(text, &numbers),
            time: has_time(text, &numbers),
            bracketed,
            address,
        }
    }

    pub(super) fn points(&self) -> usize {
        usize::from(self.date) + usize::from(self.time) + usize::from(self.address)
    }
}

struct Number {
    value: u32,
    start: usize,
    end: usize,
}

impl Number {
    fn digits(&self) -> usize {
        self.end - self.start
    }

    fn is_day(&self) -> bool {
        self.digits() <= 2 && (1..=31).contains(&self.value)
    }

    /// Gregorian, or the Buddhist and Islamic years that phones in Thailand and Saudi Arabia write.
    fn is_year(&self) -> bool {
        self.digits() == 4 && matches!(self.value, 1970..=2100 | 2513..=2643 | 1400..=1500)
    }
}

fn numbers(text: &str) -> Vec<Number> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if at - start <= 4 {
            let value = text[start..at].parse().unwrap_or_default();
            found.push(Number { value, start, end: at });
        }
    }
    found
}

/// Either `9.10.2026` in any order and with any of the usual separators, or a year with a day near it.
fn has_date(text: &str, numbers: &[Number]) -> bool {
    let numeric = numbers.windows(3).any(|three| {
        let between = |i: usize| text[three[i].end..three[i + 1].start].trim();
        let parted = matches!(between(0), "." | "/" | "-") && between(0) == between(1);
        let [a, b, c] = three else { return false };
        let fits =
            (a.is_year() && b.is_day() && c.is_day()) || (a.is_day() && b.is_day() && (c.is_year() || c.digits() == 2));
        parted && fits
    });
    numeric
        || numbers.windows(2).any(|two| {
            let near = two[1].start - two[0].end <= 40;
            near && ((two[0].is_year() && two[1].is_day()) || (two[0].is_day() && two[1].is_year()))
        })
}

fn has_time(text: &str, numbers: &[Number]) -> bool {
    numbers.windows(2).any(|two| {
        let between = text[two[0].end..two[1].start].trim();
        let parted = matches!(between, ":" | "h" | "." | "時" | "时" | "點" | "点" | "시");
        let alone =
            !text[..two[0].start].ends_with(['.', '/', '-']) && !text[two[1].end..].starts_with(['.', '/', '-']);
        let clock = two[0].digits() <= 2 && two[0].value <= 24 && two[1].digits() == 2 && two[1].value < 60;
        parted && clock && (between != "." || alone)
    })
}

/// Whether an address is there, and where the last bracketed one ends.
fn address(text: &str) -> (bool, Option<usize>) {
    let (mut found, mut bracketed) = (false, None);
    for (at, _) in text.match_indices('@') {
        let part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '=' | '\'' | '/');
        let before = text[..at].chars().rev().take_while(|c| part(*c)).count();
        let domain: &str = &text[at + 1..];
        let end = domain.find(|c: char| !part(c)).unwrap_or(domain.len());
        if before == 0 || end == 0 {
            continue;
        }
        found = true;
        let start = text[..at].rfind(|c: char| !part(c));
        let opened = start.is_some_and(|s| text[s..].starts_with(['<', '[', '(', ':']));
        let after = at + 1 + end;
        if opened && let Some(close) = text[after..].chars().next().filter(|c| matches!(c, '>' | ']' | ')')) {
            bracketed = Some(after + close.len_utf8());
        }
    }
    (found, bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_found_in_any_language() {
        let dated = [
            "fri, oct 9, 2026 at 10:53 am",
            "2026年10月9日(金) 10:53",
            "09.10.26 um 10:53",
            "2026. 10. 9. 오전 10:53",
            "pt., 9 paz 2026 o 10:53",
            "9/10/2026 a las 10:53",
            "2026-10-09 10:53:00",
            "9 ต.ค. 2569 เวลา 10:53",
        ];
        for text in dated {
            let found = Evidence::of(text);
            assert!(found.date && found.time, "{text}: {found:?}");
        }
        for text in ["order 4711", "from 10 to 20", "10:1 against", "call 2026", "a@b"] {
            let found = Evidence::of(text);
            assert!(!found.date && !found.time, "{text}: {found:?}");
        }
    }

    #[test]
    fn addresses_are_found_and_their_brackets_too() {
        assert!(Evidence::of("ann <ann@x.example>").bracketed.is_some());
        assert!(Evidence::of("ann [mailto:ann@x.example]").bracketed.is_some());
        let bare = Evidence::of("write to ann@x.example now");
        assert!(bare.address && bare.bracketed.is_none());
        assert!(!Evidence::of("10 @ 5 euro").address);
    }
}
