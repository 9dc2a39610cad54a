//! Vetoes.

use serde_json::{Value, json};
use shared::event::RecordOutcome::Ignored;
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};

use crate::evaluations::crud::{given, own, result_of, save, veto};
use crate::events::feed::read_all;
use crate::system::platform_events::{evaluated, report};

#[tokio::test]
async fn a_veto_completes_the_evaluation_and_others_stay_blind() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let candidate = given.interviewed().await;
    let created = veto(one, &candidate).await.expect(201);
    let read = one.get(&created.uri("resource_uri")).await.expect(200);
    assert_eq!(created.header("etag"), read.header("etag"));
    let expected = json!({
        "id": last_segment(&created.uri("resource_uri")),
        "resource_uri": created.uri("resource_uri"), "comment": "The certificates are forged.",
        "candidate": candidate, "evaluator": one.uri,
    });
    assert_eq!(
        (created.json(), created.header("location")),
        (expected.clone(), expected["resource_uri"].as_str())
    );
    assert_refusal!(veto(one, &candidate).await, @r#"400 {"code":"already_vetoed","detail":"You have already vetoed this candidate."}"#);
    assert_eq!(owner.get(&candidate).await.expect(200).json()["evaluation_status"], "completed");
    let shown = two.get(&candidate).await.expect(200).json();
    assert_eq!(
        (&shown["evaluation_status"], &shown["my_evaluation_status"]),
        (&json!("completed"), &json!("pending"))
    );
    let project = owner.get(&given.project).await.expect(200).json();
    assert_eq!((&project["evaluated_candidates_count"], &project["can_archive"]), (&json!(1), &json!(true)));

    let lists = [format!("{candidate}vetos/"), format!("{}vetos/", given.project)];
    for list in &lists {
        for caller in [owner, one, &given.reviewer] {
            let list = caller.get(list).await.expect(200).json();
            assert_eq!((&list["meta"]["total_count"], &list["objects"]), (&json!(1), &json!([expected])));
        }
        let hidden = two.get(list).await.expect(200).json();
        assert_eq!((&hidden["meta"]["total_count"], &hidden["objects"]), (&json!(0), &json!([])));
    }
    owner.get(&created.uri("resource_uri")).await.expect_json(200, expected.clone());
    assert_refusal!(two.get(&created.uri("resource_uri")).await, @r#"403 {"code":"evaluate_first","detail":"Complete your own evaluation of this candidate first."}"#);
    assert_refusal!(two.get(&result_of(&given.project, &candidate)).await, @r#"403 {"code":"evaluate_first","detail":"Complete your own evaluation of this candidate first."}"#);

    // The author's evaluation is completed, can get ratings, and cannot be taken back, not by an event either.
    let evaluation = one.get(&own(one, &candidate)).await.expect(200).json();
    assert_eq!((&evaluation["completed"], &evaluation["ratings"]), (&json!(true), &json!([])));
    assert_refusal!(save(one, &candidate, json!({})).await, @r#"400 {"code":"vetoed","detail":"The evaluator has vetoed the candidate, so the evaluation stays completed."}"#);
    assert_refusal!(one.delete(&own(one, &candidate)).await, @r#"400 {"code":"vetoed","detail":"The evaluator has vetoed the candidate, so the evaluation stays completed."}"#);
    given.rate(one, &candidate, 1.0, 2.0).await.expect(200);
    let taken_back = evaluated(&candidate, one, false, &given.app.clock().in_days(1));
    assert_eq!(report(&given.app, taken_back).await, Ignored);
    let result = owner.get(&result_of(&given.project, &candidate)).await.expect(200).json();
    assert_eq!((&result["overall_rating"], &result["vetos"]), (&json!(1.5), &json!([expected])));
    given.rate(two, &candidate, 5.0, 5.0).await.expect(201);
    two.get(&created.uri("resource_uri")).await.expect_json(200, expected.clone());

    // A former evaluator no longer counts.
    owner.patch(&given.project, json!({ "evaluators": [two.uri] })).await.expect(200);
    let result = owner.get(&result_of(&given.project, &candidate)).await.expect(200).json();
    assert_eq!((&result["overall_rating"], &result["vetos"]), (&json!(5), &json!([])));
    owner.patch(&given.project, json!({ "evaluators": [], "veto_enabled": false })).await.expect(200);
    owner.get(&result_of(&given.project, &candidate)).await.expect_code(404, "not_found");
    assert_eq!(given.results(owner, "").await["meta"]["total_count"], 0);
    assert_eq!(owner.get(&candidate).await.expect(200).json()["evaluation_status"], "pending");
}

/// The entries of a history, and their number.
async fn history(caller: &impl Caller, candidate: &str, query: &str) -> (Vec<Value>, u64) {
    let page = caller.get(&format!("{candidate}events/?{query}")).await.expect(200).json();
    (page["objects"].as_array().unwrap().clone(), page["meta"]["total_count"].as_u64().unwrap())
}

#[tokio::test]
async fn history_and_feed_tell_nobody_who_has_vetoed_and_blind_evaluators_nothing_of_drafts() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    // Managers read histories; this one evaluates as well.
    let managers = json!({ "interview_managers": [owner.uri, two.uri] });
    owner.patch(&given.project, managers).await.expect(200);
    let candidate = given.interviewed().await;
    let drafted = json!({ "ratings": given.ratings(1.0, 1.0) });
    save(one, &candidate, drafted.clone()).await.expect(201);
    given.rate(one, &candidate, 1.0, 2.0).await.expect(200);
    veto(one, &candidate).await.expect(201);
    given.app.settle().await;

    let (whole, count) = history(owner, &candidate, "page_size=100").await;
    let events: Vec<Value> = whole.iter().filter(|entry| !entry["type"].is_null()).cloned().collect();
    assert!(count == whole.len() as u64 && events.len() < whole.len());
    let feed = read_all(owner, &format!("resource={candidate}&page_size=100")).await;
    assert_eq!(feed, events);
    let [evaluated, vetoed] = &events[events.len() - 2..] else { panic!("two events") };
    for event in [evaluated, vetoed] {
        assert_eq!(event["types"], json!(["candidate.evaluated"]));
    }
    assert_eq!(evaluated["data"]["added"], json!({ "evaluations": [one.uri] }));
    assert_eq!((&vetoed["data"]["added"], &vetoed["data"]["changed"]), (&json!({}), &json!([])));
    assert!(!whole.iter().any(|entry| entry.to_string().contains("veto")), "{whole:?}");

    // Until they have evaluated themselves, nobody's drafts are among what they see, on any page.
    let entry = &whole[whole.iter().position(|entry| entry["type"].is_null()).unwrap()];
    assert_eq!(history(two, &candidate, "page_size=100").await, (events.clone(), events.len() as u64));
    let size = events.len() as u64 - 1;
    let first = two.get(&format!("{candidate}events/?page_size={size}")).await.expect(200).json();
    let rest = two.get(first["meta"]["next"].as_str().unwrap()).await.expect(200).json();
    assert_eq!((&rest["objects"], &rest["meta"]["next"]), (&json!([vetoed]), &json!(null)));
    let draft = format!("/companies/acme/events/{}/", entry["id"].as_str().unwrap());
    owner.get(&draft).await.expect_code(404, "not_found");
    given.rate(two, &candidate, 5.0, 5.0).await.expect(201);
    assert_eq!(history(two, &candidate, "page_size=100").await.0[..whole.len()], whole);
    // The owner evaluates nobody, so nothing is hidden from them.
    assert_eq!(history(owner, &candidate, "page_size=100").await.1, count + 1);
}
