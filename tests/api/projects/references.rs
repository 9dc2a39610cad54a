//! References of a project: people with their roles, labels, videos.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::{assert_refusal, assert_refusals};

const PROJECTS: &str = "/companies/acme/projects/";
/// Identifiers that no test gives to anything.
const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[tokio::test]
async fn references_must_lead_to_something_of_the_same_company() {
    let app = TestApp::start().await;
    app.leave_unsound("what its projects refer to are keys without content");
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    let stranger = app.owner_of("globex").await;
    app.table().put_attachment("globex", "LABEL", NOBODY).await;
    let before = app.table().snapshot().await;

    let acme = "https://hr.example/api/v3/companies/acme/";
    let people = [
        format!("{acme}customers/{NOBODY}/"),
        stranger.uri.clone(),
        format!("{acme}customers/{}/", stranger.id()),
        owner.uri.replace("hr.example", "elsewhere.example"),
        owner.uri.to_lowercase(),
        uri.clone(),
        String::new(),
    ];
    let mut refusals = Vec::new();
    for person in people {
        for field in ["evaluators", "interview_managers", "reviewers"] {
            let change = json!({ field: [person] });
            refusals.push(owner.patch(&uri, change.clone()).await);
            let mut creation = change;
            creation["name"] = "Sales".into();
            refusals.push(owner.post(PROJECTS, creation).await);
        }
    }
    assert_refusals!(refusals, @r#"
        4 x 400 {"evaluators":["Customer [id] does not exist or is inactive."]}
        4 x 400 {"interview_managers":["Customer [id] does not exist or is inactive."]}
        4 x 400 {"reviewers":["Customer [id] does not exist or is inactive."]}
        2 x 400 {"evaluators":["\"https://hr.example/api/v3/companies/globex/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"interview_managers":["\"https://hr.example/api/v3/companies/globex/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"reviewers":["\"https://hr.example/api/v3/companies/globex/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"evaluators":["\"https://elsewhere.example/api/v3/companies/acme/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"interview_managers":["\"https://elsewhere.example/api/v3/companies/acme/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"reviewers":["\"https://elsewhere.example/api/v3/companies/acme/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"evaluators":["\"https://hr.example/api/v3/companies/acme/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"interview_managers":["\"https://hr.example/api/v3/companies/acme/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"reviewers":["\"https://hr.example/api/v3/companies/acme/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"evaluators":["\"https://hr.example/api/v3/companies/acme/projects/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"interview_managers":["\"https://hr.example/api/v3/companies/acme/projects/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"reviewers":["\"https://hr.example/api/v3/companies/acme/projects/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"evaluators":["\"\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"interview_managers":["\"\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"reviewers":["\"\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        "#);
    let label = format!("{acme}labels/{NOBODY}/");
    assert_refusal!(owner.patch(&uri, json!({ "labels": [label] })).await, @r#"400 {"labels":["Label [id] does not exist."]}"#);
    let video = json!({ "uri": format!("{acme}videos/{NOBODY}/"), "position": 1 });
    assert_refusal!(owner.patch(&uri, json!({ "videos": [video] })).await, @r#"400 {"videos":["Video [id] does not exist."]}"#);
    let both = owner.patch(&uri, json!({ "labels": [label], "videos": [video] })).await;
    assert_refusal!(both, @r#"400 {"labels":["Label [id] does not exist."],"videos":["Video [id] does not exist."]}"#);
    assert_eq!(app.table().snapshot().await, before, "nothing of all that is done");
}

#[tokio::test]
async fn an_evaluator_cannot_be_a_reviewer() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("hiring-manager").await.uri;
    let both = json!({ "evaluators": [person], "reviewers": [person] });
    let uri = owner.project(json!({ "evaluators": [person] })).await;
    assert_refusal!(owner.patch(&uri, both.clone()).await, @r#"400 {"non_field_errors":["An evaluator may not be a reviewer of the same project."]}"#);
    // The list that was not sent counts as well.
    assert_refusal!(owner.patch(&uri, json!({ "reviewers": [person] })).await, @r#"400 {"non_field_errors":["An evaluator may not be a reviewer of the same project."]}"#);
    let moved = json!({ "evaluators": [], "reviewers": [person] });
    let project = owner.patch(&uri, moved).await.expect(200).json();
    assert_eq!((&project["evaluators"], &project["reviewers"]), (&json!([]), &json!([person])));
    let manages = json!({ "interview_managers": [owner.uri, person] });
    owner.patch(&uri, manages).await.expect(200);
    let mut creation = both;
    creation["name"] = "Sales".into();
    assert_refusal!(owner.post(PROJECTS, creation).await, @r#"400 {"non_field_errors":["An evaluator may not be a reviewer of the same project."]}"#);
}

#[tokio::test]
async fn the_creator_of_a_project_manages_it() {
    let app = TestApp::start().await;
    let recruiter = app.staff("recruiter").await;
    let other = app.staff("recruiter").await;
    let uri = recruiter.project(json!({ "interview_managers": [other.uri] })).await;
    let project = recruiter.patch(&uri, json!({ "name": "Mine" })).await.expect(200).json();
    let mut managers = vec![recruiter.uri.clone(), other.uri.clone()];
    managers.sort_unstable();
    assert_eq!(project["interview_managers"], json!(managers));

    // A manager who leaves loses the project from sight.
    recruiter.patch(&uri, json!({ "interview_managers": [other.uri] })).await.expect(200);
    assert_refusal!(recruiter.get(&uri).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    other.get(&uri).await.expect(200);
}

#[tokio::test]
async fn a_project_has_room_for_forty_people_and_twenty_videos() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    let customer =
        |n: usize| format!("https://hr.example/api/v3/companies/acme/customers/{NOBODY:.24}{n:02}/");
    let people: Vec<String> = (0..41).map(customer).collect();
    assert_refusal!(owner.patch(&uri, json!({ "evaluators": people })).await, @r#"400 {"evaluators":["Ensure this list has no more than 40 items."]}"#);
    let (some, others) = people.split_at(20);
    let spread = json!({ "evaluators": some, "reviewers": others });
    assert_refusal!(owner.patch(&uri, spread).await, @r#"400 {"non_field_errors":["At most 40 people may have a role in one project."]}"#);

    let video = |n: usize| json!({ "uri": format!("https://hr.example/api/v3/companies/acme/videos/{NOBODY:.24}{n:02}/"), "position": n });
    let many: Vec<Value> = (0..21).map(video).collect();
    assert_refusal!(owner.patch(&uri, json!({ "videos": many })).await, @r#"400 {"videos":["Ensure this list has no more than 20 items."]}"#);
    let (mut again, mut same) = (video(1), video(2));
    again["position"] = 2.into();
    same["position"] = 1.into();
    for repeated in [json!([video(1), again]), json!([video(1), same])] {
        assert_refusal!(owner.patch(&uri, json!({ "videos": repeated })).await, @r#"400 {"videos":["Each video, and each position, may appear only once."]}"#);
    }
}

#[tokio::test]
async fn a_full_project_is_made_and_changed_in_parts() {
    let app = TestApp::start().await;
    app.leave_unsound("what its projects refer to are keys without content");
    let owner = app.owner().await;
    let company = "https://hr.example/api/v3/companies/acme/";
    let (mut people, mut labels, mut videos) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..80 {
        let id = format!("{NOBODY:.24}{n:02}");
        app.table().put_attachment("acme", "CUSTOMER", &id).await;
        people.push(format!("{company}customers/{id}/"));
        if n < 40 {
            app.table().put_attachment("acme", "LABEL", &id).await;
            app.table().put_attachment("acme", "VIDEO", &id).await;
            labels.push(format!("{company}labels/{id}/"));
            videos.push(json!({ "uri": format!("{company}videos/{id}/"), "position": n }));
        }
    }
    let whole = json!({
        "name": "Full", "evaluators": people[..39], "labels": labels[..20], "videos": videos[..20],
    });
    assert_refusal!(owner.post(PROJECTS, whole).await, @r#"400 {"non_field_errors":["Too many changes in one request. Split it into several."]}"#);
    assert_eq!(owner.get(PROJECTS).await.expect(200).json()["meta"]["total_count"], 0);

    let uri = owner.project(json!({ "labels": labels[..20], "videos": videos[..20] })).await;
    for part in [
        json!({ "evaluators": people[..39] }),
        json!({ "labels": labels[20..], "videos": videos[20..] }),
        json!({ "evaluators": people[20..59] }),
        json!({ "evaluators": people[40..79] }),
    ] {
        let project = owner.patch(&uri, part.clone()).await.expect(200).json();
        for (name, value) in part.as_object().unwrap() {
            assert_eq!(project[name], *value, "{name}");
        }
    }
    let before = app.table().snapshot().await;
    assert_refusal!(owner.patch(&uri, json!({ "evaluators": people[..39] })).await, @r#"400 {"non_field_errors":["Too many changes in one request. Split it into several."]}"#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn videos_are_shown_in_the_order_of_their_positions() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let id = |n: u32| format!("{NOBODY:.25}{n}");
    let video = |n: u32, position: u32| json!({ "uri": format!("https://hr.example/api/v3/companies/acme/videos/{}/", id(n)), "position": position });
    for n in 1..=3 {
        app.table().put_attachment("acme", "VIDEO", &id(n)).await;
    }
    let uri = owner.project(json!({ "videos": [video(1, 30), video(2, 10), video(3, 20)] })).await;
    let shown = owner.get(&uri).await.expect(200).json();
    assert_eq!(shown["videos"], json!([video(2, 10), video(3, 20), video(1, 30)]));
    let shown = owner.patch(&uri, json!({ "videos": [video(1, 1), video(3, 2)] })).await.expect(200).json();
    assert_eq!(shown["videos"], json!([video(1, 1), video(3, 2)]));
}
