//! The block of labels that Outlook, Foxmail, phones, and others put above a quote instead of a sentence:
//! "From: … Sent: … To: … Subject: …", in any language and order, bold, in a table, or all on one line.
//!
//! People write such lines, too ("From: London / To: Paris"). A block counts by what only a mail has: an address, the
//! time of sending, a subject.

use super::evidence::Evidence;
use super::lexicon::lexicon;
use super::line::Line;

/// No label of the list is longer.
const LABEL: usize = 40;
/// Lines that one block may have: long lists of recipients are wrapped.
const BLOCK: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    From,
    Sent,
    Date,
    To,
    Cc,
    Subject,
    Other,
}

const ROLES: [(Role, &str); 7] = [
    (Role::From, "label from"),
    (Role::Sent, "label sent"),
    (Role::Date, "label date"),
    (Role::To, "label to"),
    (Role::Cc, "label cc"),
    (Role::Subject, "label subject"),
    (Role::Other, "label other"),
];

/// One label with what stands behind it, tidied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub role: Role,
    pub value: String,
}

pub(super) struct Block {
    pub fields: Vec<Field>,
    /// The line after it.
    pub end: usize,
}

/// The block that begins at `at`. With `introduced` a separator stands above it, and less is asked.
pub(super) fn block(lines: &[&Line<'_>], at: usize, introduced: bool) -> Option<Block> {
    let block = labelled(lines, at)?;
    is_of_mail(&block.fields, introduced).then_some(block)
}

/// The same for whoever asks line by line: if there is no block, none begins before the line that is told instead, for
/// fewer lines of the same labels are no more a mail's than all of them.
pub(super) fn block_or_next(lines: &[&Line<'_>], at: usize) -> Result<Block, usize> {
    let Some(block) = labelled(lines, at) else {
        return Err(at + 1);
    };
    if is_of_mail(&block.fields, false) {
        Ok(block)
    } else {
        Err(block.end)
    }
}

fn labelled(lines: &[&Line<'_>], at: usize) -> Option<Block> {
    let depth = lines[at].depth;
    let mut fields = fields_of(lines[at])?;
    let mut end = at + 1;
    let mut open = true;
    while end < lines.len() && end < at + BLOCK {
        let line = lines[end];
        if line.blank && line.depth <= depth {
            // Converters put empty lines between the labels.
            let next = lines[end..]
                .iter()
                .take(3)
                .position(|line| !line.blank)
                .map(|skip| end + skip);
            match next.filter(|next| lines[*next].depth == depth && fields_of(lines[*next]).is_some()) {
                Some(next) => end = next,
                None => break,
            }
        } else if line.depth != depth {
            break;
        } else if let Some(more) = fields_of(line) {
            open = true;
            fields.extend(more);
            end += 1;
        } else if open && continues(&fields, line) {
            // The value of an empty label is one line below; a list of recipients may go on and on.
            open = line.folded.contains('@') || line.folded.ends_with([';', ',']);
            if let Some(last) = fields.last_mut().filter(|last| last.value.len() < 1000) {
                last.value.push(' ');
                last.value.push_str(&line.plain);
            }
            end += 1;
        } else {
            break;
        }
    }
    Some(Block { fields, end })
}

fn continues(fields: &[Field], line: &Line<'_>) -> bool {
    let Some(last) = fields.last() else { return false };
    let indented = line.raw.starts_with([' ', '\t']);
    let listed = matches!(last.role, Role::From | Role::To | Role::Cc)
        && (line.folded.contains('@') || last.value.ends_with([';', ',']));
    last.value.is_empty() || listed || (indented && line.length < 200)
}

fn is_of_mail(fields: &[Field], introduced: bool) -> bool {
    let has = |role: Role| fields.iter().any(|field| field.role == role);
    let addressed = |role: Role| {
        fields
            .iter()
            .any(|field| field.role == role && Evidence::of(&field.value.to_lowercase()).address)
    };
    let dated = fields.iter().any(|field| {
        let evidence = Evidence::of(&field.value.to_lowercase());
        matches!(field.role, Role::Sent | Role::Date) && (evidence.date || evidence.time)
    });
    let when = has(Role::Sent) || dated;
    let roles = ROLES
        .iter()
        .filter(|(role, _)| *role != Role::Other && has(*role))
        .count();
    if !has(Role::From) {
        return roles >= 3 && has(Role::Subject) && when && (introduced || addressed(Role::To));
    }
    let address = addressed(Role::From) || addressed(Role::To);
    let whole = roles >= 3 && (has(Role::Subject) || address) && (when || (has(Role::Subject) && address));
    // A label of sending, and not just a date, is a mail program's own word.
    let sent = roles >= 3 && has(Role::Sent) && dated;
    whole || sent || (roles >= 2 && (when || has(Role::Subject)) && (addressed(Role::From) || introduced))
}

fn fields_of(line: &Line<'_>) -> Option<Vec<Field>> {
    if line.blank || line.plain.is_empty() {
        return None;
    }
    let text = line.plain.trim_start_matches(['*', '_', '|', ' ', '\u{2022}']);
    let tabled = line.plain.starts_with('|');
    let (role, value) = label(text, tabled)?;
    let mut fields = vec![Field {
        role,
        value: String::new(),
    }];
    // The same line may hold further labels, where a converter dropped the line ends.
    let mut rest = value;
    while let Some((before, role, after)) = next_label(rest) {
        push(&mut fields, before);
        fields.push(Field {
            role,
            value: String::new(),
        });
        rest = after;
    }
    push(&mut fields, rest);
    Some(fields)
}

fn push(fields: &mut [Field], value: &str) {
    if let Some(last) = fields.last_mut() {
        value.trim_matches([' ', '|', '_', ';']).clone_into(&mut last.value);
    }
}

/// A label at the start of the text, with what follows its colon (or, in a table, its bar; or, from Notes, its tab).
fn label(text: &str, tabled: bool) -> Option<(Role, &str)> {
    let bar = |c: char| c == ':' || (tabled && c == '|');
    let at = text
        .char_indices()
        .take(LABEL)
        .find(|(_, c)| bar(*c))
        .map(|(at, _)| at)?;
    let role = role(&text[..at])?;
    Some((role, text[at + 1..].trim_start_matches([':', ' ', '|', '_'])))
}

fn role(label: &str) -> Option<Role> {
    let folded = label.trim_matches([' ', '_', '|', '*']).to_lowercase();
    ROLES
        .iter()
        .find(|(_, section)| lexicon().is(section, &folded))
        .map(|(role, _)| *role)
}

/// A further label within a line: only the ones that no address or time holds, hence never a bare "a:" or "de:".
fn next_label(text: &str) -> Option<(&str, Role, &str)> {
    for (at, _) in text.match_indices(':').take(12) {
        for words in 1..=2 {
            let mut starts = text[..at].trim_end().rmatch_indices(' ').map(|(start, _)| start);
            let Some(start) = starts.nth(words - 1) else { break };
            let candidate = text[start..at].trim();
            if candidate.chars().count() > 2
                && let Some(role) = role(candidate)
            {
                return Some((&text[..start], role, &text[at + 1..]));
            }
            if candidate.eq_ignore_ascii_case("to")
                || candidate.eq_ignore_ascii_case("an")
                || candidate.eq_ignore_ascii_case("cc")
            {
                let role = if candidate.eq_ignore_ascii_case("cc") {
                    Role::Cc
                } else {
                    Role::To
                };
                return Some((&text[..start], role, &text[at + 1..]));
            }
        }
    }
    None
}
