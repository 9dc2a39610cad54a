//! Receivers of webhooks.

use shared::clock::{Clock as _, SystemClock};
use standardwebhooks::Webhook;

use super::*;

const SECRET: &str = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
const EVENT: &str = r#"{"types": ["candidate.created", "candidate.invited"], "data": {"note": "<b>x</b>"}}"#;

/// A delivery of [`EVENT`], signed `age` seconds ago.
fn delivery(name: &str, secret: &str, age: i64) -> Request<Body> {
    let at = SystemClock.now().timestamp() - age;
    let signature = Webhook::new(secret).unwrap().sign("evt_1", at, EVENT.as_bytes()).unwrap();
    let request = Request::post(format!("/_local/hooks/{name}")).header("webhook-id", "evt_1");
    let request = request.header("webhook-timestamp", at).header("webhook-signature", signature);
    request.body(Body::from(EVENT)).unwrap()
}

async fn send(pages: &Pages, request: Request<Body>) -> StatusCode {
    router(pages.clone()).oneshot(request).await.unwrap().status()
}

async fn put(pages: &Pages, name: &str, body: Value) -> StatusCode {
    let request = Request::put(format!("/_local/hooks/{name}"));
    let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string()));
    send(pages, request.unwrap()).await
}

async fn body_of(pages: &Pages, path: &str) -> String {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = router(pages.clone()).oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap()
}

/// The results of verifying a receiver's deliveries, newest first.
async fn signatures(pages: &Pages, name: &str) -> Vec<Value> {
    let list: Value =
        serde_json::from_str(&body_of(pages, &format!("/_local/hooks/{name}/deliveries")).await).unwrap();
    list.as_array().unwrap().iter().map(|delivery| delivery["signature"].clone()).collect()
}

#[tokio::test]
async fn a_receiver_keeps_what_comes_and_says_whether_the_signature_holds() {
    let pages = pages(&Mailbox::default());
    assert_eq!(send(&pages, delivery("a", SECRET, 0)).await, StatusCode::OK);
    assert_eq!(signatures(&pages, "a").await, [Value::Null]);
    assert_eq!(put(&pages, "a", json!({ "secret": SECRET })).await, StatusCode::NO_CONTENT);
    assert_eq!(signatures(&pages, "a").await, ["holds"]);

    let other = "whsec_CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=";
    assert_eq!(send(&pages, delivery("a", other, 0)).await, StatusCode::OK);
    assert_eq!(send(&pages, delivery("a", SECRET, 360)).await, StatusCode::OK);
    let bare = Request::post("/_local/hooks/a").body(Body::from("no event")).unwrap();
    assert_eq!(send(&pages, bare).await, StatusCode::OK);
    let mut changed = delivery("a", SECRET, 0);
    *changed.body_mut() = Body::from(EVENT.replace("created", "deleted"));
    assert_eq!(send(&pages, changed).await, StatusCode::OK);
    let said = [
        "signature invalid",
        "missing header id",
        "signature timestamp too old",
        "signature invalid",
        "holds",
    ];
    assert_eq!(signatures(&pages, "a").await, said);
    // A new secret does not change the results of earlier deliveries.
    put(&pages, "a", json!({ "secret": other })).await;
    assert_eq!(signatures(&pages, "a").await, said);
    put(&pages, "a", json!({ "secret": SECRET })).await;
    assert_eq!(signatures(&pages, "b").await, [] as [Value; 0]);

    let list: Value = serde_json::from_str(&body_of(&pages, "/_local/hooks/a/deliveries").await).unwrap();
    assert_eq!((&list[4]["body"], &list[4]["headers"]["webhook-id"]), (&json!(EVENT), &json!("evt_1")));
}

#[tokio::test]
async fn a_receiver_answers_as_it_is_told() {
    let pages = pages(&Mailbox::default());
    for (answer, status) in [(json!(500), 500), (json!(410), 410), (json!("200"), 200), (json!(200), 200)] {
        assert_eq!(put(&pages, "a", json!({ "answer": answer })).await, StatusCode::NO_CONTENT);
        assert_eq!(send(&pages, delivery("a", SECRET, 0)).await.as_u16(), status, "{answer}");
    }
    for wrong in [json!({ "answer": 201 }), json!({ "answer": null }), json!({ "status": 200 })] {
        assert_eq!(put(&pages, "a", wrong.clone()).await, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let form = Request::post("/_local/hooks/a/settings").header("sec-fetch-site", "same-origin");
    let form = form.body(Body::from("secret=&answer=410")).unwrap();
    assert_eq!(send(&pages, form).await, StatusCode::SEE_OTHER);
    assert_eq!(send(&pages, delivery("a", SECRET, 0)).await, StatusCode::GONE);
    let form = format!("answer=200&secret={}", SECRET.replace('=', "%3D"));
    let form = Request::post("/_local/hooks/a/settings").body(Body::from(form)).unwrap();
    assert_eq!(send(&pages, form).await, StatusCode::SEE_OTHER);
    assert_eq!(signatures(&pages, "a").await, ["holds"; 5]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_receiver_takes_longer_than_a_sender_waits() {
    let pages = pages(&Mailbox::default());
    put(&pages, "a", json!({ "answer": "slow" })).await;
    let begun = tokio::time::Instant::now();
    assert_eq!(send(&pages, delivery("a", SECRET, 0)).await, StatusCode::OK);
    assert!(begun.elapsed() > std::time::Duration::from_secs(15));
}

#[tokio::test]
async fn a_receivers_page_shows_deliveries_escaped_and_newest_first() {
    let pages = pages(&Mailbox::default());
    assert!(body_of(&pages, "/_local/hooks/a").await.contains("Nothing has come yet"));
    put(&pages, "a", json!({ "secret": SECRET })).await;
    send(&pages, delivery("a", SECRET, 0)).await;
    send(&pages, Request::post("/_local/hooks/a").body(Body::from("<i>no event</i>")).unwrap()).await;
    let page = body_of(&pages, "/_local/hooks/a").await;
    assert!(page.contains("signature holds") && page.contains("missing header id"), "{page}");
    assert!(
        page.find("Not JSON").unwrap() < page.find("<b>candidate.created, candidate.invited</b>").unwrap(),
        "{page}"
    );
    assert!(!page.contains("<b>x</b>") && !page.contains("<i>no event</i>"), "{page}");
    assert!(!page.contains(SECRET), "{page}");
    for _ in 0..200 {
        send(&pages, delivery("a", SECRET, 0)).await;
    }
    assert!(body_of(&pages, "/_local/hooks/a").await.contains("The newest 200 of 202 deliveries."));
}

#[tokio::test]
async fn pages_of_other_sites_and_odd_names_reach_no_receiver() {
    let pages = pages(&Mailbox::default());
    for path in ["/_local/hooks/a", "/_local/hooks/a/settings"] {
        let request = Request::post(path).header("sec-fetch-site", "cross-site");
        let status = send(&pages, request.body(Body::from("answer=500")).unwrap()).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
    for name in ["a%20b", "%3Cb%3E", &"a".repeat(65)] {
        assert_eq!(send(&pages, delivery(name, SECRET, 0)).await, StatusCode::NOT_FOUND, "{name}");
    }
    let long = Request::post("/_local/hooks/a").body(Body::from(vec![b'x'; MAX_BODY + 1])).unwrap();
    assert_eq!(send(&pages, long).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(signatures(&pages, "a").await, [] as [Value; 0]);
}
