use reqwest::header::{HeaderName, HeaderValue};

use super::*;

fn names() -> Names {
    Names {
        provider: "Anthropic",
        key_setting: "ANTHROPIC_API_KEY",
        base_setting: "ANTHROPIC_BASE_URL",
        model: "some-model".to_owned(),
    }
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(k, v)| (HeaderName::from_static(k), HeaderValue::from_static(v)))
        .collect()
}

fn judged(status: u16, pairs: &[(&'static str, &'static str)], body: &str) -> ModelError {
    Failure::of_response(status, &headers(pairs), body.as_bytes()).judged(&names(), b"")
}

#[test]
fn the_status_decides_where_nothing_else_is_said() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert!(
            matches!(
                judged(status, &[], "<html>gateway</html>"),
                ModelError::Transient { .. }
            ),
            "{status}"
        );
    }
    for status in [302, 400, 401, 402, 403, 404, 422] {
        assert!(
            matches!(judged(status, &[], ""), ModelError::Permanent { .. }),
            "{status}"
        );
    }
    assert!(matches!(judged(413, &[], ""), ModelError::TooLong { .. }));
}

#[test]
fn the_provider_may_overrule_the_status() {
    assert!(matches!(
        judged(503, &[("x-should-retry", "false")], ""),
        ModelError::Permanent { .. }
    ));
    assert!(matches!(
        judged(400, &[("x-should-retry", "true")], ""),
        ModelError::Transient { .. }
    ));
}

#[test]
fn spent_credit_does_not_pass_by_waiting() {
    let body = r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let error = judged(429, &[("retry-after", "3"), ("x-should-retry", "true")], body);
    assert!(
        matches!(&error, ModelError::Permanent { why } if why.contains("ANTHROPIC_API_KEY")),
        "{error}"
    );
    let low = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}"#;
    assert!(judged(400, &[], low).to_string().contains("credit"));
}

#[test]
fn a_full_context_is_told_apart_from_other_bad_requests() {
    for body in [
        r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}"#,
        r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"x"}}"#,
        r#"[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed."}}]"#,
    ] {
        assert!(matches!(judged(400, &[], body), ModelError::TooLong { .. }), "{body}");
    }
    assert!(matches!(
        judged(400, &[], r#"{"error":"bad"}"#),
        ModelError::Permanent { .. }
    ));
}

#[test]
fn the_wait_is_read_in_every_form() {
    let now: DateTime<Utc> = "2026-10-09T08:00:00Z".parse().expect("a time");
    let wait = |pairs: &[(&'static str, &'static str)]| retry_after(&headers(pairs), now);
    let ms = |ms| Some(Duration::from_millis(ms));
    assert_eq!(wait(&[("retry-after", "17")]), ms(17_000));
    assert_eq!(wait(&[("retry-after", " 1.5 ")]), ms(1_500));
    assert_eq!(
        wait(&[("retry-after-ms", "250.5"), ("retry-after", "17")]),
        Some(Duration::from_micros(250_500))
    );
    assert_eq!(wait(&[("retry-after", "Fri, 09 Oct 2026 08:01:00 GMT")]), ms(60_000));
    assert_eq!(wait(&[("retry-after", "Fri, 09 Oct 2026 07:01:00 GMT")]), ms(0));
    let own_clock = [
        ("retry-after", "Fri, 09 Oct 2026 08:01:00 GMT"),
        ("date", "Fri, 09 Oct 2026 08:00:50 GMT"),
    ];
    assert_eq!(wait(&own_clock), ms(10_000));
    let used_up = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "1m0s"),
    ];
    assert_eq!(wait(&used_up), ms(60_000));
    for nonsense in ["soon", "-3", "NaN", "inf", "1e300", ""] {
        assert_eq!(wait(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
}

#[test]
fn an_error_in_a_stream_is_judged_by_its_kind() {
    let judged = |error: Value| Failure::in_stream(&error).judged(&names(), b"");
    let of_kind = |kind: &str| judged(serde_json::json!({"type": kind, "message": "x"}));
    for kind in [
        "overloaded_error",
        "api_error",
        "rate_limit_error",
        "timeout_error",
        "unheard_of",
    ] {
        assert!(matches!(of_kind(kind), ModelError::Transient { .. }), "{kind}");
    }
    assert!(
        of_kind("authentication_error")
            .to_string()
            .contains("ANTHROPIC_API_KEY")
    );
    assert!(matches!(of_kind("invalid_request_error"), ModelError::Permanent { .. }));
    assert!(matches!(
        judged(serde_json::json!({"object": "error", "message": "x", "code": 400})),
        ModelError::Permanent { .. }
    ));
    assert!(matches!(
        judged(serde_json::json!({"error": {"code": 502, "message": "x"}})),
        ModelError::Transient { .. }
    ));
}
