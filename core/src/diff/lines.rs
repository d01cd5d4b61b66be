//! Line endings: compared as LF, written as the article has them.

/// With every CRLF as LF. A lone CR is a character like any other.
pub(super) fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// `text` (LF only) with the line endings of `body`: CRLF only where that is all that `body` has.
pub(super) fn in_style_of(body: &str, text: &str) -> String {
    let crlf = body.matches("\r\n").count();
    if crlf > 0 && crlf == body.matches('\n').count() {
        text.replace('\n', "\r\n")
    } else {
        text.to_owned()
    }
}

/// A text with LF endings that still knows where it came from.
pub(super) struct Unified {
    pub(super) text: String,
    /// Offsets in `text` of those line feeds that were CRLF, ascending.
    shortened: Vec<usize>,
}

impl Unified {
    pub(super) fn of(body: &str) -> Self {
        let shortened = body
            .match_indices("\r\n")
            .enumerate()
            .map(|(before, (at, _))| at - before)
            .collect();
        Self {
            text: unix(body),
            shortened,
        }
    }

    /// The same span in the body it was made of.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let shift = |at: usize| at + self.shortened.partition_point(|cut| *cut < at);
        (shift(start), shift(end))
    }
}
