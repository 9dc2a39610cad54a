//! Requests of candidates about themselves: by the key of their invitation, by a token, by a cookie.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use serde_json::json;
use shared::domain::id::CandidateId;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, PASSWORD, Staff, last_segment};
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};

const ANOTHER: &str = "staple horse battery";

/// The service, its owner, and a candidate invited to a running project.
async fn given() -> (TestApp, Staff, Invited) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let invited = owner.invite(&project, json!({ "username": "ada" })).await;
    (app, owner, invited)
}

#[tokio::test]
async fn it_changes_how_it_is_reached_and_nothing_that_managers_decide() {
    let (app, owner, invited) = given().await;
    let token = invited.register().await;
    let mut expected = token.get(&invited.uri).await.expect(200).json();
    let own = json!({ "phone": "+41 44 123 45 67", "gender": "mrs", "address": "Bahnhofstrasse 1\nZürich" });
    expected.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    let body = json!({
        "phone": "+41 44 123 45 67",
        "gender": "mrs",
        "address": "Bahnhofstrasse 1\nZürich",
        "first_name": "Eve",
        "last_name": "",
        "username": "owner",
        "email": "nobody",
        "deadline": "2030-01-01T00:00:00",
        "partner_data": { "id": 1 },
        "status": "interviewed",
        "activation_key": "ivk_mine",
        "shares": [],
    });
    token.patch(&invited.uri, body.clone()).await.expect_json(200, expected.clone());
    let before = app.table().snapshot().await;
    token.patch(&invited.uri, body).await.expect_json(200, expected.clone());
    assert_eq!(app.table().snapshot().await, before);
    // The candidate may send back what they read, by their key too.
    invited.patch(&invited.uri, expected.clone()).await.expect_json(200, expected);
    // Fields that the candidate may change are validated all the same.
    let wrong = json!({ "phone": "1".repeat(51), "gender": 1, "address": [], "password": "short" });
    assert_refusal!(token.patch(&invited.uri, wrong).await, @r#"
        400 {
          "address":["Not a valid string."],
          "gender":["Not a valid string."],
          "password":["Ensure this field has at least 8 characters."],
          "phone":["Ensure this field has no more than 50 characters."]
        }
        "#);
    assert_eq!(app.table().snapshot().await, before);
    // And a manager does not choose its password.
    owner.patch(&invited.uri, json!({ "password": ANOTHER })).await.expect(200);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn partner_data_is_for_staff_only() {
    let (app, owner, invited) = given().await;
    let kept = json!({ "score": "only between us" });
    owner.patch(&invited.uri, json!({ "partner_data": kept })).await.expect(200);
    let session = invited.register().await;
    let browser = app.browser("acme", "ada").await;
    let callers: [&(dyn Fn(Request) -> Request + Sync); 3] =
        [&|request| invited.sign(request), &|request| session.sign(request), &|request| {
            browser.sign(request)
        }];
    for sign in callers {
        for target in [&invited.uri, "/whoami/", "/whoami/candidate/"] {
            let shown = app.send(sign(Request::get(target))).await.expect(200);
            assert!(!shown.to_string().contains("partner_data"), "{shown}");
        }
        let change = json!({ "partner_data": { "score": "mine" }, "phone": "1" });
        let change = Request::patch(&invited.uri).json(&change);
        let changed = app.send(sign(change)).await.expect(200);
        assert!(!changed.to_string().contains("partner_data"), "{changed}");
    }
    let (_, service) = owner.named_token("Partner").await;
    assert_eq!(owner.get(&invited.uri).await.expect(200).json()["partner_data"], kept);
    assert_eq!(service.get(&invited.uri).await.expect(200).json()["partner_data"], kept);
}

#[tokio::test]
async fn a_password_has_eight_to_a_hundred_and_twenty_eight_characters() {
    let (app, _, invited) = given().await;
    let before = app.table().snapshot().await;
    let mut refusals = Vec::new();
    for wrong in [
        json!(""),
        json!("1234567"),
        json!("é".repeat(7)),
        json!("x".repeat(129)),
        json!(null),
        json!(12_345_678),
    ] {
        let refused = invited.patch(&invited.uri, json!({ "password": wrong, "phone": "1" })).await;
        refusals.push(refused);
    }
    assert_refusals!(refusals, @r#"
        3 x 400 {"password":["Ensure this field has at least 8 characters."]}
        400 {"password":["Ensure this field has no more than 128 characters."]}
        400 {"password":["This field may not be null."]}
        400 {"password":["Not a valid string."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    for right in ["é".repeat(8), "x".repeat(128), " a password ".to_owned()] {
        let shown = invited.patch(&invited.uri, json!({ "password": right })).await.expect(200);
        assert!(!shown.to_string().contains(&right), "it is not shown: {shown}");
        app.anonymous().log_in("acme", "ada", &right).await.expect(200);
    }
    assert!(!app.table().text().await.contains(" a password "), "a password is stored in the clear");
    app.anonymous().log_in("acme", "ada", "a password").await.expect(401);
}

#[tokio::test]
async fn a_new_password_ends_all_sessions() {
    let (app, _, invited) = given().await;
    let token = invited.register().await;
    let browser = app.browser("acme", "ada").await;
    token.patch(&invited.uri, json!({ "password": ANOTHER })).await.expect(200);
    token.get("/whoami/").await.expect_code(401, "invalid_credential");
    browser.get("/whoami/").await.expect_code(401, "invalid_credential");
    assert_refusal!(app.anonymous().log_in("acme", "ada", PASSWORD).await, @r#"401 {"code":"invalid_credentials","detail":"Unable to log in with the provided credentials."}"#);
    app.anonymous().log_in("acme", "ada", ANOTHER).await.expect(200);
    // It has yet to confirm, by the key.
    invited.get(&invited.uri).await.expect(200);
}

#[tokio::test]
async fn a_key_is_refused_once_its_candidate_is_skipped_expired_or_overdue() {
    let (app, owner, skipped) = given().await;
    let project = skipped.get(&skipped.uri).await.expect(200).uri("project");
    let expired = owner.invite(&project, json!({})).await;
    let overdue = owner.invite(&project, json!({})).await;
    let refused = async |by: &Invited| {
        for target in [&by.uri, "/whoami/"] {
            by.get(target).await.expect_code(401, "invalid_credential");
        }
        // The answer tells why.
        by.get("/whoami/candidate/").await.expect(401);
        by.patch(&by.uri, json!({ "password": PASSWORD })).await.expect_code(401, "invalid_credential");
        by.advance(&by.uri).await.expect_code(401, "invalid_credential");
    };
    owner.skip(&skipped.uri).await.expect(200);
    refused(&skipped).await;

    owner.set_deadline(&expired.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    refused(&expired).await;
    owner.set_deadline(&expired.uri, &app.clock().in_days(1)).await.expect(200);
    refused(&expired).await;

    // Before any sweep: good until the last second, and no longer.
    let deadline = TimeDelta::minutes(30);
    let at = (chrono::DateTime::parse_from_rfc3339("2026-11-08T10:00:00Z").unwrap() + deadline).to_rfc3339();
    owner.set_deadline(&overdue.uri, &at).await.expect(200);
    app.clock().advance(deadline - TimeDelta::seconds(1));
    let whoami = overdue.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!(whoami["seconds_until_deadline"], 1);
    app.clock().advance(TimeDelta::seconds(1));
    refused(&overdue).await;
    let shown = owner.get(&overdue.uri).await.expect(200).json();
    assert_eq!(shown["status"], "invited", "no sweep has been");
}

#[tokio::test]
async fn a_key_opens_its_own_candidate_only() {
    let (app, owner, ada) = given().await;
    let project = ada.get(&ada.uri).await.expect(200).uri("project");
    let bob = owner.invite(&project, json!({})).await;
    let stranger = app.owner_of("globex").await;
    let abroad = stranger.running_project(json!({})).await;
    let eve = stranger.invite(&abroad, json!({})).await;
    for other in [&bob.uri, &eve.uri] {
        let before = app.table().snapshot().await;
        ada.get(other).await.expect_code(404, "not_found");
        ada.patch(other, json!({ "password": PASSWORD })).await.expect_code(404, "not_found");
        ada.advance(other).await.expect_code(404, "not_found");
        assert_eq!(app.table().snapshot().await, before);
    }
    ada.get(&format!("{project}candidates/")).await.expect_code(404, "not_found");
    // The same identifiers in another project or company lead nowhere.
    let id = last_segment(&ada.uri);
    ada.get(&format!("{abroad}candidates/{id}/")).await.expect_code(404, "not_found");
    let other = owner.project(json!({})).await;
    ada.get(&format!("{other}candidates/{id}/")).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_forged_key_opens_nothing() {
    let (app, owner, ada) = given().await;
    let project = ada.get(&ada.uri).await.expect(200).uri("project");
    let bob = owner.invite(&project, json!({})).await;
    let bytes = |key: &str| URL_SAFE_NO_PAD.decode(key.strip_prefix("ivk_").unwrap()).unwrap();
    let refused = async |bytes: &[u8]| {
        let mut forged = ada.clone();
        forged.key = format!("ivk_{}", URL_SAFE_NO_PAD.encode(bytes));
        forged.get("/whoami/").await.expect_code(401, "invalid_credential");
    };
    let own = bytes(&ada.key);
    for index in 0..own.len() {
        let mut flipped = own.clone();
        flipped[index] ^= 1;
        refused(&flipped).await;
    }
    // One's own secret for somebody else: the names of project and candidate stand before it.
    let mut of_bob = bytes(&bob.key);
    of_bob[33..57].copy_from_slice(&own[33..57]);
    refused(&of_bob).await;
    // A candidate without a key has not the empty one.
    let new = owner.candidate(&project, json!({})).await;
    let mut of_new = own.clone();
    let id: CandidateId = last_segment(&new).parse().unwrap();
    of_new[17..33].copy_from_slice(&id.to_bytes());
    for secret in [own[33..57].to_vec(), Vec::new(), vec![0; 24]] {
        refused(&[&of_new[..33], &secret, b"acme"].concat()).await;
    }
    // Only under its own scheme, and not as a cookie.
    for (name, value) in [
        ("authorization", format!("Token {}", ada.key)),
        (
            "authorization",
            format!(
                "Basic {}",
                base64::engine::general_purpose::STANDARD.encode(format!("token:{}", ada.key))
            ),
        ),
        ("authorization", format!("ActivationKey {}x", ada.key)),
        ("authorization", "ActivationKey".to_owned()),
        ("authorization", "ActivationKey ".to_owned()),
        ("cookie", format!("sessionid={}", ada.key)),
    ] {
        let response = app.send(Request::get("/whoami/").header(name, &value)).await;
        response.expect_code(401, "invalid_credential");
    }
    ada.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn a_key_is_no_session_and_cannot_be_ended() {
    let (_, _, invited) = given().await;
    for path in ["/api-token-invalidate/", "/api-session-invalidate/"] {
        let response = invited.send(Request::post(path)).await;
        response.expect_json(
            400,
            json!({ "detail": "This credential is not a session. Only the tokens and cookies of a login can be invalidated here.", "code": "no_session" }),
        );
    }
    invited.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn the_password_selects_among_candidates_with_one_address() {
    let (app, owner, ada) = given().await;
    let same = json!({ "email": ada.email });
    let elsewhere = owner.running_project(json!({})).await;
    let [again, third] =
        [owner.invite(&elsewhere, same.clone()).await, owner.invite(&elsewhere, same.clone()).await];
    ada.choose_password().await;
    again.patch(&again.uri, json!({ "password": ANOTHER })).await.expect(200);
    let who = async |password: &str| {
        let token = app.anonymous().log_in("acme", &ada.email, password).await.expect(200).uri("token");
        app.token(&token).get("/whoami/").await.expect(200).json()["resource"]["resource_uri"].clone()
    };
    assert_eq!(who(PASSWORD).await, json!(ada.uri));
    assert_eq!(who(ANOTHER).await, json!(again.uri));
    let unknown = app.anonymous().log_in("acme", &ada.email, "neither of the two").await;
    unknown.expect_code(401, "invalid_credentials");
    // One password for both: the latest project. Skipped, it stands no longer in the other's way.
    third.patch(&third.uri, json!({ "password": PASSWORD })).await.expect(200);
    assert_eq!(who(PASSWORD).await, json!(third.uri));
    owner.skip(&third.uri).await.expect(200);
    assert_eq!(who(PASSWORD).await, json!(ada.uri));
    // A member of staff with the same address comes first.
    let staff = owner.invite(&elsewhere, json!({ "email": owner.email })).await;
    staff.choose_password().await;
    let token = app.anonymous().log_in("acme", &owner.email, PASSWORD).await.expect(200).uri("token");
    assert_eq!(app.token(&token).get("/whoami/").await.expect(200).json()["kind"], "customer");
}

#[tokio::test]
async fn skipped_candidates_are_logged_out_at_once_and_for_good() {
    let (app, owner, invited) = given().await;
    let token = invited.register().await;
    let browser = app.browser("acme", "ada").await;
    owner.skip(&invited.uri).await.expect(200);
    token.get("/whoami/").await.expect_code(401, "invalid_credential");
    token.get(&invited.uri).await.expect_code(401, "invalid_credential");
    browser.get("/whoami/").await.expect_code(401, "invalid_credential");
    for name in ["ada", &invited.email] {
        let refused = app.anonymous().log_in("acme", name, PASSWORD).await.expect(401);
        assert_eq!(refused.json()["code"], "withdrawn");
    }
}

#[tokio::test]
async fn a_candidates_cookie_follows_the_rules_of_all_cookies() {
    let (app, _, invited) = given().await;
    invited.choose_password().await;
    let browser = app.browser("acme", &invited.email).await;
    let whoami = browser.get("/whoami/").await.expect(200).json();
    assert_eq!((&whoami["kind"], &whoami["token"]["kind"]), (&json!("candidate"), &json!("cookie")));
    let around = browser.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!(around["resource_uri"], json!(invited.uri));

    let advance = || {
        let request = Request::patch(&format!("{}status/advance/", invited.uri));
        request.header("cookie", &format!("sessionid={}", browser.cookie))
    };
    let before = app.table().snapshot().await;
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
        assert_refusal!(app.send(advance().header(name, value)).await, @r#"403 {"code":"csrf","detail":"This origin may not use the session cookie. Send a token, or ask the operator to allow the origin."}"#);
    }
    assert_eq!(app.table().snapshot().await, before);
    let confirmed = app.send(advance().header("sec-fetch-site", "same-origin")).await.expect(200).json();
    assert_eq!(confirmed["status"], "confirmed");
    // A key is in no cookie: it needs no such rule.
    browser.send(Request::post("/api-session-invalidate/")).await.expect(204);
    browser.get("/whoami/").await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn a_session_outlives_the_deadline_until_the_candidate_expires() {
    let (app, owner, invited) = given().await;
    let token = invited.register().await;
    owner.set_deadline(&invited.uri, &app.clock().in_days(0)).await.expect(200);
    let around = token.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!((&around["status"], &around["seconds_until_deadline"]), (&json!("invited"), &json!(0)));
    app.clock().advance(TimeDelta::minutes(1));
    app.expire_overdue().await;
    token.get("/whoami/candidate/").await.expect_code(401, "invalid_credential");
    let token = invited.log_in().await;
    let around = token.get("/whoami/candidate/").await.expect(200).json();
    assert_eq!((&around["status"], &around["seconds_until_deadline"]), (&json!("expired"), &json!(0)));
    assert_eq!(around["activation_key"], "");
}

#[tokio::test]
async fn it_makes_a_hundred_changes_an_hour_and_its_managers_any_number() {
    let (app, owner, invited) = given().await;
    let erasure = format!("{}erasure-request/", invited.uri);
    invited.send(Request::put(&erasure)).await.expect(200);
    for number in 1..100 {
        invited.patch(&invited.uri, json!({ "phone": number.to_string() })).await.expect(200);
    }
    app.clock().advance(TimeDelta::minutes(59));
    let consent = format!("{}consents/consent/", invited.uri);
    let upload = json!({ "field": "cv", "content_type": "application/pdf", "size": 9_000_000 });
    let refused = [
        invited.patch(&invited.uri, json!({ "phone": "more" })).await,
        invited.delete(&erasure).await,
        invited.post(&format!("{}uploads/", invited.uri), upload).await,
        invited.send(Request::put(&consent).json(&json!({ "version": 1, "language": "en" }))).await,
        invited.delete(&consent).await,
    ];
    for response in &refused {
        assert_eq!((response.header("retry-after"), response.log().write_units), (Some("60"), 0.0));
    }
    assert_refusals!(refused, @r#"5 x 429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    owner.patch(&invited.uri, json!({ "phone": "of a manager" })).await.expect(200);
    // A request for erasure counts like every change, also without one that stands.
    owner.delete(&erasure).await.expect(204);
    assert_refusal!(invited.send(Request::put(&erasure)).await, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    app.clock().advance(TimeDelta::minutes(1));
    invited.patch(&invited.uri, json!({ "phone": "more" })).await.expect(200);
}
