//! `deskhand doctor`: every setting and every service, a line each, and what to do about what is wrong.

use std::process::ExitCode;

use deskhand_adapters::discord::DiscordChat;
use deskhand_adapters::email::imap::Imap;
use deskhand_core::port::ServerState;
use deskhand_core::ticket::Source;
use secrecy::ExposeSecret;
use serde_json::json;

use super::start::Context;
use super::table::styled;
use crate::app::App;
use crate::commands::look;
use crate::config::{DiscordConfig, ModelChoice};
use crate::learning;

/// One line of the examination.
struct Finding {
    what: &'static str,
    good: bool,
    says: String,
}

fn good(what: &'static str, says: impl Into<String>) -> Finding {
    Finding {
        what,
        good: true,
        says: says.into(),
    }
}

fn bad(what: &'static str, says: impl Into<String>) -> Finding {
    Finding {
        what,
        good: false,
        says: says.into(),
    }
}

pub(super) async fn run(context: &Context) -> anyhow::Result<ExitCode> {
    let mut findings = Vec::new();
    match context.settings() {
        Err(error) => findings.push(bad("settings", error.to_string())),
        Ok(config) => {
            findings.push(good("settings", "can be read"));
            findings.extend(config.remarks().into_iter().map(|remark| bad("settings", remark)));
            match context.start_with(config).await {
                Err(error) => findings.push(bad("database", format!("{error:#}"))),
                Ok(started) => {
                    findings.extend(examine(&started.app).await);
                    started.stop().await;
                }
            }
        }
    }
    let healthy = findings.iter().all(|finding| finding.good);
    if context.json {
        let all: Vec<_> = findings
            .iter()
            .map(|f| json!({ "what": f.what, "good": f.good, "says": f.says }))
            .collect();
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        for finding in &findings {
            let mark = if finding.good {
                styled("✓", "32")
            } else {
                styled("✗", "31")
            };
            println!("{mark} {:<10} {}", finding.what, finding.says);
        }
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn examine(app: &App) -> Vec<Finding> {
    let mut findings = Vec::new();
    let place = if app.config.database_url.is_some() {
        "DATABASE_URL"
    } else {
        "embedded"
    };
    findings.push(match app.mode().await {
        Ok(mode) => good("database", format!("answers ({place}); the mode is {mode}")),
        Err(error) => bad("database", error.to_string()),
    });
    findings.push(model(app).await);
    findings.push(match learning::told(app).await {
        Ok(line) => good("learning", line),
        Err(error) => bad("learning", error.to_string()),
    });
    findings.push(match app.config.approvers.len() {
        0 => bad("approvers", "DESKHAND_APPROVERS is empty, so nobody may decide"),
        n => good("approvers", format!("{n} on the list")),
    });
    findings.push(match &app.slack {
        None => good("slack", "not set up (SLACK_BOT_TOKEN)"),
        Some(_) => match app.chat("slack") {
            Some(chat) => match chat.check().await {
                Ok(line) if app.config.slack.as_ref().is_some_and(|slack| slack.channel.is_some()) => {
                    good("slack", line)
                }
                Ok(line) => bad(
                    "slack",
                    format!("{line}; SLACK_CHANNEL is not set, so cards have no place"),
                ),
                Err(error) => bad("slack", error.to_string()),
            },
            None => bad("slack", "set up, and not usable"),
        },
    });
    findings.push(match (&app.config.discord, app.chat("discord")) {
        (None, _) => good("discord", "not set up (DISCORD_BOT_TOKEN)"),
        (Some(_), None) => bad("discord", "set up, and not usable"),
        (Some(config), Some(chat)) => match chat.check().await {
            Ok(line) if config.channel.is_some() => good("discord", line),
            Ok(line) => bad(
                "discord",
                format!("{line}; DISCORD_CHANNEL is not set, so cards have no place"),
            ),
            Err(error) => bad("discord", error.to_string()),
        },
    });
    if app.config.zendesk.is_none() {
        findings.push(good("zendesk", "not set up (ZENDESK_URL)"));
    }
    findings.extend(watched(app).await);
    // The chats were asked above.
    let chats = [Source::Slack, Source::Discord];
    for (source, desk) in app.desks.iter().filter(|(source, _)| !chats.contains(source)) {
        findings.push(match desk.check().await {
            Ok(line) => good(source.as_str(), line),
            Err(error) => bad(source.as_str(), error.to_string()),
        });
    }
    findings.extend(mail(app).await);
    findings.push(match &app.config.api_token {
        Some(_) => good("api", "open with DESKHAND_API_TOKEN"),
        None => good("api", "closed (DESKHAND_API_TOKEN)"),
    });
    findings.push(match app.skills.problems.as_slice() {
        [] => good("skills", format!("{} loaded", app.skills.skills.len())),
        problems => bad("skills", problems.join("; ")),
    });
    if let Some(tools) = &app.tools {
        // Side by side; each has its time limit.
        tools.ready().await;
        findings.extend(tools.servers().iter().map(|server| {
            let line = look::tool_server(server);
            match server.state {
                ServerState::Connected => good("mcp", line),
                ServerState::Starting | ServerState::Down => bad("mcp", line),
            }
        }));
    }
    findings
}

/// The channels in which customers write, a line each.
async fn watched(app: &App) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let (Some(config), Some(slack)) = (&app.config.slack, &app.slack) {
        for channel in &config.watch {
            findings.push(match slack.hears(channel).await {
                Ok(name) => good("slack in", format!("hears #{name}; {}", who_is_the_team(app))),
                Err(error) => bad("slack in", error.to_string()),
            });
        }
    }
    if let (Some(config), Some(discord)) = (&app.config.discord, &app.discord) {
        for channel in &config.watch {
            findings.push(match discord.sees(channel).await {
                Ok(name) => good("discord in", format!("sees #{name}")),
                Err(error) => bad("discord in", error.to_string()),
            });
        }
        findings.extend(discord_ways(config, discord).await);
    }
    findings
}

/// By which way clicks come, and whether what people write is heard.
async fn discord_ways(config: &DiscordConfig, discord: &DiscordChat) -> Vec<Finding> {
    let portal = match discord.portal().await {
        Ok(portal) => portal,
        Err(error) => return vec![bad("discord in", error.to_string())],
    };
    let mut findings = vec![match (&portal.endpoint, &config.public_key, config.gateway) {
        (Some(url), Some(_), _) => good("discord in", format!("clicks and commands come over HTTP to {url}")),
        (Some(url), None, _) => bad(
            "discord in",
            format!(
                "clicks and commands go to {url} and are refused, because DISCORD_PUBLIC_KEY is not set: set it, or empty \
                 the Interactions Endpoint URL in the developer portal"
            ),
        ),
        (None, _, true) => good("discord in", "clicks and commands come by the gateway"),
        (None, _, false) => bad(
            "discord in",
            "clicks and commands come in nowhere: set the Interactions Endpoint URL in the developer portal, or \
             DISCORD_GATEWAY=on",
        ),
    }];
    if config.gateway {
        findings.push(match discord.gateway().await {
            Err(error) => bad("discord in", error.to_string()),
            Ok(_) if !portal.content && !config.watch.is_empty() => bad(
                "discord in",
                "the gateway refuses to tell what is written in the channels of DISCORD_WATCH: switch the Message Content \
                 Intent on in the developer portal under Bot, Privileged Gateway Intents",
            ),
            Ok(open) if open.left == 0 => bad(
                "discord in",
                format!(
                    "Discord allows the gateway no new session for {} minutes: something connects again and again",
                    open.reset.as_secs().div_ceil(60)
                ),
            ),
            Ok(open) if !portal.content => good(
                "discord in",
                format!(
                    "the gateway tells of mentions alone (Message Content Intent is off); {} new sessions are allowed today",
                    open.left
                ),
            ),
            Ok(open) => good(
                "discord in",
                format!("the gateway tells what people write; {} new sessions are allowed today", open.left),
            ),
        });
    }
    findings
}

/// Whose posts open no ticket, since that is what surprises.
fn who_is_the_team(app: &App) -> &'static str {
    match app.config.team {
        Some(_) => "whoever is not in DESKHAND_TEAM is a customer there",
        None => "guests and people of other organisations are customers there (DESKHAND_TEAM would say who is not)",
    }
}

