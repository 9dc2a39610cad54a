//! The settings for `cargo lambda watch`, which the local service generates. The suite `api` tests them, because it has all route
//! tables compiled already.

use std::net::Ipv4Addr;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::routing::any;
use embedded::{Local, Options, Storage, groups};
use shared::config::VERSION_PATH;
use shared::http::serve::mounts::WELL_KNOWN_FILES;
use shared::openapi::ApiDocument;
use tests::files::fetch;
use tower::ServiceExt;

/// axum's router takes the same patterns as cargo-lambda's: both are matchit's.
fn router(settings: &str) -> Router {
    let routes =
        settings.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"')?.split_once("\" = \""));
    routes.fold(Router::new(), |router, (path, function)| {
        let function = function.to_owned();
        router.route(path, any(async move || function))
    })
}

#[tokio::test]
async fn every_route_leads_to_its_function() {
    let options = Options {
        address: Ipv4Addr::LOCALHOST.into(),
        port: 0,
        storage: Storage::Memory,
        allowed_origins: vec![],
    };
    let local = Local::start(&options).await.unwrap();
    let base_url = local.base_url();
    let origin = base_url.strip_suffix(VERSION_PATH).unwrap();
    let settings = fetch(&format!("{origin}/_local/watch.toml"), &[]).await;
    local.stop().await;

    let router = router(std::str::from_utf8(&settings.body).unwrap());
    let api = groups().into_iter().flat_map(|(function, table)| {
        let routes = table(ApiDocument::new()).routes().to_vec();
        routes.into_iter().map(move |(_, path)| (function, format!("{VERSION_PATH}{path}")))
    });
    let of_page = [
        "/register/",
        "/register/k/",
        "/interview/acme/",
        "/interview/acme/k/",
        "/result/acme/p/k/",
        "/page/v/screens/check.js/",
    ];
    let of_page = of_page.into_iter().chain(WELL_KNOWN_FILES.iter().copied());
    for (function, path) in api.chain(of_page.map(|path| ("page", path.to_owned()))) {
        let path = path.replace(['{', '}'], "");
        for path in [path.as_str(), path.trim_end_matches('/')] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let answer = router.clone().oneshot(request).await.unwrap().into_body();
            assert_eq!(to_bytes(answer, 100).await.unwrap(), function, "{path}");
        }
    }
}
