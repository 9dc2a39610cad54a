//! The settings: who may set them, what is refused, and what a change ends.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::Caller;
use tests::http::Request;
use tests::issuer::{CLIENT, IssuerMode, TestIssuer};

use super::{Acme, SETTINGS, SIGN_IN, assert_refused, with};

#[tokio::test]
async fn an_owner_sets_the_provider_and_nobody_reads_its_secret() {
    let given = Acme::without_provider(TestApp::start().await).await;
    given.owner.get(SETTINGS).await.expect(404);
    let set = given.set(json!({ "domains": ["Acme.example", "acme.test"] })).await.expect(200);
    let shown = json!({
        "resource_uri": "https://hr.example/api/v3/companies/acme/sign-in/",
        "issuer": given.issuer.url, "client_id": CLIENT, "domains": ["acme.example", "acme.test"],
        "trusts_addresses": false, "required": false, "break_glass": [], "is_working": true,
        "redirect_uri": "https://hr.example/api/v3/sign-in/acme/callback/",
        "sign_in_url": "https://hr.example/api/v3/sign-in/acme/", "last_problem": null,
    });
    let read = given.owner.get(SETTINGS).await.expect_json(200, shown.clone());
    assert_eq!(set.header("etag"), read.header("etag"));
    let mut changed = shown;
    changed["ended_links"] = 0.into();
    set.expect_json(200, changed.clone());
    // What was read can be sent back, and keeps the secret.
    given.owner.send(Request::put(SETTINGS).json(&changed)).await.expect_json(200, changed);
    given.owner.delete(SETTINGS).await.expect(204);
    given.owner.get(SETTINGS).await.expect(404);
    given.owner.delete(SETTINGS).await.expect(404);
}

#[tokio::test]
async fn what_cannot_work_is_refused_with_the_reason() {
    let given = Acme::without_provider(TestApp::start().await).await;
    let mut refused = Vec::new();
    for (modes, members) in [
        (IssuerMode::Fails, json!({})),
        (IssuerMode::Page, json!({})),
        (IssuerMode::Missing, json!({})),
        (IssuerMode::CallsItself("https://other.example".to_owned()), json!({})),
        (IssuerMode::KeysAt("http://10.0.0.1:8080/keys".to_owned()), json!({})),
        (IssuerMode::Works, json!({ "token_endpoint": null })),
        (IssuerMode::Works, json!({ "token_endpoint": "https://10.0.0.1/token" })),
        (IssuerMode::Works, json!({ "authorization_endpoint": "http://login.example/" })),
        (IssuerMode::Works, json!({ "code_challenge_methods_supported": ["plain"] })),
        (IssuerMode::Works, json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] })),
    ] {
        let issuer = TestIssuer::start(&[&given.key]).await;
        issuer.set_mode(modes);
        issuer.configure(members);
        refused.push(given.set(json!({ "issuer": issuer.url })).await);
        given.app.clock().advance(TimeDelta::minutes(2));
    }
    tests::assert_refusals!(refused, @r#"
    400 {"issuer":["The issuer cannot be reached. Try again when it can."]}
    2 x 400 {"issuer":["Below this URL, .well-known/openid-configuration is no configuration of an issuer. Check the URL."]}
    400 {"issuer":["The issuer at this URL calls itself otherwise. Use its `issuer`, with or without a final slash."]}
    400 {"issuer":["Use an issuer whose addresses, and those of its keys, are in the public internet."]}
    3 x 400 {"issuer":["The issuer signs nobody in: its configuration needs an authorization_endpoint and a token_endpoint in the public internet."]}
    400 {"issuer":["The issuer does not offer PKCE by S256. Use one that does."]}
    400 {"issuer":["The issuer does not take a client secret by client_secret_basic or client_secret_post."]}
    "#);
    given.owner.get(SETTINGS).await.expect(404);
}

