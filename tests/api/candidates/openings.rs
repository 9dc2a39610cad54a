//! When a candidate has first opened the interview: the page or the client tells it, and no program that only reads does.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Invited, Staff};
use tests::chaos::Fault;
use tests::http::{Request, Response, send_each};

const WHOAMI: &str = "/whoami/candidate/";
const OPENING: &str = "/whoami/candidate/?opened=true";

struct OpeningFixture {
    app: TestApp,
    owner: Staff,
    candidate: Invited,
}

impl OpeningFixture {
    async fn start() -> Self {
        Self::of(TestApp::start().await).await
    }

    async fn of(app: TestApp) -> Self {
        let owner = app.owner().await;
        let project = owner.running_project(json!({ "allow_hash_login": true })).await;
        let candidate = owner.invite(&project, json!({})).await;
        app.clock().advance(TimeDelta::seconds(150));
        Self { app, owner, candidate }
    }

    async fn open(&self, caller: &impl Caller) -> Response {
        caller.get(OPENING).await
    }

    /// When the candidate has opened the interview, as managers see it.
    async fn opened_at(&self) -> Value {
        self.owner.get(&self.candidate.uri).await.expect(200).json()["opened_at"].clone()
    }

    /// The events of the candidate with this type.
    async fn events(&self, name: &str) -> Vec<Value> {
        self.app.settle().await;
        let history = self.owner.get(&format!("{}events/", self.candidate.uri)).await.expect(200).json();
        let events = history["objects"].as_array().unwrap().iter();
        events.filter(|event| event["types"].as_array().unwrap().contains(&json!(name))).cloned().collect()
    }
}

#[tokio::test]
async fn the_first_opening_is_kept_to_the_minute_and_told_once() {
    let given = OpeningFixture::start().await;
    let OpeningFixture { app, owner, candidate } = &given;
    let unopened = candidate.get(WHOAMI).await.expect(200);
    assert_eq!((unopened.json()["candidate"].get("opened_at"), unopened.log().write_units), (None, 0.0));
    candidate.get("/whoami/candidate/?opened=false").await.expect(200);
    candidate.send(Request::get(OPENING).head()).await.expect(200);
    assert_eq!(given.opened_at().await, Value::Null);
    let opened = given.open(candidate).await.expect(200);
    // The candidate's own view does not tell it.
    assert_eq!(opened.json(), unopened.json());
    // The caller; them once more, alone, and the write of them and of their history.
    assert_eq!((opened.log().dynamodb_calls, unopened.log().dynamodb_calls), (3, 1));
    assert_eq!(given.opened_at().await, "2026-11-08T10:02:00Z");
    app.clock().advance(TimeDelta::hours(1));
    let again = given.open(candidate).await.expect(200);
    assert_eq!((again.log().dynamodb_calls, again.log().write_units), (1, 0.0));
    assert_eq!(given.opened_at().await, "2026-11-08T10:02:00Z");
    let told = given.events("candidate.opened").await;
    let [event] = &told[..] else { panic!("{told:?}") };
    assert_eq!(event["types"], json!(["candidate.opened"]));
    assert_eq!(event["by"], json!({ "kind": "candidate", "resource_uri": candidate.uri }));
    let data = &event["data"];
    assert_eq!((&data["changed"], &data["previous"]), (&json!(["opened_at"]), &json!({ "opened_at": null })));
    assert_eq!((&data["opened_at"], &data["status"]), (&json!("2026-11-08T10:02:00Z"), &json!("invited")));

    // Another invitation leaves it.
    owner.set_deadline(&candidate.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    owner.set_deadline(&candidate.uri, &app.clock().in_days(7)).await.expect(200);
    owner.advance(&candidate.uri).await.expect(200);
    assert_eq!(given.events("candidate.invited").await.len(), 2);
    assert_eq!(given.opened_at().await, "2026-11-08T10:02:00Z");
}

#[tokio::test]
async fn an_opening_comes_by_the_key_or_a_session_of_the_candidate_and_by_no_one_else() {
    let given = OpeningFixture::start().await;
    let OpeningFixture { app, owner, .. } = &given;
    let (_, token) = owner.named_token("Integration").await;
    let (_, reader) = owner.named_token_with(json!({ "read_only": true })).await;
    given.open(owner).await.expect_code(403, "permission_denied");
    given.open(&token).await.expect_code(403, "permission_denied");
    given.open(&reader).await.expect_code(403, "permission_denied");
    app.send(Request::get(OPENING)).await.expect_code(401, "not_authenticated");
    assert_eq!(given.opened_at().await, Value::Null);

    // By a password, as a client with a token and as a browser with a cookie.
    for by_cookie in [false, true] {
        let project = owner.running_project(json!({})).await;
        let registered = owner.invite(&project, json!({})).await;
        let session = registered.register().await;
        if by_cookie {
            given.open(&app.browser("acme", &registered.email).await).await.expect(200);
        } else {
            given.open(&session).await.expect(200);
        }
        let shown = owner.get(&registered.uri).await.expect(200).json();
        assert_eq!(shown["opened_at"], "2026-11-08T10:02:30Z", "not before the invitation");
    }
}

#[tokio::test]
async fn other_values_and_names_are_refused() {
    let given = OpeningFixture::start().await;
    let queries =
        ["opened=yes", "opened=True", "opened=1", "opened=", "open=true", "opened=true&opened=true"];
    let caller = &given.candidate;
    let refusals = send_each(queries, async |query| caller.get(&format!("{WHOAMI}?{query}")).await).await;
    assert_refusals!(refusals, @r#"
        4 x 400 {"opened":["Must be `true` or `false`."]}
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter open. Did you mean opened?",
          "parameter":"open"
        }
        400 {
          "code":"repeated_parameter",
          "detail":"The parameter opened may be sent only once.",
          "parameter":"opened"
        }
        "#);
    assert_eq!(given.opened_at().await, Value::Null);
}

#[tokio::test]
async fn an_opening_that_cannot_be_stored_does_not_fail_the_request() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = OpeningFixture::of(app).await;
    let seen = given.candidate.get(WHOAMI).await.expect(200).json();
    for fault in [Fault::Throttled, Fault::Unreachable] {
        chaos.always("TransactWriteItems", fault);
        assert_eq!(given.open(&given.candidate).await.expect(200).json(), seen);
        chaos.heal();
        assert_eq!(given.opened_at().await, Value::Null);
    }
    // The next one is the first that is known.
    given.app.clock().advance(TimeDelta::minutes(1));
    given.open(&given.candidate).await.expect(200);
    assert_eq!(given.opened_at().await, "2026-11-08T10:03:00Z");
    // The response may be lost, too.
    let project = given.owner.running_project(json!({ "allow_hash_login": true })).await;
    let other = given.owner.invite(&project, json!({})).await;
    chaos.next_about("TransactWriteItems", "opened_at", Fault::AnswerLost);
    given.open(&other).await.expect(200);
    let uri = format!("{}events/", other.uri);
    given.app.settle().await;
    let history = given.owner.get(&uri).await.expect(200).json()["objects"].clone();
    let told = history.as_array().unwrap().iter().filter(|event| event["type"] == "candidate.opened");
    assert_eq!(told.count(), 1);
}

