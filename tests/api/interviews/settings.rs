//! Settings of interviews: their platform, what candidates are granted, and which questions they see.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::Request;
use tests::logs::Recording;
use tests::{assert_refusal, assert_refusals};

use super::{begin, begin_take, interview, project, write};

const TEXT: &str = "Which project are you proud of?";

async fn platform(owner: &Staff, project: &str) -> Value {
    owner.get(project).await.expect(200).json()["interview_platform"].clone()
}

#[tokio::test]
async fn new_projects_have_interviews_here_unless_mails_lead_elsewhere() {
    for (variables, expected) in
        [(&[][..], "builtin"), (&[("SUITE_URL", "https://suite.example/")][..], "external")]
    {
        let app = TestApp::start_with(variables).await;
        let owner = app.owner().await;
        assert_eq!(platform(&owner, &owner.project(json!({})).await).await, expected);
        for chosen in ["builtin", "external"] {
            let project = owner.project(json!({ "interview_platform": chosen })).await;
            assert_eq!(platform(&owner, &project).await, chosen);
        }
        let project = owner.running_project(json!({ "allow_hash_login": true })).await;
        let invited = owner.invite(&project, json!({})).await;
        let own = invited.get("/whoami/candidate/").await.expect(200).json();
        assert_eq!(own["project"]["interview_platform"], expected);
    }
}

#[tokio::test]
async fn projects_that_were_stored_without_a_platform_have_their_interviews_elsewhere() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (project, _) = project(&owner, json!({}), &[json!({ "text": TEXT })]).await;
    let key = ("COMPANY#acme".to_owned(), format!("PROJECT#{}", last_segment(&project)));
    let Some(AttributeValue::M(mut settings)) = app.table().contents().await[&key].get("settings").cloned()
    else {
        panic!("no settings")
    };
    settings.remove("interview_platform").unwrap();
    app.table().set(&key, "settings", AttributeValue::M(settings)).await;
    assert_eq!(platform(&owner, &project).await, "external");
    let candidate = begin(&owner, &project).await;
    candidate.get(&format!("{}interview/", candidate.uri)).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn the_platform_stays_once_a_candidate_has_begun() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (project, _) = project(&owner, json!({}), &[json!({ "text": TEXT })]).await;
    let change =
        async |platform: Value| owner.patch(&project, json!({ "interview_platform": platform })).await;
    assert_refusals!([change(json!("elsewhere")).await, change(Value::Null).await, change(json!(1)).await], @r#"
        400 {"interview_platform":["\"elsewhere\" is not a valid choice. Use one of: builtin, external."]}
        400 {"interview_platform":["This field may not be null."]}
        400 {"interview_platform":["Not a valid string."]}
        "#);
    change(json!("external")).await.expect(200);
    change(json!("builtin")).await.expect(200);
    begin(&owner, &project).await;
    assert_refusal!(change(json!("external")).await, @r#"400 {"code":"questions_in_use","detail":"A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change."}"#);
    change(json!("builtin")).await.expect(200);
    owner.patch(&project, json!({ "max_interview_time": 45 })).await.expect(200);
    assert_eq!(platform(&owner, &project).await, "builtin");
}

#[tokio::test]
async fn of_a_change_of_the_platform_and_a_candidate_who_begins_one_comes_first() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    for begins_first in [true, false] {
        let settings = json!({ "interview_platform": "external" });
        let (project, _) = project(&owner, settings, &[json!({ "text": TEXT })]).await;
        let invited = owner.invite(&project, json!({})).await;
        invited.advance(&invited.uri).await.expect(200);
        let paused = chaos.pause("TransactWriteItems");
        let change = owner.patch(&project, json!({ "interview_platform": "builtin" }));
        if begins_first {
            let meanwhile = async {
                paused.reached().await;
                invited.advance(&invited.uri).await.expect(200);
                paused.resume();
            };
            let (refused, ()) = tokio::join!(change, meanwhile);
            assert_refusal!(refused, @r#"400 {"code":"questions_in_use","detail":"A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change."}"#);
            invited.get(&format!("{}interview/", invited.uri)).await.expect_code(404, "not_found");
        } else {
            let meanwhile = async {
                paused.reached().await;
                change.await.expect(200);
                paused.resume();
            };
            let (begun, ()) = tokio::join!(invited.advance(&invited.uri), meanwhile);
            begun.expect(200);
            // Nobody would conduct it if the candidate had begun by the settings before.
            assert!(interview(&invited, &invited.uri).await["closes_at"].is_string());
        }
    }
}

async fn shown(who: &impl Caller, candidate: &str) -> Value {
    who.get(candidate).await.expect(200).json()["adjustments"].clone()
}

#[tokio::test]
async fn adjustments_are_replaced_as_a_whole_and_shown_to_managers_and_the_candidate() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [manager, evaluator, reviewer, sharee] = [
        app.staff("recruiter").await,
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
    ];
    let staff = json!({ "interview_managers": [manager.uri], "evaluators": [evaluator.uri],
        "reviewers": [reviewer.uri] });
    let (project, _) = project(&owner, staff, &[json!({ "text": TEXT })]).await;
    let candidate = begin(&owner, &project).await;
    owner.post(&format!("{}shares/", candidate.uri), json!({ "customer": sharee.uri })).await.expect(201);
    let (_, named) = owner.named_token("HR").await;
    let grant = async |adjustments: Value| {
        manager.patch(&candidate.uri, json!({ "adjustments": adjustments })).await.expect(200).json()
            ["adjustments"]
            .clone()
    };
    assert_eq!(owner.get(&candidate.uri).await.expect(200).json()["adjustments"], Value::Null);
    let none = json!({ "time_factor": 1, "extra_takes": 0, "may_write": false });
    assert_eq!(grant(json!({})).await, none);
    let all = json!({ "time_factor": 1.25, "extra_takes": 10, "may_write": true });
    assert_eq!(grant(all.clone()).await, all);
    let some = json!({ "time_factor": 3, "extra_takes": 0, "may_write": false });
    assert_eq!(grant(json!({ "time_factor": 3 })).await, some);
    assert_eq!(shown(&owner, &candidate.uri).await, some);
    assert_eq!(shown(&manager, &candidate.uri).await, some);
    assert_eq!(shown(&named, &candidate.uri).await, some);
    assert_eq!(shown(&candidate, &candidate.uri).await, some);
    let own = candidate.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!(own["adjustments"], some);
    for who in [&evaluator, &reviewer, &sharee] {
        assert_eq!(shown(who, &candidate.uri).await, Value::Null);
    }
    // Candidates cannot grant themselves anything.
    let tried = candidate.patch(&candidate.uri, json!({ "adjustments": all })).await.expect(200);
    assert_eq!(tried.json()["adjustments"], some);
    for who in [&evaluator, &reviewer, &sharee] {
        who.patch(&candidate.uri, json!({ "adjustments": all })).await.expect(403);
    }
    let before = owner.get(&candidate.uri).await.expect(200);
    assert_eq!(grant(Value::Null).await, Value::Null);
    assert_ne!(owner.get(&candidate.uri).await.expect(200).header("etag"), before.header("etag"));
}

