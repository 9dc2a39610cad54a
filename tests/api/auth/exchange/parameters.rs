//! The parameters of an exchange, by RFC 6749 and RFC 8693.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::http::Request;

use super::{BASE, EXCHANGE, Trusting, parameters};

#[tokio::test]
async fn what_is_no_exchange_is_refused_in_the_words_of_the_standard() {
    let app = TestApp::start().await;
    let company = format!("{BASE}/companies/acme/");
    let with = |changed: Value| {
        let mut body = parameters("x", &company);
        body.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        Request::post(EXCHANGE).json(&body)
    };
    let raw = |media_type: &str, text: &str| Request::post(EXCHANGE).body(media_type, text);
    let form = "application/x-www-form-urlencoded";
    let mut refusals = Vec::new();
    for request in [
        with(json!({ "grant_type": "client_credentials" })),
        with(json!({ "subject_token_type": "urn:ietf:params:oauth:token-type:id_token" })),
        with(json!({ "requested_token_type": "urn:ietf:params:oauth:token-type:jwt" })),
        with(json!({ "actor_token": "x" })),
        with(json!({ "scope": "read" })),
        with(json!({ "resource": "https://other.example/api/v3/companies/acme/" })),
        with(json!({ "resource": format!("{company}labels/") })),
        with(json!({ "resource": format!("{BASE}/companies/ACME/") })),
        with(json!({ "resource": null })),
        with(json!({ "resource": [company] })),
        with(json!({ "audience": format!("{BASE}/companies/globex/") })),
        with(json!({ "subject_token": 7 })),
        raw("application/json", "{}"),
        raw("application/json", "[]"),
        raw("application/json", "{"),
        raw("application/json", r#"{"grant_type": "a", "grant_type": "a"}"#),
        raw(form, ""),
        raw(form, "grant_type=a&grant_type=a&subject_token=&subject_token=x"),
        raw("text/plain", "grant_type=a"),
    ] {
        refusals.push(app.send(request).await);
    }
    for refusal in &refusals {
        let body = refusal.json();
        assert_eq!(refusal.status == 400, body["error_description"].is_string(), "{refusal}");
        assert!(refusal.status != 400 || body["error_description"] == body["detail"], "{refusal}");
    }
    assert_refusals!(refusals, @r#"
        400 {
          "code":"unsupported_grant_type",
          "detail":"grant_type: Use urn:ietf:params:oauth:grant-type:token-exchange",
          "error":"unsupported_grant_type",
          "error_description":"grant_type: Use urn:ietf:params:oauth:grant-type:token-exchange"
        }
        400 {
          "code":"invalid_request",
          "detail":"subject_token_type: Use urn:ietf:params:oauth:token-type:jwt",
          "error":"invalid_request",
          "error_description":"subject_token_type: Use urn:ietf:params:oauth:token-type:jwt"
        }
        400 {
          "code":"invalid_request",
          "detail":"requested_token_type: Use urn:ietf:params:oauth:token-type:access_token",
          "error":"invalid_request",
          "error_description":"requested_token_type: Use urn:ietf:params:oauth:token-type:access_token"
        }
        400 {
          "code":"invalid_request",
          "detail":"actor_token: Delegation is not supported. Omit this parameter.",
          "error":"invalid_request",
          "error_description":"actor_token: Delegation is not supported. Omit this parameter."
        }
        400 {
          "code":"invalid_scope",
          "detail":"There are no scopes: the token has the rights of the named token. Omit this parameter.",
          "error":"invalid_scope",
          "error_description":"There are no scopes: the token has the rights of the named token. Omit this parameter."
        }
        4 x 400 {
          "code":"invalid_target",
          "detail":"Name the company or the named token by its resource_uri, as resource or as audience.",
          "error":"invalid_target",
          "error_description":"Name the company or the named token by its resource_uri, as resource or as audience."
        }
        400 {
          "code":"invalid_request",
          "detail":"resource: This field may not be null.",
          "error":"invalid_request",
          "error_description":"resource: This field may not be null."
        }
        400 {
          "code":"invalid_request",
          "detail":"resource: Not a valid string.",
          "error":"invalid_request",
          "error_description":"resource: Not a valid string."
        }
        400 {
          "code":"invalid_request",
          "detail":"subject_token: Not a valid string.",
          "error":"invalid_request",
          "error_description":"subject_token: Not a valid string."
        }
        2 x 400 {
          "code":"invalid_request",
          "detail":"grant_type: This field is required. subject_token: This field is required. subject_token_type: This field is required.",
          "error":"invalid_request",
          "error_description":"grant_type: This field is required. subject_token: This field is required. subject_token_type: This field is required."
        }
        2 x 400 {
          "code":"invalid_request",
          "detail":"The body is no JSON object, and is not declared as a form.",
          "error":"invalid_request",
          "error_description":"The body is no JSON object, and is not declared as a form."
        }
        400 {
          "code":"invalid_request",
          "detail":"grant_type: This parameter may be sent only once. subject_token: This field is required. subject_token_type: This field is required.",
          "error":"invalid_request",
          "error_description":"grant_type: This parameter may be sent only once. subject_token: This field is required. subject_token_type: This field is required."
        }
        400 {
          "code":"invalid_request",
          "detail":"grant_type: This parameter may be sent only once. subject_token_type: This field is required.",
          "error":"invalid_request",
          "error_description":"grant_type: This parameter may be sent only once. subject_token_type: This field is required."
        }
        415 {"code":"unsupported_media_type","detail":"Send the body as application/x-www-form-urlencoded, or as application/json."}
        "#);
}

#[tokio::test]
async fn unknown_and_empty_parameters_are_ignored_and_the_audience_may_name_the_company() {
    let given = Trusting::new().await;
    let company = format!("{BASE}/companies/acme/");
    for changed in [
        json!({ "madeup": 1, "scope": "", "actor_token": "" }),
        json!({ "resource": "", "audience": company }),
        json!({ "audience": company }),
        json!({ "requested_token_type": "urn:ietf:params:oauth:token-type:access_token" }),
    ] {
        let mut body = parameters(&given.jwt(), &company);
        body.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
        given.app.send(Request::post(EXCHANGE).json(&body)).await.expect(200);
    }
}
