use std::sync::Arc;

use super::{Decided, Learned};
use crate::offline::{Category, Offline};

fn house() -> Vec<Category> {
    [
        ("gangways", "booking a gangway for a boat"),
        ("moorings", "mooring lines, buoys and berths"),
        ("other", "none of these"),
    ]
    .map(|(name, description)| Category {
        name: name.into(),
        description: description.into(),
        team: String::new(),
    })
    .to_vec()
}

fn decided(body: &str, category: &str, weight: f32) -> Decided {
    Decided {
        subject: String::new(),
        body: body.into(),
        category: category.into(),
        weight,
    }
}

/// Enough of two matters to measure the mix.
fn season() -> Vec<Decided> {
    let places = [
        "north", "south", "east", "west", "old", "new", "long", "short", "upper", "lower",
    ];
    let mut past = Vec::new();
    for place in places {
        past.push(decided(&format!("ramp at the {place} pier on Friday"), "gangways", 1.0));
        past.push(decided(&format!("the {place} ramp for two persons"), "gangways", 1.0));
        past.push(decided(&format!("rope is worn at the {place} berth"), "moorings", 1.0));
        past.push(decided(
            &format!("a buoy near the {place} berth drifts"),
            "moorings",
            1.0,
        ));
    }
    past
}

fn taught(past: &[Decided]) -> Offline {
    let learned = Learned::train(&house(), past).expect("three labels");
    Offline::new(house()).with(Arc::new(learned))
}

#[test]
fn the_same_tickets_give_the_same_bytes() {
    let bytes = || serde_json::to_vec(&Learned::train(&house(), &season())).expect("JSON");
    assert_eq!(bytes(), bytes());
}

#[test]
fn what_was_learned_survives_its_way_through_the_store() {
    let learned = Learned::train(&house(), &season()).expect("three labels");
    let text = serde_json::to_string(&learned).expect("JSON");
    let back: Learned = serde_json::from_str(&text).expect("the same JSON");
    assert_eq!(back, learned);
}

#[test]
fn words_that_no_rule_knows_are_learned() {
    let before = Offline::new(house()).triage("", "two ramps please").triage;
    let after = taught(&season()).triage("", "two ramps please").triage;
    assert_eq!(
        (before.category.as_str(), after.category.as_str()),
        ("other", "gangways")
    );
    assert!(
        before.confidence < 0.7,
        "nothing was learned, so it is modest: {}",
        before.confidence
    );
    assert!(after.confidence > before.confidence);
    assert!(after.reason.contains("40 decided tickets"), "{}", after.reason);
}

#[test]
fn a_description_is_a_first_lesson() {
    let triage = Offline::new(vec![house()[0].clone(), house()[1].clone()])
        .triage("", "the gangway for our boat")
        .triage;
    assert_eq!(triage.category, "gangways");
    assert!(triage.confidence < 0.8, "{}", triage.confidence);
}

#[test]
fn a_correction_outweighs_what_was_let_stand() {
    let yards = ["north", "south", "east", "west", "old", "new", "upper", "lower"];
    let mut past: Vec<Decided> = yards
        .iter()
        .map(|yard| decided(&format!("the slipway of the {yard} yard"), "other", 0.25))
        .collect();
    assert_eq!(
        taught(&past).triage("", "the slipway of a yard").triage.category,
        "other"
    );
    for harbour in ["first", "second", "third"] {
        past.push(decided(&format!("the slipway of the {harbour} yard"), "moorings", 4.0));
    }
    assert_eq!(
        taught(&past).triage("", "the slipway of a yard").triage.category,
        "moorings"
    );
}

#[test]
fn danger_is_seen_whatever_was_learned() {
    let mut house = house();
    house.push(Category {
        name: "safety".into(),
        description: "danger to people".into(),
        team: String::new(),
    });
    let learned = Learned::train(&house, &season()).expect("four labels");
    let triage = Offline::new(house)
        .with(Arc::new(learned))
        .triage("", "The ramp at the north pier caught fire, there is smoke!")
        .triage;
    assert_eq!(triage.category, "safety");
}

#[test]
fn categories_that_the_house_gave_up_are_forgotten() {
    let mut past = season();
    past.push(decided("dinghies", "dinghies", 4.0));
    let learned = Learned::train(&house(), &past).expect("three labels");
    assert_eq!(learned.decided(), 40);
}