#[tokio::test]
async fn wrong_adjustments_are_told_member_by_member() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (project, _) = project(&owner, json!({}), &[]).await;
    let uri = owner.candidate(&project, json!({})).await;
    let mut refusals = Vec::new();
    for wrong in [
        json!([]),
        json!("{}"),
        json!({ "time_factor": 0.99, "extra_takes": 11, "may_write": "yes" }),
        json!({ "time_factor": 3.01, "extra_takes": -1, "may_write": null }),
        json!({ "time_factor": 1.005, "extra_takes": 1.5, "may_write": 1 }),
        json!({ "time_factor": "2", "extra_takes": null }),
        json!({ "time_factor": null }),
    ] {
        refusals.push(owner.patch(&uri, json!({ "adjustments": wrong, "first_name": "" })).await);
    }
    assert_refusals!(refusals, @r#"
        2 x 400 {"adjustments":["Expected an object."],"first_name":["This field may not be blank."]}
        400 {
          "adjustments.extra_takes":["Ensure this value is from 0 to 10."],
          "adjustments.may_write":["Must be a valid boolean."],
          "adjustments.time_factor":["Use a number from 1 to 3 with at most two decimals."],
          "first_name":["This field may not be blank."]
        }
        400 {
          "adjustments.extra_takes":["Ensure this value is from 0 to 10."],
          "adjustments.may_write":["This field may not be null."],
          "adjustments.time_factor":["Use a number from 1 to 3 with at most two decimals."],
          "first_name":["This field may not be blank."]
        }
        400 {
          "adjustments.extra_takes":["A valid integer is required."],
          "adjustments.may_write":["Must be a valid boolean."],
          "adjustments.time_factor":["Use a number from 1 to 3 with at most two decimals."],
          "first_name":["This field may not be blank."]
        }
        400 {
          "adjustments.extra_takes":["This field may not be null."],
          "adjustments.time_factor":["A valid number is required."],
          "first_name":["This field may not be blank."]
        }
        400 {"adjustments.time_factor":["This field may not be null."],"first_name":["This field may not be blank."]}
        "#);
    assert_eq!(shown(&owner, &uri).await, Value::Null);
}

