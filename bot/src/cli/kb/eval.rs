//! `deskhand kb eval`: the search measured on questions whose articles are known, on the articles that are imported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use deskhand_adapters::postgres::search::{self, Kind};
use deskhand_core::article::primary_tag;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{Started, file_id};
use crate::cli::table::table;

/// How deep a hit is looked for.
const DEPTH: usize = 50;

/// A question, and the ids of the articles that answer it.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    query: String,
    language: Option<String>,
    relevant: Vec<String>,
}

/// What a file asks for.
#[derive(Clone, Debug, PartialEq)]
enum Questions {
    /// With the articles that answer them.
    Labelled(Vec<Asked>),
    /// The same question in several languages, without labels: each language should find what the first one finds.
    Translated(Vec<Vec<(String, String)>>),
}

pub(super) async fn run(started: &Started, path: &Path, json: bool) -> anyhow::Result<()> {
    let text =
        std::fs::read_to_string(path).map_err(|error| anyhow::anyhow!("{} cannot be read: {error}", path.display()))?;
    let questions = parse(&text).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    let pool = &started.app.pool;
    let known = deskhand_adapters::postgres::articles::all_ids(pool).await?;
    anyhow::ensure!(
        !known.is_empty(),
        "there are no articles yet: take some in with deskhand kb import"
    );
    let asked = match questions {
        Questions::Labelled(asked) => asked,
        Questions::Translated(groups) => translated(pool, groups).await?,
    };
    let articles = known.len();
    // A question may name the family of an article in several languages instead of one of them.
    let known: BTreeSet<String> = known
        .into_iter()
        .flat_map(|article| [family(&article.0), article.0])
        .collect();
    let missing = asked
        .iter()
        .filter(|one| !one.relevant.iter().any(|id| known.contains(id)))
        .count();
    let bar = ProgressBar::new(asked.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len}")?);
    let mut places: Vec<Option<usize>> = Vec::new();
    let begun = Instant::now();
    for one in &asked {
        let found = search::search(pool, Kind::Article, &one.query, one.language.as_deref(), DEPTH).await?;
        places.push(
            found
                .iter()
                .position(|hit| one.relevant.contains(&hit.id) || one.relevant.contains(&family(&hit.id))),
        );
        bar.inc(1);
    }
    let ms = begun.elapsed().as_secs_f64() * 1e3 / asked.len().max(1) as f64;
    bar.finish_and_clear();
    let n = asked.len().max(1) as f64;
    let within = |most: usize| places.iter().flatten().filter(|place| **place < most).count() as f64 / n;
    let mrr = places
        .iter()
        .flatten()
        .map(|place| 1.0 / (place + 1) as f64)
        .sum::<f64>()
        / n;
    let rounded = |x: f64| (x * 1e4).round() / 1e4;
    if json {
        let report = json!({ "n": asked.len(), "hit_at_1": rounded(within(1)), "hit_at_5": rounded(within(5)),
                             "mrr": rounded(mrr), "ms_per_query": rounded(ms), "articles": articles,
                             "without_article": missing });
        println!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    println!("{} questions on {articles} articles, {ms:.1} ms each", asked.len());
    let rows = [
        ("first", within(1)),
        ("among five", within(5)),
        ("mean reciprocal rank", mrr),
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|(name, x)| vec![(*name).to_owned(), format!("{x:.3}")])
        .collect();
    println!("\n{}", table(&["the right article comes", ""], &rows));
    let low: Vec<Vec<String>> = asked
        .iter()
        .zip(&places)
        .filter(|(_, place)| place.is_none_or(|place| place >= 5))
        .map(|(one, place)| {
            vec![
                place.map_or("–".into(), |place| (place + 1).to_string()),
                one.query.clone(),
            ]
        })
        .collect();
    if !low.is_empty() {
        println!("\n{}", table(&["place", "not among five"], &low));
    }
    if missing > 0 {
        println!("\nOf {missing} questions no answering article is imported.");
    }
    Ok(())
}

/// The document behind the versions of an article in several languages: `returns-de` and `returns@de` are `returns`.
fn family(id: &str) -> String {
    match id.rsplit_once(['-', '@']) {
        Some((document, tag)) if tag.len() == 2 && tag.bytes().all(|b| b.is_ascii_lowercase()) => document.to_owned(),
        _ => id.to_owned(),
    }
}

/// The document that the first language finds is what the others should find.
async fn translated(pool: &PgPool, groups: Vec<Vec<(String, String)>>) -> anyhow::Result<Vec<Asked>> {
    let mut asked = Vec::new();
    for group in groups {
        let Some(((language, query), others)) = group.split_first() else {
            continue;
        };
        let found = search::search(pool, Kind::Article, query, Some(language), 1).await?;
        let relevant: Vec<String> = found.iter().map(|hit| family(&hit.id)).collect();
        asked.extend(others.iter().map(|(language, query)| Asked {
            query: query.clone(),
            language: Some(language.clone()),
            relevant: relevant.clone(),
        }));
    }
    Ok(asked)
}

/// The error is a sentence with its line.
fn parse(text: &str) -> Result<Questions, String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err("line 1: the file is empty".into());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why).to_owned();
        format!("line {}: this is not JSON: {why}", error.line().max(1))
    })?;
    let list = |name: &str| value[name].as_array().cloned();
    // What a line cannot be told of is told by its place in the list.
    if let Some(list) = list("questions") {
        let groups: Vec<_> = list
            .iter()
            .enumerate()
            .map(|(at, one)| languages(one).map_err(|why| format!("line {}: {why}", line_of(text, at, "questions"))))
            .collect::<Result<_, _>>()?;
        return match groups.is_empty() {
            true => Err("line 1: \"questions\" is empty".into()),
            false => Ok(Questions::Translated(groups)),
        };
    }
    let Some(list) = list("queries").or_else(|| value.as_array().cloned()) else {
        return Err("line 1: the document has neither \"queries\" nor \"questions\"".into());
    };
    if list.is_empty() {
        return Err("line 1: there is not one question in the file".into());
    }
    let asked: Vec<Asked> = list
        .iter()
        .enumerate()
        .map(|(at, one)| labelled(one).map_err(|why| format!("line {}: {why}", line_of(text, at, "queries"))))
        .collect::<Result<_, _>>()?;
    Ok(Questions::Labelled(asked))
}

