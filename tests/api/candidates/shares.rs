//! Letting somebody read a candidate who has no role in its project.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

const SHARED_WITH_ME: &str = "/companies/acme/shares/";
/// An identifier that no test gives to anything.
const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Shares the candidate at `candidate` and gives the address of the share.
async fn share(manager: &Staff, candidate: &str, with: &Staff) -> String {
    let body = json!({ "customer": with.uri });
    manager.post(&format!("{candidate}shares/"), body).await.expect(201).uri("resource_uri")
}

async fn shared_with(staff: &Staff) -> Value {
    staff.get(SHARED_WITH_ME).await.expect(200).json()["objects"].clone()
}

#[tokio::test]
async fn a_share_is_seen_from_both_sides_until_it_is_deleted() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let guest = app.staff("hiring-manager").await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let shares = format!("{candidate}shares/");
    let response = owner.post(&shares, json!({ "customer": guest.uri })).await.expect(201);
    let uri = response.uri("resource_uri");
    assert_eq!(response.header("location"), Some(uri.as_str()));
    assert!(uri.starts_with(&shares), "{uri}");
    let expected = json!({ "id": last_segment(&uri), "resource_uri": uri, "customer": guest.uri, "candidate": candidate });
    assert_eq!(response.json(), expected);

    owner.get(&uri).await.expect_json(200, expected.clone());
    let list = json!({
        "meta": { "total_count": 1, "previous": null, "next": null, "cursor": null },
        "objects": [expected],
    });
    owner.get(&shares).await.expect_json(200, list.clone());
    guest.get(SHARED_WITH_ME).await.expect_json(200, list.clone());
    assert_eq!(owner.get(&candidate).await.expect(200).json()["shares"], list["objects"]);
    assert_eq!(shared_with(&owner).await, json!([]), "what others share, not what one shares");
    app.assert_sound();

    owner.delete(&uri).await.expect(204);
    owner.get(&uri).await.expect_code(404, "not_found");
    owner.delete(&uri).await.expect_code(404, "not_found");
    assert_eq!(owner.get(&candidate).await.expect(200).json()["shares"], json!([]));
    assert_eq!(shared_with(&guest).await, json!([]));
    guest.get(&candidate).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_share_grants_reading_the_candidate_and_no_more() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let guest = app.staff("recruiter").await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({})).await;
    let other = owner.candidate(&project, json!({})).await;
    let own_share = share(&owner, &invited.uri, &guest).await;

    let seen = guest.get(&invited.uri).await.expect(200);
    assert_eq!(seen.log().dynamodb_calls, 1, "it is told by what is read anyway");
    let seen = seen.json();
    assert_eq!((&seen["resource_uri"], &seen["email"]), (&json!(invited.uri), &json!(invited.email)));
    for hidden in ["activation_key", "interview_key", "shares"] {
        assert_eq!(seen.get(hidden), None, "{hidden}");
    }
    let before = app.table().snapshot().await;
    guest.patch(&invited.uri, json!({ "first_name": "Eve" })).await.expect_code(403, "permission_denied");
    guest.delete(&invited.uri).await.expect_code(403, "permission_denied");
    guest.advance(&invited.uri).await.expect_code(403, "permission_denied");
    guest.get(&own_share).await.expect_code(403, "permission_denied");
    guest.delete(&own_share).await.expect_code(403, "permission_denied");
    let shares = format!("{}shares/", invited.uri);
    guest.get(&shares).await.expect_code(403, "permission_denied");
    guest.post(&shares, json!({ "customer": guest.uri })).await.expect_code(403, "permission_denied");
    for unknown in [&project, &format!("{project}candidates/"), &format!("{project}roles/"), &other] {
        guest.get(unknown).await.expect_code(404, "not_found");
    }
    let mine = guest.get("/companies/acme/projects/").await.expect(200).json();
    assert_eq!(mine["meta"]["total_count"], 0);
    assert_eq!(app.table().snapshot().await, before);

    // A role counts beside a share.
    owner.patch(&project, json!({ "interview_managers": [guest.uri] })).await.expect(200);
    guest.patch(&invited.uri, json!({ "phone": "1" })).await.expect(200);
    owner.patch(&project, json!({ "interview_managers": [], "evaluators": [guest.uri] })).await.expect(200);
    guest.patch(&invited.uri, json!({ "phone": "2" })).await.expect(403);
    assert_eq!(guest.get(&other).await.expect(200).json().get("shares"), None);
    // And a share beside rights in the whole company.
    let admin = app.staff("admin").await;
    share(&owner, &invited.uri, &admin).await;
    admin.patch(&invited.uri, json!({ "phone": "3" })).await.expect(200);
}

