//! Server-sent events out of bytes as they arrive.
//!
//! By the WHATWG's rules as far as model providers use them: lines end in LF, CR or CRLF, data lines of one event are
//! joined by LF, a comment is skipped, an event without data is none. Event names and ids are not kept: both protocols
//! repeat the name inside the data. Chunks may end anywhere, in the middle of a character as well.

/// Splits a stream into the data of its events.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<String>,
    /// The last byte was a CR, so that an LF right after it ends no second line.
    after_cr: bool,
    begun: bool,
}

impl Events {
    /// Takes a chunk; gives the data of each event that it completed.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut complete = Vec::new();
        for &byte in chunk {
            match byte {
                b'\n' if self.after_cr => self.after_cr = false,
                b'\n' | b'\r' => {
                    self.after_cr = byte == b'\r';
                    complete.extend(self.end_line());
                }
                byte => {
                    self.after_cr = false;
                    self.line.push(byte);
                }
            }
        }
        complete
    }

    /// The stream has ended. The standard drops an event that no empty line ended; servers that close right after
    /// their last line exist, so it is given here, and its reader judges whether it is whole.
    pub(super) fn end(mut self) -> Option<String> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.data
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = match std::mem::replace(&mut self.begun, true) {
            true => &*line,
            false => line.trim_start_matches('\u{feff}'),
        };
        if line.is_empty() {
            return self.data.take();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    const STREAM: &str = "\u{feff}event: a\ndata: {\"x\":\r\ndata: \"退款\"}\r\n\r\n: ping\n\ndata:no blank\rid: 7\r\revent: only\n\n\
                          data: last\n\n";
    const EVENTS: [&str; 3] = ["{\"x\":\n\"退款\"}", "no blank", "last"];

    #[test]
    fn events_come_out_the_same_however_the_bytes_are_cut() {
        for size in 1..=STREAM.len() {
            let mut events = Events::default();
            let found: Vec<String> = STREAM
                .as_bytes()
                .chunks(size)
                .flat_map(|chunk| events.push(chunk))
                .collect();
            assert_eq!(found, EVENTS, "chunks of {size}");
            assert_eq!(events.end(), None);
        }
    }

    #[test]
    fn a_last_event_without_its_empty_line_is_given_at_the_end() {
        let mut events = Events::default();
        assert_eq!(events.push(b"data: [DONE]"), Vec::<String>::new());
        assert_eq!(events.end().as_deref(), Some("[DONE]"));
    }

    #[test]
    fn bytes_that_are_no_text_do_not_stop_the_stream() {
        let mut events = Events::default();
        assert_eq!(events.push(b"data: a\xffb\n\n"), ["a\u{fffd}b"]);
    }
}
