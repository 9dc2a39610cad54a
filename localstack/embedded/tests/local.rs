//! The whole service over HTTP, as started by `localstack/run`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::Ipv4Addr;

use chrono::{DateTime, TimeDelta, Utc};
use embedded::{BUCKET, Local, Options, Storage};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends a request, and returns the response's status and JSON.
async fn send(method: &str, url: &str, token: &str, body: &Value) -> (u16, Value) {
    let (address, _) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    send_for(address, method, url, token, body).await
}

/// Sends a request with this `Host` header, whatever the URL says.
async fn send_for(host: &str, method: &str, url: &str, token: &str, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let length = body.len();
    let headers = format!(
        "Host: {host}\r\nAuthorization: Token {token}\r\nContent-Type: application/json\r\nContent-Length: {length}"
    );
    let response = exchange(method, url, &headers, &body).await;
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}

/// Sends a request with these header lines, and returns the whole response.
async fn exchange(method: &str, url: &str, headers: &str, body: &str) -> String {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!("{method} /{path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n{body}");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    connection.read_to_string(&mut response).await.unwrap();
    response
}

async fn log_in(local: &Local) -> String {
    let demo = local.demo();
    let login = json!({ "company": demo.company, "username": demo.username, "password": demo.password });
    let (status, answer) = send("POST", &format!("{}/api-token-auth/", local.base_url()), "", &login).await;
    assert_eq!(status, 200, "{answer}");
    answer["token"].as_str().unwrap().to_owned()
}

async fn start(storage: Storage) -> Local {
    Local::start(&options(0, storage)).await.unwrap()
}

fn options(port: u16, storage: Storage) -> Options {
    Options { address: Ipv4Addr::LOCALHOST.into(), port, storage, allowed_origins: vec![] }
}

#[tokio::test]
async fn the_demo_login_works_and_data_outlives_a_stop() {
    let folder = start(Storage::Memory).await;
    let storage = Storage::Folder(folder.backend().folder().join("kept"));
    let local = start(storage.clone()).await;
    let token = log_in(&local).await;
    let projects = format!("{}/companies/demo/projects/", local.base_url());
    let (status, project) = send("POST", &projects, &token, &json!({ "name": "Backend engineer" })).await;
    assert_eq!(status, 201, "{project}");
    assert!(project["resource_uri"].as_str().unwrap().starts_with(&projects), "{project}");
    let login = local.demo().clone();
    local.stop().await;

    let local = start(storage).await;
    assert_eq!(*local.demo(), login);
    let projects = format!("{}/companies/demo/projects", local.base_url());
    let (_, list) = send("GET", &projects, &log_in(&local).await, &Value::Null).await;
    assert_eq!(list["objects"][0]["name"], "Backend engineer");
    assert_eq!(send("GET", &local.mails_url(), "", &Value::Null).await, (200, json!([])));
    local.stop().await;
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let local = start(Storage::Memory).await;
    let port = local.base_url().split([':', '/']).nth(4).unwrap().parse().unwrap();
    let refusal = Local::start(&options(port, Storage::Memory)).await.err().unwrap();
    assert_eq!(refusal.to_string(), format!("port {port} is taken; choose another with --port"));
}

#[tokio::test]
async fn the_clock_moves_ahead_and_stays_there() {
    let folder = start(Storage::Memory).await;
    let storage = Storage::Folder(folder.backend().folder().join("kept"));
    let local = start(storage.clone()).await;
    let own = |local: &Local, path: &str| local.mails_url().replace("mails", path);
    let (status, before) = send("GET", &own(&local, "clock"), "", &Value::Null).await;
    assert_eq!(status, 200, "{before}");
    let token = log_in(&local).await;
    let (status, after) = send("POST", &own(&local, "clock"), "", &json!({ "advance_seconds": 86400 })).await;
    assert_eq!(status, 200, "{after}");
    let moment = |answer: &Value| answer["now"].as_str().unwrap().parse::<DateTime<Utc>>().unwrap();
    assert!((moment(&after) - moment(&before) - TimeDelta::days(1)).abs() < TimeDelta::minutes(1), "{after}");
    // The service uses the clock: sessions expire after two hours without use.
    let (status, _) = send("GET", &format!("{}/whoami/", local.base_url()), &token, &Value::Null).await;
    assert_eq!(status, 401);
    local.stop().await;

    let local = start(storage).await;
    let (_, kept) = send("GET", &own(&local, "clock"), "", &Value::Null).await;
    assert!(moment(&kept) >= moment(&after), "{kept}");
    local.stop().await;
}

