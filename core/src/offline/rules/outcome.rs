//! What a category with its signals makes of priority and action.

use super::{Reading, Signal};
use crate::ticket::{Action, Priority};

/// Priority of a category with its signals.
pub fn priority(category: &str, reading: &Reading) -> Priority {
    if reading.has(Signal::Outage) {
        return Priority::Urgent;
    }
    if reading.has(Signal::NothingToDo) && matches!(category, "other" | "feedback") {
        return Priority::Low;
    }
    match category {
        "safety" => Priority::Urgent,
        "security"
            if reading.has(Signal::DataProtection)
                && !reading.has(Signal::AccountTakeover)
                && reading.phrases("hacked").is_empty() =>
        {
            Priority::High
        }
        "security" => Priority::Urgent,
        "legal" => Priority::High,
        "spam" if reading.has(Signal::PromptInjection) => Priority::Normal,
        "spam" | "feedback" => Priority::Low,
        _ if reading.has(Signal::RepeatedContact) || reading.has(Signal::MoneyTaken) => Priority::High,
        "cancellation" if reading.has(Signal::TimeCritical) => Priority::High,
        "presales" => Priority::Low,
        "billing" if reading.has(Signal::Paper) => Priority::Low,
        "other" if reading.has(Signal::Newsletter) || reading.has(Signal::Robot) => Priority::Low,
        _ => Priority::Normal,
    }
}

/// Action of a category with its signals. It only ever tightens what the category allows.
pub fn action(category: &str, reading: &Reading) -> Action {
    if reading.has(Signal::PromptInjection) && !matches!(category, "safety" | "security" | "legal") {
        return Action::Human;
    }
    if reading.has(Signal::NothingToDo) && matches!(category, "other" | "feedback") {
        return Action::Ignore;
    }
    let base = match category {
        "safety" | "security" | "legal" | "sales" | "complaint" => Action::Human,
        "spam" => Action::Ignore,
        "other" if reading.has(Signal::Robot) => Action::Ignore,
        "other" if reading.has(Signal::Newsletter) => Action::AutoReply,
        "other" => Action::Human,
        "refund" | "cancellation" => Action::NeedsApproval,
        "return_exchange" => {
            let wants = ["exchange", "return"]
                .iter()
                .any(|meaning| !reading.phrases(meaning).is_empty());
            let warranty = !reading.phrases("warranty").is_empty();
            match (reading.has(Signal::HowTo), warranty, wants) {
                (true, _, _) | (_, true, false) => Action::AutoReply,
                _ => Action::NeedsApproval,
            }
        }
        "billing" if reading.has(Signal::MoneyTaken) || !reading.phrases("refund").is_empty() => Action::NeedsApproval,
        "order_status" if !reading.phrases("change_address").is_empty() => Action::NeedsApproval,
        "account_access" if !reading.phrases("change_account").is_empty() => Action::NeedsApproval,
        _ => Action::AutoReply,
    };
    let second = reading
        .scores
        .iter()
        .skip(1)
        .find(|(name, score)| *score >= 4.0 && *name != category);
    let both = match second {
        Some(("refund" | "cancellation" | "return_exchange", _)) if reading.has(Signal::MultiIntent) => {
            Action::NeedsApproval
        }
        _ => base,
    };
    let waited = if reading.has(Signal::Outage) || reading.has(Signal::RepeatedContact) && base != Action::Ignore {
        Action::Human
    } else {
        base
    };
    base.max(both.min(Action::Human)).max(waited)
}
