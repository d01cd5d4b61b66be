use proptest::prelude::*;

use super::*;

const ARTICLE: &str = "# Returns\n\nYou may return a pot within 14 days.\nWe pay the postage.\n";

fn check(body: &str, old: &str, new: &str, expected: &str) {
    assert_eq!(apply(body, old, new).as_deref(), Ok(expected), "{old:?} in {body:?}");
}

#[test]
fn one_exact_match_is_replaced_and_the_rest_stays() {
    check(ARTICLE, "14 days", "30 days", &ARTICLE.replace("14", "30"));
    check(
        ARTICLE,
        "\nWe pay the postage.",
        "",
        "# Returns\n\nYou may return a pot within 14 days.\n",
    );
    check("三十天内可以退货。", "三十天", "六十天", "六十天内可以退货。");
}

#[test]
fn line_endings_do_not_decide_whether_an_edit_fits() {
    check("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\nc\r\n");
    check("a\nb\n", "a\r\nb", "b\r\na", "b\na\n");
    check("a\r\nb\nc\r\nd", "b\nc", "x\ny", "a\r\nx\ny\r\nd");
    check("a\r\nb", "\n", "; ", "a; b");
}

#[test]
fn what_does_not_fit_once_says_how_to_make_it_fit() {
    for (body, old, new, sentence) in [
        (
            ARTICLE,
            "",
            "x",
            "old_text is empty: give the exact text to replace, or propose a new article.",
        ),
        (
            ARTICLE,
            "a\r\nb",
            "a\nb",
            "old_text and new_text are the same, so nothing would change.",
        ),
        (
            ARTICLE,
            "within 14 days. We pay",
            "x",
            "old_text is not in the article; it differs only in spaces or line breaks: copy it exactly as read_article shows it.",
        ),
        (
            ARTICLE,
            "we pay THE postage",
            "x",
            "old_text is not in the article; it differs only in capital letters: copy it exactly as read_article shows it.",
        ),
        (
            ARTICLE,
            "We never pay the postage.",
            "x",
            "old_text is not in the article; the nearest line is \"We pay the postage.\": read_article shows the present text.",
        ),
        (
            ARTICLE,
            "Kettles",
            "x",
            "old_text is not in the article; nothing like it is there: read_article shows the present text.",
        ),
        (
            "ababab",
            "abab",
            "x",
            "old_text is in the article 2 times: add the words before or after it until only one place fits.",
        ),
    ] {
        assert_eq!(
            apply(body, old, new).map_err(|e| e.to_string()),
            Err(sentence.to_owned())
        );
    }
    assert_eq!(apply("茶茶茶", "茶茶", "x"), Err(EditError::ManyMatches(2)));
}

#[test]
fn a_diff_shows_lines_and_counts_them() {
    let diff = unified(ARTICLE, &ARTICLE.replace("14", "30").replace('\n', "\r\n"), "returns");
    assert_eq!((diff.added, diff.removed), (1, 1));
    assert_eq!(
        diff.text,
        "--- returns\n+++ returns\n@@ -1,4 +1,4 @@\n # Returns\n \n-You may return a pot within 14 days.\n\
         +You may return a pot within 30 days.\n We pay the postage.\n"
    );
    let open_ended = unified("a\nb", "c\nb", "x");
    assert!(open_ended.text.ends_with(" b\n"), "{:?}", open_ended.text);
    let same = unified("a\r\n", "a\n", "x");
    assert_eq!((same.text.as_str(), same.added, same.removed), ("", 0, 0));
}

#[test]
fn an_edit_is_judged_again_when_the_article_moved() {
    let (old, new) = ("14 days", "30 days");
    let check = |present: &str, expected: Reapplied| assert_eq!(rebase(ARTICLE, present, old, new), expected);

    check(ARTICLE, Reapplied::Same);
    check(&ARTICLE.replace('\n', "\r\n"), Reapplied::Same);
    let elsewhere = ARTICLE.replace("We pay", "You pay");
    check(&elsewhere, Reapplied::Moved(elsewhere.replace("14", "30")));
    check(
        &ARTICLE.replace("14", "30"),
        Reapplied::Lost("The article already says what the edit would make it say.".into()),
    );
    check(
        &elsewhere.replace("14", "30"),
        Reapplied::Lost("The article has changed meanwhile, and the new text is already in it.".into()),
    );
    for beyond in [
        "# Returns\n\nAsk us first.\n".to_owned(),
        format!("{ARTICLE}Vouchers: 14 days\n"),
        String::new(),
    ] {
        assert!(
            matches!(rebase(ARTICLE, &beyond, old, new), Reapplied::Lost(why) if why.starts_with("The article has changed")),
            "{beyond}"
        );
    }
}

proptest! {
    #[test]
    fn replacing_there_and_back_gives_the_same_article(
        head in "([a-c\n茶]|\r\n){0,9}", tail in "([a-c\n茶]|\r\n){0,9}", new in "[x-z茶\n]{1,6}Y",
    ) {
        let body = format!("{head}OLD{tail}");
        let edited = apply(&body, "OLD", &new).expect("OLD stands once");
        prop_assert!(edited.starts_with(&head) && edited.ends_with(&tail));
        prop_assert_eq!(apply(&edited, &new, "OLD"), Ok(body));
    }
}

#[test]
fn drafts_are_compared_by_their_lines_alone() {
    assert_eq!(of_drafts("Hello,\nOn Monday.", "Hello,\r\nOn Monday.\n"), "");
    assert_eq!(
        of_drafts("On Monday.", "On Tuesday."),
        "@@ -1 +1 @@\n-On Monday.\n+On Tuesday.\n"
    );
    assert_eq!(of_drafts("", "Hello."), "@@ -0,0 +1 @@\n+Hello.\n");
}
