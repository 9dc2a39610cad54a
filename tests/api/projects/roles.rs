//! The roles in a project one by one, which are the same data as its lists of people.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

/// An identifier that no test gives to anything.
const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

async fn list(staff: &Staff, project: &str) -> Vec<Value> {
    let page = staff.get(&format!("{project}roles/")).await.expect(200).json();
    let roles = page["objects"].as_array().unwrap().clone();
    assert_eq!(page["meta"]["total_count"], roles.len());
    roles
}

#[tokio::test]
async fn roles_and_lists_of_people_are_the_same_data() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("hiring-manager").await;
    let project = owner.project(json!({})).await;
    let roles = owner.get(&project).await.expect(200).uri("roles");
    assert_eq!(roles, format!("{project}roles/"));
    for (role, field) in
        [("evaluator", "evaluators"), ("interview_manager", "interview_managers"), ("reviewer", "reviewers")]
    {
        person.get(&project).await.expect(404);
        let response = owner.post(&roles, json!({ "customer": person.uri, "role": role })).await.expect(201);
        let uri = response.uri("resource_uri");
        assert_eq!(response.header("location"), Some(uri.as_str()));
        let expected = json!({
            "id": last_segment(&uri),
            "resource_uri": uri, "project": project, "customer": person.uri, "role": role,
            "interview_manager": role == "interview_manager", "evaluator": role == "evaluator",
            "reviewer": role == "reviewer",
        });
        assert_eq!(response.json(), expected);
        owner.get(&uri).await.expect_json(200, expected.clone());
        assert!(list(&owner, &project).await.contains(&expected));
        let people = owner.get(&project).await.expect(200).json()[field].clone();
        assert!(people.as_array().unwrap().contains(&json!(person.uri)), "{people}");
        person.get(&project).await.expect(200);
        app.assert_sound();

        owner.delete(&uri).await.expect(204);
        owner.get(&uri).await.expect_code(404, "not_found");
        owner.delete(&uri).await.expect_code(404, "not_found");
        let people = owner.get(&project).await.expect(200).json()[field].clone();
        assert!(!people.as_array().unwrap().contains(&json!(person.uri)), "{people}");
        app.assert_sound();

        // One that the project's own fields gave, under the same address.
        owner.patch(&project, json!({ field: [person.uri] })).await.expect(200);
        owner.get(&uri).await.expect_json(200, expected);
        owner.patch(&project, json!({ field: [] })).await.expect(200);
        owner.get(&uri).await.expect(404);
    }
}

