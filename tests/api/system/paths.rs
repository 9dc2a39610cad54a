//! Paths and methods: slashes, unknown routes, identifiers of nothing.

use std::convert::identity;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use shared::RouteReader;
use shared::http::{QueryParameters, RouteGroup};
use tests::app::{BASE_URL, TestApp};
use tests::assert_refusal;
use tests::caller::{Caller, last_segment};
use tests::http::Request;
use tower::ServiceExt;

use crate::system::access::{AccessFixture, AccessTable};

#[tokio::test]
async fn a_path_is_served_with_and_without_its_final_slash() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let candidates = format!("{project}candidates/");
    let status = format!("{project}status/");
    for target in [
        "/whoami/",
        "/companies/acme/",
        "/companies/acme/projects/",
        &project,
        &status,
        &candidates,
        &candidate,
    ] {
        let with = owner.get(target).await.expect(200);
        let without = target.strip_suffix('/').unwrap();
        owner.get(without).await.expect_json(200, with.json());
        let with = owner.get(&format!("{target}?format=json")).await.expect(200);
        owner.get(&format!("{without}?format=json")).await.expect_json(200, with.json());
    }
    let names = json!({ "first_name": "Ada", "last_name": "Lovelace" });
    owner.post(candidates.trim_end_matches('/'), names).await.expect(201);
    owner.delete(candidate.trim_end_matches('/')).await.expect(204);
}

#[tokio::test]
async fn unknown_routes_are_not_found() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for target in [
        "/nowhere/",
        "/companies/",
        "/companies/acme/nowhere/",
        "//companies/acme/",
        "/companies//projects/",
        "/whoami/x/",
        "/WHOAMI/",
        "/api-token-auth/x",
        &format!("{project}nowhere/"),
        &format!("{project}status/x/"),
        &format!("{project}candidates/x/y/"),
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let response = owner.send(Request::new(method, target)).await.expect_code(404, "not_found");
            assert_eq!(response.log().status, 404);
            let advice = format!("There is no such path. All paths are listed at {BASE_URL}/docs/");
            assert_eq!(response.json()["detail"], advice, "{target}");
        }
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for (target, allowed) in [
        ("/whoami/", "GET,HEAD"),
        ("/companies/acme/", "GET,HEAD,PATCH"),
        ("/companies/acme/projects/", "GET,HEAD,POST"),
        (&project, "GET,HEAD,PATCH"),
        (&format!("{project}status/"), "GET,HEAD,PATCH"),
        (&format!("{project}candidates/"), "GET,HEAD,POST"),
        (&candidate, "GET,HEAD,PATCH,DELETE"),
    ] {
        let methods =
            [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];
        for method in
            methods.into_iter().filter(|method| !allowed.split(',').any(|one| one == method.as_str()))
        {
            let request = Request::new(method, target).json(&json!({}));
            // Also to whoever is not logged in: methods are no secret.
            let response = app.send(request).await;
            assert_refusal!(response, @r#"405 {"code":"method_not_allowed","detail":"Method not allowed. The `Allow` header lists the methods of this path."}"#);
            assert_eq!(response.header("allow"), Some(allowed), "{response}");
        }
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let given = AccessFixture::new().await;
    for row in AccessTable::read().rows.iter().filter(|row| row.method == Method::GET) {
        let request = given.request("owner", row).await;
        let get = given.app.send(request.clone()).await;
        let head = given.app.send(request.head()).await;
        assert_eq!(head.status, get.status, "{head}");
        assert!(head.body.is_empty(), "{head}");
        let length = get.body.len().to_string();
        let name = "content-length";
        assert_eq!(head.header(name).unwrap_or("0"), length, "{} {head}", row.path);
        assert_eq!(get.header(name).unwrap_or(&length), length, "{} {get}", row.path);
        assert_eq!(head.header("content-type"), get.header("content-type"), "{}", row.path);
    }
    given.app.send(Request::get(&given.project).head()).await.expect(401);
    given.owner.send(Request::get(&format!("{}x/", given.project)).head()).await.expect(404);
}

#[tokio::test]
async fn resources_of_other_companies_look_like_missing_ones() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let own = owner.project(json!({})).await;
    let stranger = app.owner_of("globex").await;
    let theirs = stranger.project(json!({})).await;
    let candidate = stranger.candidate(&theirs, json!({})).await;
    let (theirs_id, candidate_id) = (last_segment(&theirs), last_segment(&candidate));
    let projects = "/companies/acme/projects/";
    let missing = owner.get(&format!("{projects}01ARZ3NDEKTSV4RRFFQ69G5FAV/")).await;
    let missing = missing.expect_code(404, "not_found").body;
    for target in [
        theirs.clone(),
        candidate.clone(),
        format!("{theirs}candidates/"),
        format!("{theirs}status/"),
        format!("{projects}{theirs_id}/"),
        format!("{projects}{theirs_id}/candidates/"),
        format!("{projects}{theirs_id}/candidates/{candidate_id}/"),
        format!("{own}candidates/{candidate_id}/"),
        format!("{own}candidates/01ARZ3NDEKTSV4RRFFQ69G5FAV/"),
        own.replace("/acme/", "/globex/"),
        own.to_lowercase().replace("https://hr.example/api/v3", ""),
        format!("{projects}x/"),
        format!("{projects}{}/", "9".repeat(26)),
        format!("{projects}{}/", "A".repeat(3_000)),
        format!("{projects}{theirs_id}%20/"),
        format!("{projects}%00/"),
        format!("{projects}%ff/"),
        format!("{projects}COMPANY%23globex/"),
        format!("{own}candidates/..%2f/"),
    ] {
        let response = owner.get(&target).await.expect(404);
        assert_eq!(response.body, missing, "{response}");
        let response = owner.patch(&target, json!({ "name": "x", "status": "x", "first_name": "x" })).await;
        // Lists take no PATCH, whoever they belong to.
        match response.status {
            StatusCode::METHOD_NOT_ALLOWED => assert!(target.ends_with("candidates/"), "{response}"),
            _ => assert_eq!(response.expect(404).body, missing, "{target}"),
        }
    }
}

