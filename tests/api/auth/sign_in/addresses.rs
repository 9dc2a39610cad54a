//! Where a sign-in leads on to.

use serde_json::json;
use tests::app::TestApp;
use tests::http::{Request, send_each};
use tests::issuer::CLIENT;
use url::form_urlencoded;

use super::{Acme, SIGN_IN, session_in};

fn sign_in_to(return_to: &str) -> String {
    let return_to: String = form_urlencoded::byte_serialize(return_to.as_bytes()).collect();
    format!("{SIGN_IN}?return_to={return_to}")
}

async fn with_origin() -> Acme {
    let app = TestApp::start_with(&[("ALLOWED_ORIGINS", "https://app.example")]).await;
    let given = Acme::without_provider(app).await;
    given.set(json!({ "client_id": CLIENT })).await.expect(200);
    given.colleague("recruiter", &given.ada).await;
    given
}

#[tokio::test]
async fn it_leads_on_to_a_path_of_the_pages_or_an_allowed_origin() {
    let given = with_origin().await;
    for (return_to, place) in [
        ("/result/acme/p/c/?tab=2", "https://hr.example/result/acme/p/c/?tab=2"),
        ("https://hr.example/project/acme/p/", "https://hr.example/project/acme/p/"),
        ("https://app.example/inbox#top", "https://app.example/inbox#top"),
    ] {
        let begun = given.begin_at(&sign_in_to(return_to)).await;
        let code = given.code(&begun, json!({}));
        let ended = given.end(&begun, &code).await.expect(302);
        assert_eq!(ended.header("location"), Some(place));
        assert!(session_in(&ended).is_some());
    }
}

#[tokio::test]
async fn it_leads_nowhere_else() {
    let given = with_origin().await;
    let long = format!("/{}", "a".repeat(1000));
    let elsewhere = [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example/",
        "/\t/evil.example/",
        "https://hr.example.evil.test/",
        "https://hr.example@evil.example/",
        "https://evil@hr.example/",
        "http://hr.example/",
        "https://hr.example:8443/",
        "https://app.example.evil.test/",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://",
        &*long,
    ];
    let refused =
        send_each(elsewhere, async |place| given.app.send(Request::get(&sign_in_to(place))).await).await;
    for response in &refused {
        assert_eq!((response.status.as_u16(), response.header("set-cookie")), (400, None), "{response}");
        assert!(response.json()["return_to"].is_array(), "{response}");
    }
    given.app.send(Request::get(&format!("{SIGN_IN}?next=/"))).await.expect(400);
    given.assert_works().await;
}
