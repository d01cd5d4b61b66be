//! Edits of the knowledge base: read first, fit exactly once, asked every time, made on the ground they were asked on.

use serde_json::json;

use super::scene::{Scene, change, check, read};
use crate::article::ArticleState;
use crate::id::ArticleId;
use crate::ticket::Mode;

const BODY: &str = "Refunds take 5 days.\nReturns are free.\nReturns need a label.";

fn with_article(mode: Mode) -> Scene {
    let mut run = Scene::in_mode(mode);
    run.article("refunds", 3, BODY);
    run
}

/// A run that has read the article and waits for A-1, its edit.
fn waiting() -> Scene {
    let mut run = with_article(Mode::Ask);
    run.calls(&[read("refunds")]).happens();
    run.calls(&[change("refunds", "5 days", "3 days")]);
    check(
        &run.happens(),
        "asks A-1: propose_knowledge_edit, a knowledge-base edit is asked every time\nwaits for A-1",
    );
    run
}

fn body(run: &Scene) -> &str {
    &run.facts.articles[&ArticleId("refunds".into())].body
}

#[test]
fn an_approved_edit_changes_the_article() {
    let mut run = waiting();
    run.approves(1);
    check(
        &run.happens(),
        "sends A-1: propose_knowledge_edit
         tells propose_knowledge_edit: The article was changed: A-1, approved by sam.
         asks the model",
    );
    assert_eq!(body(&run), BODY.replace("5 days", "3 days"));
}

#[test]
fn an_edited_edit_changes_it_in_the_supervisors_words() {
    let mut run = waiting();
    run.edits(1, "4 days").happens();
    assert_eq!(body(&run), BODY.replace("5 days", "4 days"));
}

#[test]
fn an_edit_that_does_not_fit_is_told_and_not_asked() {
    let mut run = with_article(Mode::Ask);
    run.calls(&[change("refunds", "5 days", "3 days")]);
    check(
        &run.happens(),
        "fails propose_knowledge_edit: Read the article first: read_article(\"refunds\").
         asks the model",
    );
    run.calls(&[read("refunds")]).happens();
    for (args, told) in [
        (
            change("refunds", "7 days", "3 days"),
            "fails propose_knowledge_edit: old_text is not in the article;",
        ),
        (
            change("refunds", "Returns", "Exchanges"),
            "fails propose_knowledge_edit: old_text is in the article 2 times:",
        ),
        (
            change("refunds", "", "3 days"),
            "fails propose_knowledge_edit: The article \"refunds\" exists: give the passage to replace.",
        ),
        (
            change("shipping", "5 days", "3 days"),
            "fails propose_knowledge_edit: There is no article \"shipping\": find it with search_knowledge,",
        ),
    ] {
        run.calls(&[args]);
        let happened = run.happens();
        assert!(
            happened.starts_with(told) && happened.ends_with("asks the model"),
            "{happened}"
        );
    }
    run.article("refunds", 4, BODY);
    run.calls(&[change("refunds", "5 days", "3 days")]);
    check(
        &run.happens(),
        "fails propose_knowledge_edit: The article is at revision 4 by now; read it again: read_article(\"refunds\").
         asks the model",
    );
}

#[test]
fn an_edit_without_a_change_costs_no_approval() {
    let mut run = with_article(Mode::Ask);
    run.calls(&[read("refunds")]).happens();
    run.calls(&[change("refunds", "5 days", "5 days")]);
    check(
        &run.happens(),
        "tells propose_knowledge_edit: That is what the article says already; nothing to ask.
         asks the model",
    );
}

#[test]
fn an_edit_whose_base_moved_is_asked_again_where_it_still_fits() {
    let mut run = waiting();
    let moved = format!("{BODY}\nGift cards are not refunded.");
    run.article("refunds", 4, &moved).approves(1);
    check(
        &run.happens(),
        "asks A-2: propose_knowledge_edit, The article changed to revision 4 after the card was made. [The article changed to revision 4 after the card was made.] (instead of A-1)
         waits for A-2",
    );
    run.approves(2).happens();
    assert_eq!(body(&run), moved.replace("5 days", "3 days"));
}