/// The line on which the list's entry begins.
fn line_of(text: &str, at: usize, name: &str) -> usize {
    type Raw<'a> = Vec<&'a serde_json::value::RawValue>;
    let in_document = serde_json::from_str::<BTreeMap<String, &serde_json::value::RawValue>>(text)
        .ok()
        .and_then(|fields| serde_json::from_str::<Raw<'_>>(fields.get(name)?.get()).ok());
    let entries = in_document.or_else(|| serde_json::from_str::<Raw<'_>>(text).ok());
    let offset = entries
        .and_then(|entries| Some((entries.get(at)?.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize)))
        .unwrap_or(0);
    text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

fn labelled(one: &Value) -> Result<Asked, String> {
    let text = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let query = ["query", "question", "text"]
        .iter()
        .find_map(|name| text(&one[*name]))
        .ok_or("the entry has no \"query\"")?;
    let named = ["relevant", "articles", "ids", "id", "article"]
        .iter()
        .map(|name| &one[*name])
        .find(|value| !value.is_null())
        .ok_or("the entry has no \"relevant\" with the ids of its articles")?;
    let relevant: Vec<String> = match named {
        Value::Array(ids) => ids.iter().filter_map(text).map(|id| file_id(&id)).collect(),
        one => text(one).map(|id| file_id(&id)).into_iter().collect(),
    };
    if relevant.is_empty() {
        return Err("\"relevant\" names no article".into());
    }
    let language = ["language", "lang", "locale"].iter().find_map(|name| text(&one[*name]));
    let language = language.as_deref().map(primary_tag);
    Ok(Asked {
        query,
        language,
        relevant,
    })
}

/// English first, since most help centres are written in it first.
fn languages(one: &Value) -> Result<Vec<(String, String)>, String> {
    let object = one
        .as_object()
        .ok_or("an object of languages and questions is expected")?;
    let mut all: Vec<(String, String)> = object
        .iter()
        .filter(|(tag, _)| tag.len() <= 3)
        .filter_map(|(tag, text)| Some((tag.clone(), text.as_str()?.to_owned())))
        .collect();
    all.sort_by_key(|(tag, _)| (tag != "en", tag.clone()));
    if all.len() < 2 {
        return Err("the question is there in one language only, so nothing can be compared".into());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{Questions, family, parse};

    #[test]
    fn both_kinds_of_files_are_read() {
        let labelled = parse(r#"{"queries": [{"query": "refund", "relevant": ["a/b@en", 7]}]}"#);
        assert!(matches!(labelled, Ok(Questions::Labelled(asked)) if asked[0].relevant == ["a-b-en", "7"]));
        let translated = parse(r#"{"questions": [{"de": "Hallo", "en": "Hello"}]}"#);
        assert!(matches!(translated, Ok(Questions::Translated(groups)) if groups[0][0].0 == "en"));
    }

    #[test]
    fn versions_of_an_article_are_one_document() {
        assert_eq!(family("returns-de"), "returns");
        assert_eq!(family("manage-account-delete-account"), "manage-account-delete-account");
    }

    #[test]
    fn a_wrong_file_is_refused_with_one_sentence_and_its_line() {
        for (text, says) in [
            ("", "line 1: the file is empty"),
            ("{\"queries\": [\n{]}", "line 2: this is not JSON: key must be a string"),
            (
                "{\"query\": 1}",
                "line 1: the document has neither \"queries\" nor \"questions\"",
            ),
            ("{\"queries\": []}", "line 1: there is not one question in the file"),
            (
                "{\"queries\": [\n{\"query\": \"a\", \"relevant\": [\"x\"]},\n{\"query\": \"a\"}]}",
                "line 3: the entry has no \"relevant\" with the ids of its articles",
            ),
            ("[\n{\"relevant\": [\"x\"]}]", "line 2: the entry has no \"query\""),
            (
                "{\"questions\": [{\"en\": \"a\"}]}",
                "line 1: the question is there in one language only, so nothing can be compared",
            ),
        ] {
            assert_eq!(parse(text).err().as_deref(), Some(says), "{text}");
        }
    }
}
