//! A test fails when it ends with an unsound table.

use aws_sdk_dynamodb::types::AttributeValue;
use tests::app::TestApp;

#[tokio::test]
#[should_panic(expected = "is missing")]
async fn a_lost_item_fails_its_test() {
    let app = TestApp::start().await;
    app.owner().await;
    app.table().erase(&key("TALLY")).await;
}

#[tokio::test]
#[should_panic(expected = "follows from nothing")]
async fn an_item_left_behind_fails_its_test() {
    let app = TestApp::start().await;
    app.owner().await;
    app.table().put_bare(&key("TALLY#1")).await;
}

#[tokio::test]
async fn a_test_may_give_a_reason_for_an_unsound_table() {
    let app = TestApp::start().await;
    app.owner().await;
    app.table().erase(&key("TALLY")).await;
    app.leave_unsound("it shows that one may");
}

fn key(sk: &str) -> (String, String) {
    ("COMPANY#acme".to_owned(), sk.to_owned())
}

#[tokio::test]
#[should_panic(expected = "HISTORY#acme#acme ends with version None of 1")]
async fn a_change_without_an_entry_in_the_history_fails_its_test() {
    let app = TestApp::start().await;
    app.owner().await;
    app.table().erase(&("HISTORY#acme#acme".to_owned(), "0000000001".to_owned())).await;
}

#[tokio::test]
#[should_panic(expected = "acme has given 2 numbers; Some(1) is missing")]
async fn a_missing_number_fails_its_test() {
    let app = TestApp::start().await;
    app.owner().await;
    app.settle().await;
    let entries = app.table().contents().await;
    let (first, _) = entries.iter().find(|(_, item)| item.get("sequence") == Some(&one())).unwrap();
    app.table().set(first, "sequence", AttributeValue::N("3".to_owned())).await;
    let place = format!("{:020}", 3);
    app.table().set(first, "by_status_sk", AttributeValue::S(place)).await;
}

fn one() -> AttributeValue {
    AttributeValue::N("1".to_owned())
}