#[test]
fn an_edit_whose_base_moved_beyond_recognition_is_refused() {
    let mut run = waiting();
    run.article("refunds", 4, "Refunds take a week.").approves(1);
    let happened = run.happens();
    let told =
        "The article \"refunds\" is at revision 4 by now and the edit no longer fits: old_text is not in the article;";
    assert!(happened.starts_with(&format!("takes back A-1: {told}")), "{happened}");
    assert!(
        happened.contains(&format!("fails propose_knowledge_edit: {told}")),
        "{happened}"
    );
    assert_eq!(body(&run), "Refunds take a week.");
}

#[test]
fn an_edit_of_an_article_that_is_gone_is_refused() {
    let mut run = waiting();
    run.approves(1).facts.articles.clear();
    assert!(
        run.happens()
            .starts_with("takes back A-1: The article \"refunds\" is no longer there.")
    );

    let mut run = waiting();
    run.approves(1);
    for article in run.facts.articles.values_mut() {
        article.state = ArticleState::Retired;
        article.revision = 4;
    }
    assert!(
        run.happens()
            .starts_with("takes back A-1: The article \"refunds\" was retired meanwhile.")
    );
}

fn create(id: &str) -> (&'static str, serde_json::Value) {
    let args = json!({ "article_id": id, "title": "Vouchers", "new_text": "Vouchers last a year.", "rationale": "Asked often." });
    ("propose_knowledge_edit", args)
}

#[test]
fn a_new_article_is_asked_and_made() {
    let mut run = Scene::at_work();
    run.calls(&[create("vouchers")]);
    check(
        &run.happens(),
        "asks A-1: propose_knowledge_edit, a knowledge-base edit is asked every time\nwaits for A-1",
    );
    run.approves(1).happens();
    assert_eq!(
        run.facts.articles[&ArticleId("vouchers".into())].body,
        "Vouchers last a year."
    );
}

#[test]
fn a_new_article_that_somebody_else_made_meanwhile_is_refused() {
    let mut run = Scene::at_work();
    run.calls(&[create("vouchers")]).happens();
    run.article("vouchers", 1, "Vouchers last a month.").approves(1);
    assert!(
        run.happens()
            .starts_with("takes back A-1: An article \"vouchers\" was made meanwhile.")
    );
}

#[test]
fn a_new_article_needs_a_plain_id_and_words() {
    let mut run = Scene::at_work();
    run.article("old", 2, "Old.");
    run.facts
        .articles
        .get_mut(&ArticleId("old".into()))
        .expect("it is there")
        .state = ArticleState::Retired;
    run.calls(&[
        create("Vouchers!"),
        create("old"),
        (
            "propose_knowledge_edit",
            json!({ "article_id": "vouchers", "title": "Vouchers", "new_text": " ", "rationale": "x" }),
        ),
    ]);
    check(
        &run.happens(),
        "fails propose_knowledge_edit: The id of a new article is made of lower-case letters, digits and dashes.
         fails propose_knowledge_edit: The article \"old\" is retired: propose a new one under another id.
         fails propose_knowledge_edit: A new article needs its text in new_text.
         asks the model",
    );
}

#[test]
fn an_article_is_retired_on_approval_and_asked_again_when_it_changed() {
    let retire = json!({ "article_id": "refunds", "retire": true, "rationale": "We have no refunds." });
    let mut run = with_article(Mode::Ask);
    run.calls(&[read("refunds")]).happens();
    run.calls(&[("propose_knowledge_edit", retire)]).happens();
    run.article("refunds", 4, BODY).approves(1);
    assert!(
        run.happens()
            .starts_with("asks A-2: propose_knowledge_edit, The article changed to revision 4")
    );
    run.approves(2).happens();
    assert_eq!(
        run.facts.articles[&ArticleId("refunds".into())].state,
        ArticleState::Retired
    );
}

#[test]
fn shadow_mode_changes_no_article() {
    let mut run = with_article(Mode::Shadow);
    run.calls(&[read("refunds")]).happens();
    run.calls(&[change("refunds", "5 days", "3 days")]);
    check(
        &run.happens(),
        "records propose_knowledge_edit
         tells propose_knowledge_edit: Recorded, not sent: the bot is in shadow mode.
         asks the model",
    );
    assert_eq!(body(&run), BODY);
}
