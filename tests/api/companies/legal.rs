//! Legal texts: published in versions, read by everyone.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, last_segment};
use tests::http::{Request, send_each};
use tests::{assert_refusal, assert_refusals};
use tokio::task::JoinSet;

use crate::events::feed::read_all;
use crate::system::idempotency::is_replay;

pub(crate) const LEGAL: &str = "/companies/acme/legal/";

/// Publishes a text of a kind in English and German, and gives its address.
pub(crate) async fn publish(owner: &Staff, kind: &str, is_required: bool) -> String {
    let texts = json!({ "en": "We keep it.", "de": "Wir behalten es." });
    let body = json!({ "kind": kind, "texts": texts, "is_required": is_required });
    owner.post(LEGAL, body).await.expect(201).uri("resource_uri")
}

/// Retires a kind.
pub(crate) async fn retire(owner: &Staff, kind: &str) {
    owner.post(LEGAL, json!({ "kind": kind, "texts": {} })).await.expect(201);
}

/// The identifiers in a list.
async fn listed(caller: &impl Caller, query: &str) -> Vec<String> {
    let list = caller.get(&format!("{LEGAL}?{query}")).await.expect(200).json();
    let objects = list["objects"].as_array().unwrap();
    let id = |text: &Value| last_segment(text["resource_uri"].as_str().unwrap()).to_owned();
    objects.iter().map(id).collect()
}

#[tokio::test]
async fn texts_are_published_in_versions_which_everyone_reads() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let texts =
        json!({ "en": " We keep\r\n what you <b>send</b>. ", "de": "https://acme.example/datenschutz" });
    let body = json!({ "kind": "privacy_policy", "texts": texts });
    let created = owner.post(LEGAL, body).await.expect(201);
    let uri = created.uri("resource_uri");
    assert_eq!((created.header("location"), last_segment(&uri)), (Some(uri.as_str()), "privacy_policy-1"));
    let view = json!({
        "id": last_segment(&uri),
        "resource_uri": uri,
        "kind": "privacy_policy",
        "version": 1,
        "texts": { "en": " We keep\n what you <b>send</b>.", "de": "https://acme.example/datenschutz" },
        "is_required": false,
        "created_at": "2026-11-08T10:00:00Z",
    });
    assert_eq!(created.json(), view);

    let shown = app.anonymous().get(&uri).await.expect(200);
    assert_eq!((shown.json(), shown.header("cache-control")), (view.clone(), Some("public, max-age=3600")));
    let again = Request::get(&uri).header("if-none-match", shown.header("etag").unwrap());
    app.anonymous().send(again).await.expect(304);

    publish(&owner, "consent", true).await;
    publish(&owner, "privacy_policy", false).await;
    let all = ["privacy_policy-1", "privacy_policy-2", "consent-1"];
    assert_eq!(listed(&owner, "").await, all);
    assert_eq!(listed(&owner, "current=true").await, all[1..]);
    assert_eq!(listed(&owner, "current=false&kind=privacy_policy").await, all[..2]);
    for query in ["", "current=false", "current=true"] {
        assert_eq!(listed(&app.anonymous(), query).await, all[1..], "{query}");
    }
    let german = app.anonymous().get(&format!("{LEGAL}?language=de&kind=consent")).await.expect(200).json();
    assert_eq!(german["objects"][0]["texts"], json!({ "de": "Wir behalten es." }));
    app.anonymous().get(&uri).await.expect_json(200, view);
}

