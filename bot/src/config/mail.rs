//! Settings of e-mail. Each way in has its own proof and is closed without it; the way out needs an address to send from.

use deskhand_adapters::email::house::{self, CertificateDer};
use deskhand_adapters::email::out::Account;
use secrecy::{ExposeSecret, SecretString};

use super::layers::Layers;
use super::service::{base, required, whole};
use super::{ConfigError, optional, secret, value};

#[derive(Clone, Debug, Default)]
pub struct MailConfig {
    /// `Lampshop Care <care@lamps.example>`; what replies come from.
    pub from: Option<String>,
    /// In lower case: the address of `from`, and others that mail comes in at.
    pub addresses: Vec<String>,
    /// In lower case: addresses, or `@domain`, of the house's own people.
    pub team: Vec<String>,
    /// Signs the addresses that people reply to; `None`: replies go to the plain address.
    pub reply_key: Option<SecretString>,
    pub smtp_url: Option<SecretString>,
    /// Takes our mail over HTTP; SMTP goes before it.
    pub provider: Option<Account>,
    pub imap_url: Option<SecretString>,
    /// PEM: certificates of the house, which mail servers are believed by beside the system's.
    pub ca: Option<SecretString>,
    pub mailgun_key: Option<SecretString>,
    /// As SendGrid shows it: base64 of the key's SubjectPublicKeyInfo.
    pub sendgrid_key: Option<String>,
    /// `name:password`, as they stand in the webhook's address.
    pub postmark_auth: Option<SecretString>,
    /// The one topic whose notifications are taken in.
    pub ses_topic: Option<String>,
    /// What a delivery of raw mail must bear.
    pub webhook_token: Option<SecretString>,
}

impl MailConfig {
    /// `ca`, read.
    pub fn house(&self) -> Vec<CertificateDer<'static>> {
        self.ca
            .as_ref()
            .map(|pem| house::read(pem.expose_secret()))
            .unwrap_or_default()
    }

    /// Mail comes in somehow, so an address of our own must be known.
    pub fn comes_in(&self) -> bool {
        self.imap_url.is_some()
            || self.mailgun_key.is_some()
            || self.sendgrid_key.is_some()
            || self.postmark_auth.is_some()
            || self.ses_topic.is_some()
            || self.webhook_token.is_some()
    }
}

pub(super) fn mail(layers: &Layers<'_>) -> Result<MailConfig, ConfigError> {
    let from = optional(layers, "MAIL_FROM", sender)?;
    let mut addresses: Vec<String> = from.iter().map(|from| address(from).to_lowercase()).collect();
    addresses.extend(optional(layers, "MAIL_ADDRESSES", whole_addresses)?.unwrap_or_default());
    let config = MailConfig {
        from,
        addresses,
        team: optional(layers, "MAIL_TEAM", addresses_or_domains)?.unwrap_or_default(),
        reply_key: secret(layers, "MAIL_REPLY_KEY")?,
        smtp_url: secret(layers, "SMTP_URL")?,
        provider: provider(layers)?,
        imap_url: secret(layers, "IMAP_URL")?,
        ca: ca(layers)?,
        mailgun_key: secret(layers, "MAILGUN_SIGNING_KEY")?,
        sendgrid_key: optional(layers, "SENDGRID_PUBLIC_KEY", |text| Ok(text.to_owned()))?,
        postmark_auth: secret(layers, "POSTMARK_BASIC_AUTH")?,
        ses_topic: optional(layers, "SES_TOPIC_ARN", topic)?,
        webhook_token: secret(layers, "EMAIL_WEBHOOK_TOKEN")?,
    };
    if config.from.is_none() {
        let out = [
            ("SMTP_URL", config.smtp_url.is_some()),
            (
                "MAILGUN_API_KEY",
                matches!(config.provider, Some(Account::Mailgun { .. })),
            ),
            (
                "SENDGRID_API_KEY",
                matches!(config.provider, Some(Account::SendGrid { .. })),
            ),
            (
                "POSTMARK_SERVER_TOKEN",
                matches!(config.provider, Some(Account::Postmark { .. })),
            ),
            (
                "SES_SECRET_ACCESS_KEY",
                matches!(config.provider, Some(Account::Ses { .. })),
            ),
        ];
        if let Some((name, _)) = out.iter().find(|(_, set)| *set) {
            return Err(ConfigError::new(*name, "is set, but sending also needs MAIL_FROM"));
        }
    }
    Ok(config)
}

fn ca(layers: &Layers<'_>) -> Result<Option<SecretString>, ConfigError> {
    let pem = secret(layers, "MAIL_CA")?;
    match &pem {
        Some(pem) if house::read(pem.expose_secret()).is_empty() => {
            Err(ConfigError::new("MAIL_CA", "holds no certificate in PEM"))
        }
        Some(_) | None => Ok(pem),
    }
}

