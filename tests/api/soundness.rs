//! A test fails when it ends with an unsound table.

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
