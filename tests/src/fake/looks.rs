//! What a chat showed and no assertion has touched, the same for every chat.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A ticket's message in the channel.
    Header,
    Card,
    /// Anything else in a thread or channel.
    Line,
    /// What only one person saw.
    Private,
}

/// Something outward that no assertion has touched.
#[derive(Clone, Debug)]
pub struct Unlooked {
    pub kind: Kind,
    pub text: String,
}

impl Unlooked {
    /// Whether a scenario must look at it: a header shows what its cards and ticket say, and a line in the thread what its
    /// card says.
    pub fn must_be_looked_at(&self) -> bool {
        match self.kind {
            Kind::Header => false,
            Kind::Line => !self.text.contains("A-"),
            Kind::Card | Kind::Private => true,
        }
    }
}

impl fmt::Display for Unlooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} nobody looked at: {:?}", self.kind, self.text)
    }
}
