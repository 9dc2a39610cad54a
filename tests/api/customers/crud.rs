//! Creating, listing and reading staff.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Colleague, PASSWORD, Staff, last_segment};
use tests::effort;
use tests::http::{Response, send_each};
use tests::{assert_refusal, assert_refusals};
use tokio::task::JoinSet;

pub(crate) const CUSTOMERS: &str = "/companies/acme/customers/";

/// An identifier that no test gives to anything.
pub(crate) const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

pub(crate) const ACCOUNT_TYPES: [&str; 4] = ["owner", "admin", "recruiter", "hiring-manager"];

/// The account types that each account type may create, change and delete.
pub(crate) const MANAGED: [(&str, &[&str]); 4] = [
    ("owner", &["admin", "recruiter", "hiring-manager"]),
    ("admin", &["recruiter", "hiring-manager"]),
    ("recruiter", &["hiring-manager"]),
    ("hiring-manager", &[]),
];

/// The body of a new customer with the required fields.
pub(crate) fn creation(email: &str) -> Value {
    json!({
        "first_name": "Grace",
        "last_name": "Hopper",
        "email": email,
        "account_type": "recruiter",
        "preferred_language": "de",
    })
}

pub(crate) fn with(mut body: Value, fields: Value) -> Value {
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

pub(crate) async fn uris(staff: &Staff, query: &str) -> Vec<String> {
    let page = staff.get(&format!("{CUSTOMERS}{query}")).await.expect(200).json();
    let objects = page["objects"].as_array().unwrap();
    objects.iter().map(|one| one["resource_uri"].as_str().unwrap().to_owned()).collect()
}

/// The tasks that wait to be done, by the kind that they have.
pub(crate) async fn tasks(app: &TestApp) -> Vec<Value> {
    let items = app.table().snapshot().await.into_iter();
    items.filter(|((pk, _), _)| pk.starts_with("EFFECT#")).map(|(_, item)| item["task"].clone()).collect()
}

#[tokio::test]
async fn five_fields_are_enough_and_the_user_name_is_the_email() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let email = app.next_email();
    let response = owner.post(CUSTOMERS, creation(&email)).await.expect(201);
    let uri = response.uri("resource_uri");
    assert_eq!(response.header("location"), Some(uri.as_str()));
    let expected = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "company": "https://hr.example/api/v3/companies/acme/",
        "preferred_language": "de",
        "account_type": "recruiter",
        "user": uri,
        "username": email,
        "first_name": "Grace",
        "last_name": "Hopper",
        "email": email,
        "email_confirmed": false,
        "email_status": "deliverable",
        "phone": "",
        "status": "invited",
        "confirmationdate": null,
        "invitationdate": "2026-11-08T10:00:00Z",
        "gender": "",
        "created_by": owner.uri,
        "receive_interview_notifications": true,
        "photo": "",
        "position": "",
        "role": "",
        "activation_key": "",
        "projects": format!("{uri}projects/"),
        "seen_welcome": false,
        "is_active": true,
    });
    assert_eq!(response.json(), expected);
    owner.get(&uri).await.expect_json(200, expected);
    assert_eq!(uris(&owner, "").await, [owner.uri.clone(), uri]);
    assert_eq!(tasks(&app).await[0]["kind"], "customer-invitation");
    app.settle().await;
    assert_eq!(app.mails_to(&email).len(), 1);
}

