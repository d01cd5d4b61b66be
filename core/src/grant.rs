//! A remembered Allow: "escalations to level 2 of team Billing are always fine".

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    pub id: i64,
    pub tool: String,
    /// Argument values that must be equal; an argument that is not named may be anything.
    pub args: serde_json::Map<String, Value>,
    pub by: String,
    pub until: Option<DateTime<Utc>>,
}

impl Grant {
    pub fn covers(&self, tool: &str, args: &Value, now: DateTime<Utc>) -> bool {
        self.tool == tool
            && self.until.is_none_or(|until| now < until)
            && self.args.iter().all(|(name, value)| args.get(name) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_grant_covers_its_chosen_values_until_it_ends() {
        let now = DateTime::UNIX_EPOCH;
        let mut grant = Grant {
            id: 1,
            tool: "escalate_ticket".into(),
            args: json!({"level": 2, "team": "Billing"})
                .as_object()
                .cloned()
                .unwrap_or_default(),
            by: "slack:U1".into(),
            until: Some(now + chrono::TimeDelta::hours(1)),
        };
        let args = json!({"level": 2, "team": "Billing", "reason": "chargeback"});
        assert!(grant.covers("escalate_ticket", &args, now));
        assert!(!grant.covers("reply_customer", &args, now));
        assert!(!grant.covers("escalate_ticket", &json!({"level": 3, "team": "Billing"}), now));
        assert!(!grant.covers("escalate_ticket", &json!({"team": "Billing"}), now));
        assert!(!grant.covers("escalate_ticket", &args, now + chrono::TimeDelta::hours(1)));
        grant.until = None;
        assert!(grant.covers("escalate_ticket", &args, now + chrono::TimeDelta::days(900)));
    }
}
