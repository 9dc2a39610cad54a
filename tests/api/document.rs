//! The OpenAPI document, as the code makes it and as it is committed.

use std::collections::BTreeSet;

use serde_json::Value;
use shared::domain::history::EventType;
use tests::document::written;

#[test]
fn every_route_is_described_and_the_committed_document_is_current() {
    let written = written().unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    // Not assert_eq: nobody reads two documents of this length.
    assert!(
        written == docs::DOCUMENT,
        "the document has changed: cargo run -p tests --example document > functions/docs/openapi.json"
    );
}

#[test]
fn the_document_describes_a_request_to_webhooks_for_every_type_of_event() {
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let described: BTreeSet<&str> =
        document["webhooks"].as_object().unwrap().keys().map(String::as_str).collect();
    let types: BTreeSet<&str> = EventType::ALL.into_iter().map(EventType::as_str).collect();
    assert_eq!(described, types);
    for (name, webhook) in document["webhooks"].as_object().unwrap() {
        let operation = &webhook["post"];
        assert!(operation["description"].as_str().is_some_and(|text| text.len() > 60), "{name}");
        let schema = operation.pointer("/requestBody/content/application~1json/schema/$ref");
        assert_eq!(schema.unwrap(), "#/components/schemas/Event", "{name}");
    }
}
