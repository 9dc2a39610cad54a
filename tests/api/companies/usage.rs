//! The usage of a company in each month, by the API and by the operator's commands.

use admin::OperatorCommand;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use shared::clock::Clock;
use tests::app::{TestApp, person};
use tests::assert_refusals;
use tests::caller::{Caller, Token};
use tests::http::{Request, send_each};
use tests::takes::Interviewee;
use tests::videos::film;

use crate::admin::commands::{create_company, refused};
use crate::admin::import::assert_moves;
use crate::interviews::reopening::reopening;

const USAGE: &str = "/companies/acme/usage/";

/// Moves the clock to a moment.
fn go_to(app: &TestApp, moment: &str) {
    let moment: DateTime<Utc> = moment.parse().unwrap();
    app.clock().advance(moment - app.clock().now());
}

/// The holder of a named token, which does not end with the days that pass.
async fn integration(app: &TestApp) -> Token {
    app.owner().await.named_token("Integration").await.1
}

/// A month as the API shows it, with these counts in the order of its fields.
fn month(name: &str, counts: [u64; 4], is_final: bool) -> Value {
    let [invited, completed, converted, seconds] = counts;
    json!({
        "month": name, "candidates_invited": invited, "interviews_completed": completed,
        "answers_converted": converted, "seconds_converted": seconds, "is_final": is_final,
    })
}

async fn months(caller: &impl Caller, from: &str, to: &str) -> Value {
    let usage = caller.get(&format!("{USAGE}?from={from}&to={to}")).await.expect(200).json();
    usage["objects"].clone()
}

/// A project whose candidates the API invites without a mail, and one of them who was invited.
async fn invite(caller: &Token, project: &str) -> String {
    let person = json!({ "first_name": "Ada", "last_name": "Byron", "receive_mails": false, "deadline": "2099-01-01T00:00:00Z" });
    let created = caller.post(&format!("{project}candidates/"), person).await.expect(201).uri("resource_uri");
    caller.advance(&created).await.expect(200);
    created
}

#[tokio::test]
async fn usage_counts_what_events_tell_once_they_have_their_numbers() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let nothing = json!({ "is_test": false, "objects": [month("2026-11", [0; 4], false)] });
    let target = format!("{USAGE}?from=2026-11&to=2026-11");
    owner.get(&target).await.expect_json(200, nothing.clone());
    let person = Interviewee::asked(&app, json!({ "is_required": false })).await;
    let uri = &person.candidate.uri;
    owner.get(&target).await.expect_json(200, nothing);
    app.settle().await;
    assert_eq!(months(&owner, "2026-11", "2026-11").await, json!([month("2026-11", [1, 0, 0, 0], false)]));

    // Two recordings of two seconds, one that is no film, and an interview that is completed twice.
    person.record(&[&film()]).await;
    app.settle().await;
    person.record(&[b"no film"]).await;
    app.settle().await;
    person.candidate.advance(uri).await.expect(200);
    owner.send(reopening(uri, json!({}))).await.expect(200);
    person.record(&[&film()]).await;
    app.settle().await;
    person.candidate.advance(uri).await.expect(200);
    // A candidate who is invited again, and one who is only created.
    let (project, _) = uri.split_once("candidates/").unwrap();
    let invited = owner.invite(project, json!({})).await;
    owner.set_deadline(&invited.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    owner.set_deadline(&invited.uri, &app.clock().in_days(7)).await.expect(200);
    owner.advance(&invited.uri).await.expect(200);
    owner.candidate(project, json!({})).await;
    app.settle().await;
    let used = json!([month("2026-11", [3, 2, 2, 4], false)]);
    assert_eq!(months(&owner, "2026-11", "2026-11").await, used);

    // It stays when they are erased, and is that of the company alone.
    for candidate in [uri, &invited.uri] {
        owner.delete(candidate).await.expect(204);
    }
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(47));
    app.sweep().await;
    app.settle().await;
    // The first request of a while also keeps the session alive.
    owner.get(&target).await.expect(200);
    let read = owner.get(&target).await.expect(200);
    assert_eq!((&read.json()["objects"], read.log().dynamodb_calls), (&used, 2));
    let stranger = app.owner_of("globex").await;
    let other = stranger.get("/companies/globex/usage/?from=2026-11&to=2026-11").await.expect(200).json();
    assert_eq!(other["objects"], json!([month("2026-11", [0; 4], false)]));
    let unchanged = Request::get(&target).header("if-none-match", read.header("etag").unwrap());
    owner.send(unchanged).await.expect(304);
}