/// The first that has a key. Each is set up whole or not at all.
fn provider(layers: &Layers<'_>) -> Result<Option<Account>, ConfigError> {
    let text = |name| optional(layers, name, |text| Ok(text.to_owned())).map(Option::unwrap_or_default);
    if whole(layers, "Mailgun", &["MAILGUN_API_KEY", "MAILGUN_DOMAIN"], &[])? {
        return Ok(Some(Account::Mailgun {
            base: base(layers, "MAILGUN_API_URL", "https://api.mailgun.net")?,
            domain: text("MAILGUN_DOMAIN")?,
            key: required(layers, "MAILGUN_API_KEY")?,
        }));
    }
    if let Some(key) = secret(layers, "SENDGRID_API_KEY")? {
        let base = base(layers, "SENDGRID_API_URL", "https://api.sendgrid.com")?;
        return Ok(Some(Account::SendGrid { base, key }));
    }
    if let Some(token) = secret(layers, "POSTMARK_SERVER_TOKEN")? {
        let base = base(layers, "POSTMARK_API_URL", "https://api.postmarkapp.com")?;
        return Ok(Some(Account::Postmark { base, token }));
    }
    let needed = ["SES_SECRET_ACCESS_KEY", "SES_ACCESS_KEY_ID", "SES_REGION"];
    if !whole(layers, "SES", &needed, &[])? {
        return Ok(None);
    }
    let region = text("SES_REGION")?;
    let place = format!("https://email.{region}.amazonaws.com");
    Ok(Some(Account::Ses {
        base: base(layers, "SES_API_URL", &place)?,
        id: text("SES_ACCESS_KEY_ID")?,
        secret: required(layers, "SES_SECRET_ACCESS_KEY")?,
        region,
    }))
}

/// The address of `Name <address>`, or the whole where there are no brackets.
fn address(mailbox: &str) -> &str {
    let inner = mailbox.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or(mailbox, |(address, _)| address).trim()
}

fn is_address(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty() && !domain.contains('@'))
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | ','))
}

fn sender(text: &str) -> Result<String, String> {
    if is_address(address(text)) && !text.contains(['\r', '\n']) {
        Ok(text.to_owned())
    } else {
        Err(value::not(text, "a sender like Care <care@shop.example>", None))
    }
}

fn listed(text: &str, wanted: &str, fits: impl Fn(&str) -> bool) -> Result<Vec<String>, String> {
    let entries = text.split([',', ' ', '\n', '\t']).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let entry = entry.to_lowercase();
            if fits(&entry) {
                Ok(entry)
            } else {
                Err(value::not(&entry, wanted, None))
            }
        })
        .collect()
}

fn whole_addresses(text: &str) -> Result<Vec<String>, String> {
    listed(text, "a list of addresses", is_address)
}

fn addresses_or_domains(text: &str) -> Result<Vec<String>, String> {
    listed(text, "a list of addresses and @domains", |entry| {
        is_address(entry)
            || entry
                .strip_prefix('@')
                .is_some_and(|domain| is_address(&format!("x@{domain}")))
    })
}

fn topic(text: &str) -> Result<String, String> {
    match text.split(':').collect::<Vec<_>>().as_slice() {
        ["arn", _, "sns", region, account, name] if !region.is_empty() && !account.is_empty() && !name.is_empty() => {
            Ok(text.to_owned())
        }
        _ => Err(value::not(
            text,
            "a topic like arn:aws:sns:eu-west-1:123456789012:mail",
            None,
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::tests::{load, refuses};

    #[test]
    fn our_addresses_are_the_sender_and_what_else_is_listed() {
        let env = [
            ("MAIL_FROM", "Care <Care@lamps.example>"),
            ("MAIL_ADDRESSES", "info@lamps.example, shop@lamps.example"),
            ("MAIL_TEAM", "@lamps.example kim@berg.example"),
            ("EMAIL_WEBHOOK_TOKEN", "t"),
        ];
        let mail = load("", &env).expect("all of it fits").mail;
        assert_eq!(
            mail.addresses,
            ["care@lamps.example", "info@lamps.example", "shop@lamps.example"]
        );
        assert_eq!(mail.team, ["@lamps.example", "kim@berg.example"]);
        assert!(mail.comes_in());
    }

    #[test]
    fn a_slip_is_named() {
        refuses(
            "",
            &[("MAIL_FROM", "Care")],
            "MAIL_FROM is \"Care\", which is not a sender like Care <care@shop.example>.",
        );
        refuses(
            "",
            &[("SMTP_URL", "smtp://localhost")],
            "SMTP_URL is set, but sending also needs MAIL_FROM.",
        );
        refuses(
            "",
            &[("MAIL_TEAM", "lamps.example")],
            "MAIL_TEAM is \"lamps.example\", which is not a list of addresses and @domains.",
        );
        refuses("", &[("MAIL_CA", "house.pem")], "MAIL_CA holds no certificate in PEM.");
    }
}
