//! The company itself.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;

#[tokio::test]
async fn all_staff_read_their_company() {
    let app = TestApp::start().await;
    let expected = json!({
        "id": "acme",
        "resource_uri": "https://hr.example/api/v3/companies/acme/",
        "name": "Acme & Sons",
        "address": "",
        "city": "",
        "postcode": "",
        "country": "",
        "phone": "",
        "default_interview_period": null,
        "default_maximum_score": 5,
        "default_project_lang": "en",
        "registration_email": "",
        "app_url": "",
        "timezone": "",
        "logo": null,
    });
    app.owner().await.get("/companies/acme/").await.expect_json(200, expected.clone());
    app.staff("hiring-manager").await.get("/companies/acme/").await.expect_json(200, expected);
}

#[tokio::test]
async fn another_company_is_as_unknown_as_none() {
    let app = TestApp::start().await;
    app.owner().await;
    let stranger = app.owner_of("globex").await;
    let missing = stranger.get("/companies/nobody/").await.expect_code(404, "not_found").body;
    for path in ["/companies/acme/", "/companies/ACME/", "/companies/%00/", "/companies/GLOBEX/"] {
        assert_eq!(stranger.get(path).await.expect(404).body, missing, "{path}");
    }
    // An escaped letter is the letter.
    stranger.get("/companies/%67lobex/").await.expect(200);
}

#[tokio::test]
async fn every_answer_says_how_it_may_be_kept_and_carries_its_identifier() {
    let app = TestApp::start().await;
    let response = app.owner().await.get("/companies/acme/").await.expect(200);
    assert_eq!(response.header("cache-control"), Some("private, no-store"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    let log = response.log();
    assert_eq!((log.method.as_str(), log.status), ("GET", 200));
    assert_eq!(log.route, "/api/v3/companies/{companyId}/");
    assert_eq!(log.company, "acme");
    assert_eq!(log.caller, format!("customer {}", app.owner().await.id()));
    assert_eq!(log.cause, None);
}
