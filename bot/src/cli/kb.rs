//! `deskhand kb`: articles in and out of files, search, history, restore.

mod eval;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use deskhand_adapters::postgres::articles::{self, Publish};
use deskhand_adapters::postgres::search::{self, Kind};
use deskhand_core::article::{ArticleState, primary_tag};
use deskhand_core::diff;
use deskhand_core::id::ArticleId;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use serde_json::{Value, json};

use super::start::{Context, Started};
use super::{ask, table};

#[derive(Subcommand, Debug)]
pub(super) enum Kb {
    /// Take in a folder of <id>.md files with front matter, or a .jsonl file.
    Import { path: PathBuf },
    /// Write every article to <id>.md in a folder.
    Export { folder: PathBuf },
    /// Search, as the bot does.
    Search {
        #[arg(required = true)]
        query: Vec<String>,
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// Measure the search on questions whose articles are known: {"queries": [{"query", "relevant"}]}
    Eval { queries: PathBuf },
    /// The revisions of an article, newest first.
    History { article: String },
    /// Make an old revision the newest again.
    Restore { article: String, revision: i64 },
}

/// An article as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArticleFile {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) section: String,
    pub(super) language: String,
    pub(super) body: String,
}

pub(super) async fn run(context: &Context, kb: &Kb) -> anyhow::Result<ExitCode> {
    let started = context.start().await?;
    let done = match kb {
        Kb::Import { path } => import(&started, path, context.json).await,
        Kb::Export { folder } => export(&started, folder).await,
        Kb::Search { query, limit } => find(&started, &query.join(" "), *limit, context.json).await,
        Kb::Eval { queries } => eval::run(&started, queries, context.json).await,
        Kb::History { article } => history(&started, article, context.json).await,
        Kb::Restore { article, revision } => restore(&started, article, *revision).await,
    };
    started.stop().await;
    done.map(|()| ExitCode::SUCCESS)
}

/// Reads `---` front matter (id, title, section, language) and Markdown. Without front matter the first heading is the
/// title.
pub(super) fn parse_file(id: &str, text: &str) -> Result<ArticleFile, String> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut file = ArticleFile {
        id: id.to_owned(),
        title: String::new(),
        section: String::new(),
        language: String::new(),
        body: String::new(),
    };
    let body = match text.strip_prefix("---\n") {
        Some(rest) => {
            let (front, body) = rest
                .split_once("\n---")
                .ok_or("line 1: the front matter has no end (---)")?;
            for (n, line) in front.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let (name, value) = line
                    .split_once(':')
                    .ok_or_else(|| format!("line {}: \"name: value\" is expected", n + 2))?;
                let value = value.trim().trim_matches('"').to_owned();
                match name.trim() {
                    "id" => file.id = value,
                    "title" => file.title = value,
                    "section" => file.section = value,
                    "language" | "lang" | "locale" => file.language = value,
                    // Other systems' front matter is no reason to refuse the article.
                    _ => {}
                }
            }
            body.trim_start_matches('-').trim_start_matches('\n')
        }
        None => &text,
    };
    if file.title.is_empty() {
        let heading = body
            .lines()
            .find_map(|line| line.strip_prefix("# "))
            .unwrap_or(&file.id);
        file.title = heading.trim().to_owned();
    }
    file.body = body.trim_end().to_owned();
    if file.body.trim().is_empty() {
        return Err("the article has no text".into());
    }
    check_id(&file.id)?;
    Ok(file)
}

/// An id is also a file name: no slashes, no dots at its start.
fn check_id(id: &str) -> Result<(), String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 200 || id.starts_with('.') || !id.chars().all(plain) {
        return Err(format!(
            "\"{}\" is no article id: letters, digits, dashes",
            id.chars().take(40).collect::<String>()
        ));
    }
    Ok(())
}

/// An id of another system as ours, which is also a file name.
fn file_id(id: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    id.chars().map(|c| if plain(c) { c } else { '-' }).collect()
}