#[tokio::test]
async fn every_field_is_kept_as_sent_and_the_rest_is_ignored() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let kept = json!({
        "username": "Grace.H",
        "first_name": "Zoë",
        "last_name": "O’Neil",
        "email": "Zoe.ONeil@Mail.example",
        "account_type": "admin",
        "preferred_language": "fr",
        "phone": "+41 44 123 45 67",
        "gender": "mrs",
        "position": "Head of People",
        "role": "Decides about offers",
        "receive_interview_notifications": false,
        "seen_welcome": true,
    });
    let ignored = json!({
        "status": "confirmed",
        "is_active": true,
        "confirmationdate": "2020-01-01T00:00:00Z",
        "created_by": null,
        "activation_key": "ivo_x",
        "company": "https://hr.example/api/v3/companies/globex/",
        "resource_uri": "https://elsewhere.example/",
    });
    let created = owner.post(CUSTOMERS, with(kept.clone(), ignored)).await.expect(201);
    let read = owner.get(&created.uri("resource_uri")).await.expect(200).json();
    for (name, value) in kept.as_object().unwrap() {
        assert_eq!(read[name], *value, "{name}");
    }
    for (name, value) in
        [("status", json!("invited")), ("is_active", json!(true)), ("created_by", json!(owner.uri))]
    {
        assert_eq!(read[name], value, "{name}");
    }
    assert_eq!(read["activation_key"], "", "nobody but the invited sees the key");
    // Ignored, it would leave an account open that the client believes to be closed.
    let uri = created.uri("resource_uri");
    let closed = with(kept, json!({ "is_active": false, "email": app.next_email(), "username": "another" }));
    let before = app.table().snapshot().await;
    let refused =
        [owner.post(CUSTOMERS, closed).await, owner.patch(&uri, json!({ "is_active": false })).await];
    assert_refusals!(refused, @r#"2 x 400 {"is_active":["Only a batch import activates and deactivates customers: it deactivates those who are missing from its list."]}"#);
    owner.patch(&uri, json!({ "is_active": true })).await.expect(200);
    assert_eq!(app.table().snapshot().await, before);
    assert_refusal!(app.anonymous().log_in("acme", "grace.h", PASSWORD).await, @r#"401 {"code":"invalid_credentials","detail":"Unable to log in with the provided credentials."}"#);
}

#[tokio::test]
async fn each_required_field_is_missed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let before = app.table().snapshot().await;
    let required = ["first_name", "last_name", "email", "account_type", "preferred_language"];
    assert_refusal!(owner.post(CUSTOMERS, json!({})).await, @r#"
        400 {
          "account_type":["This field is required."],
          "email":["This field is required."],
          "first_name":["This field is required."],
          "last_name":["This field is required."],
          "preferred_language":["This field is required."]
        }
        "#);
    let mut refusals = Vec::new();
    for field in required {
        let mut body = creation("grace@acme.example");
        body.as_object_mut().unwrap().remove(field);
        let missing = json!({ field: ["This field is required."] });
        owner.post(CUSTOMERS, body.clone()).await.expect_json(400, missing);
        for wrong in [json!(null), json!(""), json!(7)] {
            body[field] = wrong;
            refusals.push(owner.post(CUSTOMERS, body.clone()).await);
        }
    }
    assert_refusals!(refusals, @r#"
        400 {"first_name":["This field may not be null."]}
        400 {"first_name":["This field may not be blank."]}
        400 {"first_name":["Not a valid string."]}
        400 {"last_name":["This field may not be null."]}
        400 {"last_name":["This field may not be blank."]}
        400 {"last_name":["Not a valid string."]}
        400 {"email":["This field may not be null."]}
        400 {"email":["Enter a valid email address."]}
        400 {"email":["Not a valid string."]}
        400 {"account_type":["This field may not be null."]}
        400 {"account_type":["\"\" is not a valid choice. Use one of: hiring-manager, recruiter, admin, owner."]}
        400 {"account_type":["Not a valid string."]}
        400 {"preferred_language":["This field may not be null."]}
        400 {"preferred_language":["\"\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}
        400 {"preferred_language":["Not a valid string."]}
        "#);
    let wrong = json!({
        "email": "nobody",
        "username": "with space",
        "account_type": "boss",
        "preferred_language": "xx",
        "phone": "1".repeat(51),
        "receive_interview_notifications": "yes",
    });
    assert_refusal!(owner.post(CUSTOMERS, with(creation("x@y.co"), wrong)).await, @r#"
        400 {
          "account_type":["\"boss\" is not a valid choice. Use one of: hiring-manager, recruiter, admin, owner."],
          "email":["Enter a valid email address."],
          "phone":["Ensure this field has no more than 50 characters."],
          "preferred_language":["\"xx\" is not a valid choice. Use one of: en, de, fr, es, it, nl."],
          "receive_interview_notifications":["Must be a valid boolean."],
          "username":["A username may not contain spaces."]
        }
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn user_names_and_emails_identify_one_person_ignoring_case() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    owner.candidate(&project, json!({ "username": "Ada", "email": "ada@mail.example" })).await;
    let grace = with(creation("grace@acme.example"), json!({ "username": "grace" }));
    let grace = owner.post(CUSTOMERS, grace).await.expect(201).uri("resource_uri");
    owner.candidate(&project, json!({ "username": "named@acme.example" })).await;
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for (username, email) in [
        ("GRACE", "new@acme.example"),
        ("OWNER", "new@acme.example"),
        // A candidate has it.
        ("aDa", "new@acme.example"),
        ("new", "Grace@ACME.example"),
        // A name is nobody else's address, nor an address somebody else's name.
        ("Grace@acme.example", "new@acme.example"),
    ] {
        let body = with(creation(email), json!({ "username": username }));
        refusals.push(owner.post(CUSTOMERS, body).await);
    }
    assert_refusals!(refusals, @r#"
        4 x 400 {"username":["This username is already in use."]}
        400 {"email":["A customer with this email already exists."]}
        "#);
    // Without a user name, the address stands for it.
    assert_refusal!(owner.post(CUSTOMERS, creation("GRACE@acme.example")).await, @r#"400 {"email":["A customer with this email already exists."]}"#);
    assert_refusal!(owner.post(CUSTOMERS, creation("named@acme.example")).await, @r#"400 {"username":["This username is already in use."]}"#);
    let both = with(creation("grace@acme.example"), json!({ "username": "grace" }));
    assert_refusal!(owner.post(CUSTOMERS, both).await, @r#"400 {"email":["A customer with this email already exists."],"username":["This username is already in use."]}"#);
    assert_eq!(app.table().snapshot().await, before);

    // A candidate's address hinders nobody, nor do other companies.
    let same = with(creation("ada@mail.example"), json!({ "username": "ada2" }));
    let ada = owner.post(CUSTOMERS, same).await.expect(201).uri("resource_uri");
    let stranger = app.owner_of("globex").await;
    let elsewhere = with(creation("grace@acme.example"), json!({ "username": "grace" }));
    stranger.post("/companies/globex/customers/", elsewhere).await.expect(201);
    for name in ["GRACE", "Grace@Acme.Example", "ada2"] {
        let body = json!({ "first_name": "A", "last_name": "B", "username": name });
        assert_refusal!(owner.post(&format!("{project}candidates/"), body).await, @r#"400 {"username":["This username is already in use."]}"#);
    }

    // The same for a new address; one's own in another case is none.
    assert_refusal!(owner.patch(&ada, json!({ "email": "GRACE@acme.example" })).await, @r#"400 {"email":["A customer with this email already exists."]}"#);
    owner.patch(&ada, json!({ "email": "ADA@mail.example" })).await.expect(200);
    owner.patch(&ada, json!({ "email": "countess@mail.example" })).await.expect(200);
    let taken = with(creation("ada@mail.example"), json!({ "username": "ada3" }));
    owner.post(CUSTOMERS, taken).await.expect(201);
    // An address that is somebody's user name.
    assert_refusal!(owner.patch(&grace, json!({ "email": "NAMED@acme.example" })).await, @r#"400 {"email":["A customer with this email already exists."]}"#);
    assert_refusal!(owner.post(CUSTOMERS, with(creation("named@acme.example"), json!({ "username": "n2" }))).await, @r#"400 {"email":["A customer with this email already exists."]}"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_sixteen_who_create_the_same_person_one_succeeds() {
    const CREATORS: usize = 16;
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let names = effort::count(60) as usize;
    let mut creators = JoinSet::new();
    for creator in 0..CREATORS {
        let owner = owner.clone();
        creators.spawn(async move {
            let mut responses: Vec<(usize, Response)> = Vec::new();
            for name in 0..names {
                // By turns they want the same user name and the same address, in different cases.
                let mut own = [format!("c{creator}-{name}"), format!("c{creator}-{name}@acme.example")];
                let wanted = [format!("name-{name}"), format!("name-{name}@acme.example")];
                own[name % 2].clone_from(&wanted[name % 2]);
                if creator % 2 == 1 {
                    own = own.map(|text| text.to_uppercase());
                }
                let body = with(creation(&own[1]), json!({ "username": own[0] }));
                responses.push((name, owner.post(CUSTOMERS, body).await));
            }
            responses
        });
    }
    let mut winners = BTreeMap::new();
    let (mut losers, mut others) = (0, Vec::new());
    for (name, response) in creators.join_all().await.into_iter().flatten() {
        match response.status.as_u16() {
            201 => *winners.entry(name).or_insert(0) += 1,
            400 if name.is_multiple_of(2) => {
                assert_refusal!(response, @r#"400 {"username":["This username is already in use."]}"#);
                losers += 1;
            }
            400 => {
                assert_refusal!(response, @r#"400 {"email":["A customer with this email already exists."]}"#);
                losers += 1;
            }
            _ => others.push(response.to_string()),
        }
    }
    assert_eq!(others, Vec::<String>::new());
    assert_eq!((winners.len(), losers), (names, names * (CREATORS - 1)));
    assert!(winners.values().all(|count| *count == 1), "{winners:?}");
}

#[tokio::test]
async fn the_list_can_be_narrowed_and_comes_in_pages() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let admin = app.staff("admin").await;
    let mut invited: Vec<Colleague> = Vec::new();
    for n in 0..5 {
        invited.push(owner.colleague("recruiter", json!({ "username": format!("Re-{n}") })).await);
    }
    let recruiters: Vec<String> = invited.iter().map(|one| one.uri.clone()).collect();
    let all = [vec![owner.uri.clone(), admin.uri.clone()], recruiters.clone()].concat();
    let hiring = app.staff("hiring-manager").await;
    let everybody = [all, vec![hiring.uri.clone()]].concat();
    assert_eq!(uris(&hiring, "").await, everybody, "all staff see all staff, oldest first");
    assert_eq!(uris(&owner, "?status=invited").await, recruiters);
    assert_eq!(uris(&owner, "?account_type=recruiter").await, recruiters);
    assert_eq!(uris(&owner, "?account_type=admin&status=confirmed").await, [admin.uri.as_str()]);
    assert_eq!(uris(&owner, "?account_type=admin&status=invited").await, Vec::<String>::new());
    for name in ["Re-3", "re-3", "RE-3"] {
        let page = owner.get(&format!("{CUSTOMERS}?username={name}")).await.expect(200).json();
        let expected = json!({ "total_count": 1, "previous": null, "next": null, "cursor": null });
        assert_eq!((&page["meta"], &page["objects"][0]["resource_uri"]), (&expected, &json!(recruiters[3])));
    }
    let address = invited[0].email.as_str();
    for nobody in ["nobody", address, "re-3&status=confirmed", "re-3&account_type=admin", "%00", "Re-"] {
        assert_eq!(uris(&owner, &format!("?username={nobody}")).await, Vec::<String>::new(), "{nobody}");
    }
    let queries = ["status=x", "account_type=Owner", "page=3", "page=0"];
    let refusals = send_each(queries, async |query| owner.get(&format!("{CUSTOMERS}?{query}")).await).await;
    assert_refusals!(refusals, @r#"
        400 {"status":["\"x\" is not a valid choice. Use one of: invited, confirmed."]}
        400 {"account_type":["\"Owner\" is not a valid choice. Use one of: hiring-manager, recruiter, admin, owner."]}
        400 {"page":["The list ends before page 3."]}
        400 {"page":["Use a whole number from 1 to 18446744073709551615."]}
        "#);
    for filter in ["", "&account_type=recruiter"] {
        let expected = if filter.is_empty() { &everybody } else { &recruiters };
        let (mut seen, mut next) = (Vec::new(), Some(format!("{CUSTOMERS}?page_size=2{filter}")));
        while let Some(target) = next {
            let page = owner.get(&target).await.expect(200).json();
            assert_eq!(page["meta"]["total_count"], expected.len());
            let rows = page["objects"].as_array().unwrap();
            assert!(rows.len() <= 2);
            seen.extend(rows.iter().map(|one| one["resource_uri"].as_str().unwrap().to_owned()));
            next = page["meta"]["next"].as_str().map(str::to_owned);
        }
        assert_eq!(seen, *expected);
    }
}

#[tokio::test]
async fn customers_of_another_company_are_as_unknown_as_none() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let stranger = app.owner_of("globex").await;
    let missing = owner.get(&format!("{CUSTOMERS}{NOBODY}/")).await.expect_code(404, "not_found").body;
    let elsewhere = format!("{CUSTOMERS}{}/", stranger.id());
    for target in [&stranger.uri, &elsewhere, &format!("{CUSTOMERS}x/")] {
        assert_eq!(owner.get(target).await.expect(404).body, missing);
        assert_eq!(owner.patch(target, json!({ "phone": "1" })).await.expect(404).body, missing);
        assert_eq!(owner.delete(target).await.expect(404).body, missing);
    }
    stranger.get(CUSTOMERS).await.expect_code(404, "not_found");
    stranger.post(CUSTOMERS, creation("x@y.co")).await.expect_code(404, "not_found");
}