/// The way in and the way out, a line each.
async fn mail(app: &App) -> Vec<Finding> {
    let config = &app.config.mail;
    if !config.comes_in() && app.post.is_none() {
        return vec![good("mail", "not set up (MAIL_FROM)")];
    }
    let mut findings = Vec::new();
    let ways = [
        ("Mailgun", config.mailgun_key.is_some()),
        ("SendGrid", config.sendgrid_key.is_some()),
        ("Postmark", config.postmark_auth.is_some()),
        ("SES", config.ses_topic.is_some()),
        ("raw MIME", config.webhook_token.is_some()),
    ];
    let open: Vec<&str> = ways.iter().filter(|(_, open)| *open).map(|(name, _)| *name).collect();
    if !open.is_empty() {
        findings.push(good("mail in", format!("open for {}", open.join(", "))));
    }
    if let Some(url) = &config.imap_url {
        findings.push(match Imap::new(url.expose_secret()) {
            Err(why) => bad("mail in", format!("IMAP_URL {why}")),
            Ok(imap) => match imap.trusting(config.house()).open().await {
                Ok(mailbox) => {
                    let told = if mailbox.idles() {
                        "tells of new mail by itself"
                    } else {
                        "is looked into every 30 s"
                    };
                    mailbox.close().await;
                    good("mail in", format!("the mailbox opens, and {told}"))
                }
                Err(error) => bad("mail in", error.to_string()),
            },
        });
    }
    findings.push(match &app.post {
        None => bad("mail out", "SMTP_URL is not set, so no reply to a mail can go out"),
        Some(post) => match post.check().await {
            Ok(line) => good("mail out", line),
            Err(error) => bad("mail out", error.to_string()),
        },
    });
    if config.imap_url.is_none() && open.is_empty() {
        findings.push(bad("mail in", "no way in is set, so no mail becomes a ticket"));
    }
    findings
}

/// No model's name is guessed: the provider is asked which it offers.
async fn model(app: &App) -> Finding {
    let name = match &app.config.model {
        ModelChoice::Offline => return good("model", "offline: no provider is needed"),
        ModelChoice::Anthropic(name) | ModelChoice::OpenAi(name) => name,
    };
    let model = app.models.first();
    match model.offered().await {
        Ok(offered) if offered.iter().any(|one| one == name) => good("model", format!("{} is offered", model.name())),
        Ok(offered) if offered.is_empty() => bad("model", "the provider offers no models to this key"),
        Ok(offered) => {
            let few: Vec<&str> = offered.iter().map(String::as_str).take(8).collect();
            bad(
                "model",
                format!("{name} is not among what the provider offers: {} …", few.join(", ")),
            )
        }
        Err(error) => bad("model", error.to_string()),
    }
}