#[tokio::test]
async fn an_empty_version_retires_its_kind() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let nothing = json!({ "kind": "consent", "texts": {} });
    assert_refusal!(owner.post(LEGAL, nothing.clone()).await, @r#"400 {"texts":["This kind has no text to retire."]}"#);
    publish(&owner, "consent", true).await;
    let retired = owner.post(LEGAL, nothing.clone()).await.expect(201).json();
    assert_eq!([&retired["version"], &retired["texts"]], [&json!(2), &json!({})]);
    assert_refusal!(owner.post(LEGAL, nothing).await, @r#"400 {"texts":["This kind has no text to retire."]}"#);
    assert_eq!(listed(&owner, "current=true").await, [] as [String; 0]);
    publish(&owner, "consent", false).await;
    assert_eq!(listed(&owner, "current=true").await, ["consent-3"]);
    assert_eq!(listed(&owner, "").await, ["consent-1", "consent-2", "consent-3"]);
}

#[tokio::test]
async fn a_wrong_text_is_refused_field_by_field() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let before = app.table().snapshot().await;
    let text = |texts: Value| json!({ "kind": "consent", "texts": texts });
    let bodies = [
        json!({}),
        json!({ "kind": "imprint", "texts": [] , "is_required": "yes" }),
        text(json!(null)),
        text(json!({ "xx": "Text." })),
        text(json!({ "en": "" })),
        text(json!({ "en": 7 })),
        text(json!({ "en": "Text.", "de": " \u{7}\u{feff}\n" })),
        text(json!({ "en": "x".repeat(10_001) })),
        json!({ "kind": "consent", "texts": {}, "is_required": true }),
    ];
    let mut refusals = send_each(bodies, |body| owner.post(LEGAL, body)).await;
    let anyone = app.anonymous();
    let queries = ["kind=imprint", "language=xx", "current=1", "page=2", "cursor=x"];
    refusals.extend(send_each(queries, async |query| anyone.get(&format!("{LEGAL}?{query}")).await).await);
    assert_refusals!(refusals, @r#"
        400 {"kind":["This field is required."],"texts":["This field is required."]}
        400 {
          "is_required":["Must be a valid boolean."],
          "kind":["\"imprint\" is not a valid choice. Use one of: privacy_policy, consent."],
          "texts":["Expected an object."]
        }
        400 {"texts":["This field may not be null."]}
        400 {"texts":["\"xx\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}
        400 {"texts":["\"en\": This field may not be blank."]}
        400 {"texts":["\"en\": Not a valid string."]}
        400 {"texts":["\"de\": This field may not be blank."]}
        400 {"texts":["\"en\": Ensure this field has no more than 10000 characters."]}
        400 {"is_required":["A kind without texts cannot be required."]}
        400 {"kind":["\"imprint\" is not a valid choice. Use one of: privacy_policy, consent."]}
        400 {"language":["\"xx\" is not a valid choice. Use one of: en, de, fr, es, it, nl."]}
        400 {"current":["Must be a valid boolean."]}
        400 {"page":["The list ends before page 2."]}
        400 {"cursor":["Invalid cursor. Follow `next` and `previous` unchanged."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    owner.post(LEGAL, text(json!({ "en": "x".repeat(10_000) }))).await.expect(201);
}

#[tokio::test]
async fn nothing_changes_or_deletes_a_version() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = publish(&owner, "consent", true).await;
    let mut refusals = Vec::new();
    for method in ["PUT", "PATCH", "DELETE"] {
        refusals.push(owner.send(Request::new(method.parse().unwrap(), &uri).json(&json!({}))).await);
    }
    assert_refusals!(refusals, @r#"3 x 405 {"code":"method_not_allowed","detail":"Method not allowed. The `Allow` header lists the methods of this path."}"#);
    for other in ["consent-2", "consent-01", "consent", "privacy_policy-1", "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        app.anonymous().get(&format!("{LEGAL}{other}/")).await.expect_code(404, "not_found");
    }
}

#[tokio::test]
async fn a_company_that_publishes_nothing_looks_like_none() {
    let app = TestApp::start().await;
    app.owner().await;
    let published_nothing = app.anonymous().get(LEGAL).await.expect(200);
    for nobody in ["/companies/globex/legal/", "/companies/NO%20COMPANY/legal/"] {
        let list = app.anonymous().get(nobody).await.expect(200);
        assert_eq!((list.json(), list.log().dynamodb_calls <= 1), (published_nothing.json(), true));
        let text = app.anonymous().get(&format!("{nobody}consent-1/")).await.expect(404);
        assert_eq!(text.body, app.anonymous().get(&format!("{LEGAL}consent-1/")).await.expect(404).body);
    }
}

#[tokio::test]
async fn all_versions_are_listed_to_those_of_the_company_alone() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    publish(&owner, "consent", true).await;
    publish(&owner, "consent", true).await;
    let [all, current] = [vec!["consent-1", "consent-2"], vec!["consent-2"]];
    let (_, token) = owner.named_token("ATS").await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let candidate = owner.invite(&project, json!({})).await;
    assert_eq!(listed(&owner, "").await, all);
    assert_eq!(listed(&token, "").await, all);
    assert_eq!(listed(&candidate, "").await, all);
    let stranger = app.owner_of("globex").await;
    assert_eq!(listed(&stranger, "").await, current);
    assert_eq!(listed(&app.token("ivt_x"), "").await, current, "an invalid credential counts as none");
    assert_eq!(listed(&app.anonymous(), "page_size=100").await, current);
}

#[tokio::test]
async fn concurrent_publications_get_different_versions() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut publications = JoinSet::new();
    for _ in 0..5 {
        let owner = owner.clone();
        publications.spawn(async move { publish(&owner, "consent", true).await });
    }
    let uris: BTreeSet<String> = publications.join_all().await.into_iter().collect();
    assert_eq!(uris.len(), 5);
    assert_eq!(listed(&owner, "kind=consent").await.len(), 5);
    assert_eq!(listed(&owner, "current=true").await, ["consent-5"]);
}

#[tokio::test]
async fn a_repeated_publication_is_replayed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let publication = || {
        let body = json!({ "kind": "consent", "texts": { "en": "I agree." } });
        Request::post(LEGAL).header("idempotency-key", "one").json(&body)
    };
    let first = owner.send(publication()).await.expect(201);
    let second = owner.send(publication()).await.expect(201);
    assert_eq!((is_replay(&second), second.json()), (true, first.json()));
    assert_eq!(listed(&owner, "").await, ["consent-1"]);
}

#[tokio::test]
async fn the_list_leads_through_all_versions() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for number in 0..12 {
        publish(&owner, if number % 3 == 0 { "privacy_policy" } else { "consent" }, false).await;
    }
    let all = listed(&owner, "page_size=100").await;
    let (mut walked, mut pages) = (Vec::new(), Vec::new());
    let mut next = Some(format!("{LEGAL}?page_size=5"));
    while let Some(page) = next {
        let list = owner.get(&page).await.expect(200).json();
        let objects = list["objects"].as_array().unwrap().clone();
        walked.extend(
            objects.iter().map(|text| last_segment(text["resource_uri"].as_str().unwrap()).to_owned()),
        );
        next = list["meta"]["next"].as_str().map(str::to_owned);
        pages.push(list);
    }
    assert_eq!((all.len(), walked), (12, all));
    let back = pages[2]["meta"]["previous"].as_str().unwrap();
    assert_eq!(owner.get(back).await.expect(200).json()["objects"], pages[1]["objects"]);
}

#[tokio::test]
async fn pages_of_long_texts_fit_in_responses() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    // Each character takes four bytes, or two as JSON within JSON.
    let texts: Value = ["en", "de", "fr", "es", "it", "nl"]
        .map(|language| (language.to_owned(), json!("\u{1f600}".repeat(10_000))))
        .into_iter()
        .collect();
    for _ in 0..30 {
        owner.post(LEGAL, json!({ "kind": "consent", "texts": texts })).await.expect(201);
    }
    let (mut seen, mut next) = (0, Some(format!("{LEGAL}?page_size=100")));
    while let Some(page) = next {
        let list = owner.get(&page).await.expect(200);
        assert!(list.body.len() < 6_000_000);
        let list = list.json();
        seen += list["objects"].as_array().unwrap().len();
        next = list["meta"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen, 30);
}

#[tokio::test]
async fn a_publication_changes_the_company_and_events_leave_out_the_text() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let company = owner.get("/companies/acme/").await.expect(200);
    let tag = company.header("etag").unwrap().to_owned();
    publish(&owner, "consent", true).await;
    app.settle().await;
    let event = read_all(&owner, "type=company.updated").await.remove(0);
    assert_eq!([&event["type"], &event["data"]["changed"]], [&json!("company.updated"), &json!(["legal"])]);
    assert!(!event.to_string().contains("We keep it."), "{event}");
    // The company's own fields are as they were, so changes of it go on.
    let change =
        Request::patch("/companies/acme/").header("if-match", &tag).json(&json!({ "city": "Berlin" }));
    owner.send(change).await.expect(200);
}