/// A line of a .jsonl file, in the names that help centres' exports use.
#[derive(Deserialize)]
struct Line {
    #[serde(alias = "url", alias = "slug")]
    id: Value,
    #[serde(default, alias = "name")]
    title: String,
    #[serde(default, alias = "category")]
    section: Option<Value>,
    #[serde(
        default,
        alias = "text",
        alias = "content",
        alias = "body_text",
        alias = "body_markdown"
    )]
    body: String,
    #[serde(default, alias = "lang", alias = "locale")]
    language: Option<String>,
}

fn parse_line(n: usize, line: &str) -> Result<ArticleFile, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| {
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why);
        match error.classify() {
            serde_json::error::Category::Data => format!("line {n}: the article cannot be read: {why}"),
            _ => format!("line {n}: this is not JSON: {why}"),
        }
    })?;
    let id = match &line.id {
        Value::String(id) => id.clone(),
        other => other.to_string(),
    };
    let id = file_id(&id);
    check_id(&id).map_err(|why| format!("line {n}: {why}"))?;
    let section = match line.section {
        Some(Value::String(section)) => section,
        Some(Value::Object(section)) => section
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        _ => String::new(),
    };
    if line.body.trim().is_empty() && line.title.trim().is_empty() {
        return Err(format!("line {n}: the article has neither title nor text"));
    }
    let language = primary_tag(&line.language.unwrap_or_default());
    Ok(ArticleFile {
        id,
        title: line.title,
        section,
        language,
        body: line.body,
    })
}

fn read(path: &Path) -> anyhow::Result<Vec<ArticleFile>> {
    let mut files = Vec::new();
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path)?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .collect();
        entries.sort();
        for entry in entries
            .iter()
            .filter(|entry| entry.extension().is_some_and(|ext| ext == "md"))
        {
            let id = entry.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let text = std::fs::read_to_string(entry).with_context(|| format!("{} cannot be read", entry.display()))?;
            files.push(parse_file(id, &text).map_err(|why| anyhow::anyhow!("{}: {why}", entry.display()))?);
        }
    } else {
        let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            anyhow::anyhow!("{}: line {line}: the file is not UTF-8 text", path.display())
        })?;
        let text = text.trim_start_matches('\u{feff}');
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            files.push(parse_line(n + 1, line).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?);
        }
    }
    match path.is_dir() {
        true => anyhow::ensure!(
            !files.is_empty(),
            "{}: there is no .md file in this folder",
            path.display()
        ),
        false => anyhow::ensure!(!files.is_empty(), "{}: line 1: the file is empty", path.display()),
    }
    Ok(files)
}

