//! The languages of a company.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;

#[tokio::test]
async fn a_company_lists_the_languages_it_may_use() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let list = "/companies/acme/languages/";
    let german = json!({ "code": "de", "iso_code": "de-DE", "name": "Deutsch" });
    let languages = owner.get(list).await.expect(200).json();
    assert_eq!((&languages["meta"]["total_count"], &languages["objects"][1]), (&json!(6), &german));
    for language in languages["objects"].as_array().unwrap() {
        owner.project(json!({ "support_lang": language["code"] })).await;
    }
    let (mut seen, mut next) = (Vec::new(), Some(format!("{list}?page_size=4")));
    while let Some(target) = next {
        let page = owner.get(&target).await.expect(200).json();
        seen.extend(page["objects"].as_array().unwrap().iter().map(|one| one["code"].clone()));
        next = page["meta"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen, ["en", "de", "fr", "es", "it", "nl"]);
}
