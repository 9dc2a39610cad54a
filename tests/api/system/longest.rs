//! The longest responses that are not in pages. The gateway of the tests refuses those that Lambda would not pass on.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::http::Request;
use url::form_urlencoded;

use crate::auth::sign_in::{Acme, SIGN_IN};
use crate::candidates::import::import;
use crate::evaluations::crud::{EvaluationFixture, given, result_of, veto};

#[tokio::test]
async fn the_report_of_an_import_in_which_everything_is_wrong_fits_in_a_response() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    // Messages repeat what was sent, of which quotation marks grow most.
    let quotes = "\"".repeat(300);
    let consent = json!({ "kind": quotes, "language": quotes, "version": "x", "obtained_at": "x" });
    let entry = json!({
        "first_name": "\u{1}", "last_name": "\u{1}", "username": "\u{1}", "email": "x", "deadline": "x", "phone": "\u{1}",
        "gender": "\u{1}", "address": "\u{1}", "partner_data": "x", "consents": [consent, consent],
    });
    let body = Value::from(vec![entry; 1_000]);
    assert!(body.to_string().len() < 4 * 1024 * 1024);
    let report = import(&owner, &project, None, &body).await.expect(200);
    assert_eq!(report.json()["meta"]["failed"], 1_000);
}

#[tokio::test]
async fn the_result_with_the_longest_comments_of_all_evaluators_fits_in_a_response() {
    let given = given().await;
    let EvaluationFixture { app, owner, evaluators: [one, _], project, question, criterion, .. } = &given;
    app.leave_unsound("evaluations are written past the service");
    let mut rated =
        vec![json!({ "question": last_segment(question) }), json!({ "criterion": last_segment(criterion) })];
    for (list, field, count) in [("questions", "text", 29), ("criteria", "name", 19)] {
        for number in 0..count {
            let created = owner
                .post(&format!("{project}{list}/"), json!({ field: format!("{number}") }))
                .await
                .expect(201);
            let kind = if list == "questions" { "question" } else { "criterion" };
            rated.push(json!({ kind: last_segment(&created.uri("resource_uri")) }));
        }
    }
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 4.0, 3.5).await.expect(201);
    veto(one, &candidate).await.expect(201);
    let snapshot = app.table().snapshot().await;
    let item = |is_wanted: &dyn Fn(&str, &str) -> bool| {
        snapshot.iter().find(|((pk, sk), _)| is_wanted(pk, sk)).expect("an item").1.clone()
    };
    let (candidate_key, project_key) =
        (format!("CANDIDATE#{}", last_segment(&candidate)), format!("PROJECT#{}", last_segment(project)));
    let (mut stored, mut asking) =
        (item(&|_, sk| sk == candidate_key), item(&|pk, sk| pk == "COMPANY#acme" && sk == project_key));
    let template = item(&|pk, _| pk.ends_with("#EVALUATIONS"));
    let ratings: Vec<Value> = rated
        .iter()
        .map(|target| json!({ "target": target, "tenths": 45, "comment": "😀".repeat(500) }))
        .collect();
    let mut items = Vec::new();
    let mut evaluators = Vec::new();
    for number in 0..40 {
        let evaluator = format!("01ARZ3NDEKTSV4RRFFQ69A{number:04}");
        let mut evaluation = template.clone();
        evaluation["sk"] = json!(format!("{}#{evaluator}", last_segment(&candidate)));
        evaluation["evaluator"] = json!(evaluator);
        evaluation["ratings"] = json!(ratings);
        evaluation["comment"] = json!("😀".repeat(2_000));
        evaluation["veto"]["comment"] = json!("😀".repeat(600));
        stored["evaluations"][&evaluator] = stored["evaluations"][one.id()].clone();
        stored["scores"][&evaluator] = stored["scores"][one.id()].clone();
        items.push(evaluation);
        evaluators.push(evaluator);
    }
    asking["staff"]["evaluators"] = json!(evaluators);
    items.extend([stored, asking]);
    app.table().load(&items).await;
    let result = owner.get(&result_of(project, &candidate)).await.expect(200);
    assert_eq!(result.json()["ratings"].as_array().unwrap().len(), 2_000);
}

#[tokio::test]
async fn the_longest_sign_ins_that_a_browser_keeps_leave_room_for_its_other_headers() {
    let acme = Acme::new().await;
    acme.set(json!({ "client_id": "𝒜".repeat(500) })).await.expect(200);
    let begin = async |return_to: &str, cookies: &str| {
        let return_to: String = form_urlencoded::byte_serialize(return_to.as_bytes()).collect();
        let begin = Request::get(&format!("{SIGN_IN}?return_to={return_to}"));
        acme.app.send(begin.header("cookie", cookies)).await
    };
    // With the length that each has in an address.
    for (character, length) in [("x", 1), ("\"", 3), ("'", 3), ("\u{1}", 3), ("𝒜", 12)] {
        let longest = format!("/?{}", character.repeat((1000 - "https://hr.example/?".len()) / length));
        let mut cookies = Vec::new();
        for _ in 0..4 {
            let begun = begin(&longest, &cookies.join("; ")).await.expect(302);
            assert!(begun.header("location").unwrap().len() < 8_000);
            cookies.push(begun.header("set-cookie").unwrap().split(';').next().unwrap().to_owned());
        }
        // The gateway takes 10,240 bytes of headers, and browsers keep 4,096 of a cookie.
        assert!(cookies.join("; ").len() < 8_000, "{character:?}");
    }
    // It takes two bytes in a cookie.
    begin(&format!("/?{}", "\\".repeat(900)), "").await.expect(400);
}
