//! The OpenAPI document, as the code makes it and as it is committed.

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
