//! The table of all settings: one line each, from which the file's keys, the environment's names and the messages come.

use deskhand_core::near;

/// One setting: its name in the environment, and its key in `deskhand.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// `SLACK_CHANNEL`; how messages name it.
    pub name: &'static str,
    /// The table in the file; empty for the top level.
    pub table: &'static str,
    pub key: &'static str,
    /// Read from the environment or from the file that `<name>_FILE` names; refused in `deskhand.toml`.
    pub secret: bool,
}

const fn open(name: &'static str, table: &'static str, key: &'static str) -> Setting {
    Setting {
        name,
        table,
        key,
        secret: false,
    }
}

const fn secret(name: &'static str, table: &'static str, key: &'static str) -> Setting {
    Setting {
        name,
        table,
        key,
        secret: true,
    }
}

/// All of them, in the order of the example file.
pub const SETTINGS: &[Setting] = &[
    secret("DATABASE_URL", "", "database_url"),
    open("DESKHAND_DATA", "", "data"),
    open("DESKHAND_PG_BIN", "", "pg_bin"),
    open("DESKHAND_ADDR", "", "addr"),
    open("DESKHAND_PUBLIC_URL", "", "public_url"),
    open("DESKHAND_DEPLOYMENT", "", "deployment"),
    open("DESKHAND_LOG_FORMAT", "", "log_format"),
    open("DESKHAND_MODEL", "", "model"),
    open("DESKHAND_FALLBACK", "", "fallback"),
    open("DESKHAND_MODE", "", "mode"),
    open("DESKHAND_RUNNERS", "", "runners"),
    open("DESKHAND_SKILLS", "", "skills"),
    secret("DESKHAND_API_TOKEN", "", "api_token"),
    open("DESKHAND_APPROVERS", "", "approvers"),
    open("DESKHAND_TEAM", "", "team"),
    open("DESKHAND_ADMINS", "", "admins"),
    open("DESKHAND_MAX_STEPS", "limits", "max_steps"),
    open("DESKHAND_MAX_TOKENS", "limits", "max_tokens"),
    open("DESKHAND_MAX_COST", "limits", "max_cost"),
    open("DESKHAND_DAY_TOKENS", "limits", "day_tokens"),
    open("DESKHAND_DAY_COST", "limits", "day_cost"),
    open("DESKHAND_COMPACT_ABOVE", "limits", "compact_above"),
    open("DESKHAND_MAX_TOOL_RESULT", "limits", "max_tool_result"),
    open("DESKHAND_QUIET_TIME", "limits", "quiet_time"),
    open("DESKHAND_LEASE", "limits", "lease"),
    open("DESKHAND_APPROVAL_EXPIRY", "limits", "approval_expiry"),
    secret("SLACK_BOT_TOKEN", "slack", "bot_token"),
    secret("SLACK_SIGNING_SECRET", "slack", "signing_secret"),
    secret("SLACK_APP_TOKEN", "slack", "app_token"),
    open("SLACK_CHANNEL", "slack", "channel"),
    open("SLACK_WATCH", "slack", "watch"),
    open("SLACK_API_URL", "slack", "api_url"),
    secret("DISCORD_BOT_TOKEN", "discord", "bot_token"),
    open("DISCORD_PUBLIC_KEY", "discord", "public_key"),
    open("DISCORD_APPLICATION_ID", "discord", "application_id"),
    open("DISCORD_CHANNEL", "discord", "channel"),
    open("DISCORD_WATCH", "discord", "watch"),
    open("DISCORD_GATEWAY", "discord", "gateway"),
    open("DISCORD_API_URL", "discord", "api_url"),
    open("ZENDESK_URL", "zendesk", "url"),
    open("ZENDESK_EMAIL", "zendesk", "email"),
    secret("ZENDESK_API_TOKEN", "zendesk", "api_token"),
    secret("ZENDESK_WEBHOOK_SECRET", "zendesk", "webhook_secret"),
    open("MAIL_FROM", "mail", "from"),
    open("MAIL_ADDRESSES", "mail", "addresses"),
    open("MAIL_TEAM", "mail", "team"),
    secret("MAIL_REPLY_KEY", "mail", "reply_key"),
    secret("SMTP_URL", "mail", "smtp_url"),
    secret("MAILGUN_API_KEY", "mail", "mailgun_api_key"),
    open("MAILGUN_DOMAIN", "mail", "mailgun_domain"),
    open("MAILGUN_API_URL", "mail", "mailgun_api_url"),
    secret("SENDGRID_API_KEY", "mail", "sendgrid_api_key"),
    open("SENDGRID_API_URL", "mail", "sendgrid_api_url"),
    secret("POSTMARK_SERVER_TOKEN", "mail", "postmark_server_token"),
    open("POSTMARK_API_URL", "mail", "postmark_api_url"),
    open("SES_ACCESS_KEY_ID", "mail", "ses_access_key_id"),
    secret("SES_SECRET_ACCESS_KEY", "mail", "ses_secret_access_key"),
    open("SES_REGION", "mail", "ses_region"),
    open("SES_API_URL", "mail", "ses_api_url"),
    secret("IMAP_URL", "mail", "imap_url"),
    secret("MAIL_CA", "mail", "ca"),
    secret("MAILGUN_SIGNING_KEY", "mail", "mailgun_signing_key"),
    open("SENDGRID_PUBLIC_KEY", "mail", "sendgrid_public_key"),
    secret("POSTMARK_BASIC_AUTH", "mail", "postmark_basic_auth"),
    open("SES_TOPIC_ARN", "mail", "ses_topic_arn"),
    secret("EMAIL_WEBHOOK_TOKEN", "mail", "webhook_token"),
    secret("ANTHROPIC_API_KEY", "anthropic", "api_key"),
    open("ANTHROPIC_BASE_URL", "anthropic", "base_url"),
    secret("OPENAI_API_KEY", "openai", "api_key"),
    open("OPENAI_BASE_URL", "openai", "base_url"),
];

/// Tables of the file whose keys are the house's own words.
pub(super) const FREE_TABLES: &[&str] = &["approvals", "categories", "mcp", "prices", "teams"];

/// The setting with this key in the file.
pub(super) fn in_file(table: &str, key: &str) -> Option<&'static Setting> {
    SETTINGS
        .iter()
        .find(|setting| setting.table == table && setting.key == key)
}

/// The key of the file that was most likely meant, as it would be written there.
pub(super) fn nearest_key(table: &str, key: &str) -> Option<&'static str> {
    let keys: Vec<&'static str> = SETTINGS.iter().filter(|s| s.table == table).map(|s| s.key).collect();
    let tables = SETTINGS.iter().map(|s| s.table).filter(|name| !name.is_empty());
    let mut known = keys;
    if table.is_empty() {
        known.extend(tables.chain(FREE_TABLES.iter().copied()));
        known.dedup();
    }
    near::nearest(key, &known)
}

/// Names of the environment that look like ours and are not: most likely misspelt, each with the nearest one.
///
/// The settings' own prefix only: `SLACK_…` and the like may belong to other programs.
pub fn misspelt<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(String, Option<&'static str>)> {
    let known: Vec<&'static str> = SETTINGS.iter().map(|setting| setting.name).collect();
    names
        .into_iter()
        .filter(|name| name.starts_with("DESKHAND_"))
        .filter(|name| {
            !SETTINGS.iter().any(|setting| {
                *name == setting.name || setting.secret && name.strip_suffix("_FILE") == Some(setting.name)
            })
        })
        .map(|name| {
            (
                name.to_owned(),
                near::nearest(name.strip_suffix("_FILE").unwrap_or(name), &known),
            )
        })
        .collect()
}