#[tokio::test]
async fn project_managers_share_and_others_do_not() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [manager, evaluator, reviewer] = [
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
    ];
    let guest = app.staff("hiring-manager").await;
    let staff = json!({
        "interview_managers": [manager.uri], "evaluators": [evaluator.uri], "reviewers": [reviewer.uri],
    });
    let project = owner.running_project(staff).await;
    let invited = owner.invite(&project, json!({})).await;
    let shares = format!("{}shares/", invited.uri);
    for others in [&evaluator, &reviewer] {
        others.get(&shares).await.expect_code(403, "permission_denied");
        others.post(&shares, json!({ "customer": guest.uri })).await.expect_code(403, "permission_denied");
        assert_eq!(others.get(&invited.uri).await.expect(200).json().get("shares"), None);
    }
    guest.post(&shares, json!({ "customer": guest.uri })).await.expect_code(404, "not_found");
    invited.get(&shares).await.expect_code(403, "permission_denied");
    assert_eq!(invited.get(&invited.uri).await.expect(200).json().get("shares"), None);
    invited.get(SHARED_WITH_ME).await.expect_code(403, "permission_denied");
    let uri = share(&manager, &invited.uri, &guest).await;
    assert_eq!(manager.get(&invited.uri).await.expect(200).json()["shares"][0]["resource_uri"], uri);
    evaluator.delete(&uri).await.expect_code(403, "permission_denied");
    manager.delete(&uri).await.expect(204);
}