#[tokio::test]
async fn openings_at_once_are_one_and_fail_no_change_of_a_manager() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = OpeningFixture::of(app).await;
    let OpeningFixture { owner, candidate, .. } = &given;
    let tag = owner.get(&candidate.uri).await.expect(200).header("etag").unwrap().to_owned();
    // Held after it has read the candidate, so that the other one and the change are faster.
    let held = chaos.pause_about("TransactWriteItems", "opened_at");
    let meanwhile = async {
        held.reached().await;
        given.open(candidate).await.expect(200);
        let conditional = Request::patch(&candidate.uri).header("if-match", &tag);
        owner.send(conditional.json(&json!({ "phone": "1" }))).await.expect(200);
        held.resume();
    };
    let (opened, ()) = tokio::join!(given.open(candidate), meanwhile);
    opened.expect(200);
    assert_eq!(given.opened_at().await, "2026-11-08T10:02:00Z");
    assert_eq!(given.events("candidate.opened").await.len(), 1);
    // It is shown, so a copy of the candidate is stale.
    let unchanged = Request::get(&candidate.uri).header("if-none-match", &tag);
    owner.send(unchanged).await.expect(200);
}

#[tokio::test]
async fn managers_see_it_and_the_document_of_all_data_has_it() {
    let given = OpeningFixture::start().await;
    let OpeningFixture { app, owner, candidate } = &given;
    given.open(candidate).await.expect(200);
    let (project, _) = candidate.uri.split_once("candidates/").unwrap();
    let [manager, evaluator, reviewer] = [
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
    ];
    let roles = json!({
        "interview_managers": [manager.uri], "evaluators": [evaluator.uri], "reviewers": [reviewer.uri],
    });
    owner.patch(project, roles).await.expect(200);
    let opened_at = json!("2026-11-08T10:02:00Z");
    for (viewer, seen) in
        [(owner, Some(&opened_at)), (&manager, Some(&opened_at)), (&evaluator, None), (&reviewer, None)]
    {
        let shown = viewer.get(&candidate.uri).await.expect(200).json();
        let listed = viewer.get(&format!("{project}candidates/")).await.expect(200).json();
        assert_eq!((shown.get("opened_at"), listed["objects"][0].get("opened_at")), (seen, seen));
    }
    assert_eq!(candidate.get(&candidate.uri).await.expect(200).json().get("opened_at"), None);
    let (_, reader) = owner.named_token_with(json!({ "read_only": true })).await;
    assert_eq!(reader.get(&candidate.uri).await.expect(200).json()["opened_at"], opened_at);
    let data = format!("{}data/", candidate.uri);
    assert_eq!(owner.get(&data).await.expect(200).json()["candidate"]["opened_at"], opened_at);
    assert_eq!(candidate.get(&data).await.expect(200).json()["candidate"]["opened_at"], opened_at);
    // Clients send back what they have read, and cannot set it.
    owner.patch(&candidate.uri, json!({ "opened_at": null, "phone": "1" })).await.expect(200);
    assert_eq!(given.opened_at().await, opened_at);
}
