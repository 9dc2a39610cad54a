//! Numbers of candidates who were deleted.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::{self, Interviewed, New};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::Request;

/// A running project with one criterion, evaluated by the owner on a scale to 5.
struct RatedProject {
    app: TestApp,
    owner: Staff,
    project: String,
    criterion: String,
}

impl RatedProject {
    async fn new() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let fields = json!({ "allow_hash_login": true, "evaluators": [owner.uri], "maximum_score": 5 });
        let project = owner.running_project(fields).await;
        let criterion = owner.post(&format!("{project}criteria/"), json!({ "name": "Listening" })).await;
        let criterion = criterion.expect(201).uri("resource_uri");
        Self { app, owner, project, criterion }
    }

    /// An interviewed candidate with this rating.
    async fn rated(&self, value: f64, completed: bool) -> String {
        let candidate = self.owner.candidate_at(&self.project, Interviewed).await;
        let rating = json!({ "criterion": self.criterion, "value": value });
        let evaluation = json!({ "ratings": [rating], "completed": completed });
        let own = format!("{candidate}evaluations/{}/", self.owner.id());
        self.owner.send(Request::put(&own).json(&evaluation)).await.expect(201);
        candidate
    }

    /// Deletes a candidate, and has the rest of them erased.
    async fn erase(&self, candidate: &str) {
        self.owner.delete(candidate).await.expect(204);
        self.app.settle().await;
    }

    async fn statistics(&self) -> Value {
        self.owner.get(&format!("{}statistics/", self.project)).await.expect(200).json()
    }

    async fn ratings(&self) -> Value {
        self.statistics().await["erased_ratings"].clone()
    }

    async fn recount(&self) -> Value {
        let outcome = self.app.operate(json!({ "command": "recount", "company": "acme" })).await.unwrap();
        outcome["recount"]["drift"].clone()
    }
}

/// The numbers by status, those that are left out being zero.
fn erased(numbers: &[(CandidateStatus, usize)]) -> Value {
    let zero = CandidateStatus::ALL.map(|status| (status.as_str(), 0));
    let numbers = numbers.iter().map(|(status, count)| (status.as_str(), *count));
    json!(zero.into_iter().chain(numbers).collect::<BTreeMap<_, _>>())
}

#[tokio::test]
async fn the_deleted_are_counted_by_status_and_the_existing_as_before() {
    let given = RatedProject::new().await;
    let RatedProject { app, owner, project, .. } = &given;
    assert_eq!(given.statistics().await, json!({ "erased": erased(&[]), "erased_ratings": null }));
    let mut kept = BTreeMap::new();
    for (index, status) in CandidateStatus::ALL.into_iter().enumerate() {
        for _ in 0..=index {
            given.erase(&owner.candidate_at(project, status).await).await;
        }
        kept.insert(status, index + 1);
    }
    let kept: Vec<_> = kept.into_iter().collect();
    assert_eq!(given.statistics().await, json!({ "erased": erased(&kept), "erased_ratings": null }));
    let shown = owner.get(project).await.expect(200).json();
    let counts = shown.as_object().unwrap().iter().filter(|(name, _)| name.ends_with("candidates_count"));
    assert!(counts.clone().count() > 5 && counts.clone().all(|(_, count)| *count == 0), "{shown}");
    assert_eq!((&shown["can_archive"], given.recount().await), (&json!(true), json!([])));
    owner.set_status(project, "10-incomplete").await.expect(200);
    owner.set_status(project, "60-closed").await.expect(200);
    app.assert_sound();
}

