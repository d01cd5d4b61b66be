//! A short excerpt around the place where most of the query stands.

use std::collections::HashMap;

use super::fold::unspaced;
use super::query::Query;
use super::token::{pieces, tokens_of};

/// Columns of a snippet: a Chinese character takes two, as on a screen.
const COLUMNS: usize = 200;

/// The best window of a body, with `…` where text was left out. Never cuts a character, nor a word of a spaced script.
/// Without any match it is the beginning.
pub fn snippet(query: &Query, body: &str) -> String {
    let weights: HashMap<&str, f32> = query
        .terms
        .iter()
        .flat_map(|term| {
            term.alternatives
                .iter()
                .map(|(token, fit)| (token.as_str(), fit * term.weight))
        })
        .collect();
    let text = plain(body).replace(['\n', '#'], " ");
    let units = units(&text);
    let gains: Vec<f32> = units.iter().map(|unit| gain(unit, &weights)).collect();

    let (mut start, mut columns, mut sum) = (0, 0, 0.0);
    let (mut best, mut best_sum) = (0..0, -1.0);
    for end in 0..units.len() {
        columns += width(units[end]);
        sum += gains[end];
        while columns > COLUMNS && start < end {
            columns -= width(units[start]);
            sum -= gains[start];
            start += 1;
        }
        if sum > best_sum + f32::EPSILON {
            best_sum = sum;
            best = start..end + 1;
        }
    }
    widen(&mut best, &units, &gains);
    let mut out = String::new();
    if best.start > 0 {
        out.push('…');
    }
    out.push_str(
        units[best.clone()]
            .concat()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .as_str(),
    );
    if best.end < units.len() {
        out.push('…');
    }
    out
}

/// Centres the window on its matches: a little of what leads up to them, more of what follows.
fn widen(window: &mut std::ops::Range<usize>, units: &[&str], gains: &[f32]) {
    while window.len() > 1 && gains[window.start] <= 0.0 {
        window.start += 1;
    }
    let taken: usize = units[window.clone()].iter().map(|unit| width(unit)).sum();
    let mut room = COLUMNS.saturating_sub(taken);
    let mut before = room / 3;
    while window.start > 0 && width(units[window.start - 1]) <= before {
        window.start -= 1;
        before -= width(units[window.start]);
        room -= width(units[window.start]);
    }
    while window.end < units.len() && width(units[window.end]) <= room {
        room -= width(units[window.end]);
        window.end += 1;
    }
}

fn gain(unit: &str, weights: &HashMap<&str, f32>) -> f32 {
    pieces(unit)
        .iter()
        .flat_map(tokens_of)
        .filter_map(|token| weights.get(token.as_str()).copied())
        .fold(0.0, f32::max)
}

fn width(unit: &str) -> usize {
    unit.chars().map(|c| if unspaced(c) { 2 } else { 1 }).sum()
}

/// Words with the space after them; unspaced scripts in pairs.
fn units(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut run = 0;
    for (at, c) in text.char_indices() {
        if unspaced(c) {
            run += 1;
            if run > 2 {
                out.push(&text[start..at]);
                start = at;
                run = 1;
            }
        } else {
            run = 0;
            if c.is_whitespace() {
                let end = at + c.len_utf8();
                out.push(&text[start..end]);
                start = end;
            }
        }
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

/// Markdown without what readers do not see: link targets, emphasis, table rules, HTML tags and comments. Heading lines
/// keep one `#`.
pub fn plain(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some(at) = rest.find("<!--") {
        line_by_line(&rest[..at], &mut out);
        rest = rest[at..].find("-->").map_or("", |end| &rest[at + end + 3..]);
    }
    line_by_line(rest, &mut out);
    out
}

fn line_by_line(text: &str, out: &mut String) {
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with('#') {
            out.push_str("# ");
        }
        let trimmed = trimmed.trim_start_matches(['#', '>', ' ', '|']);
        if trimmed.chars().all(|c| "-|:=*_ ".contains(c)) {
            out.push('\n');
            continue;
        }
        strip_line(trimmed, out);
        out.push('\n');
    }
}

fn strip_line(line: &str, out: &mut String) {
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '*' | '`' | '|' | '[' => out.push_str(if c == '|' { " " } else { "" }),
            '!' if line[at..].starts_with("![") => {}
            ']' => {
                // The target of a link in parentheses is not text.
                if line[at + 1..].starts_with('(')
                    && let Some(end) = line[at..].find(')')
                {
                    while chars.peek().is_some_and(|(next, _)| *next <= at + end) {
                        chars.next();
                    }
                }
            }
            '<' => match line[at..].find('>') {
                Some(end) if line[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') => {
                    while chars.peek().is_some_and(|(next, _)| *next <= at + end) {
                        chars.next();
                    }
                }
                _ => out.push(c),
            },
            '{' if line[at..].starts_with("{:") || line[at..].starts_with("{{") => {
                let end = line[at..].find('}').unwrap_or(line.len() - at);
                while chars.peek().is_some_and(|(next, _)| *next <= at + end) {
                    chars.next();
                }
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{plain, snippet};
    use crate::search::Query;

    #[test]
    fn the_excerpt_is_taken_around_the_words_asked_for() {
        let body = format!(
            "{} Refunds take five days to arrive. {}",
            "Filler here. ".repeat(60),
            "More. ".repeat(60)
        );
        let excerpt = snippet(&Query::parse("refund days"), &body);
        assert!(excerpt.contains("Refunds take five days"), "{excerpt}");
        assert!(excerpt.starts_with('…') && excerpt.ends_with('…'));
        assert!(excerpt.chars().count() <= 202);
    }

    #[test]
    fn chinese_is_cut_between_characters_by_columns() {
        let body = format!("{}退货需要三十天。{}", "无关内容。".repeat(80), "其他说明。".repeat(80));
        let excerpt = snippet(&Query::parse("退货"), &body);
        assert!(excerpt.contains("退货需要三十天"), "{excerpt}");
        assert!(excerpt.chars().count() <= 130);
    }

    #[test]
    fn without_a_match_the_beginning_is_shown() {
        let body = "Opening hours are nine to five.";
        assert_eq!(snippet(&Query::parse("zebra"), body), body);
        assert_eq!(snippet(&Query::parse("zebra"), ""), "");
    }

    #[test]
    fn readers_do_not_see_targets_tags_and_comments() {
        let text =
            plain("## Head\n**Go** to [the shop](https://example.com/a) <b>now</b><!-- hidden\nlines -->.\n|---|---|");
        assert_eq!(text.trim(), "# Head\nGo to the shop now\n.");
    }
}
