use super::*;
use crate::id::TicketId;
use crate::ticket::{OutsideId, Source};

fn check(text: &str, expected: Command) {
    assert_eq!(parse(text), Ok(expected), "{text:?}");
}

fn refuses(text: &str, sentence: &str) {
    match parse(text) {
        Ok(command) => panic!("{text:?} was taken for {command:?}"),
        Err(error) => assert_eq!(error.to_string(), sentence, "{text:?}"),
    }
}

fn number(number: i64) -> TicketRef {
    TicketRef::Number(TicketId(number))
}

fn zendesk(id: &str) -> TicketRef {
    TicketRef::Outside(OutsideId {
        source: Source::Zendesk,
        id: id.into(),
    })
}

fn triage(ticket: TicketRef, instruction: Option<&str>) -> Command {
    let instruction = instruction.map(str::to_owned);
    Command::Triage { ticket, instruction }
}

#[test]
fn a_ticket_is_found_however_its_number_is_typed() {
    for text in [
        "T-1001",
        "t-1001",
        "1001",
        "T1001",
        "#1001",
        " T-1001 ",
        "`T-1001`",
        "\u{201c}T-1001\u{201d}",
        "T-1001.",
        "T\u{2011}1001",
        "Ｔ－１００１",
        "\u{200b}T-1001\u{feff}",
        "triage T-1001",
        "/triage t-1001",
        "!triage 1001",
        "T-1001\n",
    ] {
        check(text, triage(number(1001), None));
    }
    for text in ["zendesk:35436", "Zendesk:35436", "zendesk：35436", "ZENDESK:#35436"] {
        check(text, triage(zendesk("35436"), None));
    }
}

#[test]
fn what_follows_a_ticket_is_an_instruction_in_its_own_words() {
    check("T-1001 offer a voucher", triage(number(1001), Some("offer a voucher")));
    check(
        "1001\u{a0} say \u{2018}sorry\u{2019} first,\nthen Explain ",
        triage(number(1001), Some("say \u{2018}sorry\u{2019} first,\nthen Explain")),
    );
    check(
        "zendesk:9 \u{201c}be brief\u{201d}",
        triage(zendesk("9"), Some("be brief")),
    );
    check(
        "T-1001 stop apologising so much",
        triage(number(1001), Some("stop apologising so much")),
    );
    check(
        "T-1001 \"yes\" or \"no\"?",
        triage(number(1001), Some("\"yes\" or \"no\"?")),
    );
    check("T-1001 status", triage(number(1001), Some("status")));
}

#[test]
fn a_lone_keyword_behind_a_ticket_is_that_command_and_no_instruction() {
    check("T-1001 stop", Command::Stop(number(1001)));
    check("T-1001 Take!", Command::Take(number(1001)));
}

#[test]
fn every_command_is_read_in_any_case() {
    let cases = [
        ("", Command::Help),
        ("  \u{3000}", Command::Help),
        ("help", Command::Help),
        ("?", Command::Help),
        ("triage", Command::Help),
        ("SHOW t-7", Command::Show(number(7))),
        ("status", Command::Status),
        ("Approvals", Command::Approvals(Which::AllOpen)),
        ("approvals Mine", Command::Approvals(Which::Mine)),
        ("approvals  overdue", Command::Approvals(Which::Overdue)),
        ("kb return a parcel", Command::Kb("return a parcel".into())),
        ("kb 「退货」", Command::Kb("「退货」".into())),
        ("kb \u{201c}Return policy\u{201d}", Command::Kb("Return policy".into())),
        ("runs 7", Command::Runs(number(7))),
        ("resume zendesk:35436", Command::Resume(zendesk("35436"))),
        ("pause T-7", Command::Pause(number(7))),
        ("new T-7", Command::New(number(7))),
        ("stop T-7", Command::Stop(number(7))),
        ("take T-7", Command::Take(number(7))),
        ("release T-7", Command::Release(number(7))),
        ("compact T-7", Command::Compact(number(7))),
        ("model", Command::Model(None)),
        (
            "model openai:Some-Name",
            Command::Model(Some("openai:Some-Name".into())),
        ),
        ("skills", Command::Skills),
        ("mcp", Command::Mcp),
        ("helpers T-7", Command::Helpers(number(7))),
        ("grants", Command::Grants(Grants::List)),
        ("grants revoke 3", Command::Grants(Grants::Revoke(3))),
        ("Grants Revoke #3", Command::Grants(Grants::Revoke(3))),
        ("mode", Command::Mode(None)),
        ("mode Shadow", Command::Mode(Some(Mode::Shadow))),
    ];
    for (text, expected) in cases {
        check(text, expected);
    }
}