#[tokio::test]
async fn fields_that_are_wrong_are_refused_together() {
    let given = Acme::without_provider(TestApp::start().await).await;
    let stranger = given.owner.colleague("admin", json!({})).await.uri;
    let wrong = given
        .set(json!({
            "issuer": "http://10.0.0.1/", "client_id": "", "client_secret": "with spaces", "domains": ["acme", "*.acme.example"],
            "break_glass": ["https://hr.example/api/v3/companies/acme/"], "scope": "openid",
        }))
        .await;
    assert_refusal!(wrong, @r#"
    400 {
      "break_glass":["\"https://hr.example/api/v3/companies/acme/\" is not a URL under https://hr.example/api/v3/companies/acme/customers/."],
      "client_id":["Ensure this field has 1 to 500 characters."],
      "client_secret":["Enter 1 to 1000 visible ASCII characters."],
      "domains":["Enter a domain such as acme.example."],
      "issuer":["Use a URL that begins with https://, or with http:// for this computer."],
      "scope":["There is no such field."]
    }
    "#);
    assert_refusal!(given.set(json!({ "domains": [] })).await, @r#"400 {"domains":["List at least one domain."]}"#);
    assert_refusal!(given.set(json!({ "break_glass": [stranger] })).await, @r#"400 {"break_glass":["Name owners who can log in."]}"#);
    assert_refusal!(given.set(json!({ "client_secret": null })).await, @r#"400 {"client_secret":["Send the secret of this client of this issuer."]}"#);
    given.set(json!({})).await.expect(200);
    // Another client of the issuer has another secret.
    assert_refusal!(
        given.set(json!({ "client_id": "other", "client_secret": null })).await,
        @r#"400 {"client_secret":["Send the secret of this client of this issuer."]}"#
    );
}

#[tokio::test]
async fn a_login_of_more_than_an_hour_ago_changes_nothing() {
    let given = Acme::new().await;
    given.app.clock().advance(TimeDelta::minutes(59));
    given.set(json!({})).await.expect(200);
    given.app.clock().advance(TimeDelta::minutes(1));
    assert_refusal!(given.set(json!({})).await, @r#"403 {"code":"login_too_old","detail":"To change how staff sign in, log in again, and send the request within an hour."}"#);
    given.owner.delete(SETTINGS).await.expect_code(403, "login_too_old");
    given.owner.get(SETTINGS).await.expect(200);
}

#[tokio::test]
async fn it_is_required_only_once_somebody_is_known_to_get_in() {
    let mut given = Acme::new().await;
    given.set(json!({ "required": true })).await.expect_code(400, "sign_in_untried");
    given.set(json!({ "required": true, "break_glass": [given.owner.uri] })).await.expect(200);
    given.set(json!({ "required": false })).await.expect(200);
    // A link that an owner has set is no proof that anybody gets in by it, and neither is a secret that nobody has used.
    let own = format!("{}sign-in/", given.owner.uri);
    given.owner.send(Request::put(&own).json(&json!({ "subject": "mistyped" }))).await.expect(200);
    given.owner_again().await;
    given.set(json!({ "required": true, "client_secret": null })).await.expect_code(400, "sign_in_untried");
    given.owner.delete(&own).await.expect(204);
    let ended = given.sign_in(json!({ "email": given.owner.email })).await.expect(302);
    let owner = given.browser_of(&ended);
    let required = async |changes: Value| {
        let settings = with(given.settings(json!({ "required": true })), changes);
        owner.send(Request::put(SETTINGS).json(&settings)).await
    };
    required(json!({})).await.expect_code(400, "sign_in_untried");
    required(json!({ "client_secret": null })).await.expect(200);
}

#[tokio::test]
async fn another_issuer_or_client_ends_all_links_and_says_how_many() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    given.assert_works().await;
    assert_eq!(given.set(json!({ "domains": ["acme.example", "acme.test"] })).await.json()["ended_links"], 0);
    given.app.clock().advance(TimeDelta::seconds(1));
    assert_eq!(given.set(json!({ "client_id": "other" })).await.expect(200).json()["ended_links"], 1);
    let back = given.set(json!({})).await.expect(200);
    assert_eq!(back.json()["ended_links"], 0);
    // The address links the account again, as another subject.
    given.sign_in(json!({ "sub": "other-at-provider" })).await.expect(302);
    given.owner.delete(SETTINGS).await.expect(204);
    assert_refused(&given.app.send(Request::get(SIGN_IN)).await, "sign_in_unavailable", Some("acme"));
}

#[tokio::test]
async fn a_change_is_an_event_without_secrets() {
    let given = Acme::new().await;
    given.app.settle().await;
    let feed =
        given.owner.get("/companies/acme/events/?type=company.sign_in_changed").await.expect(200).json();
    let event = &feed["objects"][0];
    assert_eq!(event["types"], json!(["company.sign_in_changed"]), "{feed}");
    let told: Value = event["data"].clone();
    assert_eq!((&told["is_on"], &told["issuer"]), (&json!(true), &json!(given.issuer.url)), "{told}");
    assert!(!feed.to_string().contains("secret/of"), "{feed}");
}

#[tokio::test]
async fn owners_get_a_mail_on_each_change() {
    let given = Acme::without_provider(TestApp::start().await).await;
    // No other test has an owner of this name, whose mails would be found too.
    let owner = given.app.owner_of("told-of-sign-in").await;
    let settings = "/companies/told-of-sign-in/sign-in/";
    let mails = async || {
        given.app.settle().await;
        let mails = given.app.mails_to(&owner.email);
        mails.iter().filter(|mail| mail.subject.contains("how staff sign in has been changed")).count()
    };
    let set = async |changes: Value| {
        owner.send(Request::put(settings).json(&given.settings(changes))).await.expect(200);
    };
    set(json!({})).await;
    assert_eq!(mails().await, 1);
    set(json!({ "client_secret": null })).await;
    assert_eq!(mails().await, 1, "nothing has changed");
    set(json!({ "trusts_addresses": true })).await;
    assert_eq!(mails().await, 2);
    let told = || given.app.mails_to(&owner.email)[0].text.clone().unwrap();
    let own = owner.get(&owner.uri).await.expect(200).json();
    let name = format!("{} {}", own["first_name"].as_str().unwrap(), own["last_name"].as_str().unwrap());
    assert!(
        told().contains(&format!("If {name} did not make this change, deactivate that account")),
        "{}",
        told()
    );
    set(json!({ "required": true, "break_glass": [owner.uri] })).await;
    assert_eq!(mails().await, 3);
    let allow = json!({ "command": "allow-passwords", "company": "told-of-sign-in" });
    given.app.operate(allow).await.unwrap();
    assert_eq!(mails().await, 4);
    assert!(told().contains("The operator of the service has changed how the staff of"), "{}", told());
    assert!(told().contains("Ask the operator of the service who wanted this change."), "{}", told());
    assert!(!told().contains("account:"), "no account of the company did it: {}", told());
    owner.delete(settings).await.expect(204);
    assert_eq!(mails().await, 5);
}
