//! Playbooks: a front matter of two lines, then text in Markdown.
//!
//! The front matter looks like YAML and is deliberately not: `name` and `description`, one line each, are all there is,
//! and anything else is refused with its line rather than half understood.

/// A playbook. Only the summary is always in the prompt; the body comes by `load_skill`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Lower-case letters, digits and dashes, at most 64; also the name of its folder.
    pub name: String,
    /// One or two sentences: what it holds, and when to load it.
    pub description: String,
    /// Markdown, trimmed.
    pub body: String,
}

/// The longest name and description, in characters: they stand in every prompt.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 400;

/// What is wrong with a playbook, and in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct SkillError {
    pub line: usize,
    pub why: String,
}

impl Skill {
    /// Its line in the prompt.
    pub fn summary(&self) -> String {
        format!("- {}: {}", self.name, self.description)
    }
}

/// Reads a `SKILL.md`.
pub fn parse(text: &str) -> Result<Skill, SkillError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().zip(1..);
    if lines.next().is_none_or(|(line, _)| line.trim_end() != "---") {
        return Err(wrong(
            1,
            "a playbook begins with a line of three dashes, then name and description.",
        ));
    }
    let (mut name, mut description) = (None, None);
    let mut last = 1;
    loop {
        let Some((line, number)) = lines.next() else {
            return Err(wrong(
                last,
                "the front matter does not end: put a line of three dashes behind it.",
            ));
        };
        last = number;
        let line = line.trim_end();
        match line.split_once(':') {
            _ if line == "---" => break,
            _ if line.trim().is_empty() || line.starts_with('#') => {}
            Some(("name", value)) => set(&mut name, "name", value, number)?,
            Some(("description", value)) => set(&mut description, "description", value, number)?,
            Some((key, _)) => {
                let why = format!(
                    "\"{}\" is not known here: there are name and description, one line each.",
                    clip(key)
                );
                return Err(wrong(number, why));
            }
            None => return Err(wrong(number, "this is not \"name: …\" or \"description: …\".")),
        }
    }
    let (name, named_in) = name.ok_or_else(|| wrong(last, "the front matter has no name."))?;
    let (description, described_in) = description.ok_or_else(|| wrong(last, "the front matter has no description."))?;
    if name.len() > LONGEST_NAME
        || !name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        let why = format!(
            "\"{}\" is not a name: at most 64 lower-case letters, digits and dashes.",
            clip(&name)
        );
        return Err(wrong(named_in, why));
    }
    let long = description.chars().count();
    if long > LONGEST_DESCRIPTION {
        let why = format!("the description has {long} characters; it stands in every prompt, so 400 are the most.");
        return Err(wrong(described_in, why));
    }
    let body = lines
        .map(|(line, _)| line)
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned();
    if body.is_empty() {
        return Err(wrong(last, "nothing stands behind the front matter."));
    }
    Ok(Skill {
        name,
        description,
        body,
    })
}

fn set(slot: &mut Option<(String, usize)>, key: &str, value: &str, line: usize) -> Result<(), SkillError> {
    let value = value.trim();
    let quoted = |q: char| value.strip_prefix(q).and_then(|rest| rest.strip_suffix(q));
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value).trim();
    if matches!(value, "" | "|" | ">" | "|-" | ">-") {
        return Err(wrong(
            line,
            format!("{key} is empty: its text stands on the same line."),
        ));
    }
    if slot.is_some() {
        return Err(wrong(line, format!("{key} stands here a second time.")));
    }
    *slot = Some((value.to_owned(), line));
    Ok(())
}

fn wrong(line: usize, why: impl Into<String>) -> SkillError {
    SkillError { line, why: why.into() }
}

fn clip(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_playbook_has_a_name_a_description_and_a_body() {
        let skill = Skill {
            name: "refunds".into(),
            description: "Who gets money back: when, how much.".into(),
            body: "# Refunds\n\n--- not the end\n".trim().into(),
        };
        for text in [
            "---\nname: refunds\ndescription: Who gets money back: when, how much.\n---\n\n# Refunds\n\n--- not the end\n",
            "\u{feff}---\r\nname: 'refunds'\r\n\r\n# remark\r\ndescription: \"Who gets money back: when, how much.\"\r\n---\r\n# Refunds\r\n\r\n--- not the end",
        ] {
            assert_eq!(parse(text), Ok(skill.clone()), "{text}");
        }
        assert_eq!(skill.summary(), "- refunds: Who gets money back: when, how much.");
    }

    #[test]
    fn a_wrong_playbook_is_one_sentence_with_its_line() {
        let long = format!("---\nname: a\ndescription: {}\n---\nb", "x".repeat(401));
        for (text, sentence) in [
            (
                "",
                "line 1: a playbook begins with a line of three dashes, then name and description.",
            ),
            (
                "# Refunds",
                "line 1: a playbook begins with a line of three dashes, then name and description.",
            ),
            (
                "---\nname: a",
                "line 2: the front matter does not end: put a line of three dashes behind it.",
            ),
            ("---\nname: a\n---\nb", "line 3: the front matter has no description."),
            ("---\ndescription: a\n---\nb", "line 3: the front matter has no name."),
            (
                "---\nname: a\nname: b\n---\nb",
                "line 3: name stands here a second time.",
            ),
            (
                "---\nname:\n---\nb",
                "line 2: name is empty: its text stands on the same line.",
            ),
            (
                "---\ndescription: >\n  long\n---\nb",
                "line 2: description is empty: its text stands on the same line.",
            ),
            (
                "---\ntools: all\n---\nb",
                "line 2: \"tools\" is not known here: there are name and description, one line each.",
            ),
            (
                "---\nname: a\nand more\n---\nb",
                "line 3: this is not \"name: …\" or \"description: …\".",
            ),
            (
                "---\ndescription: a\nname: ../a\n---\nb",
                "line 3: \"../a\" is not a name: at most 64 lower-case letters, digits and dashes.",
            ),
            (
                "---\nname: a\ndescription: b\n---\n \n",
                "line 4: nothing stands behind the front matter.",
            ),
            (
                &long,
                "line 3: the description has 401 characters; it stands in every prompt, so 400 are the most.",
            ),
        ] {
            assert_eq!(
                parse(text).map_err(|e| e.to_string()),
                Err(sentence.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn the_playbooks_of_this_repository_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../skills");
        for name in ["triage-sop", "escalation-rules", "refunds", "tone"] {
            let text = std::fs::read_to_string(format!("{folder}/{name}/SKILL.md")).expect(name);
            assert_eq!(parse(&text).map(|skill| skill.name).as_deref(), Ok(name));
        }
    }
}
