//! The list of candidates who wait for the evaluation of its reader.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::Confirmed;
use tests::assert_refusals;
use tests::caller::{Caller, Staff};
use tests::http::Response;

use crate::evaluations::crud::{EvaluationFixture, given, own, save, veto};

const PENDING: &str = "status=interviewed&my_evaluation_status=pending";
const COMPLETED: &str = "status=interviewed&my_evaluation_status=completed";

impl EvaluationFixture {
    /// The candidates in all pages of a list, whose counts must agree.
    async fn listed(&self, by: &impl Caller, query: &str) -> Vec<String> {
        let mut target = format!("{}candidates/?page_size=2&{query}", self.project);
        let mut found = Vec::new();
        let mut counts = Vec::new();
        loop {
            let page = by.get(&target).await.expect(200).json();
            let rows = page["objects"].as_array().unwrap();
            found.extend(rows.iter().map(|row| row["resource_uri"].as_str().unwrap().to_owned()));
            counts.push(page["meta"]["total_count"].clone());
            match page["meta"]["next"].as_str() {
                Some(next) => target = next.to_owned(),
                None => break,
            }
        }
        assert!(counts.iter().all(|count| *count == found.len()), "{counts:?}");
        found
    }

    async fn waiting(&self, by: &impl Caller) -> Value {
        by.get(&self.project).await.expect(200).json()["my_pending_evaluations_count"].clone()
    }
}

#[tokio::test]
async fn each_evaluator_finds_those_who_wait_for_them() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(given.interviewed().await);
    }
    let unfinished = owner.candidate_at(&given.project, Confirmed).await;
    save(one, &unfinished, json!({ "comment": "A draft before the interview." })).await.expect(201);
    let pick = |places: &[usize]| places.iter().map(|place| all[*place].clone()).collect::<Vec<_>>();
    assert_eq!(given.listed(one, PENDING).await, all);
    given.rate(one, &all[1], 4.0, 4.0).await.expect(201);
    save(one, &all[2], json!({ "comment": "A draft." })).await.expect(201);
    veto(one, &all[4]).await.expect(201);
    given.app.evaluate(&all[0], &two.uri, true).await;
    for (by, waiting, done) in [(one, &[0, 2, 3][..], &[1, 4][..]), (two, &[1, 2, 3, 4], &[0])] {
        assert_eq!(given.listed(by, PENDING).await, pick(waiting));
        assert_eq!(given.listed(by, COMPLETED).await, pick(done));
        assert_eq!(given.waiting(by).await, waiting.len());
        for (query, status) in [(PENDING, "pending"), (COMPLETED, "completed")] {
            let target = format!("{}candidates/?{query}", given.project);
            let list = by.get(&target).await.expect(200).json();
            let mut rows = list["objects"].as_array().unwrap().iter();
            assert!(rows.all(|row| row["my_evaluation_status"] == status), "{list}");
        }
    }
    // Others have nothing to do.
    for by in [owner, &given.reviewer] {
        assert_eq!(given.listed(by, PENDING).await, [""; 0]);
        assert_eq!(given.listed(by, COMPLETED).await, [""; 0]);
        assert_eq!(given.waiting(by).await, Value::Null);
    }
    // A candidate waits again once the evaluation is taken back, and no more once deleted. A user who evaluates no more has nothing to do.
    one.delete(&own(one, &all[1])).await.expect(204);
    owner.delete(&all[3]).await.expect(204);
    assert_eq!(given.listed(one, PENDING).await, pick(&[0, 1, 2]));
    assert_eq!(given.waiting(one).await, 3);
    owner.patch(&all[2], json!({ "email": "ada@mail.example" })).await.expect(200);
    assert_eq!(given.listed(one, &format!("{PENDING}&email=ADA@mail.example")).await, pick(&[2]));
    assert_eq!(given.listed(one, &format!("{COMPLETED}&email=ada@mail.example")).await, [""; 0]);
    owner.patch(&given.project, json!({ "evaluators": [two.uri], "reviewers": [one.uri] })).await.expect(200);
    assert_eq!(given.listed(one, PENDING).await, [""; 0]);
    assert_eq!(given.listed(one, COMPLETED).await, [""; 0]);
}

