//! To which ticket a mail belongs, the surest proof first.

use deskhand_adapters::email::EmailInbound;
use deskhand_adapters::postgres::mails::{self, Found};
use deskhand_core::id::TicketId;
use deskhand_core::mail::robot::{Bounce, Kind};
use uuid::Uuid;

use crate::app::App;

pub(super) async fn find(app: &App, mail: &EmailInbound, subject: &str, sender: &str) -> sqlx::Result<Option<Found>> {
    let signed = mail.thread.ticket.as_ref().and_then(|number| number.parse().ok());
    if let Some(number) = signed
        && let Some(found) = mails::by_number(&app.pool, TicketId(number)).await?
    {
        return Ok(Some(found));
    }
    let bounced = if let Kind::Bounce(bounce) = &mail.automatic.kind {
        Some(bounce)
    } else {
        None
    };
    let effects = effects(&mail.thread.effects, bounced);
    if !effects.is_empty()
        && let Some(found) = mails::by_effects(&app.pool, &effects).await?
    {
        return Ok(Some(found));
    }
    let root = (!mail.inbound.ticket.id.is_empty()).then(|| mail.inbound.ticket.id.clone());
    let ids: Vec<String> = mail.thread.ids.iter().cloned().chain(root).collect();
    if !ids.is_empty()
        && let Some(found) = mails::by_ids(&app.pool, &ids).await?
    {
        return Ok(Some(found));
    }
    // Anybody can write a number into a subject, and a sender whom the own domain disowns may be anybody.
    if let Some(number) = number(subject).filter(|_| mail.doubts.is_empty()) {
        let found = mails::by_number(&app.pool, TicketId(number)).await?;
        return Ok(found.filter(|found| !sender.is_empty() && found.requester == sender));
    }
    Ok(None)
}

/// Effects of ours that a mail answers, and the one whose mail came back.
pub(super) fn effects(answered: &[String], bounced: Option<&Bounce>) -> Vec<Uuid> {
    let original = bounced
        .and_then(|bounce| bounce.original.as_deref())
        .and_then(deskhand_adapters::email::thread::effect_of);
    let named = original.into_iter().chain(answered.iter().map(String::as_str));
    named.filter_map(|id| id.parse().ok()).collect()
}

/// `T-1001` somewhere in a subject.
fn number(subject: &str) -> Option<i64> {
    let folded = subject.to_ascii_uppercase();
    folded.match_indices("T-").find_map(|(at, _)| {
        let parted = !folded[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
        let digits: String = folded[at + 2..].chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|_| parted && digits.len() <= 12)
    })
}

/// Whether an address is of the house's own people.
pub(super) fn is_team(app: &App, address: &str) -> bool {
    let Some(at) = address.rfind('@') else { return false };
    let domain = &address[at..];
    app.config
        .mail
        .team
        .iter()
        .any(|member| member == address || member == domain)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_number_in_a_subject_stands_by_itself() {
        assert_eq!(number("Re: Lamp [T-1001]"), Some(1001));
        assert_eq!(number("t-7: hello"), Some(7));
        for other in ["AT-1001", "T-", "T-x", "1001", "", "T-99999999999999999999"] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
