//! The real function binaries, started as Lambda starts them and fed with API Gateway events: they must answer as the
//! same routes do in this process.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod frozen;
mod killed;
mod odd;
mod sandbox;
mod twice;
mod webhooks;

use axum::http::{Method, StatusCode, header};
use serde_json::json;
use tests::binaries;
use tests::function::Function;
use tokio::process::Command;

use twice::{BY_EVENTS, OVER_HTTP, Request, Twice, event};

fn get(path: &str) -> Request {
    Request::new(Method::GET, path)
}

fn post(path: &str) -> Request {
    Request::new(Method::POST, path)
}

#[tokio::test]
async fn a_story_through_all_functions_reads_the_same_in_process() {
    let service = Twice::start().await;
    let token = service.token().await;

    let whoami = service.same(get("/whoami/").token(&token)).await;
    assert_eq!((whoami.status, &whoami.json()["kind"]), (StatusCode::OK, &json!("customer")));
    let company = service.same(get("/companies/acme/").token(&token)).await;
    assert_eq!((company.status, &company.json()["name"]), (StatusCode::OK, &json!("Acme")));

    let customers = service.same(get("/companies/acme/customers/").token(&token)).await;
    assert_eq!(customers.json()["objects"][0]["username"], "owner", "{}", customers.body);

    let projects = "/companies/acme/projects/";
    for name in ["First", "Second"] {
        let created = service.real(post(projects).token(&token).json(&json!({ "name": name }))).await;
        assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    }
    let page = service.same(get(&format!("{projects}?page_size=1&page=2")).token(&token)).await;
    assert_eq!(page.json()["meta"]["total_count"], 2, "{}", page.body);
    let project = service.path_of(&page.json()["objects"][0]["resource_uri"]);
    assert_eq!(service.same(get(&project).token(&token)).await.json()["name"], "Second");

    let candidates = format!("{project}candidates/");
    let ada = json!({ "first_name": "Ada", "last_name": "Lovelace" });
    let created = service.real(post(&candidates).token(&token).json(&ada)).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let candidate = service.path_of(&created.json()["resource_uri"]);
    let change = Request::new(Method::PATCH, &candidate).token(&token).json(&json!({ "last_name": "King" }));
    assert_eq!(service.real(change).await.status, StatusCode::OK);
    assert_eq!(service.same(get(&candidate).token(&token)).await.json()["last_name"], "King");
    assert_eq!(service.same(get(&candidates).token(&token)).await.json()["meta"]["total_count"], 1);

    let deletion = Request::new(Method::DELETE, &candidate).token(&token);
    assert_eq!(service.real(deletion).await.status, StatusCode::NO_CONTENT);
    assert_eq!(service.same(get(&candidate).token(&token)).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_final_slash_makes_no_difference() {
    let service = Twice::start().await;
    let token = service.token().await;
    for path in ["/whoami", "/companies/acme", "/companies/acme/projects"] {
        let with = service.same(get(&format!("{path}/")).token(&token)).await;
        let without = service.same(get(path).token(&token)).await;
        assert_eq!(with.status, StatusCode::OK, "{path}");
        assert_eq!((without.status, without.body), (with.status, with.body), "{path}");
    }
}

/// Compressed bodies are no text, and so reach the gateway in base64.
#[tokio::test]
async fn the_reference_is_the_same_packed_and_not() {
    let service = Twice::start().await;
    for path in ["/openapi.json", "/docs", "/docs/", "/docs/reference.css", "/docs/reference.js"] {
        for (coding, packing) in [("identity", None), ("gzip", Some("gzip"))] {
            let answer = service.same(get(path).header("accept-encoding", coding)).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            assert_eq!(answer.headers.get("content-encoding").map(String::as_str), packing, "{path}");
        }
    }
}

#[tokio::test]
async fn the_page_is_the_same_packed_and_not() {
    let service = Twice::start().await;
    let ask = |path: &str| Request::beside_the_api(Method::GET, path);
    for path in ["/interview/acme/KEY", "/register/KEY/", "/page/0123456789abcdef/candidate.css"] {
        for (coding, packing) in [("identity", None), ("gzip", Some("gzip"))] {
            let answer = service.same(ask(path).header("accept-encoding", coding)).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            assert_eq!(answer.headers.get("content-encoding").map(String::as_str), packing, "{path}");
        }
    }
}

#[tokio::test]
async fn the_binaries_return_the_same_errors() {
    let service = Twice::start().await;
    let token = service.token().await;
    let login = "/api-token-auth/";
    for (request, status) in [
        (post(login).body("application/json", b"{"), StatusCode::BAD_REQUEST),
        (post(login).body("application/json", b"[1]"), StatusCode::BAD_REQUEST),
        (post(login).body("application/octet-stream", &[0xff, 0xfe]), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (post(login).json(&json!({ "company": "acme" })), StatusCode::BAD_REQUEST),
        (get(login), StatusCode::METHOD_NOT_ALLOWED),
        (get("/whoami/"), StatusCode::UNAUTHORIZED),
        (get("/whoami/").token("ivt_nonsense"), StatusCode::UNAUTHORIZED),
        (get("/companies/other/").token(&token), StatusCode::NOT_FOUND),
        (get("/companies/acme/nothing/").token(&token), StatusCode::NOT_FOUND),
        (get("/nothing/"), StatusCode::NOT_FOUND),
    ] {
        let answer = service.same(request.clone()).await;
        assert_eq!(answer.status, status, "{request:?}: {}", answer.body);
        assert!(answer.json().is_object(), "{request:?}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_session_lives_in_the_cookie() {
    let service = Twice::start().await;
    let login = json!({ "username": "owner", "password": Twice::PASSWORD, "company": "acme" });
    let answer =
        service.real(post("/api-session-auth/").header("sec-fetch-site", "same-origin").json(&login)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let cookie = answer.headers[header::SET_COOKIE.as_str()].split(';').next().unwrap().to_owned();

    let whoami = get("/whoami/").header("cookie", &format!("theme=dark; {cookie}"));
    assert_eq!(service.same(whoami.clone()).await.status, StatusCode::OK);
    let logout =
        post("/api-session-invalidate/").header("sec-fetch-site", "same-origin").header("cookie", &cookie);
    assert_eq!(service.real(logout).await.status, StatusCode::NO_CONTENT);
    assert_eq!(service.same(whoami).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_body_in_base64_is_the_same_body() {
    let service = Twice::start().await;
    let login = Twice::login().to_string();
    let plain = service.auth(&event("POST", "/api/v3/api-token-auth/", &login, false)).await;
    let encoded = service.auth(&event("POST", "/api/v3/api-token-auth/", &login, true)).await;
    assert_eq!(
        (&plain["statusCode"], &encoded["statusCode"]),
        (&json!(200), &json!(200)),
        "{plain} {encoded}"
    );
}

/// API Gateway may hand a mount's bare path with its slash to the `$default` route, which leads to `auth`.
#[tokio::test]
async fn the_default_route_leads_back_to_a_mount() {
    let service = Twice::start().await;
    let answer = service.auth(&event("POST", "/api/v3/companies/acme/projects/", "{}", false)).await;
    assert_eq!(answer["statusCode"], 308, "{answer}");
    let location = answer["headers"]["location"].as_str().unwrap();
    assert!(location.ends_with("/api/v3/companies/acme/projects"), "{location}");
    let answer = service.auth(&event("GET", "/api/v3/nothing/", "", false)).await;
    assert_eq!(answer["statusCode"], 404, "{answer}");
}

#[tokio::test]
async fn a_function_without_its_settings_does_not_start() {
    let binaries = binaries::of_workspace();
    for name in OVER_HTTP.map(|(_, name)| name).into_iter().chain(BY_EVENTS) {
        let none: [(&str, &str); 0] = [];
        let mut function = Function::start(Command::new(&binaries[name]), none).await.unwrap();
        let error = function.ready().await.unwrap_err();
        assert_eq!(error.kind, "Runtime.ExitError", "{name}: {error}");
    }
}
