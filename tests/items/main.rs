//! Writes items of every kind as this release stores them, in JSON: `cargo run -p tests --example items`.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "this is where the items go; what fails here stops it"
)]

use serde_json::Value;
use tests::app::TestApp;

#[tokio::main]
async fn main() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    app.fill_with_everything(&owner).await;
    let items: Vec<Value> = app
        .table()
        .contents()
        .await
        .into_values()
        .map(|item| serde_dynamo::from_item(item).expect("JSON"))
        .collect();
    println!("{}", serde_json::to_string_pretty(&items).expect("JSON"));
}