#[tokio::test]
async fn a_role_that_is_held_is_not_given_twice() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({ "evaluators": [owner.uri] })).await;
    let held = list(&owner, &project).await;
    assert_eq!(held.len(), 2, "creating it gave one, evaluating is another");
    let before = app.table().snapshot().await;
    for role in held {
        let again = json!({ "customer": role["customer"], "role": role["role"] });
        owner.post(&format!("{project}roles/"), again).await.expect_json(200, role);
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn flags_give_and_take_roles() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("hiring-manager").await;
    let project = owner.project(json!({})).await;
    let roles = format!("{project}roles/");
    let flags = |manager: bool, evaluator: bool, reviewer: bool| {
        json!({ "customer": person.uri, "interview_manager": manager, "evaluator": evaluator,
                "reviewer": reviewer })
    };
    let held = async || {
        let mut held = list(&owner, &project).await;
        held.retain(|role| role["customer"] == person.uri);
        held.into_iter().map(|role| role["role"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    let is = |roles: &[&str]| roles.iter().map(|role| (*role).to_owned()).collect::<BTreeSet<_>>();
    let evaluator_alone = json!({ "customer": person.uri, "evaluator": true });
    for (body, status, role, now) in [
        (evaluator_alone.clone(), 201, "evaluator", &["evaluator"][..]),
        (flags(false, true, false), 200, "evaluator", &["evaluator"]),
        (flags(true, true, false), 201, "interview_manager", &["interview_manager", "evaluator"]),
        (evaluator_alone, 200, "evaluator", &["interview_manager", "evaluator"]),
        (flags(true, false, true), 201, "reviewer", &["interview_manager", "reviewer"]),
        (flags(false, true, false), 201, "evaluator", &["evaluator"]),
        (flags(true, false, false), 201, "interview_manager", &["interview_manager"]),
    ] {
        let answer = owner.post(&roles, body.clone()).await.expect(status);
        let shown = answer.json();
        assert_eq!((&shown["role"], held().await), (&json!(role), is(now)), "{body}");
        for flag in ["interview_manager", "evaluator", "reviewer"] {
            assert_eq!(shown[flag], now.contains(&flag), "{flag} after {body}");
        }
        owner.get(shown["resource_uri"].as_str().unwrap()).await.expect_json(200, shown.clone());
        // A role can be sent back as it was read.
        owner.post(&roles, shown.clone()).await.expect_json(200, shown);
    }
    let before = app.table().snapshot().await;
    for (body, field) in [
        (flags(false, false, false), "role"),
        (json!({ "customer": person.uri }), "role"),
        (json!({ "customer": person.uri, "evaluator": "perhaps" }), "evaluator"),
        (json!({ "customer": person.uri, "role": "evaluator", "evaluator": false }), "role"),
        (flags(false, true, true), "non_field_errors"),
    ] {
        let refused = owner.post(&roles, body.clone()).await.expect(400).json();
        assert!(refused.get(field).is_some(), "{refused} for {body}");
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn roles_exclude_each_other_as_the_lists_do() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("hiring-manager").await.uri;
    let project = owner.project(json!({ "evaluators": [person] })).await;
    let by_field = owner.patch(&project, json!({ "reviewers": [person] })).await.expect(400);
    let by_role = json!({ "customer": person, "role": "reviewer" });
    owner.post(&format!("{project}roles/"), by_role).await.expect_json(400, by_field.json());
    let manages = json!({ "customer": person, "role": "interview_manager" });
    owner.post(&format!("{project}roles/"), manages).await.expect(201);
}

#[tokio::test]
async fn a_project_has_room_for_forty_people_role_by_role() {
    let app = TestApp::start().await;
    app.leave_unsound("its people are keys without a customer");
    let owner = app.owner().await;
    let company = "https://hr.example/api/v3/companies/acme/";
    let mut people = Vec::new();
    for n in 0..40 {
        let id = format!("{NOBODY:.24}{n:02}");
        app.table().put_attachment("acme", "CUSTOMER", &id).await;
        people.push(format!("{company}customers/{id}/"));
    }
    // With the owner, forty.
    let project = owner.project(json!({ "evaluators": people[..39] })).await;
    let roles = format!("{project}roles/");
    let one_more = json!({ "customer": people[39], "role": "reviewer" });
    assert_refusal!(owner.post(&roles, one_more).await, @r#"400 {"non_field_errors":["At most 40 people may have a role in one project."]}"#);
    owner.post(&roles, json!({ "customer": people[0], "role": "interview_manager" })).await.expect(201);

    let mut seen = Vec::new();
    let mut next = Some(format!("{roles}?page_size=9"));
    while let Some(target) = next {
        let page = owner.get(&target).await.expect(200).json();
        assert_eq!(page["meta"]["total_count"], 41);
        let uris = page["objects"].as_array().unwrap().iter();
        seen.extend(uris.map(|role| role["resource_uri"].as_str().unwrap().to_owned()));
        next = page["meta"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen.len(), 41);
    assert!(seen.is_sorted_by(|a, b| a < b), "each once, in the order of their identifiers");
}

#[tokio::test]
async fn a_role_needs_a_known_person_and_a_known_name() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("hiring-manager").await;
    let stranger = app.owner_of("globex").await;
    let gone = app.staff("recruiter").await;
    owner.delete(&gone.uri).await.expect(204);
    let project = owner.project(json!({})).await;
    let roles = format!("{project}roles/");
    let before = app.table().snapshot().await;
    assert_refusal!(owner.post(&roles, json!({})).await, @r#"400 {"customer":["This field is required."],"role":["Send `role`, or set the flag of a role to true."]}"#);
    let names =
        [json!(null), json!(""), json!("Evaluator"), json!("interview-manager"), json!("owner"), json!(1)];
    let refusals =
        send_each(names, |name| owner.post(&roles, json!({ "customer": person.uri, "role": name }))).await;
    assert_refusals!(refusals, @r#"
        400 {"role":["This field may not be null."]}
        400 {"role":["\"\" is not a valid choice. Use one of: interview_manager, evaluator, reviewer."]}
        400 {"role":["\"Evaluator\" is not a valid choice. Use one of: interview_manager, evaluator, reviewer."]}
        400 {"role":["\"interview-manager\" is not a valid choice. Use one of: interview_manager, evaluator, reviewer."]}
        400 {"role":["\"owner\" is not a valid choice. Use one of: interview_manager, evaluator, reviewer."]}
        400 {"role":["Not a valid string."]}
        "#);
    let unknown = format!("https://hr.example/api/v3/companies/acme/customers/{NOBODY}/");
    let mut refusals = Vec::new();
    for customer in [&stranger.uri, &gone.uri, &project, &unknown, &String::new()] {
        for role in ["interview_manager", "evaluator", "reviewer"] {
            let body = json!({ "customer": customer, "role": role });
            refusals.push(owner.post(&roles, body).await);
        }
    }
    assert_refusals!(refusals, @r#"
        3 x 400 {"customer":["\"https://hr.example/api/v3/companies/globex/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        6 x 400 {"customer":["Customer [id] does not exist or is inactive."]}
        3 x 400 {"customer":["\"https://hr.example/api/v3/companies/acme/projects/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        3 x 400 {"customer":["\"\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        "#);
    for id in [NOBODY, "x", person.id()] {
        owner.get(&format!("{roles}{id}/")).await.expect_code(404, "not_found");
    }
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn project_staff_see_the_roles_and_its_managers_give_them() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [manager, evaluator, outsider] =
        [app.staff("hiring-manager").await, app.staff("hiring-manager").await, app.staff("recruiter").await];
    let project =
        owner.project(json!({ "interview_managers": [manager.uri], "evaluators": [evaluator.uri] })).await;
    let roles = format!("{project}roles/");
    let given = json!({ "customer": outsider.uri, "role": "reviewer" });
    let held = list(&evaluator, &project).await;
    assert_eq!(held, list(&manager, &project).await);
    assert_refusal!(evaluator.post(&roles, given.clone()).await, @r#"
        403 {
          "code":"permission_denied",
          "detail":"You do not have the permission `change_project` here.",
          "permission":"change_project"
        }
    "#);
    for role in &held {
        let uri = role["resource_uri"].as_str().unwrap();
        evaluator.get(uri).await.expect(200);
        evaluator.delete(uri).await.expect_code(403, "permission_denied");
        outsider.get(uri).await.expect_code(404, "not_found");
        outsider.delete(uri).await.expect_code(404, "not_found");
    }
    outsider.get(&roles).await.expect_code(404, "not_found");
    outsider.post(&roles, given.clone()).await.expect_code(404, "not_found");
    manager.post(&roles, given).await.expect(201);
    outsider.get(&roles).await.expect(200);
}

#[tokio::test]
async fn the_projects_of_a_customer_are_those_with_a_role_that_the_caller_sees_too() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [person, colleague] = [app.staff("hiring-manager").await, app.staff("recruiter").await];
    let shared = owner.project(json!({ "evaluators": [person.uri], "reviewers": [colleague.uri] })).await;
    let running = owner.running_project(json!({ "interview_managers": [person.uri] })).await;
    owner.project(json!({ "evaluators": [colleague.uri] })).await;
    let address = owner.get(&person.uri).await.expect(200).uri("projects");
    assert_eq!(address, format!("{}projects/", person.uri));
    let seen = async |staff: &Staff, query: &str| -> Vec<String> {
        let page = staff.get(&format!("{address}{query}")).await.expect(200).json();
        let objects = page["objects"].as_array().unwrap();
        if query != "?page_size=1" {
            assert_eq!(page["meta"]["total_count"], objects.len());
        }
        objects.iter().map(|project| project["resource_uri"].as_str().unwrap().to_owned()).collect()
    };
    let both = vec![shared.clone(), running.clone()];
    assert_eq!(seen(&owner, "").await, both);
    assert_eq!(seen(&person, "").await, both);
    assert_eq!(seen(&colleague, "").await, [shared.as_str()]);
    assert_eq!(seen(&owner, "?status=40-running").await, [running]);
    assert_eq!(seen(&owner, "?page_size=1").await, [shared]);
    assert_refusal!(owner.get(&format!("{address}?status=x")).await, @r#"400 {"status":["\"x\" is not a valid choice. Use one of: 10-incomplete, 40-running, 60-closed."]}"#);
    assert_refusal!(owner.get(&format!("{address}?page=2")).await, @r#"400 {"page":["The list ends before page 2."]}"#);

    let first = owner.get(&address).await.expect(200).json()["objects"][0].clone();
    assert!(first.get("skipped_candiates_count").is_some(), "shown as in every list of projects");
    owner.get(&format!("/companies/acme/customers/{NOBODY}/projects/")).await.expect_code(404, "not_found");
    let stranger = app.owner_of("globex").await;
    stranger.get(&address).await.expect_code(404, "not_found");
    assert_refusal!(app.anonymous().get(&address).await, @r#"401 {"code":"not_authenticated","detail":"Authentication credentials were not provided."}"#);
    let candidate = owner.invite(&owner.running_project(json!({})).await, json!({})).await;
    candidate.get(&address).await.expect_code(403, "permission_denied");
}
