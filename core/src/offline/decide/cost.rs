//! What a reply would have cost in tokens, so that budgets mean the same with every model.

use crate::model::{ModelRequest, Part, Turn};

/// An honest estimate: a character of Chinese, Japanese or Korean is about a token, others are a quarter.
pub(super) fn tokens(text: &str) -> u64 {
    let (mut east, mut rest) = (0, 0);
    for c in text.chars() {
        if crate::search::unspaced(c) {
            east += 1
        } else {
            rest += 1
        }
    }
    east + u64::div_ceil(rest, 4)
}

pub(super) fn input_tokens(request: &ModelRequest) -> u64 {
    let turns = request.turns.iter().map(|turn| match turn {
        Turn::Told(parts) => parts.iter().map(part_tokens).sum(),
        Turn::Said(reply) => {
            tokens(&reply.text)
                + reply
                    .calls
                    .iter()
                    .map(|call| 8 + tokens(&call.args.to_string()))
                    .sum::<u64>()
        }
        Turn::Outcomes(answers) => answers.iter().map(|answer| 8 + tokens(&answer.text)).sum(),
    });
    let tools = request
        .tools
        .iter()
        .map(|tool| tokens(&tool.description) + tokens(&tool.schema.to_string()));
    tokens(&request.system) + tools.sum::<u64>() + turns.sum::<u64>()
}

fn part_tokens(part: &Part) -> u64 {
    match part {
        Part::Text(text) => tokens(text),
        Part::Ticket(brief) => 20 + tokens(&brief.subject) + tokens(&brief.requester),
        Part::Comment { body, author_name, .. } => 8 + tokens(body) + tokens(author_name),
    }
}
