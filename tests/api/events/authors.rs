//! Authors of changes, told by the feed alone.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::files::{Form, pdf, put};
use tests::http::Request;

use crate::events::feed::read_all;

/// A line of the feed as a person reads it: the kind of author and the types.
fn line(event: &Value) -> String {
    let types: Vec<&str> =
        event["types"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    format!("{}: {}", event["by"]["kind"].as_str().unwrap(), types.join(", "))
}

#[tokio::test]
async fn the_life_of_a_candidate_is_told_by_the_feed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let project = json!({ "evaluators": [evaluator.uri], "team_evaluation": 1, "veto_enabled": true });
    let project = owner.running_project(project).await;
    let invited = owner.invite(&project, json!({})).await;
    let ada = invited.uri.clone();
    owner.remind(&ada).await.expect(200);
    let own = invited.register().await;
    own.advance(&ada).await.expect(200);
    own.advance(&ada).await.expect(200);
    app.complete(&ada).await;
    app.evaluate(&ada, &evaluator.uri, true).await;
    evaluator.post(&format!("{ada}vetos/"), json!({ "comment": "Forged certificates." })).await.expect(201);
    owner.post(&format!("{ada}shares/"), json!({ "customer": evaluator.uri })).await.expect(201);
    let form = Form::new().file("cv", "cv.pdf", "application/pdf", &pdf(100));
    owner.send(Request::patch(&ada).form(form)).await.expect(200);
    app.settle().await;

    let life = read_all(&owner, &format!("resource={ada}")).await;
    assert_eq!(
        life.iter().map(line).collect::<Vec<_>>(),
        [
            "customer: candidate.created",
            "customer: candidate.invited",
            "customer: candidate.reminded",
            "candidate: candidate.updated",
            "candidate: candidate.confirmed",
            "candidate: candidate.interviewing",
            "system: candidate.interviewed",
            "system: candidate.evaluated",
            "customer: candidate.evaluated",
            "customer: candidate.shared",
            "customer: candidate.updated",
        ]
    );
    let data = |place: usize| life[place]["data"].clone();
    assert_eq!((&data(3)["changed"], &data(10)["changed"]), (&json!(["password"]), &json!(["cv"])));
    let interviewed = data(6);
    assert_eq!(interviewed["previous"], json!({ "status": "interviewing", "interviewdate": null }));
    let completed = [&interviewed["status"], &interviewed["interviewdate"], &interviewed["project"]];
    assert_eq!(completed, [&json!("interviewed"), &json!("2026-11-08T10:00:00Z"), &json!(project)]);
    assert_eq!(data(7)["added"], json!({ "evaluations": [evaluator.uri] }));
    assert_eq!((&data(7)["completed_evaluations"], &data(8)["added"]), (&json!(1), &json!({})));
    assert_eq!(data(9)["added"], json!({ "shares": [evaluator.uri] }));
    assert_eq!(life[5]["by"]["resource_uri"], ada);
    // The event of the platform that told of the end of the interview.
    assert!(life[6]["request_id"].is_string() && life[6]["by"]["resource_uri"].is_null(), "{}", life[6]);

    owner.delete(&ada).await.expect(204);
    app.settle().await;
    let life = read_all(&owner, &format!("resource={ada}")).await;
    let (erased, life) = life.split_last().unwrap();
    assert_eq!(line(erased), "system: candidate.erased");
    assert_eq!(erased["data"]["reason"], "deleted");
    assert_eq!(line(life.last().unwrap()), "customer: candidate.deleted");
    for event in life {
        let data = event["data"].as_object().unwrap();
        let left = [
            "resource_uri",
            "interview_suite_url",
            "project",
            "version",
            "changed",
            "previous",
            "added",
            "removed",
        ];
        assert!(data.keys().all(|name| left.contains(&name.as_str())), "stripped: {event}");
        assert!(
            ["changed", "previous", "added", "removed"].iter().all(|name| is_empty(&data[*name])),
            "{event}"
        );
    }
}

fn is_empty(value: &Value) -> bool {
    *value == json!([]) || *value == json!({})
}

#[tokio::test]
async fn a_day_of_a_company_is_told_by_author() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (token, service) = owner.named_token("Payroll").await;
    let recruiter = app.staff("recruiter").await;
    let admin = app.staff("admin").await;
    let permit = json!({ "command": "grant-on-behalf", "company": "acme", "username": admin.username });
    app.operate(permit).await.unwrap();
    let acting = json!({ "company": "acme", "username": recruiter.username });
    let acting = admin.post("/api-token-auth/", acting).await.expect(200).uri("token");
    let acting = app.token(&acting);

    let label = service.post("/companies/acme/labels/", json!({ "text": "Senior" })).await.expect(201);
    acting.post("/companies/acme/labels/", json!({ "text": "Junior" })).await.expect(201);
    owner.delete(&label.uri("resource_uri")).await.expect(204);
    let colleague = owner.colleague("recruiter", json!({})).await;
    colleague.activate().await;
    let project = owner.running_project(json!({})).await;
    let late = json!({ "deadline": app.clock().in_days(1) });
    let late = owner.invite(&project, late).await;
    let announced = json!({ "field": "cv", "content_type": "application/pdf", "size": pdf(100).len() });
    let announced = late.post(&format!("{}uploads/", late.uri), announced).await.expect(201).json();
    put(&announced, pdf(100)).await;
    app.settle().await;
    app.clock().advance(TimeDelta::days(1));
    app.sweep().await;
    app.settle().await;

    // The session has ended.
    let reader = owner.new_token().await;
    let lines = async |by: &str| -> Vec<String> {
        let events = read_all(&reader, &format!("by={by}")).await;
        events
            .iter()
            .flat_map(|event| event["types"].as_array().unwrap())
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(lines(&token).await, ["label.created"]);
    assert_eq!(lines("system").await, ["candidate.expired"]);
    assert_eq!(lines(&late.uri).await, ["candidate.updated"], "their own CV, though the event attached it");
    assert_eq!(lines(&colleague.uri).await, ["customer.confirmed"]);
    let by_recruiter = read_all(&reader, &format!("by={}", recruiter.uri)).await;
    assert_eq!(
        by_recruiter.iter().map(|event| event["types"][0].clone()).collect::<Vec<_>>(),
        ["label.created"]
    );
    assert_eq!(by_recruiter[0]["on_behalf_by"], admin.uri);
    let by_owner = lines(&owner.uri).await;
    let expected = [
        "customer.created",
        "label.deleted",
        "token.created",
        "project.created",
        "project.status_changed",
        "candidate.created",
        "candidate.invited",
    ];
    assert_eq!(by_owner, expected);
    let by_operator = lines("operator").await;
    assert_eq!((&by_operator[0], by_operator.len()), (&"company.created".to_owned(), 8), "{by_operator:?}");
    // The request is in the log as well.
    let response = reader.post("/companies/acme/labels/", json!({ "text": "Lead" })).await.expect(201);
    app.settle().await;
    let last = read_all(&reader, "type=label.created").await.pop().unwrap();
    assert_eq!(last["request_id"].as_str(), response.header("x-request-id"));
}
