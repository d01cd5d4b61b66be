//! To which ticket a mail belongs: our own Message-IDs, and a signed token in the address that people reply to.
//!
//! The subject never decides: anybody can write a number there.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// Hex digits of the token: 80 bits, which nobody guesses and every mail server keeps, even in lower case.
const TOKEN: usize = 20;

/// The `Message-ID` of a mail that we send for an effect, without brackets. The same effect always has the same one.
pub fn message_id(effect: &str, domain: &str) -> String {
    format!("deskhand.{effect}@{domain}")
}

/// The effect that a `Message-ID` of ours names.
pub fn effect_of(id: &str) -> Option<&str> {
    let local = id.trim_matches(['<', '>', ' ']).split('@').next()?;
    local.strip_prefix("deskhand.").filter(|effect| !effect.is_empty())
}

/// The effects that our own header names within the headers of a mail that came back: some services replace the id.
pub fn effects_within<'a>(returned: &'a str, header: &str) -> Vec<&'a str> {
    let values = returned.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case(header).then_some(value)
    });
    values.filter_map(|value| effect_of(value.split_once('<')?.1)).collect()
}

/// `help@shop.example` and ticket `1001` to `help+1001.5f0c…@shop.example`. `None` without a key: an unsigned number would
/// let anybody write into any ticket.
pub fn reply_address(base: &str, ticket: &str, key: &str) -> Option<String> {
    let (local, domain) = base.rsplit_once('@')?;
    Some(format!("{local}+{ticket}.{}@{domain}", token(ticket, key)?))
}

/// The ticket of a signed reply address; `None` for any other.
pub fn ticket_of(address: &str, key: &str) -> Option<String> {
    let (local, _) = address.rsplit_once('@')?;
    let (ticket, given) = local.rsplit_once('+')?.1.rsplit_once('.')?;
    let ticket = ticket.to_lowercase();
    let ours = token(&ticket, key)?;
    bool::from(ours.as_bytes().ct_eq(given.to_lowercase().as_bytes())).then_some(ticket)
}

fn token(ticket: &str, key: &str) -> Option<String> {
    if key.is_empty() {
        return None;
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).ok()?;
    mac.update(b"reply address\n");
    mac.update(ticket.to_lowercase().as_bytes());
    Some(hex::encode(mac.finalize().into_bytes())[..TOKEN].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_address_names_its_ticket_and_only_with_our_key() {
        let address = reply_address("help@shop.example", "1001", "secret").expect("an address");
        assert_eq!(ticket_of(&address, "secret").as_deref(), Some("1001"));
        assert_eq!(ticket_of(&address.to_uppercase(), "secret").as_deref(), Some("1001"));
        assert_eq!(ticket_of(&address, "other"), None);
        assert_eq!(ticket_of(&address.replace("1001", "1002"), "secret"), None);
        for other in [
            "help+1001@shop.example",
            "help@shop.example",
            "help+1001.@shop.example",
            "",
            "+.@",
        ] {
            assert_eq!(ticket_of(other, "secret"), None, "{other}");
        }
        assert_eq!(reply_address("help@shop.example", "1001", ""), None);
        assert_eq!(ticket_of(&address, ""), None);
    }

    #[test]
    fn our_message_ids_name_their_effect() {
        assert_eq!(effect_of(&message_id("7-1", "shop.example")), Some("7-1"));
        assert_eq!(effect_of("<deskhand.7-1@shop.example>"), Some("7-1"));
        assert_eq!(effect_of("x.7-1@shop.example"), None);
    }
}
