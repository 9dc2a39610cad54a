//! The addresses of the pages that show projects and candidates to staff: the same wherever they stand, and from the beginning on.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};

use crate::evaluations::crud::given;
use crate::events::feed::read_all;

#[tokio::test]
async fn projects_and_candidates_have_pages_of_the_service_or_of_the_web_application() {
    for (suite, pages) in [
        ("", None),
        ("https://suite.example", Some("https://suite.example")),
        ("https://hr.example/suite/", Some("https://hr.example/suite")),
    ] {
        let app = TestApp::start_with(&[("SUITE_URL", suite)]).await;
        let owner = app.owner().await;
        let project = owner.project(json!({})).await;
        let candidate = owner.candidate(&project, json!({})).await;
        let [p, k] = [&project, &candidate].map(|uri| last_segment(uri));
        for (uri, own) in [
            (&project, format!("https://hr.example/project/acme/{p}/")),
            (&candidate, format!("https://hr.example/result/acme/{p}/{k}/")),
        ] {
            let (_, path) = uri.split_once("/api/v3").unwrap();
            let expected = pages.map_or(own, |pages| format!("{pages}{path}"));
            assert_eq!(owner.get(uri).await.expect(200).json()["interview_suite_url"], expected);
        }
    }
}

#[tokio::test]
async fn rows_results_and_events_have_the_page_of_their_candidate() {
    let given = given().await;
    let (owner, project) = (&given.owner, &given.project);
    let page = |candidate: &Value| {
        let candidate = candidate.as_str().unwrap();
        format!("https://hr.example/result/acme/{}/{}/", last_segment(project), last_segment(candidate))
    };
    let entry = |key: &str, name: &str| json!({ "first_name": name, "last_name": "L", "external_id": key });
    let import = format!("{project}candidates/import/");
    let entries = json!([entry("1", "Ada"), entry("2", ""), entry("1", "Grace")]);
    let dry = owner.post(&format!("{import}?dry_run=true"), entries.clone()).await.expect(200).json();
    assert_eq!(dry["objects"][0]["interview_suite_url"], Value::Null);
    let report = owner.post(&import, entries).await.expect(200).json();
    let rows = report["objects"].as_array().unwrap();
    let ada = &rows[0]["candidate"];
    assert_eq!(rows[0]["interview_suite_url"], page(ada));
    assert_eq!((&rows[1]["candidate"], &rows[1]["interview_suite_url"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&rows[2]["candidate"], &rows[2]["interview_suite_url"]),
        (ada, &json!(page(ada))),
        "of the holder"
    );

    let unknown = format!("{project}candidates/01ARZ3NDEKTSV4RRFFQ69G5FAV/");
    let skip = json!({ "action": "skip", "candidates": [ada, unknown] });
    let report = owner.post(&format!("{project}candidates/bulk/"), skip).await.expect(200).json();
    let rows = report["objects"].as_array().unwrap();
    assert_eq!(rows[0]["interview_suite_url"], page(ada));
    assert_eq!(rows[1]["interview_suite_url"], Value::Null);

    let candidate = given.interviewed().await;
    given.rate(&given.evaluators[0], &candidate, 4.0, 4.0).await.expect(201);
    let candidate = json!(candidate);
    // Also of an evaluator who sees nothing else of it yet.
    for reader in [owner, &given.evaluators[1]] {
        let results = given.results(reader, "").await;
        assert_eq!(results["objects"][0]["interview_suite_url"], page(&candidate));
    }

    given.app.settle().await;
    let events = read_all(owner, "").await;
    let mut seen = 0;
    for event in &events {
        let data = &event["data"];
        let uri = data["resource_uri"].as_str().unwrap();
        match uri.split_once("/candidates/") {
            Some((_, rest)) => {
                let candidate = uri.replace(rest, &format!("{}/", rest.split('/').next().unwrap()));
                assert_eq!(data["interview_suite_url"], page(&json!(candidate)), "{event}");
                seen += 1;
            }
            None => assert_eq!(data.get("interview_suite_url"), None, "{event}"),
        }
    }
    assert!(seen > 5 && seen < events.len(), "{seen}");
}
