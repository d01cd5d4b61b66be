//! One look over the lines of a body: which of them are new, quoted, a signature, or passed on.
//!
//! Top to bottom: the first sign of a quoted mail that has no `>` below it takes everything to the end. Lines with `>` are
//! weighed one run at a time, because people answer between and below them.

use super::line::Line;
use super::marker::{Marker, marker};
use super::{Kind, attribution, header, signature};

/// Quoted lines kept above an answer that was written between quotes.
const CONTEXT: usize = 8;

/// Lines with `>`, and the lines that introduce them.
struct Run {
    start: usize,
    /// The first line with a `>`.
    quote: usize,
    end: usize,
    attributed: bool,
}

#[derive(Clone, Copy)]
enum Tail {
    Quoted,
    Forwarded,
}

/// What every line is. `forwarded` says that the subject speaks of a forward: then a bare header block is one.
pub(super) fn pass(lines: &[&Line<'_>], forwarded: bool) -> Vec<Kind> {
    let mut kinds = vec![Kind::Words; lines.len()];
    let (runs, tail) = structure(lines, forwarded);
    let body = tail.map_or(lines.len(), |(at, _)| at);
    if let Some((at, kind)) = tail {
        kinds[at..].fill(match kind {
            Tail::Quoted => Kind::Quoted,
            Tail::Forwarded => Kind::Forwarded,
        });
    }
    // Stretches of unquoted lines: before the first run, between the runs, behind the last.
    let starts = std::iter::once(0).chain(runs.iter().map(|run| run.end));
    let ends = runs.iter().map(|run| run.start).chain(std::iter::once(body));
    let mut answers = Vec::new();
    for (start, end) in starts.zip(ends) {
        let cut = start + signature::begins(&lines[start..end]);
        kinds[cut..end].fill(Kind::Signature);
        answers.push(lines[start..cut].iter().any(|line| !line.blank));
    }
    weigh(lines, &runs, &answers, &mut kinds);
    for at in 1..lines.len() {
        if lines[at].blank {
            kinds[at] = kinds[at - 1];
        }
    }
    let holds = |wanted: Kind| {
        lines
            .iter()
            .zip(&kinds)
            .any(|(line, kind)| *kind == wanted && !line.blank)
    };
    // A forward without a word of its own stays one: its content is found behind its separator.
    if !holds(Kind::Words) && !holds(Kind::Forwarded) {
        kinds.fill(Kind::Words);
    }
    kinds
}

/// The runs of quoted lines, and where a mail below begins that has no `>`.
fn structure(lines: &[&Line<'_>], forwarded: bool) -> (Vec<Run>, Option<(usize, Tail)>) {
    let mut runs = Vec::new();
    let (mut at, mut no_block_before) = (0, 0);
    while at < lines.len() {
        if lines[at].blank {
            at += 1;
            continue;
        }
        if lines[at].depth > 0 {
            let end = run_ends(lines, at);
            runs.push(Run {
                start: at,
                quote: at,
                end,
                attributed: opens_attributed(lines, at, end),
            });
            at = end;
            continue;
        }
        let Some((end, tail)) = boundary(lines, at, forwarded, &mut no_block_before) else {
            at += 1;
            continue;
        };
        let below = lines[end..].iter().position(|line| !line.blank).map(|skip| end + skip);
        match (tail, below) {
            (Tail::Quoted, Some(quote)) if lines[quote].depth > 0 => {
                let run_end = run_ends(lines, quote);
                runs.push(Run {
                    start: at,
                    quote,
                    end: run_end,
                    attributed: true,
                });
                at = run_end;
            }
            _ => return (runs, Some((at, tail))),
        }
    }
    (runs, None)
}

/// A mail below begins at this unquoted line: the first line of it that is no introduction any more, and what it is.
fn boundary(lines: &[&Line<'_>], at: usize, forwarded: bool, no_block_before: &mut usize) -> Option<(usize, Tail)> {
    let quoted = if forwarded { Tail::Forwarded } else { Tail::Quoted };
    if let Some(marker) = marker(lines[at]) {
        let below = lines[at + 1..]
            .iter()
            .take(4)
            .position(|line| !line.blank)
            .map(|skip| at + 1 + skip);
        let block = |introduced: bool| {
            below
                .and_then(|below| header::block(lines, below, introduced))
                .map(|block| block.end)
        };
        match marker {
            Marker::ReplyAbove => return Some((lines.len(), Tail::Quoted)),
            Marker::Forwarded => return Some((at + 1, Tail::Forwarded)),
            Marker::Begin => {
                if let Some(end) = block(true) {
                    return Some((end, Tail::Forwarded));
                }
            }
            Marker::Original => {
                let sentence = || below.and_then(|below| attribution::ends(lines, below));
                return Some((block(true).or_else(sentence).unwrap_or(at + 1), quoted));
            }
            Marker::Rule => {
                let sentence = || below.and_then(|below| attribution::ends(lines, below));
                if let Some(end) = block(false).or_else(sentence) {
                    return Some((end, quoted));
                }
            }
        }
    }
    if at >= *no_block_before {
        match header::block_or_next(lines, at) {
            Ok(block) => return Some((block.end, quoted)),
            Err(next) => *no_block_before = next,
        }
    }
    attribution::ends(lines, at).map(|end| (end, Tail::Quoted))
}

/// Where a run of quoted lines ends. Empty lines within it belong to it, and so does the rest of a line that a program
/// wrapped without giving it its `>`.
fn run_ends(lines: &[&Line<'_>], start: usize) -> usize {
    let mut end = start + 1;
    let mut at = end;
    while at < lines.len() {
        let line = lines[at];
        if line.depth > 0 {
            end = at + 1;
        } else if !line.blank && !is_wrapped_rest(lines, at) {
            break;
        }
        at += 1;
    }
    end
}

fn is_wrapped_rest(lines: &[&Line<'_>], at: usize) -> bool {
    let (above, line) = (lines[at - 1], lines[at]);
    let below = lines.get(at + 1).is_some_and(|below| below.depth > 0);
    let goes_on = line.plain.chars().next().is_some_and(char::is_lowercase);
    below
        && above.depth > 0
        && above.length >= 66
        && line.length <= 40
        && goes_on
        && !above.plain.ends_with(['.', '!', '?', ':'])
}

/// Apple and Outlook.com put the introduction within the quote.
fn opens_attributed(lines: &[&Line<'_>], start: usize, end: usize) -> bool {
    let heads = (start..end).filter(|at| !lines[*at].blank).take(2);
    heads.into_iter().any(|at| {
        attribution::ends(lines, at).is_some_and(|ends| ends <= end)
            || header::block(lines, at, false).is_some()
            || marker(lines[at]).is_some_and(|marker| matches!(marker, Marker::Original | Marker::ReplyAbove))
    })
}

/// Which quoted lines are part of what the person says: the question above an answer, and lines that are no quote at all
/// (a pasted log, a shell's prompt).
fn weigh(lines: &[&Line<'_>], runs: &[Run], answers: &[bool], kinds: &mut [Kind]) {
    let between = answers.iter().skip(1).filter(|answer| **answer).count();
    let first = answers.iter().position(|answer| *answer);
    let mut attributed = false;
    for (index, run) in runs.iter().enumerate() {
        attributed |= run.attributed;
        let answered = answers[index + 1];
        let quoted = &lines[run.quote..run.end];
        let size = quoted.iter().filter(|line| !line.blank).count();
        let below_everything = size > CONTEXT && between == 1 && first.is_none_or(|at| at > index);
        kinds[run.start..run.end].fill(Kind::Quoted);
        if answered && attributed {
            if between >= 2 {
                kinds[run.quote + context(quoted)..run.end].fill(Kind::Words);
            }
        } else if (answered && !below_everything) || (!attributed && is_introduced(lines, run.start)) {
            kinds[run.start..run.end].fill(Kind::Words);
        }
    }
}

/// Where the last lines of a run begin that an answer below it needs: all of a short one, else its last paragraph.
fn context(quoted: &[&Line<'_>]) -> usize {
    if quoted.iter().filter(|line| !line.blank).count() <= CONTEXT {
        return 0;
    }
    let mut written = 0;
    for at in (0..quoted.len()).rev() {
        if !quoted[at].blank {
            written += 1;
        }
        if written == CONTEXT || (written > 0 && quoted[at].blank) {
            return at;
        }
    }
    0
}

/// "Here is what it says:" above lines with `>`: the person's own material.
fn is_introduced(lines: &[&Line<'_>], at: usize) -> bool {
    let above = lines[..at].iter().rev().take(3).find(|line| !line.blank);
    above.is_some_and(|line| line.depth == 0 && line.plain.ends_with(':'))
}