#[tokio::test]
async fn what_was_said_of_an_erased_answer_counts_although_it_had_no_number() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = Interviewee::asked(&app, json!({})).await;
    app.settle().await;
    person.record(&[&film()]).await;
    while app.events().deliver_stream().await.unwrap() > 0 {}
    // The conversion ends, and the stream has yet to tell.
    app.events().deliver_objects().await.unwrap();
    assert_eq!(months(&owner, "2026-11", "2026-11").await[0]["answers_converted"], 0);
    owner.delete(&person.candidate.uri).await.expect(204);
    let items = app.table().snapshot().await;
    let effects: Vec<_> = items.iter().filter(|(_, item)| item["task"]["kind"] == "erased").collect();
    let [((pk, sk), _)] = effects[..] else { panic!("{effects:?}") };
    let record = json!({ "Keys": { "pk": { "S": pk }, "sk": { "S": sk } }, "SequenceNumber": "1" });
    let event = serde_json::from_value(json!({ "Records": [{ "dynamodb": record }] })).unwrap();
    outbox::handle(app.app(), event).await.unwrap();
    let histories = app.table().snapshot().await;
    let converted = histories.values().find(|item| item["change"]["types"][0] == "answer.converted").unwrap();
    assert_eq!(converted["change"]["details"], json!({}), "it is stripped");
    assert_eq!(months(&owner, "2026-11", "2026-11").await, json!([month("2026-11", [1, 0, 1, 2], false)]));
    app.clock().advance(TimeDelta::minutes(47));
    app.sweep().await;
    app.settle().await;
    assert_eq!(months(&owner, "2026-11", "2026-11").await, json!([month("2026-11", [1, 0, 1, 2], false)]));
}

#[tokio::test]
async fn an_event_counts_in_the_month_of_its_timestamp_and_a_final_month_stays() {
    let app = TestApp::start().await;
    let caller = integration(&app).await;
    let project = app.owner().await.running_project(json!({})).await;
    let number = async |at: &str| {
        go_to(&app, at);
        app.settle().await;
    };
    // The last second of a month, and the first of the next one, in a batch.
    go_to(&app, "2026-11-30T23:59:59Z");
    invite(&caller, &project).await;
    go_to(&app, "2026-12-01T00:00:00Z");
    invite(&caller, &project).await;
    invite(&caller, &project).await;
    number("2026-12-01T00:00:01Z").await;
    let [november, december] = [[1, 0, 0, 0], [2, 0, 0, 0]];
    for (at, is_final) in [("2026-12-03T23:59:59Z", false), ("2026-12-04T00:00:00Z", true)] {
        go_to(&app, at);
        let expected = json!([
            month("2026-10", [0; 4], true),
            month("2026-11", november, is_final),
            month("2026-12", december, false),
        ]);
        assert_eq!(months(&caller, "2026-10", "2026-12").await, expected, "{at}");
    }
    // The next batch moves the final month out of what each batch writes.
    let closed = async || {
        let items = app.table().snapshot().await;
        items.get(&("COMPANY#acme".to_owned(), "USAGE".to_owned())).map(|item| item["usage"].clone())
    };
    assert_eq!(closed().await, None);
    invite(&caller, &project).await;
    number("2026-12-04T00:00:01Z").await;
    let counts = json!({ "candidates_invited": 1, "interviews_completed": 0, "answers_converted": 0, "seconds_converted": 0 });
    assert_eq!(closed().await, Some(json!({ "2026-11": counts })));
    let items = app.table().snapshot().await;
    let open = &items[&("COMPANY#acme".to_owned(), "SEQUENCE".to_owned())]["usage"];
    assert_eq!(open.as_object().unwrap().keys().collect::<Vec<_>>(), ["2026-12"]);

    // An event that gets its number late counts in its own month until an hour before that is final, then in the next one.
    go_to(&app, "2026-12-31T23:59:59Z");
    invite(&caller, &project).await;
    number("2027-01-03T22:59:59Z").await;
    assert_eq!(months(&caller, "2026-12", "2027-01").await[0]["candidates_invited"], 4);
    go_to(&app, "2027-01-31T23:59:59Z");
    invite(&caller, &project).await;
    number("2027-02-03T23:00:00Z").await;
    let expected = json!([
        month("2026-11", november, true),
        month("2026-12", [4, 0, 0, 0], true),
        month("2027-01", [0; 4], false),
        month("2027-02", [1, 0, 0, 0], false),
    ]);
    assert_eq!(months(&caller, "2026-11", "2027-02").await, expected);

    // Open and closed months move with the company, and it goes on counting.
    assert_moves(&app).await;
}