#[tokio::test]
async fn neither_history_nor_events_nor_logs_tell_of_adjustments() {
    let recording = Recording::start();
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let staff = json!({ "evaluators": [evaluator.uri], "max_interview_time": 30 });
    let (project, questions) = project(&owner, staff, &[json!({ "text": TEXT })]).await;
    let candidate = begin(&owner, &project).await;
    let granted = json!({ "time_factor": 2.5, "extra_takes": 7, "may_write": true });
    owner.patch(&candidate.uri, json!({ "adjustments": granted })).await.expect(200);
    app.settle().await;
    let events = owner.get(&format!("{}events/", candidate.uri)).await.expect(200).json();
    let last = events["objects"].as_array().unwrap().last().unwrap().clone();
    assert_eq!([&last["types"], &last["data"]["changed"]], [&json!([]), &json!([])], "{last}");
    let feed = owner.get("/companies/acme/events/?after=0&page_size=100").await.expect(200).json();
    for told in [events.to_string(), feed.to_string(), recording.text()] {
        for word in ["adjust", "time_factor", "extra_takes", "may_write"] {
            assert!(!told.contains(word), "{word}: {told}");
        }
    }
    // Nor does what follows from them.
    let seen = interview(&evaluator, &candidate.uri).await;
    assert_eq!([&seen["ends_at"], &seen["closes_at"], &seen["answers"][0]["takes_left"]], [&Value::Null; 3]);
    begin_take(&candidate, &questions[0]).await;
    let seen = interview(&evaluator, &candidate.uri).await;
    let open = &seen["answers"][0]["open_take"];
    assert_eq!([&open["record_from"], &open["record_until"]], [&Value::Null; 2]);
    let own = interview(&candidate, &candidate.uri).await;
    assert!(own["answers"][0]["open_take"]["record_until"].is_string());
}

#[tokio::test]
async fn a_question_with_time_to_prepare_is_seen_once_its_first_take_has_begun() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let video = json!({ "name": "Why", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 });
    let video = owner.post("/companies/acme/videos/", video).await.expect(201).uri("resource_uri");
    let asked = [
        json!({ "text": TEXT, "preparation_seconds": 30, "video": video }),
        json!({ "text": "At once", "preparation_seconds": 0 }),
        json!({ "text": "In writing", "kind": "text" }),
    ];
    for platform in ["builtin", "external"] {
        let (project, questions) = project(&owner, json!({ "interview_platform": platform }), &asked).await;
        let candidate = begin(&owner, &project).await;
        let list = format!("{project}questions/");
        let texts = async || {
            let all = candidate.get(&list).await.expect(200).json()["objects"].clone();
            let one = candidate.get(&questions[0]).await.expect(200).json();
            assert_eq!(all[0], one);
            [0, 1, 2].map(|place| all[place]["text"].clone())
        };
        let everything = [json!(TEXT), json!("At once"), json!("In writing")];
        if platform == "external" {
            assert_eq!(texts().await, everything);
            candidate.get(&video).await.expect(200);
            continue;
        }
        assert_eq!(texts().await, [Value::Null, everything[1].clone(), everything[2].clone()]);
        let read = [candidate.get(&list).await, candidate.get(&questions[0]).await];
        assert!(read.iter().all(|response| !response.json().to_string().contains(&video)));
        candidate.get(&video).await.expect_code(404, "not_found");
        candidate.send(Request::get(&format!("{}interview/", candidate.uri))).await.expect(200);
        begin_take(&candidate, &questions[0]).await;
        assert_eq!(texts().await, everything);
        candidate.get(&video).await.expect(200);
        // A reset gives the takes back, and the secret with them.
        let answer = super::answer(&candidate, &questions[0]);
        owner.delete(&answer).await.expect(204);
        assert_eq!(texts().await[0], Value::Null);
        // A candidate who may write need not record first.
        owner.patch(&candidate.uri, json!({ "adjustments": { "may_write": true } })).await.expect(200);
        assert_eq!(texts().await, everything);
        candidate.get(&video).await.expect(200);
        write(&candidate, &questions[0], "That of my youth").await.expect(201);
    }
}