#[tokio::test]
async fn ratings_are_shown_ten_at_a_time() {
    let given = RatedProject::new().await;
    // Tenths of a scale to 5, rounded half up.
    let planted = [0.0, 0.2, 0.3, 2.2, 2.3, 2.3, 4.7, 4.8, 4.8, 5.0];
    let histogram = [2, 1, 0, 0, 1, 2, 0, 0, 0, 1, 3];
    for (count, value) in planted.into_iter().enumerate() {
        assert_eq!(given.ratings().await, Value::Null, "{count}");
        given.erase(&given.rated(value, true).await).await;
    }
    let ten = json!({ "count": 10, "histogram": histogram });
    assert_eq!(given.ratings().await, ten);
    // Neither a draft is a rating, nor an evaluation that the platform reports.
    given.erase(&given.rated(5.0, false).await).await;
    let reported = given.owner.candidate_at(&given.project, Interviewed).await;
    given.app.evaluate(&reported, &given.owner.uri, true).await;
    given.erase(&reported).await;
    // Ratings on another scale are converted to tenths of this one.
    let earlier = given.rated(2.5, true).await;
    given.owner.patch(&given.project, json!({ "maximum_score": 10 })).await.expect(200);
    given.erase(&earlier).await;
    for _ in 12..20 {
        assert_eq!(given.ratings().await, ten, "nobody's rating is the difference of two answers");
        given.erase(&given.rated(4.5, true).await).await;
    }
    assert_eq!(given.ratings().await, ten);
    given.erase(&given.rated(4.4, true).await).await;
    let twenty = json!({ "count": 20, "histogram": [2, 1, 0, 0, 2, 11, 0, 0, 0, 1, 3] });
    assert_eq!(given.ratings().await, twenty);
    assert_eq!(given.statistics().await["erased"], erased(&[(Interviewed, 22)]));
    assert_eq!((given.recount().await, given.ratings().await), (json!([]), twenty));
}

#[tokio::test]
async fn ratings_of_many_deletions_at_once_are_shown_once() {
    let given = RatedProject::new().await;
    let mut candidates = Vec::new();
    for value in 0..25 {
        candidates.push(given.rated(f64::from(value % 5), true).await);
    }
    for candidate in join_all(candidates.iter().map(|candidate| given.owner.delete(candidate))).await {
        candidate.expect(204);
    }
    given.app.settle().await;
    let shown = given.ratings().await;
    assert_eq!(shown["count"], 20);
    let histogram: Vec<i64> = serde_json::from_value(shown["histogram"].clone()).unwrap();
    let even = [0, 2, 4, 6, 8].map(|rating| histogram[rating]);
    assert!(even.iter().all(|count| *count <= 5) && even.iter().sum::<i64>() == 20, "{histogram:?}");
}

#[tokio::test]
async fn a_recount_mends_other_counts_and_leaves_these() {
    let given = RatedProject::new().await;
    let RatedProject { app, owner, project, .. } = &given;
    for _ in 0..10 {
        given.erase(&given.rated(5.0, true).await).await;
    }
    for _ in 0..90 {
        given.erase(&owner.candidate(project, json!({})).await).await;
    }
    let before = given.statistics().await;
    assert_eq!(before["erased"], erased(&[(Interviewed, 10), (New, 90)]));
    assert_eq!(given.recount().await, json!([]));
    let partition = format!("COMPANY#acme#PROJECT#{}", last_segment(project));
    for shard in 0..4 {
        let key = (partition.clone(), format!("TALLY#{shard}"));
        app.table().set(&key, "status:new", AttributeValue::N("3".to_owned())).await;
    }
    assert_eq!(given.recount().await.as_array().unwrap().len(), 4);
    assert_eq!((given.recount().await, given.statistics().await), (json!([]), before));
}

#[tokio::test]
async fn who_is_erased_again_after_a_restoration_counts_once() {
    let given = RatedProject::new().await;
    let app = &given.app;
    for _ in 0..9 {
        given.erase(&given.rated(5.0, true).await).await;
    }
    let last = given.rated(0.0, true).await;
    let before = app.moment();
    let nine = given.statistics().await;
    given.owner.delete(&last).await.expect(204);
    let deleted = app.moment();
    app.settle().await;
    let ten = given.statistics().await;
    assert_eq!(ten["erased_ratings"]["histogram"], json!([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]));

    for (moment, then) in [(before, (&nine["erased"], Value::Null)), (deleted, (&ten["erased"], Value::Null))]
    {
        app.clock().advance(TimeDelta::minutes(1));
        app.operate(json!({ "command": "advance-sequence", "company": "acme" })).await.unwrap();
        app.take_back_to(&moment).await;
        let taken_back = given.statistics().await;
        assert_eq!((&taken_back["erased"], taken_back["erased_ratings"].clone()), then);
        for _ in 0..2 {
            app.operate(json!({ "command": "erase-again", "since": moment.at.to_rfc3339() })).await.unwrap();
            app.settle().await;
            assert_eq!(given.statistics().await, ten);
        }
        app.clock().advance(TimeDelta::minutes(2));
        app.sweep().await;
        app.settle().await;
    }
}