#[test]
fn a_list_is_narrowed_by_state_priority_and_words() {
    check("list", Command::List(Filter::default()));
    check(
        "list URGENT with-human refund",
        Command::List(Filter {
            state: Some(TicketState::WithHuman),
            priority: Some(Priority::Urgent),
            solved_too: false,
            words: "refund".into(),
        }),
    );
    let solved = Filter {
        state: Some(TicketState::Solved),
        solved_too: true,
        ..Filter::default()
    };
    check("list solved", Command::List(solved));
}

#[test]
fn what_is_not_understood_gets_one_sentence_that_helps() {
    refuses(
        "aprovals",
        "I do not know \"aprovals\". Did you mean approvals? Type help for all commands.",
    );
    refuses("xyzzy now", "I do not know \"xyzzy\". Type help for all commands.");
    refuses("show", "show needs a ticket: show T-1001.");
    refuses("kb \" \"", "kb needs words to search for: kb return a parcel.");
    refuses(
        "show it",
        "\"it\" is not a ticket: write T-1001, or its number in the source, like zendesk:35436.",
    );
    refuses("show T-7 T-8", "show takes one ticket, not \"T-7 T-8\".");
    refuses("status now", "status takes no argument, not \"now\".");
    refuses(
        "mode atuo",
        "mode takes shadow, ask or auto, not \"atuo\". Did you mean auto?",
    );
    refuses(
        "approvals his",
        "approvals takes mine, overdue or nothing, not \"his\".",
    );
    refuses(
        "grants revoke all",
        "grants takes nothing, or revoke and a number, not \"revoke all\".",
    );
    for word in ["T-0", "99999999999999999999", "jira:5", "zendesk:", "T-10x"] {
        assert!(matches!(parse(word), Err(CommandError::NotATicket { .. })), "{word}");
    }
    assert!(parse(&"triage ".repeat(100_000)).is_err());
    let long = "y".repeat(500);
    assert!(parse(&long).is_err_and(|error| error.to_string().len() < 120));
}

#[test]
fn every_line_of_help_is_a_command_and_every_suggestion_is_read() {
    for line in help() {
        let example = line
            .argument
            .replace("<ticket>", "T-1001")
            .replace("<query>", "tea")
            .replace(['<', '>'], "");
        let example = if example.starts_with('[') {
            String::new()
        } else {
            example
        };
        let text = format!("{} {example}", line.name);
        assert!(parse(&text).is_ok(), "{text}");
        assert!(line.sentence.ends_with('.'), "{}", line.name);
    }
    for typed in ["approvals ", "mode ", "list "] {
        assert!(!suggest(typed).is_empty(), "{typed}");
        for suggestion in suggest(typed) {
            assert!(parse(&suggestion.text).is_ok(), "{}", suggestion.text);
        }
    }
}

#[test]
fn typing_is_completed_first_by_keyword_then_by_its_words() {
    let texts = |prefix: &str| suggest(prefix).into_iter().map(|s| s.text).collect::<Vec<_>>();
    assert_eq!(texts("AP"), ["approvals"]);
    assert_eq!(texts("re"), ["resume", "release"]);
    assert_eq!(texts("mode a"), ["mode ask", "mode auto"]);
    assert_eq!(texts("show "), [""; 0]);
    assert_eq!(texts("").len(), help().len() - 2);
}

#[test]
fn only_rules_of_the_house_are_for_admins() {
    for text in ["mode auto", "model offline", "grants revoke 1", "mode", "grants"] {
        assert_eq!(parse(text).map(|c| c.authority()), Ok(Authority::Admin), "{text}");
    }
    for text in [
        "T-1 be brief",
        "stop T-1",
        "take T-1",
        "release T-1",
        "new T-1",
        "list",
        "kb tea",
        "help",
    ] {
        assert_eq!(parse(text).map(|c| c.authority()), Ok(Authority::Team), "{text}");
    }
}
