//! The candidates of all projects with an email address.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::{assert_refusal, assert_refusals};

const ALL: &str = "/companies/acme/candidates/";

async fn found(caller: &Staff, query: &str) -> Value {
    caller.get(&format!("{ALL}?{query}")).await.expect(200).json()
}

fn uris(list: &Value) -> Vec<&str> {
    let objects = list["objects"].as_array().unwrap();
    objects.iter().map(|candidate| candidate["resource_uri"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn all_applications_of_a_person_are_found_wherever_they_are() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let admin = app.staff("admin").await;
    let [one, two] = [owner.project(json!({})).await, owner.running_project(json!({})).await];
    let ada = json!({ "email": "Ada@mail.example" });
    let first = owner.candidate(&one, ada.clone()).await;
    let second = owner.invite(&two, ada.clone()).await.uri;
    let third = owner.candidate(&two, json!({ "email": "ada@MAIL.example" })).await;
    // Others, staff and other companies are not meant, nor is an address that only begins so.
    owner.candidate(&one, json!({ "email": "ada@mail.example.org" })).await;
    owner.colleague("recruiter", json!({ "email": "ada@mail.example" })).await;
    let stranger = app.owner_of("globex").await;
    let foreign = stranger.project(json!({})).await;
    stranger.candidate(&foreign, ada).await;

    for caller in [&owner, &admin] {
        let list = found(caller, "email=ADA@mail.example").await;
        assert_eq!(uris(&list), [&first, &second, &third], "oldest first");
        assert_eq!(list["meta"], json!({ "total_count": 3, "previous": null, "next": null, "cursor": null }));
    }
    let list = found(&owner, "email=ada%40mail.example").await;
    for candidate in list["objects"].as_array().unwrap() {
        let uri = candidate["resource_uri"].as_str().unwrap();
        owner.get(uri).await.expect_json(200, candidate.clone());
    }

    // Pages follow their links.
    let page = found(&owner, "email=ada@mail.example&page_size=2").await;
    assert_eq!((uris(&page), &page["meta"]["total_count"]), (vec![&*first, &*second], &json!(3)));
    let page = owner.get(page["meta"]["next"].as_str().unwrap()).await.expect(200);
    assert_eq!(page.log().dynamodb_calls, 3);
    let page = page.json();
    assert_eq!((uris(&page), &page["meta"]["next"]), (vec![&*third], &Value::Null));
    let page = owner.get(page["meta"]["previous"].as_str().unwrap()).await.expect(200).json();
    assert_eq!(uris(&page), [&first, &second]);

    // Another address, and a deletion, take effect at once.
    owner.patch(&first, json!({ "email": "countess@mail.example" })).await.expect(200);
    owner.delete(&third).await.expect(204);
    assert_eq!(uris(&found(&owner, "email=ada@mail.example").await), [&second]);
    assert_eq!(uris(&found(&owner, "email=countess@mail.example").await), [&first]);
    let none = json!({ "meta": { "total_count": 0, "previous": null, "next": null, "cursor": null }, "objects": [] });
    assert_eq!(found(&owner, "email=nobody@mail.example").await, none);
    assert_eq!(found(&owner, &format!("email={}", "a".repeat(2000))).await, none);
}

#[tokio::test]
async fn the_address_is_required_and_staff_find_candidates_of_their_projects_alone() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recruiter = app.staff("recruiter").await;
    let project = owner.running_project(json!({ "interview_managers": [recruiter.uri] })).await;
    let candidate = owner.invite(&project, json!({})).await.register().await;
    let asked = format!("{ALL}?email=ada@mail.example");
    assert_refusals!(
        [owner.get(ALL).await, owner.get(&format!("{ALL}?email=")).await, owner.get(&format!("{ALL}?status=new")).await],
        @r#"
        2 x 400 {"email":["This field is required."]}
        400 {
          "code":"unknown_parameter",
          "detail":"There is no parameter status.",
          "parameter":"status"
        }
        "#
    );
    assert_refusal!(owner.get(&format!("{asked}&page=2")).await, @r#"400 {"page":["The list ends before page 2."]}"#);
    let named = json!({ "email": "ada@mail.example", "external_id": "A-1" });
    let seen = owner.candidate(&project, named.clone()).await;
    owner.candidate(&owner.project(json!({})).await, named).await;
    for asked in ["email=ada@mail.example", "external_id=A-1", "email=ada@mail.example&external_id=A-1"] {
        let list = found(&recruiter, asked).await;
        assert_eq!((uris(&list), &list["meta"]["total_count"]), (vec![&*seen], &json!(1)), "{asked}");
        assert_eq!(uris(&found(&owner, asked).await).len(), 2, "{asked}");
    }
    assert_refusal!(recruiter.get(ALL).await, @r#"400 {"email":["This field is required."]}"#);
    candidate.get(&asked).await.expect_code(403, "permission_denied");
    let stranger = app.owner_of("globex").await;
    assert_refusal!(stranger.get(&asked).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
}
