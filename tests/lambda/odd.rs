//! Events and files that no client of good will sends: every function answers them or reports an error, and goes on.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::files::data_uri;
use tests::function::{http_event, queue_event};
use tests::hostile;

use crate::twice::{BY_EVENTS, OVER_HTTP, Request, Twice};

const WHOAMI: &str = "/api/v3/whoami/";
/// The most memory that a function may take for a file, in megabytes.
const MAX_MEGABYTES: u64 = 300;

/// Texts that no URL may hold as they are.
fn odd_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "\"", "<", ">", " ", "\\", "^", "`", "{|}", "%", "%zz", "#", "?", "\u{0}", "\r\n", "\u{7f}", "ö",
        "\u{fffd}",
    ]
    .map(str::to_owned)
    .into();
    texts.push("x".repeat(70_000));
    texts
}

fn with(mut event: Value, pointer: &str, value: impl Into<Value>) -> Value {
    *event.pointer_mut(pointer).unwrap() = value.into();
    event
}

fn without(mut event: Value, member: &str) -> Value {
    event.as_object_mut().unwrap().remove(member);
    event
}

/// Requests that must be answered, each for its address, its host or its headers.
fn odd_requests(path: &str) -> Vec<Value> {
    let plain = || http_event("GET", path, json!({}));
    let mut events = Vec::new();
    for text in odd_texts() {
        events.push(with(plain(), "/rawQueryString", format!("q={text}")));
        events.push(with(plain(), "/rawPath", format!("/api/v3/{text}/")));
        events.push(with(plain(), "/rawPath", text.clone()));
    }
    for path in ["", "//evil.example/", "https://evil.example/", "/../../x", "/api/v3/../v3/", "*"] {
        events.push(with(plain(), "/rawPath", path));
    }
    for host in
        ["", "[", "a b", "evil.example/api/v3/docs", "evil.example:99999", "a@b:c", "ö", "\"", "?", "#"]
    {
        events.push(http_event("GET", path, json!({ "host": host })));
        events.push(with(plain(), "/requestContext/domainName", host));
        events.push(http_event("GET", path, json!({ "host": "hr.example", "x-forwarded-proto": host })));
        events.push(http_event("GET", path, json!({ "host": "hr.example", "x-forwarded-port": host })));
    }
    events.push(http_event("GET", path, json!({ "cookie": "x".repeat(1_000_000) })));
    events.push(http_event(
        "GET",
        path,
        json!({ "authorization": format!("Token {}", "x".repeat(1_000_000)) }),
    ));
    let many = (0..1_000).map(|number| (format!("x-{number}"), json!("x".repeat(100))));
    events.push(http_event("GET", path, many.collect::<serde_json::Map<_, _>>().into()));
    for member in ["rawPath", "rawQueryString", "headers", "version", "routeKey"] {
        events.push(without(plain(), member));
    }
    for version in [json!("1.0"), json!("3.0"), Value::Null] {
        events.push(with(plain(), "/version", version));
    }
    events.push(with(plain(), "/requestContext/http/method", "BREW"));
    events
}

/// Events that stand for no request: answering them is allowed, dying of them is not.
fn broken_requests(path: &str) -> Vec<Value> {
    let plain = || http_event("GET", path, json!({}));
    let headers = (0..40_000).map(|number| (format!("x-{number}"), json!("x")));
    let mut deep = json!(0);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let mut encoded = with(plain(), "/isBase64Encoded", true);
    encoded["body"] = "no base64!".into();
    vec![
        Value::Null,
        json!({}),
        json!([]),
        json!("GET"),
        json!(7),
        deep,
        encoded,
        without(plain(), "requestContext"),
        with(plain(), "/headers", json!({ "a\nb": "c" })),
        with(plain(), "/headers", json!({ "a": "b\nc" })),
        with(plain(), "/headers", json!([])),
        with(plain(), "/requestContext/http/method", "G T"),
        with(plain(), "/requestContext/http/method", ""),
        with(plain(), "/isBase64Encoded", "maybe"),
        with(plain(), "/headers", headers.collect::<serde_json::Map<_, _>>()),
    ]
}

#[tokio::test]
async fn every_http_function_answers_odd_requests_and_outlives_broken_ones() {
    let service = Twice::start().await;
    for (_, name) in OVER_HTTP {
        // The path belongs to no group, so that each function gives the same answer.
        let path = "/api/v3/nothing/";
        for event in odd_requests(path) {
            let shown = || event.to_string().chars().take(300).collect::<String>();
            let answer = service.invoke(name, &event).await;
            let answer = answer.unwrap_or_else(|error| panic!("{name}: {error}: {}", shown()));
            let status = answer["statusCode"].as_u64().unwrap();
            assert!((300..500).contains(&status), "{name}: {answer}: {}", shown());
        }
        for event in broken_requests(path) {
            if let Err(error) = service.invoke(name, &event).await {
                assert!(!is_end(&error.kind), "{name}: {error}: {event}");
            }
        }
        let answer = service.invoke(name, &http_event("GET", path, json!({}))).await.unwrap();
        assert_eq!(answer["statusCode"], 404, "{name}: {answer}");
    }
}

/// Whether the process has ended, or is stuck.
fn is_end(kind: &str) -> bool {
    kind.starts_with("Sandbox.") || kind == "Runtime.ExitError"
}

