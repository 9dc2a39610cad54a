//! Named tokens, by which other services act for a company.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::files::noise;
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};

const TOKENS: &str = "/companies/acme/tokens/";
/// A value that somebody chose.
const CHOSEN: &str = "correct-horse-battery-staple:2026!";
/// The value of another token.
const OTHER: &str = "9f86d081884c7d659a2feaa0c55ad015";

#[tokio::test]
async fn a_value_is_shown_once_and_never_stored() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let created = owner.post(TOKENS, json!({ "name": " Payroll " })).await.expect(201);
    let (uri, value) = (created.uri("resource_uri"), created.uri("value"));
    assert_eq!(created.header("location"), Some(uri.as_str()));
    assert!(value.starts_with("ivn_") && value.len() >= 36, "{value}");
    let view = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "company": "https://hr.example/api/v3/companies/acme/",
        "name": "Payroll",
        "account_type": "owner",
        "projects": [],
        "read_only": false,
        "trust": null,
        "expires_at": null,
        "is_expired": false,
        "last_used_at": null,
        "exchanged_at": null,
        "last_problem": null,
        "created_at": "2026-11-08T10:00:00Z",
        "created_by": owner.uri,
    });
    let mut shown = view.clone();
    shown["value"] = value.clone().into();
    assert_eq!(created.json(), shown);
    owner.get(&uri).await.expect_json(200, view.clone());
    let list = owner.get(TOKENS).await.expect(200).json();
    assert_eq!((&list["objects"], &list["meta"]["total_count"]), (&json!([view]), &json!(1)));

    let chosen = owner.post(TOKENS, json!({ "name": "Chosen", "value": CHOSEN })).await.expect(201);
    assert_eq!(chosen.uri("value"), CHOSEN);
    let stored = app.table().text().await;
    for secret in [value.as_str(), value.trim_start_matches("ivn_"), CHOSEN] {
        assert!(!stored.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_token_is_sent_in_either_form() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (_, made) = owner.named_token("Made").await;
    owner.post(TOKENS, json!({ "name": "Chosen", "value": CHOSEN })).await.expect(201);
    let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
    let ask = async |credential: &str| {
        app.send(Request::get("/companies/acme/").header("authorization", credential)).await
    };
    for value in [made.secret.as_str(), CHOSEN] {
        for good in [format!("Token {value}"), format!("token  {value}"), basic(format!("token:{value}"))] {
            ask(&good).await.expect(200);
        }
        for bad in [
            basic(format!("owner:{value}")),
            basic(format!("Token:{value}")),
            basic(format!(":{value}")),
            basic(value.to_owned()),
            basic(format!("token:{value}x")),
            format!("Bearer {value}"),
            format!("ActivationKey {value}"),
            format!("Token {value}x"),
            format!("Token {}", &value[..value.len() - 1]),
            format!("Token {}", value.to_uppercase()),
        ] {
            ask(&bad).await.expect_code(401, "invalid_credential");
        }
        let by_cookie = Request::get("/whoami/").header("cookie", &format!("sessionid={value}"));
        // A chosen value looks like the cookie of another service.
        let code = if value.starts_with("ivn_") { "invalid_credential" } else { "not_authenticated" };
        app.send(by_cookie).await.expect_code(401, code);
    }
}

#[tokio::test]
async fn a_named_token_is_no_customer() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (_, token) = owner.named_token("Payroll").await;
    let whoami = token.get("/whoami/").await.expect(200);
    assert!(whoami.log().caller.starts_with("token "), "{:?}", whoami.log());
    let whoami = whoami.json();
    assert_eq!(whoami["company"], "https://hr.example/api/v3/companies/acme/");
    assert_eq!((&whoami["kind"], &whoami["resource"]), (&json!("named_token"), &Value::Null));
    assert_eq!(whoami["token"], json!({ "kind": "named", "expires_at": null }));
    assert_eq!(whoami["on_behalf_by"], Value::Null);
    let rights = json!({ "account_type": "owner", "projects": [], "read_only": false, "in_projects": [] });
    assert_eq!(whoami["rights"], rights);
    let permissions = whoami["permissions"].as_array().unwrap();
    assert!(permissions.contains(&"change_company".into()) && !permissions.contains(&"manage_tokens".into()));
    assert_refusal!(token.get("/whoami/candidate/").await, @r#"403 {"code":"permission_denied","detail":"You do not have permission to perform this action."}"#);
    for path in ["/api-token-invalidate/", "/api-session-invalidate/"] {
        let request = Request::post(path).header("sec-fetch-site", "same-origin");
        assert_refusal!(token.send(request).await, @r#"400 {"code":"no_session","detail":"This credential is not a session. Only the tokens and cookies of a login can be invalidated here."}"#);
    }
    token.get("/whoami/").await.expect(200);
    // Nor can it act for somebody.
    let login = json!({ "company": "acme", "username": "owner" });
    token.post("/api-token-auth/", login).await.expect_code(403, "permission_denied");
}

#[tokio::test]
async fn resources_created_by_a_named_token_have_no_creator() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (_, token) = owner.named_token("Payroll").await;
    // It cannot run a project, so it says who does.
    let projects = "/companies/acme/projects/";
    assert_refusal!(token.post(projects, json!({ "name": "Sales" })).await, @r#"400 {"interview_managers":["A named token cannot manage projects. Name at least one customer as manager."]}"#);
    let nobody = json!({ "name": "Sales", "interview_managers": [], "evaluators": [owner.uri] });
    assert_refusal!(token.post(projects, nobody).await, @r#"400 {"interview_managers":["A named token cannot manage projects. Name at least one customer as manager."]}"#);
    let managed = json!({ "name": "Sales", "interview_managers": [owner.uri] });
    let project = token.post(projects, managed).await.expect(201);
    assert_eq!(project.json()["interview_managers"], json!([owner.uri]));
    let project = project.uri("resource_uri");
    let ada = json!({ "first_name": "Ada", "last_name": "Byron" });
    let candidate = token.post(&format!("{project}candidates/"), ada).await.expect(201).json();
    assert_eq!(candidate["created_by"], Value::Null);
    let grace = json!({
        "first_name": "Grace", "last_name": "Hopper", "email": "grace@acme.example",
        "account_type": "admin", "preferred_language": "en",
    });
    let customer = token.post("/companies/acme/customers/", grace).await.expect(201);
    assert_eq!(customer.json()["created_by"], Value::Null);
    token.delete(&customer.uri("resource_uri")).await.expect(204);
}

#[tokio::test]
async fn a_token_lives_until_it_is_deleted_and_not_longer() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (uri, token) = owner.named_token("Payroll").await;
    let (_, other) = owner.named_token("Payroll").await;
    app.clock().advance(TimeDelta::days(400));
    token.get("/companies/acme/").await.expect(200);
    app.app().finish_background().await;
    let response = token.get("/companies/acme/").await.expect(200);
    assert_eq!((response.log().dynamodb_calls, response.log().write_units), (1, 0.0));
    let owner = owner.new_token().await;
    owner.delete(&uri).await.expect(204);
    assert_refusal!(token.get("/companies/acme/").await, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
    assert_refusal!(owner.get(&uri).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    owner.delete(&uri).await.expect(404);
    other.get("/companies/acme/").await.expect(200);
    app.assert_sound();
    // A value that was given up can be chosen again.
    let chosen = json!({ "name": "Chosen", "value": CHOSEN });
    let first = owner.post(TOKENS, chosen.clone()).await.expect(201).uri("resource_uri");
    owner.delete(&first).await.expect(204);
    owner.post(TOKENS, chosen).await.expect(201);
}

#[tokio::test]
async fn a_chosen_value_is_long_printable_hard_to_guess_and_unlike_ours() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let before = app.table().snapshot().await;
    let values = [
        json!("x".repeat(31)),
        json!("x".repeat(257)),
        json!(format!("{} {}", "x".repeat(20), "x".repeat(20))),
        json!("ü".repeat(32)),
        json!(format!("ivn_{}", "x".repeat(32))),
        json!(format!("ivt_{}", "x".repeat(32))),
        json!(7),
        // Long enough, and easy to guess.
        json!("a".repeat(32)),
        json!("ab".repeat(128)),
        json!("password".repeat(4)),
        json!("0123456789abcdef".repeat(2)),
        json!("abcdefghijklmnopqrstuvwxyz012345"),
    ];
    let refusals =
        send_each(values, |value| owner.post(TOKENS, json!({ "name": "Chosen", "value": value }))).await;
    assert_refusals!(refusals, @r#"
        2 x 400 {"value":["Ensure this field has 32 to 256 characters."]}
        2 x 400 {"value":["Use visible ASCII characters without spaces."]}
        2 x 400 {"value":["This prefix is reserved. Choose a value that starts differently."]}
        400 {"value":["Not a valid string."]}
        5 x 400 {"value":["This value is too easy to guess. Use random characters, or omit it to get a generated value."]}
        "#);
    let names = [json!(""), json!(null), json!("x".repeat(151))];
    assert_refusals!(send_each(names, |name| owner.post(TOKENS, json!({ "name": name }))).await, @r#"
        400 {"name":["This field may not be blank."]}
        400 {"name":["This field may not be null."]}
        400 {"name":["Ensure this field has no more than 150 characters."]}
        "#);
    assert_refusal!(owner.post(TOKENS, json!({ "value": "short" })).await, @r#"400 {"name":["This field is required."],"value":["Ensure this field has 32 to 256 characters."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    let long = STANDARD.encode(noise(20, 20));
    for value in [json!(OTHER), json!(long[..256]), json!(null), json!("")] {
        owner.post(TOKENS, json!({ "name": "Chosen", "value": value })).await.expect(201);
    }
    // One value leads to one token, in whichever company.
    let taken = json!({ "name": "Chosen", "value": OTHER });
    assert_refusal!(owner.post(TOKENS, taken.clone()).await, @r#"400 {"value":["This value cannot be used. Send another one."]}"#);
    let stranger = app.owner_of("globex").await;
    assert_refusal!(stranger.post("/companies/globex/tokens/", taken).await, @r#"400 {"value":["This value cannot be used. Send another one."]}"#);
}

#[tokio::test]
async fn tokens_belong_to_their_company() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let stranger = app.owner_of("globex").await;
    let (uri, theirs) = stranger.named_token("Theirs").await;
    theirs.get("/companies/globex/").await.expect(200);
    let missing = owner.get(&format!("{TOKENS}01ARZ3NDEKTSV4RRFFQ69G5FAV/")).await.expect(404).body;
    let project = owner.project(json!({})).await;
    for target in ["/companies/acme/", &project, TOKENS] {
        assert_eq!(theirs.get(target).await.expect(404).body, missing, "{target}");
    }
    for target in [uri.clone(), format!("{TOKENS}{}/", last_segment(&uri)), format!("{TOKENS}x/")] {
        assert_eq!(owner.get(&target).await.expect(404).body, missing, "{target}");
        assert_eq!(owner.delete(&target).await.expect(404).body, missing, "{target}");
    }
    theirs.get("/companies/globex/").await.expect(200);
}

#[tokio::test]
async fn only_owners_and_no_token_look_after_tokens() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (uri, token) = owner.named_token("Payroll").await;
    let admin = app.staff("admin").await;
    let before = app.table().snapshot().await;
    for caller in [&token as &dyn Signs, &admin] {
        for request in [
            Request::get(TOKENS),
            Request::get(&uri),
            Request::delete(&uri),
            Request::delete(&format!("{TOKENS}01ARZ3NDEKTSV4RRFFQ69G5FAV/")),
            Request::post(TOKENS).json(&json!({ "name": "More" })),
        ] {
            app.send(caller.signed(request)).await.expect_code(403, "permission_denied");
        }
    }
    assert_eq!(app.table().snapshot().await, before);
}

/// A caller of any kind.
trait Signs {
    fn signed(&self, request: Request) -> Request;
}

impl<C: Caller> Signs for C {
    fn signed(&self, request: Request) -> Request {
        self.sign(request)
    }
}

#[tokio::test]
async fn a_company_has_a_hundred_tokens_at_most() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut last = String::new();
    for _ in 0..98 {
        last = owner.named_token("Payroll").await.0;
    }
    let create = async || owner.post(TOKENS, json!({ "name": "One too many" })).await;
    let (a, b, c, d) = tokio::join!(create(), create(), create(), create());
    let (made, refused): (Vec<_>, Vec<_>) =
        [a, b, c, d].into_iter().partition(|response| response.status.as_u16() == 201);
    assert_eq!(made.len(), 2);
    for response in refused {
        assert_refusal!(response, @r#"400 {"code":"too_many_tokens","detail":"A company may have 100 named tokens. Delete one first."}"#);
    }
    let list = owner.get(&format!("{TOKENS}?page_size=30&page=4")).await.expect(200).json();
    assert_eq!((&list["meta"]["total_count"], list["objects"].as_array().unwrap().len()), (&json!(100), 10));
    owner.delete(&last).await.expect(204);
    create().await.expect(201);
}
