use url::Url;

use super::*;
use crate::mcp::{RESTARTS, Reach};

fn server(rule: Rule, trust_hints: bool, rules: &[(&str, Rule)]) -> Server {
    Server {
        name: "shop".into(),
        reach: Reach::Http {
            url: Url::parse("http://127.0.0.1:9/").expect("an address"),
            token: None,
        },
        timeout: std::time::Duration::from_secs(1),
        rule,
        trust_hints,
        rules: rules.iter().map(|(name, rule)| ((*name).to_owned(), *rule)).collect(),
        restarts: RESTARTS,
    }
}

/// A tool with these annotations, judged: rule, reads, repeatable.
fn judged(server: &Server, annotations: Value) -> (Rule, bool, bool) {
    let tool = json!({ "name": "look", "inputSchema": { "type": "object" }, "annotations": annotations });
    let (listed, remarks) = judge(server, &[tool]);
    assert_eq!(remarks, [""; 0]);
    let tool = &listed[0].tool;
    (tool.rule, tool.reads, tool.repeatable)
}

#[test]
fn hints_count_only_where_the_team_believes_them_and_never_against_its_word() {
    let reads = json!({ "readOnlyHint": true });
    assert_eq!(
        judged(&server(Rule::Ask, false, &[]), reads.clone()),
        (Rule::Ask, false, false)
    );
    assert_eq!(
        judged(&server(Rule::Ask, true, &[]), reads.clone()),
        (Rule::Allow, true, true)
    );
    assert_eq!(
        judged(&server(Rule::Deny, true, &[]), reads.clone()),
        (Rule::Deny, true, true)
    );
    let asks = server(Rule::Allow, true, &[("look", Rule::Ask)]);
    assert_eq!(judged(&asks, reads), (Rule::Ask, true, true));
    let again = json!({ "idempotentHint": true });
    assert_eq!(judged(&server(Rule::Ask, true, &[]), again), (Rule::Ask, false, true));
    let both = json!({ "readOnlyHint": true, "destructiveHint": true });
    assert_eq!(judged(&server(Rule::Ask, true, &[]), both), (Rule::Ask, false, false));
    let nonsense = json!({ "readOnlyHint": "true" });
    assert_eq!(
        judged(&server(Rule::Ask, true, &[]), nonsense),
        (Rule::Ask, false, false)
    );
}

#[test]
fn one_broken_tool_is_remarked_on_and_the_others_are_offered() {
    let tools = [
        json!({ "name": "good", "description": "Does good", "inputSchema": { "type": "object", "required": ["a"] } }),
        json!({ "description": "nameless" }),
        json!({ "name": "good" }),
        json!({ "name": "odd", "inputSchema": "any" }),
        json!({ "name": "list", "title": "A list", "inputSchema": { "type": "array" } }),
        json!({ "name": "untyped", "inputSchema": { "properties": {} } }),
        json!({ "name": "choice", "inputSchema": { "type": "object", "oneOf": [] } }),
        json!(7),
    ];
    let (listed, remarks) = judge(&server(Rule::Ask, false, &[("gone", Rule::Allow)]), &tools);
    let shown: Vec<String> = listed
        .iter()
        .map(|one| format!("{} {:?} {}", one.tool.name, one.tool.description, one.tool.schema))
        .collect();
    assert_eq!(
        shown,
        [
            r#"shop__good "Does good" {"required":["a"],"type":"object"}"#,
            r#"shop__odd "" {"type":"object"}"#,
            r#"shop__list "A list" {"type":"object"}"#,
            r#"shop__untyped "" {"properties":{},"type":"object"}"#,
            r#"shop__choice "" {"type":"object"}"#,
        ]
    );
    assert_eq!(
        remarks,
        [
            "a tool without a name is left out",
            "good is listed twice",
            "a tool without a name is left out",
            "[mcp.shop.tools] names gone, which it does not have",
            "the schema of odd is none; any arguments are taken",
            "the schema of list is not one of an object; any arguments are taken",
            "the schema of choice has a choice at its top, which providers refuse; it is left to the server to check",
        ]
    );
}

#[test]
fn a_server_cannot_fill_every_request() {
    let tools: Vec<Value> = (0..200)
        .map(|n| json!({ "name": format!("t{n}"), "description": "x".repeat(9000) }))
        .collect();
    let (listed, remarks) = judge(&server(Rule::Ask, false, &[]), &tools);
    assert_eq!((listed.len(), listed[0].tool.description.len()), (128, 4000));
    assert_eq!(remarks[0], "only the first 128 of its 200 tools are offered");
}
