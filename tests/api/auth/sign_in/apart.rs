//! Sign-ins of several companies and people in one browser, which do not meet.

use serde_json::json;
use tests::caller::Caller;
use tests::http::Request;
use tests::issuer::TestIssuer;

use super::{Acme, CALLBACK, assert_refused, session_in};

/// Another company, whose provider is in the hands of an attacker, and the path of its sign-ins.
async fn with_evil(given: &Acme) -> (TestIssuer, &'static str) {
    let evil = given.app.owner_of("evil").await;
    let issuer = TestIssuer::start(&[&given.key]).await;
    let settings = given.settings(json!({ "issuer": issuer.url, "domains": ["evil.example"] }));
    evil.send(Request::put("/companies/evil/sign-in/").json(&settings)).await.expect(200);
    (issuer, "/sign-in/evil/")
}

#[tokio::test]
async fn a_code_of_one_company_is_not_redeemed_at_the_provider_of_another() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let (evil, sign_in) = with_evil(&given).await;
    // The attacker has begun at the victim's company, and the victim at the attacker's, whose provider leads on to the other one.
    let [attackers, victims] = [given.begin().await, given.begin_at(sign_in).await];
    assert_eq!(victims.request.redirect_uri, "https://hr.example/api/v3/sign-in/evil/callback/");
    let code = given.code(&attackers, json!({}));
    let back = format!("{CALLBACK}?state={}&code={code}", victims.request.state);
    let ended = given.app.send(Request::get(&back).header("cookie", &victims.cookie)).await;
    assert_refused(&ended, "sign_in_expired", Some("acme"));
    assert_eq!((evil.token_requests(), given.issuer.token_requests()), (0, 0));
    // The provider redeems no code that it has issued for another address.
    let back = format!("/sign-in/evil/callback/?state={}&code={code}", victims.request.state);
    let ended = given.app.send(Request::get(&back).header("cookie", &victims.cookie)).await;
    assert_refused(&ended, "sign_in_refused", Some("evil"));
    given.assert_works().await;
}

#[tokio::test]
async fn a_sign_in_does_not_end_at_another_company_with_the_same_client() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let other = given.app.owner_of("other").await;
    let settings = given.settings(json!({ "domains": ["other.example"] }));
    other.send(Request::put("/companies/other/sign-in/").json(&settings)).await.expect(200);
    let begun = given.begin_at("/sign-in/other/").await;
    let code = given.code(&begun, json!({}));
    assert_refused(&given.end(&begun, &code).await, "sign_in_expired", Some("acme"));
    assert_eq!(given.issuer.token_requests(), 0);
    given.assert_works().await;
}

#[tokio::test]
async fn a_sign_in_takes_the_place_of_no_session_of_a_candidate_or_of_another_company() {
    let given = Acme::new().await;
    given.colleague("recruiter", &given.ada).await;
    let elsewhere = given.app.owner_of("elsewhere").await.browser().await;
    let project = given.owner.running_project(json!({ "allow_hash_login": true })).await;
    let candidate = given.owner.invite(&project, json!({ "username": "grace" })).await;
    candidate.choose_password().await;
    let candidate = given.app.browser("acme", "grace").await;
    let colleague = given.owner.browser().await;
    let end_beside = async |cookie: &str| {
        let begun = given.begin().await;
        let code = given.code(&begun, json!({}));
        let back = format!("{CALLBACK}?state={}&code={code}", begun.request.state);
        let cookies = format!("sessionid={cookie}; {}", begun.cookie);
        given.app.send(Request::get(&back).header("cookie", &cookies)).await
    };
    for other in [&elsewhere, &candidate] {
        assert_refused(&end_beside(&other.cookie).await, "sign_in_occupied", Some("acme"));
        other.get("/whoami/").await.expect(200);
    }
    // A colleague's session at the same computer, one that has ended, and none that ever was.
    assert!(session_in(&end_beside(&colleague.cookie).await.expect(302)).is_some());
    elsewhere.send(Request::post("/api-session-invalidate/")).await.expect(204);
    for cookie in [&*elsewhere.cookie, "made-up"] {
        assert!(session_in(&end_beside(cookie).await.expect(302)).is_some());
    }
}

#[tokio::test]
async fn a_browser_that_has_begun_too_many_sign_ins_forgets_them() {
    let given = Acme::new().await;
    let mut sent = Vec::new();
    for number in 0..4 {
        sent.push(given.begin().await.cookie);
        let begun = given.app.send(Request::get(super::SIGN_IN).header("cookie", &sent.join("; "))).await;
        let set = begun.expect(302).headers.get_all("set-cookie").iter().count();
        assert_eq!(set, if number < 3 { 1 } else { 5 }, "{number}");
    }
}
