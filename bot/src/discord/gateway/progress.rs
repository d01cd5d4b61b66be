//! How far what was told is dealt with, when some of it is still under way.

use std::collections::BTreeSet;

use deskhand_adapters::discord::gateway::Resume;
use deskhand_adapters::postgres::gateway::Heard;

#[derive(Debug, Default)]
pub(super) struct Progress {
    session: String,
    url: String,
    /// Told, and dealt with unless it is under way.
    seq: u64,
    under_way: BTreeSet<u64>,
    /// Something since the last note is worth one.
    matters: bool,
}

impl Progress {
    pub(super) fn is_at(&mut self, at: &Resume) {
        if self.session != at.session {
            // Numbers of another session say nothing in this one.
            self.under_way.clear();
        }
        self.session.clone_from(&at.session);
        self.url.clone_from(&at.url);
        self.seq = at.seq;
    }

    pub(super) fn begins(&mut self, seq: u64) {
        self.under_way.insert(seq);
    }

    pub(super) fn ends(&mut self, seq: u64) {
        self.under_way.remove(&seq);
        self.matters = true;
    }

    pub(super) fn matters(&mut self) {
        self.matters = true;
    }

    pub(super) fn is_to_be_stored(&self) -> bool {
        self.matters
    }

    pub(super) fn was_stored(&mut self) {
        self.matters = false;
    }

    /// Everything before the oldest that is under way is dealt with.
    pub(super) fn stored(&self, newest: i64) -> Heard {
        let seq = self.under_way.first().map_or(self.seq, |oldest| oldest - 1);
        Heard {
            session: self.session.clone(),
            url: self.url.clone(),
            seq: i64::try_from(seq).unwrap_or_default(),
            newest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(session: &str, seq: u64) -> Resume {
        Resume {
            session: session.into(),
            url: String::new(),
            seq,
        }
    }

    #[test]
    fn nothing_under_way_counts_as_dealt_with() {
        let mut progress = Progress::default();
        progress.is_at(&at("s", 3));
        progress.begins(3);
        progress.is_at(&at("s", 4));
        progress.begins(4);
        progress.is_at(&at("s", 5));
        assert_eq!(progress.stored(0).seq, 2);
        progress.ends(4);
        assert_eq!(progress.stored(0).seq, 2);
        progress.ends(3);
        assert_eq!(progress.stored(0).seq, 5);
        assert!(progress.is_to_be_stored());
    }

    #[test]
    fn a_new_session_counts_anew() {
        let mut progress = Progress::default();
        progress.is_at(&at("s", 9));
        progress.begins(9);
        progress.is_at(&at("t", 1));
        assert_eq!(progress.stored(0).seq, 1);
    }
}
