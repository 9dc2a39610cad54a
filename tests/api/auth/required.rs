//! Companies whose staff sign in by their provider alone.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD};
use tests::http::{Request, Response};

use super::sign_in::{Acme, SETTINGS};

const WRONG: &str = "wrong horse battery";
const SIGN_IN_URL: &str = "https://hr.example/api/v3/sign-in/acme/";

/// Requires the provider, or no longer. The owner may go on with a password.
async fn require(acme: &Acme, required: bool) {
    let changes = json!({ "required": required, "break_glass": [acme.owner.uri] });
    acme.set(changes).await.expect(200);
}

async fn log_in(acme: &Acme, name: &str, password: &str) -> Response {
    acme.app.anonymous().log_in("acme", name, password).await
}

#[tokio::test]
async fn staff_do_not_log_in_with_their_passwords_and_a_listed_name_tells_nothing() {
    let acme = Acme::new().await;
    let staff = acme.app.staff("recruiter").await;
    log_in(&acme, &staff.email, PASSWORD).await.expect(200);
    require(&acme, true).await;
    let right = log_in(&acme, &staff.email, PASSWORD).await;
    assert_refusal!(right, @r#"
    403 {
      "code":"sign_in_required",
      "detail":"The staff of this company sign in with their company's account. Open sign_in_url in a browser.",
      "sign_in_url":"https://hr.example/api/v3/sign-in/acme/"
    }
    "#);
    // The same for a wrong password, for nobody, and for the owner with a wrong password.
    let owner = &acme.owner;
    for (name, password) in [
        (&*staff.email, WRONG),
        ("nobody@acme.example", PASSWORD),
        ("Nobody@ACME.example", PASSWORD),
        (&owner.email, WRONG),
    ] {
        let refused = log_in(&acme, name, password).await.expect_code(403, "sign_in_required");
        assert_eq!(refused.json()["sign_in_url"], SIGN_IN_URL, "{name}");
    }
    // Another name tells it only with the right password.
    log_in(&acme, &staff.username, WRONG).await.expect_code(401, "invalid_credentials");
    log_in(&acme, "nobody@elsewhere.example", PASSWORD).await.expect_code(401, "invalid_credentials");
    log_in(&acme, &staff.username, PASSWORD).await.expect_code(403, "sign_in_required");
    let cookie = json!({ "company": "acme", "username": staff.username, "password": PASSWORD });
    let cookie = Request::post("/api-session-auth/").json(&cookie).header("sec-fetch-site", "same-origin");
    acme.app.send(cookie).await.expect_code(403, "sign_in_required");

    for name in [&owner.email, &owner.username] {
        log_in(&acme, name, PASSWORD).await.expect(200);
    }
    require(&acme, false).await;
    log_in(&acme, &staff.email, PASSWORD).await.expect(200);
}

#[tokio::test]
async fn sessions_by_password_end_at_once_and_all_others_go_on() {
    let acme = Acme::new().await;
    let Acme { app, owner, .. } = &acme;
    let staff = app.staff("recruiter").await;
    let browser = staff.browser().await;
    let (_, token) = owner.named_token("Import").await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let candidate = owner.invite(&project, json!({ "email": "ada.byron@acme.example" })).await;
    candidate.choose_password().await;
    app.table().set_customer(&owner.uri, "authenticate_on_behalf", AttributeValue::Bool(true)).await;
    let on_behalf = json!({ "company": "acme", "username": staff.username });
    let on_behalf = owner.post("/api-token-auth/", on_behalf).await.expect(200).uri("token");
    let on_behalf = app.token(&on_behalf);
    staff.get("/whoami/").await.expect(200);
    browser.get("/whoami/").await.expect(200);
    let linked = acme.colleague("recruiter", "linked.by.provider@acme.example").await;
    let by_provider = acme.sign_in(json!({ "email": linked.email })).await.expect(302);

    app.staff("owner").await;

    require(&acme, true).await;
    staff.get("/whoami/").await.expect(401);
    staff.get(&project).await.expect(401);
    browser.get("/whoami/").await.expect(401);
    linked.get("/whoami/").await.expect(401);
    assert_eq!(acme.whoami(&by_provider).await["resource"]["email"], linked.email);
    owner.get("/whoami/").await.expect(200);
    token.get("/whoami/").await.expect(200);
    on_behalf.get("/whoami/").await.expect(200);
    log_in(&acme, &candidate.email, PASSWORD).await.expect(200);
    // An owner who is none any more may not go on.
    let revoke = json!({ "command": "revoke-owner", "company": "acme", "username": owner.username });
    app.operate(revoke).await.unwrap();
    owner.get("/whoami/").await.expect(401);
    log_in(&acme, &owner.username, PASSWORD).await.expect_code(403, "sign_in_required");
}

#[tokio::test]
async fn keys_of_mails_set_no_password_and_mails_lead_to_the_provider() {
    let acme = Acme::new().await;
    let Acme { app, owner, .. } = &acme;
    let invited = owner.colleague("recruiter", json!({})).await;
    let staff = app.staff("recruiter").await;
    let forget = async |name: &str| {
        let request = json!({ "company": "acme", "username": name });
        app.anonymous().post("/api-password-reset/", request).await.expect(202);
        app.settle().await;
    };
    forget(&staff.email).await;
    let [activation, reset] = [&invited.email, &staff.email].map(|address| app.mailed_key(address));
    require(&acme, true).await;
    let choice = json!({ "activation_key": activation, "password": PASSWORD });
    app.anonymous().post("/api-activate/", choice.clone()).await.expect_code(403, "sign_in_required");
    let other = json!({ "key": reset, "password": "another horse battery" });
    let refused = app.anonymous().post("/api-password-reset/confirm/", other).await;
    assert_eq!(refused.expect_code(403, "sign_in_required").json()["sign_in_url"], SIGN_IN_URL);

    // Mails from now on hold no key.
    app.clock().advance(TimeDelta::minutes(10));
    let late = owner.colleague("recruiter", json!({ "email": "late.invitation@acme.example" })).await;
    app.settle().await;
    forget(&staff.email).await;
    forget(&invited.email).await;
    for (address, subject) in [
        (&late.email, "invites you to join"),
        (&staff.email, "no password to reset"),
        (&invited.email, "invites you to join"),
    ] {
        let mails = app.mails_to(address);
        let text = mails[0].text.as_deref().unwrap();
        assert!(text.contains(subject), "{text}");
        assert!(text.contains(&format!("{SIGN_IN_URL}\n")), "{text}");
        assert!(!text.contains("ivo_"), "{text}");
    }
    // Those who were invited get in by the provider.
    let ended = acme.sign_in(json!({ "sub": "late", "email": late.email })).await.expect(302);
    assert_eq!(acme.whoami(&ended).await["resource"]["email"], late.email);
    // The owner who may go on gets a key as before.
    forget(&owner.email).await;
    let own = json!({ "key": app.mailed_key(&owner.email), "password": "another horse battery" });
    app.anonymous().post("/api-password-reset/confirm/", own).await.expect(204);

    app.operate(json!({ "command": "allow-passwords", "company": "acme" })).await.unwrap();
    app.anonymous().post("/api-activate/", choice).await.expect(200);
}

#[tokio::test]
async fn the_operator_allows_passwords_again() {
    let acme = Acme::new().await;
    let Acme { app, owner, .. } = &acme;
    let staff = app.staff("recruiter").await;
    let allow = json!({ "command": "allow-passwords", "company": "acme" });
    require(&acme, true).await;
    log_in(&acme, &staff.email, PASSWORD).await.expect_code(403, "sign_in_required");
    let before = owner.get(SETTINGS).await.expect(200).json();
    for _ in 0..2 {
        assert_eq!(app.operate(allow.clone()).await.unwrap()["company"], "acme");
    }
    log_in(&acme, &staff.email, PASSWORD).await.expect(200);
    let after = owner.get(SETTINGS).await.expect(200).json();
    assert_eq!((&before["required"], &after["required"]), (&json!(true), &json!(false)));
    assert_eq!(before["issuer"], after["issuer"]);
    app.settle().await;
    let events = owner.get("/companies/acme/events/?page_size=100").await.expect(200).json();
    let changes: Vec<&Value> = events["objects"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "company.sign_in_changed")
        .collect();
    // The two changes of the company's own, and one of the operator's, though the command was repeated.
    assert_eq!(changes.len(), 3, "{events}");
    let unknown = json!({ "command": "allow-passwords", "company": "nowhere" });
    let refused = app.operate(unknown).await.expect_err("there is no such company");
    assert!(refused.to_string().contains("There is no such company."), "{refused}");
}