/// The gateway's route keys cannot end in a slash, so that `…/projects/` may reach the `$default` route, which leads to
/// the auth function.
#[tokio::test]
async fn the_default_route_shows_the_way_to_the_root_of_another_group() {
    let app = TestApp::start().await;
    let auth = auth::service(app.app().clone());
    let ask = async |path: &str| {
        let request = axum::http::Request::get(format!("/api/v3{path}")).body(Body::empty()).unwrap();
        auth.clone().oneshot(request).await.unwrap()
    };
    for (path, location) in [
        ("/companies/acme/", "/companies/acme"),
        (
            "/companies/acme/projects/?page=2&status=40-running",
            "/companies/acme/projects?page=2&status=40-running",
        ),
        ("/companies/acme/customers/", "/companies/acme/customers"),
        ("/docs/", "/docs"),
        ("/companies/acme/projects/p/candidates/", "/companies/acme/projects/p/candidates"),
    ] {
        let response = ask(path).await;
        assert_eq!(response.status(), StatusCode::PERMANENT_REDIRECT, "{path}");
        assert_eq!(response.headers()["location"], format!("https://hr.example/api/v3{location}"));
    }
    for path in ["/companies/acme", "/companies/acme/labels/", "/companies//", "/nowhere/", "//evil.example/"]
    {
        assert_eq!(ask(path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_handler_that_panics_ends_its_own_request_alone() {
    let app = TestApp::start().await;
    let fault = async |_: QueryParameters| -> Response { panic!("a fault") };
    let routes = RouteGroup::new().get("/fault/", fault, "Fail", identity);
    let service = routes.into_service(app.app().clone());
    for _ in 0..2 {
        let request = axum::http::Request::get("/api/v3/fault/").body(Body::empty()).unwrap();
        let response = service.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(response.headers().contains_key("x-request-id"));
        let body = axum::body::to_bytes(response.into_body(), 1000).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            body,
            json!({ "code": "internal_error", "detail": "Internal error. If it persists, report the `X-Request-Id` of this response." })
        );
    }
}
