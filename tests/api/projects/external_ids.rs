//! The client's key of a project: unique in the company, found by it.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::{Response, send_each};
use tests::{assert_refusal, assert_refusals};

const PROJECTS: &str = "/companies/acme/projects/";

fn named(external_id: &str) -> Value {
    json!({ "name": "Sales", "external_id": external_id })
}

async fn found(caller: &impl Caller, query: &str) -> Vec<String> {
    let list = caller.get(&format!("{PROJECTS}?{query}")).await.expect(200).json();
    let objects = list["objects"].as_array().unwrap();
    assert_eq!(list["meta"]["total_count"], objects.len(), "{list}");
    objects.iter().map(|project| project["resource_uri"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn assert_taken_by(refused: &Response, holder: &str) {
    let body = refused.json();
    assert_eq!((refused.status.as_u16(), &body["code"]), (409, &json!("external_id_taken")), "{refused}");
    assert_eq!(body["resource_uri"], holder, "{refused}");
}

#[tokio::test]
async fn a_key_is_unique_in_the_company_and_the_refusal_names_a_project_that_the_caller_may_see() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recruiter = app.staff("recruiter").await;
    let sales = owner.project(json!({ "external_id": "Zoë #7" })).await;
    let other = recruiter.project(json!({ "external_id": "zoë #7" })).await;
    // A candidate's key is no project's, and other companies have their own.
    owner.candidate(&sales, json!({ "external_id": "4711" })).await;
    let by_number = recruiter.project(json!({ "external_id": "4711" })).await;
    app.owner_of("globex").await.project(json!({ "external_id": "Zoë #7" })).await;

    let before = app.table().snapshot().await;
    for same in ["Zoë #7", " Zoe\u{308} #7 "] {
        assert_taken_by(&owner.post(PROJECTS, named(same)).await, &sales);
        assert_taken_by(
            &owner.patch(&other, json!({ "external_id": same, "job_url": "https://a.b/" })).await,
            &sales,
        );
        // A caller without a role in the project does not learn which one it is.
        for hidden in [
            recruiter.post(PROJECTS, named(same)).await,
            recruiter.patch(&other, json!({ "external_id": same })).await,
        ] {
            assert_refusal!(hidden, @r#"409 {"code":"external_id_taken","detail":"This `external_id` is already in use. Send another one."}"#);
        }
    }
    assert_eq!(app.table().snapshot().await, before, "nothing is written");
    assert_taken_by(&recruiter.post(PROJECTS, named("4711")).await, &by_number);
    owner.patch(&sales, json!({ "reviewers": [recruiter.uri] })).await.expect(200);
    assert_taken_by(&recruiter.post(PROJECTS, named("Zoë #7")).await, &sales);
    let (_, token) = owner.named_token("ATS").await;
    let mut of_token = named("Zoë #7");
    of_token["interview_managers"] = json!([owner.uri]);
    assert_taken_by(&token.post(PROJECTS, of_token).await, &sales);
    // Field errors come first.
    let label = json!({ "name": "Sales", "external_id": "Zoë #7", "labels": ["https://hr.example/api/v3/companies/acme/labels/01ARZ3NDEKTSV4RRFFQ69G5FAV/"] });
    assert_refusal!(owner.post(PROJECTS, label).await, @r#"400 {"labels":["Label [id] does not exist."]}"#);

    owner.patch(&sales, json!({ "external_id": "" })).await.expect(200);
    owner.patch(&other, json!({ "external_id": "Zoë #7" })).await.expect(200);
    assert_taken_by(&owner.post(PROJECTS, named("Zoë #7")).await, &other);
    owner.post(PROJECTS, named("zoë #7")).await.expect(201);
}

#[tokio::test]
async fn a_project_is_found_by_the_key_by_those_who_may_see_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [recruiter, outsider] = [app.staff("recruiter").await, app.staff("recruiter").await];
    let sales = owner.running_project(json!({ "external_id": "REQ #7", "reviewers": [recruiter.uri] })).await;
    owner.project(json!({ "external_id": "REQ" })).await;
    let (_, token) = owner.named_token("ATS").await;
    for query in ["external_id=REQ%20%237", "external_id=REQ+%237&status=40-running"] {
        assert_eq!(found(&owner, query).await, [&*sales]);
        assert_eq!(found(&recruiter, query).await, [&*sales]);
        assert_eq!(found(&token, query).await, [&*sales]);
        assert_eq!(found(&outsider, query).await, [""; 0]);
    }
    for none in ["external_id=req%20%237", "external_id=REQ%20%237&status=60-closed", "external_id=0"] {
        assert_eq!(found(&owner, none).await, [""; 0], "{none}");
    }
    let expanded = format!("{PROJECTS}?external_id=REQ%20%237&expand=reviewers");
    let list = owner.get(&expanded).await.expect(200).json();
    assert_eq!(list["objects"][0]["reviewers"][0]["resource_uri"], *recruiter.uri);
    owner.candidate(&sales, json!({})).await;
    let list = owner.get(&format!("{PROJECTS}?external_id=REQ%20%237")).await.expect(200);
    assert_eq!((&list.json()["objects"][0]["candidates_count"], list.log().dynamodb_calls), (&json!(1), 3));

    let queries = ["external_id=", "external_id=%20", "external_id=a%00b", "external_id=REQ&page=2"];
    let mut refusals =
        send_each(queries, async |query| owner.get(&format!("{PROJECTS}?{query}")).await).await;
    let keys = ["é".repeat(201), "a\u{200d}b".to_owned(), "a\nb".to_owned()];
    refusals.extend(send_each(keys, |key| owner.patch(&sales, json!({ "external_id": key }))).await);
    assert_refusals!(refusals, @r#"
        2 x 400 {"external_id":["This field may not be blank."]}
        2 x 400 {"external_id":["Control characters are not allowed."]}
        400 {"page":["The list ends before page 2."]}
        400 {"external_id":["Ensure this field has no more than 200 characters."]}
        400 {"external_id":["Invisible characters are not allowed."]}
        "#);
    owner.patch(&sales, json!({ "external_id": "é".repeat(200) })).await.expect(200);
    assert_eq!(found(&owner, "external_id=REQ%20%237").await, [""; 0]);
    // Neither a candidate's key nor that of another company leads to a project.
    owner.candidate(&sales, json!({ "external_id": "4711" })).await;
    assert_eq!(found(&owner, "external_id=4711").await, [""; 0]);
    assert_eq!(owner.get(&sales).await.expect(200).json()["external_id"], "é".repeat(200));
}