#[tokio::test]
async fn candidates_are_listed_by_how_far_the_evaluators_are_with_them() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(given.interviewed().await);
    }
    owner.candidate_at(&given.project, Confirmed).await;
    let pick = |places: &[usize]| places.iter().map(|place| all[*place].clone()).collect::<Vec<_>>();
    given.rate(one, &all[1], 4.0, 4.0).await.expect(201);
    given.app.evaluate(&all[0], &two.uri, true).await;
    given.app.evaluate(&all[2], &given.reviewer.uri, true).await;
    veto(one, &all[4]).await.expect(201);
    let query = |status: &str| format!("status=interviewed&evaluation_status={status}");
    let assert_listed = async |by: &Staff, expected: [&[usize]; 3]| {
        for (status, places) in ["pending", "partial", "completed"].into_iter().zip(expected) {
            assert_eq!(given.listed(by, &query(status)).await, pick(places), "{status}");
            for row in
                by.get(&format!("{}candidates/?{}", given.project, query(status))).await.json()["objects"]
                    .as_array()
                    .unwrap()
            {
                assert_eq!(row["evaluation_status"], status);
            }
        }
    };
    for by in [owner, one, &given.reviewer] {
        assert_listed(by, [&[2, 3], &[0, 1], &[4]]).await;
    }
    given.rate(two, &all[1], 4.0, 4.0).await.expect(201);
    assert_listed(owner, [&[2, 3], &[0], &[1, 4]]).await;
    let both = format!("{}&my_evaluation_status=pending", query("partial"));
    assert_eq!(given.listed(one, &both).await, pick(&[0]));
    assert_eq!(given.listed(two, &both).await, [""; 0]);
    owner.patch(&all[3], json!({ "email": "ada@mail.example" })).await.expect(200);
    let by_email = |status: &str| format!("{}&email=ada@mail.example", query(status));
    assert_eq!(given.listed(owner, &by_email("pending")).await, pick(&[3]));
    assert_eq!(given.listed(owner, &by_email("partial")).await, [""; 0]);
    // The evaluators of today count, whoever they are.
    owner.patch(&given.project, json!({ "evaluators": [two.uri], "reviewers": [one.uri] })).await.expect(200);
    assert_listed(owner, [&[2, 3, 4], &[], &[0, 1]]).await;
    owner.patch(&given.project, json!({ "evaluators": [], "reviewers": [] })).await.expect(200);
    assert_listed(owner, [&[0, 1, 2, 3, 4], &[], &[]]).await;
}

#[tokio::test]
async fn whose_evaluation_is_asked_for_only_of_those_who_are_interviewed() {
    let given = given().await;
    let list = format!("{}candidates/", given.project);
    let mut refusals = Vec::new();
    for query in [
        "my_evaluation_status=pending",
        "my_evaluation_status=completed&status=new",
        "my_evaluation_status=partial&status=interviewed",
        "my_evaluation_status=pending&my_evaluation_status=pending&status=interviewed",
        "my_evaluation_status=pending&status=interviewed&page=2",
        "evaluation_status=partial",
        "evaluation_status=none&status=interviewed",
        "evaluation_status=pending&my_evaluation_status=pending",
    ] {
        refusals.push(given.evaluators[0].get(&format!("{list}?{query}")).await);
    }
    assert_refusals!(refusals, @r#"
        2 x 400 {"my_evaluation_status":["Send `status=interviewed` too: only interviewed candidates are evaluated."]}
        400 {"my_evaluation_status":["\"partial\" is not a valid choice. Use one of: pending, completed."]}
        400 {
          "code":"repeated_parameter",
          "detail":"The parameter my_evaluation_status may be sent only once.",
          "parameter":"my_evaluation_status"
        }
        400 {"page":["The list ends before page 2."]}
        400 {"evaluation_status":["Send `status=interviewed` too: only interviewed candidates are evaluated."]}
        400 {"evaluation_status":["\"none\" is not a valid choice. Use one of: pending, partial, completed."]}
        400 {"evaluation_status":["Send `status=interviewed` too: only interviewed candidates are evaluated."],"my_evaluation_status":["Send `status=interviewed` too: only interviewed candidates are evaluated."]}
        "#);
    given.evaluators[0].get(&format!("{list}?my_evaluation_status=")).await.expect(200);
}

#[tokio::test]
async fn the_page_of_those_who_wait_is_read_in_three_calls_more_than_the_caller() {
    let given = given().await;
    let [one, _] = &given.evaluators;
    for _ in 0..3 {
        given.interviewed().await;
    }
    let calls = |response: Response| response.log().dynamodb_calls;
    let of_all = |status: &str| format!("status=interviewed&evaluation_status={status}");
    let [pending, partial] = ["pending", "partial"].map(of_all);
    for (query, expected) in [(PENDING, 4), (COMPLETED, 2), (&*pending, 4), (&*partial, 2)] {
        let target = format!("{}candidates/?{query}", given.project);
        assert_eq!(calls(one.get(&target).await.expect(200)), expected, "{query}");
    }
}