#[tokio::test]
async fn schedules_and_events_start_the_templates_functions() {
    let local = start(Storage::Memory).await;
    let own = |path: &str| local.mails_url().replace("mails", path);
    let (status, answers) = send("POST", &own("sweep"), "", &json!({})).await;
    assert_eq!(status, 200, "{answers}");
    let functions: Vec<_> = answers.as_object().unwrap().keys().collect();
    assert_eq!(
        functions,
        [
            "DeadlineExpiryFunction",
            "ExportWriterFunction",
            "OutboxFunction",
            "RetentionFunction",
            "WebhookSenderFunction"
        ]
    );
    let event = json!({ "source": "interview.platform", "detail-type": "interview.unknown", "detail": {} });
    let (status, answer) = send("POST", &own("events"), "", &event).await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().contains("interview.unknown"), "{answer}");
    local.stop().await;
}

#[tokio::test]
async fn requests_for_another_host_are_refused() {
    let local = start(Storage::Memory).await;
    let own = |path: &str| local.mails_url().replace("mails", path);
    let s3 = local.backend().environment(&local.base_url(), "any")["AWS_ENDPOINT_URL_S3"].clone() + "/";
    let whoami = format!("{}/whoami/", local.base_url());
    for (method, url) in [
        ("GET", own("mails")),
        ("POST", own("admin")),
        ("POST", own("clock")),
        ("GET", whoami.clone()),
        ("GET", s3),
    ] {
        for host in ["evil.example", "localhost.evil.example:8080", "192.168.0.1"] {
            let (status, answer) = send_for(host, method, &url, "", &Value::Null).await;
            assert_eq!((status, &answer["code"]), (421, &json!("misdirected_request")), "{host} {url}");
        }
    }
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:8080"] {
        assert_eq!(send_for(host, "GET", &own("mails"), "", &Value::Null).await, (200, json!([])), "{host}");
        assert_eq!(send_for(host, "GET", &whoami, "", &Value::Null).await.0, 401, "{host}");
    }
    local.stop().await;
}

#[tokio::test]
async fn links_lead_to_the_page_which_may_upload_to_the_bucket() {
    let local = start(Storage::Memory).await;
    let origin = local.base_url().replace("/api/v3", "");
    let host = format!("Host: {}", origin.replace("http://", ""));
    let page = exchange("GET", &format!("{origin}/interview/demo/KEY"), &host, "").await;
    let s3 = local.backend().environment(&local.base_url(), "any")["AWS_ENDPOINT_URL_S3"].clone();
    assert!(page.starts_with("HTTP/1.1 200 ") && page.contains("data-api=\"/api/v3\""), "{page}");
    assert!(page.contains(&format!("connect-src 'self' {s3};")), "{page}");

    let host = format!("Host: {}", s3.replace("http://", ""));
    for (from, may) in [(origin.as_str(), true), ("http://localhost:1", false)] {
        let headers = format!(
            "{host}\r\nOrigin: {from}\r\nAccess-Control-Request-Method: PUT\r\n\
             Access-Control-Request-Headers: x-amz-checksum-sha256"
        );
        let answer = exchange("OPTIONS", &format!("{s3}/{BUCKET}/takes/1"), &headers, "").await;
        let answer = answer.to_lowercase();
        assert_eq!(answer.contains(&format!("access-control-allow-origin: {from}\r\n")), may, "{answer}");
    }
    local.stop().await;
}
