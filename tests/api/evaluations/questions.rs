//! Questions and criteria of a project, their nested loading, and the languages of a company.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::{Aborted, Confirmed, Interviewed, Interviewing};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

/// The service, its owner, and a running project in which candidates need no password.
pub(crate) async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    (app, owner, project)
}

async fn create(owner: &Staff, list: &str, fields: Value) -> Value {
    owner.post(list, fields).await.expect(201).json()
}

/// One attribute of each resource in a list.
async fn listed(caller: &impl Caller, list: &str, field: &str) -> Vec<Value> {
    let list = caller.get(list).await.expect(200).json();
    let objects = list["objects"].as_array().unwrap();
    assert_eq!(list["meta"]["total_count"], objects.len());
    objects.iter().map(|one| one[field].clone()).collect()
}

#[tokio::test]
async fn a_question_has_defaults_and_all_of_it_can_be_changed() {
    let (_app, owner, project) = given().await;
    let list = format!("{project}questions/");
    let created = owner.post(&list, json!({ "text": "\r\nWhy us? \n" })).await.expect(201);
    let uri = created.uri("resource_uri");
    assert_eq!(created.header("location"), Some(uri.as_str()));
    let mut expected = json!({
        "id": last_segment(&uri),
        "resource_uri": uri, "project": project, "position": 1, "text": "Why us?", "kind": "video", "video": null,
        "preparation_seconds": null, "answer_seconds": 120, "takes": 3, "is_required": true,
        "internal_description": "", "anchors": [],
    });
    assert_eq!(created.json(), expected);
    owner.get(&uri).await.expect_json(200, expected.clone());

    let video = json!({ "name": "Why", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 });
    let video = owner.post("/companies/acme/videos/", video).await.expect(201).uri("resource_uri");
    let fields = json!({
        "position": 7, "text": "Why\nnot?", "kind": "text", "video": video, "preparation_seconds": 30,
        "answer_seconds": 600, "takes": null, "is_required": false, "internal_description": "Listen.",
        "anchors": [{ "value": 3, "text": "Fair" }],
    });
    owner.patch(&uri, fields.clone()).await.expect(200);
    expected.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    owner.get(&uri).await.expect_json(200, expected.clone());
    // A question can be sent back as it was read, which changes nothing.
    let seen = owner.get(&uri).await.expect(200);
    let again = owner.send(Request::put(&uri).json(&expected)).await.expect_json(200, expected.clone());
    assert_eq!(again.header("etag"), seen.header("etag"));

    // PUT gives all that is missing its default, but for the place.
    assert_refusal!(owner.send(Request::put(&uri).json(&json!({ "kind": "text" }))).await, @r#"400 {"text":["This field is required."]}"#);
    let whole = json!({ "text": "Why us?", "preparation_seconds": 10 });
    let replaced = owner.send(Request::put(&uri).json(&whole)).await.expect(200).json();
    let takes = [&replaced["takes"], &replaced["position"], &replaced["video"], &replaced["kind"]];
    assert_eq!(takes, [&json!(1), &json!(7), &Value::Null, &json!("video")]);

    let next = create(&owner, &list, json!({ "text": "Next" })).await;
    assert_eq!(next["position"], 8, "after the last");
    owner.delete(&uri).await.expect(204);
    owner.get(&uri).await.expect(404);
    owner.delete(&uri).await.expect(404);
    assert_eq!(listed(&owner, &list, "text").await, ["Next"]);
}

#[tokio::test]
async fn lists_follow_the_positions_and_their_links() {
    let (_app, owner, project) = given().await;
    for (list, name) in [("questions", "text"), ("criteria", "name")] {
        let list = format!("{project}{list}/");
        for position in [3, 1, 5, 2, 4] {
            create(&owner, &list, json!({ name: format!("No. {position}"), "position": position })).await;
        }
        let mut seen = Vec::new();
        let mut next = Some(format!("{list}?page_size=2"));
        while let Some(target) = next {
            let page = owner.get(&target).await.expect(200).json();
            seen.extend(page["objects"].as_array().unwrap().iter().map(|one| one["position"].clone()));
            next = page["meta"]["next"].as_str().map(str::to_owned);
        }
        assert_eq!(seen, [1, 2, 3, 4, 5]);
    }
}

#[tokio::test]
async fn wrong_fields_are_refused_together_and_nothing_changes() {
    let (app, owner, project) = given().await;
    let (questions, criteria) = (format!("{project}questions/"), format!("{project}criteria/"));
    let question = create(&owner, &questions, json!({ "text": "Why us?", "position": 2 })).await;
    create(&owner, &questions, json!({ "text": "Why not?", "position": 3 })).await;
    create(&owner, &criteria, json!({ "name": "Listening" })).await;
    let foreign = app.owner_of("globex").await;
    let video = json!({ "name": "Why", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 });
    let foreign = foreign.post("/companies/globex/videos/", video).await.expect(201).uri("resource_uri");
    let none = "/companies/acme/videos/01JQ8Z2M8F3A6D1S4J7H0K9PME/";
    let none = project.replace(&format!("projects/{}/", last_segment(&project)), "videos/")
        + last_segment(none)
        + "/";
    let before = app.table().snapshot().await;
    let long = "x".repeat(1001);
    let bodies = [
        json!({}),
        json!({ "text": " " }),
        json!({ "text": long, "internal_description": long }),
        json!({ "text": "x", "kind": "audio", "is_required": "yes" }),
        json!({ "text": "x", "preparation_seconds": 601, "answer_seconds": 9 }),
        json!({ "text": "x", "takes": 0, "position": -1 }),
        json!({ "text": "x", "takes": 11, "answer_seconds": null }),
        json!({ "text": "x", "position": 2 }),
        json!({ "text": "x", "video": foreign }),
        json!({ "text": "x", "video": none }),
    ];
    assert_refusals!(send_each(bodies, |body| owner.post(&questions, body)).await, @r#"
        400 {"text":["This field is required."]}
        400 {"text":["This field may not be blank."]}
        400 {"internal_description":["Ensure this field has no more than 1000 characters."],"text":["Ensure this field has no more than 1000 characters."]}
        400 {"is_required":["Must be a valid boolean."],"kind":["\"audio\" is not a valid choice. Use one of: video, text."]}
        400 {"answer_seconds":["Ensure this value is from 10 to 600."],"preparation_seconds":["Ensure this value is from 0 to 600."]}
        400 {"position":["Ensure this value is from 0 to 1000000."],"takes":["Ensure this value is from 1 to 10."]}
        400 {"answer_seconds":["This field may not be null."],"takes":["Ensure this value is from 1 to 10."]}
        400 {"position":["This position is already taken."]}
        400 {"video":["\"https://hr.example/api/v3/companies/globex/videos/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/videos/."]}
        400 {"video":["Video [id] does not exist."]}
        "#);
    let uri = question["resource_uri"].as_str().unwrap();
    assert_refusal!(owner.patch(uri, json!({ "position": 3 })).await, @r#"400 {"position":["This position is already taken."]}"#);
    assert_refusal!(owner.patch(uri, json!({ "text": null })).await, @r#"400 {"text":["This field may not be null."]}"#);
    let bodies = [
        json!({}),
        json!({ "name": "x".repeat(101), "description": long }),
        json!({ "name": "x", "position": 1 }),
    ];
    assert_refusals!(send_each(bodies, |body| owner.post(&criteria, body)).await, @r#"
        400 {"name":["This field is required."]}
        400 {"description":["Ensure this field has no more than 1000 characters."],"name":["Ensure this field has no more than 100 characters."]}
        400 {"position":["This position is already taken."]}
        "#);
    for unknown in ["01JQ8Z2M8F3A6D1S4J7H0K9PME", "x"] {
        owner.get(&format!("{questions}{unknown}/")).await.expect(404);
        owner.delete(&format!("{criteria}{unknown}/")).await.expect(404);
    }
    // A question is no criterion.
    owner.get(&uri.replace("questions", "criteria")).await.expect(404);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_project_has_at_most_thirty_questions_and_twenty_criteria() {
    let (_app, owner, project) = given().await;
    let mut refusals = Vec::new();
    for (list, name, texts, most) in
        [("questions", "text", "internal_description", 30), ("criteria", "name", "description", 20)]
    {
        let list = format!("{project}{list}/");
        // The texts are as long as they can be, so that the item is as large as it can be.
        let long = "\u{1F600}".repeat(if list.ends_with("criteria/") { 100 } else { 1000 });
        let about = "\u{1F600}".repeat(1000);
        for _ in 0..most {
            let fields = json!({ name: long, texts: about });
            owner.post(&list, fields).await.expect(201);
        }
        refusals.push(owner.post(&list, json!({ name: "One more" })).await);
        assert_eq!(listed(&owner, &format!("{list}?page_size=100"), "position").await.len(), most);
    }
    assert_refusals!(refusals, @r#"
        400 {"code":"too_many_questions","detail":"A project may have 30 questions. Delete one first."}
        400 {"code":"too_many_criteria","detail":"A project may have 20 criteria. Delete one first."}
        "#);
}

#[tokio::test]
async fn questions_are_locked_once_anybody_has_begun_but_for_their_texts() {
    for status in [Interviewing, Aborted, Interviewed] {
        let (app, owner, project) = given().await;
        let list = format!("{project}questions/");
        let question = create(&owner, &list, json!({ "text": "Why us?" })).await;
        let uri = question["resource_uri"].as_str().unwrap();
        owner.candidate_at(&project, Confirmed).await;
        owner.patch(uri, json!({ "answer_seconds": 60 })).await.expect(200);

        let candidate = owner.candidate_at(&project, status).await;
        let locked = async || {
            let before = app.table().snapshot().await;
            for change in [
                json!({ "answer_seconds": 90 }),
                json!({ "position": 9 }),
                json!({ "kind": "text" }),
                json!({ "takes": 1, "text": "x" }),
                json!({ "preparation_seconds": 1 }),
                json!({ "is_required": false }),
            ] {
                assert_refusal!(owner.patch(uri, change).await, @r#"400 {"code":"questions_in_use","detail":"A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change."}"#);
            }
            assert_refusal!(owner.post(&list, json!({ "text": "Another" })).await, @r#"400 {"code":"questions_in_use","detail":"A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change."}"#);
            assert_refusal!(owner.delete(uri).await, @r#"400 {"code":"questions_in_use","detail":"A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change."}"#);
            assert_eq!(app.table().snapshot().await, before);
        };
        locked().await;
        let texts = json!({ "text": "Why not?", "internal_description": "Listen.", "answer_seconds": 60 });
        assert_eq!(owner.patch(uri, texts).await.expect(200).json()["text"], "Why not?");
        // Criteria stay open.
        let criterion = create(&owner, &format!("{project}criteria/"), json!({ "name": "Listening" })).await;
        owner.delete(criterion["resource_uri"].as_str().unwrap()).await.expect(204);
        // The mark stays.
        if status == Aborted {
            owner.set_deadline(&candidate, &app.clock().in_days(9)).await.expect(200);
            owner.advance(&candidate).await.expect(200);
            locked().await;
        }
        owner.delete(&candidate).await.expect(204);
        locked().await;
    }
}

#[tokio::test]
async fn of_a_question_and_a_candidate_who_begins_one_is_first() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    for begins_first in [true, false] {
        let project = owner.running_project(json!({ "allow_hash_login": true })).await;
        let invited = owner.invite(&project, json!({})).await;
        invited.advance(&invited.uri).await.expect(200);
        let list = format!("{project}questions/");
        let paused = chaos.pause("TransactWriteItems");
        let ask = owner.post(&list, json!({ "text": "Why us?" }));
        if begins_first {
            let meanwhile = async {
                paused.reached().await;
                invited.advance(&invited.uri).await.expect(200);
                paused.resume();
            };
            let (refused, ()) = tokio::join!(ask, meanwhile);
            assert_refusal!(refused, @r#"400 {"code":"questions_in_use","detail":"A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change."}"#);
            assert!(listed(&owner, &list, "text").await.is_empty());
        } else {
            let meanwhile = async {
                paused.reached().await;
                ask.await.expect(201);
                paused.resume();
            };
            let (begun, ()) = tokio::join!(invited.advance(&invited.uri), meanwhile);
            assert_eq!(begun.expect(200).json()["status"], "interviewing");
            assert_eq!(listed(&invited, &list, "text").await, ["Why us?"]);
        }
    }
}

#[tokio::test]
async fn candidates_read_questions_from_the_interview_on_without_internal_texts() {
    let (app, owner, project) = given().await;
    let (questions, criteria) = (format!("{project}questions/"), format!("{project}criteria/"));
    let video = json!({ "name": "Why", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 });
    let video = owner.post("/companies/acme/videos/", video).await.expect(201).uri("resource_uri");
    let secret = json!({ "text": "Why us?", "internal_description": "Secret", "video": video });
    let question = create(&owner, &questions, secret).await;
    let uri = question["resource_uri"].as_str().unwrap();
    create(&owner, &criteria, json!({ "name": "Listening" })).await;
    let invited = owner.invite(&project, json!({})).await;
    let candidate = invited.register().await;
    let own = &invited.uri;
    let refused = async |token: &_| {
        let token: &tests::caller::Token = token;
        for target in [&questions, uri, &criteria, &video] {
            token.get(target).await.expect_code(404, "not_found");
        }
    };
    refused(&candidate).await;
    candidate.advance(own).await.expect(200);
    refused(&candidate).await;
    candidate.advance(own).await.expect(200);
    let mut expected = question.clone();
    for hidden in ["internal_description", "anchors"] {
        expected.as_object_mut().unwrap().remove(hidden);
    }
    let reads = async |token: &_| {
        let token: &tests::caller::Token = token;
        token.get(uri).await.expect_json(200, expected.clone());
        assert_eq!(listed(token, &questions, "resource_uri").await, [uri]);
        token.get(&video).await.expect(200);
        token.get(&criteria).await.expect_code(404, "not_found");
        token.post(&questions, json!({ "text": "x" })).await.expect_code(404, "not_found");
        token.delete(uri).await.expect_code(404, "not_found");
    };
    reads(&candidate).await;
    app.complete(own).await;
    // The session ends with the interview.
    let candidate = invited.log_in().await;
    reads(&candidate).await;
    // Not those of another project.
    let other = owner.running_project(json!({ "allow_hash_login": true })).await;
    create(&owner, &format!("{other}questions/"), json!({ "text": "Why?" })).await;
    candidate.get(&format!("{other}questions/")).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_deleted_video_leaves_the_questions() {
    let (_app, owner, project) = given().await;
    let video = json!({ "name": "Why", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 });
    let video = owner.post("/companies/acme/videos/", video).await.expect(201).uri("resource_uri");
    let list = format!("{project}questions/");
    create(&owner, &list, json!({ "text": "Why us?", "video": video })).await;
    owner.candidate_at(&project, Interviewing).await;
    owner.delete(&video).await.expect(204);
    assert_eq!(listed(&owner, &list, "video").await, [Value::Null]);
}

#[tokio::test]
async fn each_part_has_a_tag_of_its_own() {
    let (_app, owner, project) = given().await;
    for (list, field) in [("questions", "text"), ("criteria", "name")] {
        let list = format!("{project}{list}/");
        let uri = async |text: &str| {
            create(&owner, &list, json!({ field: text })).await["resource_uri"].as_str().unwrap().to_owned()
        };
        let [one, two] = [uri("One").await, uri("Two").await];
        let tag = owner.get(&one).await.expect(200).header("etag").unwrap().to_owned();
        owner.patch(&two, json!({ field: "Other" })).await.expect(200);
        let change = |text: &str| Request::patch(&one).json(&json!({ field: text })).header("if-match", &tag);
        let changed = owner.send(change("First")).await.expect(200);
        owner.send(change("Second")).await.expect_code(412, "precondition_failed");
        let next = Request::delete(&one).header("if-match", changed.header("etag").unwrap());
        owner.send(next).await.expect(204);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_add_questions_at_once_all_get_a_place_of_their_own() {
    let (_app, owner, project) = given().await;
    let list = format!("{project}questions/");
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..8 {
        let (owner, list) = (owner.clone(), list.clone());
        clients.spawn(async move { owner.post(&list, json!({ "text": format!("No. {number}") })).await });
    }
    for response in clients.join_all().await {
        response.expect(201);
    }
    assert_eq!(listed(&owner, &list, "position").await, (1..=8).collect::<Vec<_>>());
}

#[tokio::test]
async fn projects_show_questions_and_criteria_nested() {
    let (_app, owner, project) = given().await;
    let bare = owner.get(&format!("{project}?expand=questions,criteria")).await.expect(200).json();
    assert_eq!((&bare["questions"], &bare["criteria"]), (&json!([]), &json!([])));
    for (list, field) in [("questions", "text"), ("criteria", "name")] {
        for position in [2, 1] {
            let fields = json!({ field: format!("No. {position}"), "position": position });
            create(&owner, &format!("{project}{list}/"), fields).await;
        }
    }
    let plain = owner.get(&project).await.expect(200).json();
    let mut expected = plain.clone();
    for list in ["questions", "criteria"] {
        let nested = owner.get(plain[list].as_str().unwrap()).await.expect(200).json();
        let mut one = plain.clone();
        one[list] = nested["objects"].clone();
        owner.get(&format!("{project}?expand={list}")).await.expect_json(200, one);
        expected[list] = nested["objects"].clone();
    }
    let single = owner.get(&format!("{project}?expand=questions,criteria")).await.expect(200);
    assert_eq!((single.log().dynamodb_calls, single.json()), (2, expected.clone()));
    let page = owner.get("/companies/acme/projects/?expand=criteria,questions").await.expect(200).json();
    for list in ["questions", "criteria"] {
        assert_eq!(page["objects"][0][list], expected[list]);
    }
}

#[tokio::test]
async fn reads_are_one_round_trip_and_changes_two() {
    let (_app, owner, project) = given().await;
    let list = format!("{project}questions/");
    let created = owner.post(&list, json!({ "text": "Why us?" })).await.expect(201);
    let uri = created.uri("resource_uri");
    let changed = owner.patch(&uri, json!({ "takes": 1 })).await.expect(200);
    let again = owner.patch(&uri, json!({ "takes": 1 })).await.expect(200);
    let [listed, read] = [owner.get(&list).await.expect(200), owner.get(&uri).await.expect(200)];
    let deleted = owner.delete(&uri).await.expect(204);
    let calls = [created, changed, again, listed, read, deleted].map(|one| one.log().dynamodb_calls);
    assert_eq!(calls, [2, 2, 1, 1, 1, 2]);
}