async fn import(started: &Started, path: &Path, json: bool) -> anyhow::Result<()> {
    let files = read(path)?;
    let bar = ProgressBar::new(files.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?);
    let (mut added, mut changed, mut same) = (0, 0, 0);
    let author = ask::local_actor().key();
    for file in &files {
        bar.set_message(file.id.clone());
        let id = ArticleId(file.id.clone());
        let present = articles::get(&started.app.pool, &id).await?;
        if let Some(present) = &present
            && present.article.state == ArticleState::Published
            && present.article.title == file.title
            && present.article.body == file.body
            && present.article.language == file.language
        {
            same += 1;
            bar.inc(1);
            continue;
        }
        let mut tx = started.app.pool.begin().await?;
        let publish = Publish {
            id: &id,
            title: &file.title,
            section: &file.section,
            body: &file.body,
            language: &file.language,
            state: ArticleState::Published,
            base: present.as_ref().map(|present| present.article.revision),
            author: &author,
            rationale: "import",
            run: None,
            approval: None,
        };
        let done = articles::publish(&mut tx, &publish).await?;
        tx.commit().await?;
        match (done, present) {
            (None, _) => anyhow::bail!("{id} was changed by somebody else at the same moment; import again"),
            (Some(_), Some(_)) => changed += 1,
            (Some(_), None) => added += 1,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    match json {
        true => println!("{}", json!({ "added": added, "changed": changed, "unchanged": same })),
        false => println!("{added} added, {changed} changed, {same} unchanged."),
    }
    Ok(())
}

async fn export(started: &Started, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let ids = articles::all_ids(&started.app.pool).await?;
    for filed in articles::some(&started.app.pool, &ids).await? {
        let article = &filed.article;
        check_id(&article.id.0).map_err(|why| anyhow::anyhow!(why))?;
        let section = if filed.section.is_empty() {
            String::new()
        } else {
            format!("section: {}\n", filed.section)
        };
        let text = format!(
            "---\nid: {}\ntitle: {}\n{section}language: {}\n---\n\n{}\n",
            article.id, article.title, article.language, article.body
        );
        let path = folder.join(format!("{}.md", article.id));
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    println!("{} articles written to {}.", ids.len(), folder.display());
    Ok(())
}

async fn find(started: &Started, query: &str, limit: usize, json: bool) -> anyhow::Result<()> {
    let found = search::search(&started.app.pool, Kind::Article, query, None, limit).await?;
    if json {
        println!("{}", serde_json::to_string_pretty(&found)?);
        return Ok(());
    }
    if found.is_empty() {
        println!("No article has these words.");
    }
    for hit in found {
        println!("{} {} ({})", table::styled(&hit.id, "1"), hit.title, hit.language);
        println!("    {}", hit.snippet.replace('\n', " "));
    }
    Ok(())
}

async fn history(started: &Started, article: &str, json: bool) -> anyhow::Result<()> {
    let revisions = articles::history(&started.app.pool, &ArticleId(article.to_owned())).await?;
    anyhow::ensure!(
        !revisions.is_empty(),
        "there is no article \"{article}\": find its id with kb search"
    );
    if json {
        println!("{}", serde_json::to_string_pretty(&revisions)?);
        return Ok(());
    }
    for (n, revision) in revisions.iter().enumerate() {
        let approval = revision.approval.map(|id| format!(" · {id}")).unwrap_or_default();
        println!(
            "{} · {} · {}{approval} · {}",
            table::styled(&format!("revision {}", revision.number), "1"),
            revision.created_at.format("%F %H:%M UTC"),
            revision.author,
            revision.rationale
        );
        if let Some(before) = revisions.get(n + 1) {
            println!(
                "{}",
                table::coloured_diff(&diff::unified(&before.body, &revision.body, article).text)
            );
        }
    }
    Ok(())
}

async fn restore(started: &Started, article: &str, number: i64) -> anyhow::Result<()> {
    let id = ArticleId(article.to_owned());
    let present = articles::get(&started.app.pool, &id)
        .await?
        .with_context(|| format!("there is no article \"{article}\": find its id with kb search"))?;
    let old = articles::history(&started.app.pool, &id)
        .await?
        .into_iter()
        .find(|revision| revision.number == number)
        .with_context(|| format!("\"{article}\" has no revision {number}: see kb history {article}"))?;
    let mut tx = started.app.pool.begin().await?;
    let publish = Publish {
        id: &id,
        title: &old.title,
        section: &present.section,
        body: &old.body,
        language: &present.article.language,
        state: ArticleState::Published,
        base: Some(present.article.revision),
        author: &ask::local_actor().key(),
        rationale: &format!("restored from revision {number}"),
        run: None,
        approval: None,
    };
    let now = articles::publish(&mut tx, &publish).await?;
    tx.commit().await?;
    match now {
        Some(now) => println!("{article} is at revision {now}, which is revision {number} again."),
        None => anyhow::bail!("{article} was changed by somebody else at the same moment; try again"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_article_file_is_read_with_and_without_front_matter() {
        let file = parse_file(
            "x",
            "---\nid: returns\ntitle: Returns\nlanguage: en\n---\n\nSend it back.\n",
        );
        let file = file.expect("it is whole");
        assert_eq!(
            (file.id.as_str(), file.title.as_str(), file.body.as_str()),
            ("returns", "Returns", "Send it back.")
        );
        let file = parse_file("warranty", "# Warranty\n\nTwo years.").expect("it is whole");
        assert_eq!((file.id.as_str(), file.title.as_str()), ("warranty", "Warranty"));
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        assert_eq!(
            parse_file("x", "---\ntitle Returns\n---\ntext"),
            Err("line 2: \"name: value\" is expected".into())
        );
        assert!(parse_file("x", "---\ntitle: R\n").is_err());
        assert!(parse_file("../x", "text").is_err());
        assert!(parse_line(7, "{\"id\": 1").is_err_and(|why| why.starts_with("line 7: ")));
    }
}