#[tokio::test]
async fn the_path_comes_from_the_event_and_the_query_reaches_the_handler_as_it_was_sent() {
    let service = Twice::start().await;
    for host in ["evil.example/api/v3/openapi.json?", "hr.example#", "a/b"] {
        let answer = service.auth(&http_event("GET", WHOAMI, json!({ "host": host }))).await;
        assert_eq!(answer["statusCode"], 401, "{host}: {answer}");
    }
    let authorization = json!({ "authorization": format!("Token {}", service.token().await) });
    let search = http_event("GET", "/api/v3/companies/acme/search/", authorization.clone());
    for query in ["q=\"ada <b> \u{1}", "q=%22ada", "q=#"] {
        let answer = service.invoke("search", &with(search.clone(), "/rawQueryString", query)).await.unwrap();
        assert_eq!(
            (&answer["statusCode"], &answer["body"]),
            (&json!(200), &json!("[]")),
            "{query}: {answer}"
        );
    }
    let list = http_event("GET", "/api/v3/companies/acme/customers/", authorization);
    let answer = service.invoke("customers", &with(list, "/rawQueryString", "page=\"<\u{0}")).await.unwrap();
    assert_eq!(answer["statusCode"], 400, "{answer}");
    assert!(answer["body"].as_str().unwrap().contains("\"page\""), "{answer}");
}

#[tokio::test]
async fn every_event_function_outlives_odd_events() {
    let service = Twice::start().await;
    let (long, mut deep) = ("x".repeat(1_000_000), json!(0));
    for _ in 0..100 {
        deep = json!({ "detail": deep });
    }
    let mut events = vec![Value::Null, json!([]), json!("x"), json!(7), deep];
    for key in [
        "",
        "/",
        "uploads/files/",
        "uploads/files/../x",
        "uploads/videos/",
        "uploads/videos/acme/",
        "\u{0}",
        &long,
    ] {
        for prefix in ["", "uploads/files/", "uploads/videos/acme/", "uploads/conversions/acme/"] {
            let object = json!({ "key": format!("{prefix}{key}"), "size": -1 });
            events.push(
                json!({ "id": "odd", "detail-type": "Object Created", "detail": { "object": object } }),
            );
        }
    }
    for detail in
        [json!({}), Value::Null, json!([]), json!({ "object": 7 }), json!({ "object": { "key": null } })]
    {
        events.push(json!({ "id": "odd", "detail": detail }));
    }
    for record in [
        json!({}),
        Value::Null,
        json!({ "dynamodb": {} }),
        json!({ "dynamodb": { "Keys": { "pk": { "N": "7" } }, "SequenceNumber": "1" } }),
        json!({ "dynamodb": { "Keys": { "pk": { "S": "" } }, "SequenceNumber": "1" } }),
        json!({ "dynamodb": { "Keys": { "pk": { "S": "EFFECT#" } }, "SequenceNumber": "1" } }),
        json!({ "dynamodb": { "Keys": { "pk": { "S": long } }, "SequenceNumber": "" } }),
    ] {
        events.push(json!({ "Records": [record] }));
    }
    for (source, kind) in
        [("interview.platform", "interview.completed"), ("aws.ses", "Email Bounced"), ("x", "x")]
    {
        for (time, candidate) in
            [("2026-11-08T10:00:00Z", &long[..]), ("+262000-01-01T00:00:00Z", ""), ("never", "x")]
        {
            let detail = json!({ "candidate": candidate, "customer": candidate, "completed": true });
            events.push(json!({ "id": candidate, "source": source, "detail-type": kind, "time": time, "detail": detail }));
        }
    }
    for command in [json!(null), json!(""), json!("drop-table"), json!({})] {
        events.push(json!({ "command": command, "company": long }));
    }
    let queued: Vec<_> = events.iter().map(queue_event).collect();
    for name in BY_EVENTS {
        for event in events.iter().chain(&queued) {
            if let Err(error) = service.invoke(name, event).await {
                let shown: String = event.to_string().chars().take(300).collect();
                assert!(!is_end(&error.kind), "{name}: {error}: {shown}");
            }
        }
    }
    let listed = service.invoke("admin", &json!({ "command": "list-companies" })).await.unwrap();
    assert_eq!(listed["companies"][0]["company"], "acme", "{listed}");
}

#[tokio::test]
async fn hostile_pictures_are_answered_in_bounded_memory_by_a_function_that_goes_on() {
    let service = Twice::start().await;
    let token = service.token().await;
    let whoami = service.real(Request::new(Method::GET, "/whoami/").token(&token)).await.json();
    let me = service.path_of(&whoami["resource"]["resource_uri"]);
    let send = async |picture: &[u8]| {
        let body = json!({ "photo": data_uri("image/png", picture) });
        service.real(Request::new(Method::PATCH, &me).token(&token).json(&body)).await
    };
    let refused = send(&hostile::broken_palette()).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(
        refused.json()["photo"][0].as_str().is_some_and(|why| why.contains("broken")),
        "{}",
        refused.body
    );
    let bomb = hostile::profile_bomb(500 << 20);
    for answer in [send(&bomb).await, send(&bomb).await] {
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    }
    let peak = service.peak_megabytes("customers").await;
    assert!(peak < MAX_MEGABYTES, "{peak} MiB");
}