#[tokio::test]
async fn up_to_36_months_are_shown_and_everything_else_is_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let years = months(&owner, "2024-12", "2027-11").await;
    let years = years.as_array().unwrap();
    assert_eq!(
        (years.len(), &years[0]["month"], &years[35]["month"]),
        (36, &json!("2024-12"), &json!("2027-11"))
    );
    let queries = [
        "",
        "from=2026-11",
        "from=2026-11&to=",
        "from=2026-13&to=11/2026",
        "from=2026-11-01&to=2026-1",
        "from=2026-11&to=2026-10",
        "from=2024-11&to=2027-11",
        "from=2026-11&to=2026-11&month=2026-11",
        "from=2026-11&from=2026-10&to=2026-11",
    ];
    let refusals = send_each(queries, async |query| owner.get(&format!("{USAGE}?{query}")).await).await;
    assert_refusals!(refusals, @r#"
        400 {"from":["This field is required."],"to":["This field is required."]}
        400 {"to":["This field is required."]}
        400 {"to":["Use a month, for example 2026-11."]}
        2 x 400 {"from":["Use a month, for example 2026-11."],"to":["Use a month, for example 2026-11."]}
        400 {"to":["Must not be before `from`."]}
        400 {"to":["Ask for at most 36 months at a time."]}
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter month.",
          "parameter":"month"
        }
        400 {
          "code":"repeated_parameter",
          "detail":"The parameter from may be sent only once.",
          "parameter":"from"
        }
        "#);
}

#[tokio::test]
async fn the_operator_gets_the_usage_of_all_companies_without_names() {
    let app = TestApp::start().await;
    let caller = integration(&app).await;
    let project = app.owner().await.running_project(json!({})).await;
    // No spreadsheet may take an identifier for a formula.
    let boss = person("boss", "boss@initech.example");
    app.operate(create_company("-formula", boss)).await.unwrap();
    app.owner_of("globex").await;
    for _ in 0..2 {
        invite(&caller, &project).await;
    }
    app.settle().await;
    let mark = json!({ "command": "mark-test", "company": "globex", "is_test": true });
    for _ in 0..2 {
        assert_eq!(
            *app.operate(mark.clone()).await.unwrap(),
            json!({ "company": "globex", "is_test": true })
        );
    }
    let csv = async |month: &str| {
        let printed = app.operate(json!({ "command": "usage", "month": month })).await.unwrap();
        assert_eq!(printed["month"], month);
        printed["csv"].as_str().unwrap().to_owned()
    };
    let expected = "\
company,month,is_test,candidates_invited,interviews_completed,answers_converted,seconds_converted,is_final
'-formula,2026-11,false,0,0,0,0,false
acme,2026-11,false,2,0,0,0,false
globex,2026-11,true,0,0,0,0,false
";
    assert_eq!(csv("2026-11").await, expected);
    assert!(csv("2026-10").await.contains("\nacme,2026-10,false,0,0,0,0,true\n"));
    for wrong in ["", "2026", "2026-13", "November"] {
        let refused = refused(&app, json!({ "command": "usage", "month": wrong })).await;
        assert_eq!(refused, json!({ "month": ["Use a month, for example 2026-11."] }));
    }
}

#[tokio::test]
async fn a_test_company_is_marked_and_nothing_else_of_it_changes() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    app.settle().await;
    let before = owner.get("/companies/acme/").await.expect(200);
    let is_test = async || {
        let usage = owner.get(&format!("{USAGE}?from=2026-11&to=2026-11")).await.expect(200).json();
        usage["is_test"].clone()
    };
    for mark in [true, false, true] {
        let marked =
            app.operate(json!({ "command": "mark-test", "company": "acme", "is_test": mark })).await.unwrap();
        assert_eq!(*marked, json!({ "company": "acme", "is_test": mark }));
        assert_eq!(is_test().await, mark);
    }
    let after = owner.get("/companies/acme/").await.expect(200);
    assert_eq!((after.json(), after.header("etag")), (before.json(), before.header("etag")));
    app.settle().await;
    let events = owner.get("/companies/acme/events/?type=company.*").await.expect(200).json();
    assert_eq!(events["objects"].as_array().unwrap().len(), 1, "the creation: {events}");
    // A misspelt mark must neither set nor remove it.
    for wrong in [json!("true"), json!("ture"), json!(1), Value::Null] {
        let command = json!({ "command": "mark-test", "company": "acme", "is_test": wrong });
        assert!(serde_json::from_value::<OperatorCommand>(command).is_err(), "{wrong}");
    }
    let absent = json!({ "command": "mark-test", "company": "acme", "is_tset": true });
    assert!(serde_json::from_value::<OperatorCommand>(absent).is_err());
    let nobody = json!({ "command": "mark-test", "company": "nobody", "is_test": true });
    assert_eq!(refused(&app, nobody).await, json!({ "company": ["There is no such company."] }));
    assert_eq!(is_test().await, true);
    // The next operator decides anew.
    assert_moves(&app).await;
}