#[tokio::test]
async fn sharing_again_with_the_same_person_changes_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let guest = app.staff("hiring-manager").await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let uri = share(&owner, &candidate, &guest).await;
    let before = app.table().snapshot().await;
    let again =
        owner.post(&format!("{candidate}shares/"), json!({ "customer": guest.uri })).await.expect(200);
    assert_eq!(again.uri("resource_uri"), uri);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn a_candidate_is_shared_with_staff_of_the_company_who_can_log_in() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let stranger = app.owner_of("globex").await;
    let gone = app.staff("recruiter").await;
    owner.delete(&gone.uri).await.expect(204);
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let shares = format!("{candidate}shares/");
    let before = app.table().snapshot().await;
    owner.post(&shares, json!({})).await.expect_json(400, json!({ "customer": ["This field is required."] }));
    let values = [
        json!(null),
        json!(7),
        json!(""),
        json!([owner.uri]),
        json!(stranger.uri),
        json!(gone.uri),
        json!(candidate),
        json!(format!("https://hr.example/api/v3/companies/acme/customers/{NOBODY}/")),
    ];
    assert_refusals!(send_each(values, |value| owner.post(&shares, json!({ "customer": value }))).await, @r#"
        400 {"customer":["This field may not be null."]}
        2 x 400 {"customer":["Not a valid string."]}
        400 {"customer":["\"\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        400 {"customer":["\"https://hr.example/api/v3/companies/globex/customers/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        2 x 400 {"customer":["Customer [id] does not exist or is inactive."]}
        400 {"customer":["\"https://hr.example/api/v3/companies/acme/projects/[id]/candidates/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."]}
        "#);
    let missing = format!(
        "{}{NOBODY}/shares/",
        candidate.strip_suffix(&format!("{}/", last_segment(&candidate))).unwrap()
    );
    owner.post(&missing, json!({ "customer": owner.uri })).await.expect_code(404, "not_found");
    owner.get(&format!("{shares}{NOBODY}/")).await.expect_code(404, "not_found");
    owner.get(&format!("{shares}x/")).await.expect_code(404, "not_found");
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn shares_go_with_the_candidate_and_with_the_customer() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [leaves, stays] = [app.staff("recruiter").await, app.staff("recruiter").await];
    let project = owner.project(json!({})).await;
    let mut candidates = Vec::new();
    for _ in 0..12 {
        let candidate = owner.candidate(&project, json!({})).await;
        share(&owner, &candidate, &leaves).await;
        share(&owner, &candidate, &stays).await;
        candidates.push(candidate);
    }

    // Changing a candidate leaves its shares as they are.
    owner.patch(&candidates[0], json!({ "email": "ada@mail.example" })).await.expect(200);
    assert_eq!(shared_with(&leaves).await.as_array().unwrap().len(), 12);

    owner.delete(&candidates[0]).await.expect(204);
    assert_eq!(shared_with(&leaves).await.as_array().unwrap().len(), 11);
    owner.delete(&leaves.uri).await.expect(204);
    for candidate in &candidates[1..] {
        let shares = owner.get(candidate).await.expect(200).json()["shares"].clone();
        assert_eq!(shares.as_array().unwrap().len(), 1);
        assert_eq!(shares[0]["customer"], stays.uri);
    }
    let items = app.table().snapshot().await;
    let mut left = items.keys().filter(|(pk, sk)| pk.contains(leaves.id()) || sk.contains(leaves.id()));
    let is_due = |(pk, _): &(String, String)| pk.starts_with("EFFECT#") || pk.starts_with("HISTORY#");
    assert!(left.all(is_due), "nothing is left but the mail and the history");
}

#[tokio::test]
async fn shares_are_listed_in_pages() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let guest = app.staff("hiring-manager").await;
    let project = owner.project(json!({})).await;
    let mut shares = Vec::new();
    for _ in 0..5 {
        let candidate = owner.candidate(&project, json!({})).await;
        shares.push(share(&owner, &candidate, &guest).await);
    }
    let mut seen = Vec::new();
    let mut next = Some(format!("{SHARED_WITH_ME}?page_size=2"));
    while let Some(target) = next {
        let page = guest.get(&target).await.expect(200).json();
        assert_eq!(page["meta"]["total_count"], 5);
        let uris = page["objects"].as_array().unwrap().iter();
        seen.extend(uris.map(|share| share["resource_uri"].as_str().unwrap().to_owned()));
        next = page["meta"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen, shares, "oldest first");
    assert_refusal!(guest.get(&format!("{SHARED_WITH_ME}?page=4&page_size=2")).await, @r#"400 {"page":["The list ends before page 4."]}"#);
}

#[tokio::test]
async fn a_candidate_has_room_for_fifty_shares_and_goes_with_all_of_them() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let words = (0..30).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let names = json!({ "first_name": words, "username": "ada", "email": "ada@mail.example" });
    let candidate = owner.candidate(&owner.project(json!({})).await, names).await;
    let shares = format!("{candidate}shares/");
    let mut people = Vec::new();
    for n in 0..51 {
        let id = format!("{NOBODY:.24}{n:02}");
        let body = json!({
            "username": format!("u{n}"), "email": format!("u{n}@acme.example"), "first_name": "U",
            "last_name": id, "account_type": "hiring-manager", "preferred_language": "en",
        });
        people.push(owner.post("/companies/acme/customers/", body).await.expect(201).uri("resource_uri"));
    }
    for person in &people[..50] {
        owner.post(&shares, json!({ "customer": person })).await.expect(201);
    }
    assert_refusal!(owner.post(&shares, json!({ "customer": people[50] })).await, @r#"400 {"code":"too_many_shares","detail":"A candidate may have 50 shares. Delete one first."}"#);
    owner.post(&shares, json!({ "customer": people[0] })).await.expect(200);
    app.assert_sound();
    owner.delete(&candidate).await.expect(204);
}
