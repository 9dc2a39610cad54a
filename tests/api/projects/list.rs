//! Listing projects: who sees which, filters, pages.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};

const PROJECTS: &str = "/companies/acme/projects/";

async fn names(caller: &Staff, target: &str) -> Vec<String> {
    let list = caller.get(target).await.expect(200).json();
    let objects = list["objects"].as_array().unwrap();
    objects.iter().map(|project| project["name"].as_str().unwrap().to_owned()).collect()
}

/// The names on every page from `target` on, a list for each page.
async fn walk(caller: &Staff, target: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut next = Some(target.to_owned());
    while let Some(target) = next {
        pages.push(names(caller, &target).await);
        let list = caller.get(&target).await.expect(200).json();
        next = list["meta"]["next"].as_str().map(str::to_owned);
        assert!(pages.len() <= 10, "the pages have no end: {pages:?}");
    }
    pages
}

#[tokio::test]
async fn a_company_without_projects_has_an_empty_list() {
    let app = TestApp::start().await;
    let empty = json!({ "meta": { "total_count": 0, "previous": null, "next": null, "cursor": null }, "objects": [] });
    app.owner().await.get(PROJECTS).await.expect_json(200, empty.clone());
    app.staff("recruiter").await.get(PROJECTS).await.expect_json(200, empty);
}

#[tokio::test]
async fn owners_and_admins_see_all_projects_and_others_those_with_a_role() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [admin, recruiter] = [app.staff("admin").await, app.staff("recruiter").await];
    let hiring_manager = app.staff("hiring-manager").await;
    for (name, role) in [("None", None), ("Evaluates", Some("evaluators")), ("Reviews", Some("reviewers"))] {
        let mut fields = json!({ "name": name });
        if let Some(role) = role {
            fields[role] = json!([hiring_manager.uri]);
        }
        owner.project(fields).await;
    }
    recruiter.project(json!({ "name": "Own", "interview_managers": [hiring_manager.uri] })).await;
    // Others have lists of their own.
    app.owner_of("globex").await.project(json!({ "name": "Other" })).await;

    let all = ["None", "Evaluates", "Reviews", "Own"];
    assert_eq!(names(&owner, PROJECTS).await, all);
    assert_eq!(names(&admin, PROJECTS).await, all);
    assert_eq!(names(&recruiter, PROJECTS).await, ["Own"]);
    assert_eq!(names(&hiring_manager, PROJECTS).await, ["Evaluates", "Reviews", "Own"]);
    assert_eq!(names(&app.staff("hiring-manager").await, PROJECTS).await, [""; 0]);
}

#[tokio::test]
async fn a_project_looks_in_a_list_as_it_does_alone_but_for_one_name() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    owner.candidate(&uri, json!({})).await;
    let mut expected = owner.get(&uri).await.expect(200).json();
    let skipped = expected.as_object_mut().unwrap().remove("skipped_candidates_count").unwrap();
    expected["skipped_candiates_count"] = skipped;
    let list = owner.get(PROJECTS).await.expect(200).json();
    assert_eq!(list["objects"], json!([expected]));
    assert_eq!(list["objects"][0]["candidates_count"], 1);
}

#[tokio::test]
async fn a_list_can_be_narrowed_to_a_status() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    for (name, status) in
        [("A", "40-running"), ("B", "10-incomplete"), ("C", "60-closed"), ("D", "40-running")]
    {
        let uri = owner.project(json!({ "name": name, "evaluators": [evaluator.uri] })).await;
        owner.set_status(&uri, status).await.expect(200);
    }
    for caller in [&owner, &evaluator] {
        for (status, expected) in
            [("10-incomplete", vec!["B"]), ("40-running", vec!["A", "D"]), ("60-closed", vec!["C"])]
        {
            let target = format!("{PROJECTS}?status={status}");
            assert_eq!(names(caller, &target).await, expected, "{status}");
            let meta = &caller.get(&target).await.expect(200).json()["meta"];
            assert_eq!(meta["total_count"], expected.len(), "{status}");
        }
        assert_refusal!(caller.get(&format!("{PROJECTS}?status=running")).await, @r#"400 {"status":["\"running\" is not a valid choice. Use one of: 10-incomplete, 40-running, 60-closed."]}"#);
        assert_eq!(names(caller, &format!("{PROJECTS}?status=")).await.len(), 4, "no value is no filter");
    }
    let paged = walk(&owner, &format!("{PROJECTS}?status=40-running&page_size=1")).await;
    assert_eq!(paged, [["A"], ["D"]], "links keep the filter");
}

#[tokio::test]
async fn links_lead_from_page_to_page_for_all_callers() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    for name in ["1", "2", "3", "4", "5"] {
        owner.project(json!({ "name": name, "evaluators": [evaluator.uri] })).await;
    }
    let expected = [vec!["1", "2"], vec!["3", "4"], vec!["5"]];
    for caller in [&owner, &evaluator] {
        assert_eq!(walk(caller, &format!("{PROJECTS}?page_size=2")).await, expected);
        let last = caller.get(&format!("{PROJECTS}?page=3&page_size=2")).await.expect(200).json();
        assert_eq!((&last["meta"]["next"], &last["meta"]["total_count"]), (&Value::Null, &json!(5)));
        let previous = last["meta"]["previous"].as_str().unwrap().to_owned();
        assert_eq!(names(caller, &previous).await, ["3", "4"]);
        assert_refusal!(caller.get(&format!("{PROJECTS}?page=4&page_size=2")).await, @r#"400 {"page":["The list ends before page 4."]}"#);
    }
}
