//! Plain tables and colours for the terminal. Colours only where somebody looks.

use std::io::IsTerminal;

/// Whether standard output is a terminal that wants colours (NO_COLOR: no-color.org).
pub(super) fn colours() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Wraps text in an ANSI style where colours are wanted.
pub(super) fn styled(text: &str, code: &str) -> String {
    if colours() {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

/// Columns as wide as their widest cell; the last one is cut at the terminal's edge by the terminal itself.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = head.iter().map(|cell| width(cell)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(self::width(cell));
        }
    }
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide - width(cell).min(*wide))))
            .collect();
        padded.join("  ").trim_end().to_owned()
    };
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let mut lines = vec![styled(&line(&head), "1")];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

/// Cells of a terminal: Chinese, Japanese and Korean characters are two wide.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| match c as u32 {
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60 => 2,
            _ => 1,
        })
        .sum()
}

/// At most so many cells, with an ellipsis.
pub(super) fn clip(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&text) <= most {
        return text;
    }
    let mut cut = String::new();
    for c in text.chars() {
        if width(&cut) + width(c.encode_utf8(&mut [0; 4])) + 1 > most {
            break;
        }
        cut.push(c);
    }
    cut + "…"
}

/// A unified diff with its lines in colour.
pub(super) fn coloured_diff(diff: &str) -> String {
    diff.lines()
        .map(|line| match line.as_bytes().first() {
            Some(b'+') => styled(line, "32"),
            Some(b'-') => styled(line, "31"),
            Some(b'@') => styled(line, "36"),
            _ => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_keep_columns_straight() {
        let rows = vec![vec!["退货".into(), "x".into()], vec!["abcd".into(), "y".into()]];
        assert_eq!(table(&["a", "b"], &rows), "a     b\n退货  x\nabcd  y");
    }

    #[test]
    fn a_clipped_text_says_so() {
        assert_eq!(clip("a long  subject", 8), "a long …");
        assert_eq!(clip("退货与换货", 6), "退货…");
        assert_eq!(clip("short", 8), "short");
    }
}
