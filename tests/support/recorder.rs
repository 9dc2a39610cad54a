//! Which AWS calls each function makes, recorded while tests run, for `.ci/permissions` to compare with the template.
//!
//! With `RECORD_CALLS`, the path of a file, each function reaches the local back end by doors of its own, which note what
//! comes through. Without it there are none.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header, request};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

static RECORDER: LazyLock<Option<Recorder>> = LazyLock::new(|| {
    let path = std::env::var_os("RECORD_CALLS")?;
    let file = OpenOptions::new().create(true).append(true).open(path).expect("a file for the calls");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    Some(Recorder {
        calls: Mutex::new((HashSet::new(), file)),
        doors: Mutex::default(),
        runtime: runtime.expect("a runtime"),
    })
});

struct Recorder {
    /// Those noted already, and where they are.
    calls: Mutex<(HashSet<String>, File)>,
    /// By function, service and address: a port may be that of another service later.
    doors: Mutex<HashMap<(String, &'static str, String), String>>,
    runtime: Runtime,
}

/// Whether calls are recorded.
pub(crate) fn is_on() -> bool {
    RECORDER.is_some()
}

/// Leads a function to the same services by doors of its own.
pub(crate) fn watch(function: &str, environment: &mut BTreeMap<&'static str, String>) {
    let Some(recorder) = &*RECORDER else { return };
    for (name, url) in environment.iter_mut().filter(|(name, _)| name.starts_with("AWS_ENDPOINT_URL_")) {
        *url = recorder.door(function, name, url);
    }
}

impl Recorder {
    fn door(&'static self, function: &str, service: &'static str, upstream: &str) -> String {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (function.to_owned(), service, upstream.to_owned());
        doors.entry(place).or_insert_with(|| self.open(function.to_owned(), service, upstream)).clone()
    }

    fn open(&'static self, function: String, service: &'static str, upstream: &str) -> String {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let upstream = upstream.strip_prefix("http://").expect("plain HTTP").to_owned();
        let note = Arc::new(move |head: &request::Parts, body: &Bytes, status: StatusCode| {
            // What was refused, such as a signed URL for something else, is nobody's to do.
            for call in calls(service, head, body).iter().filter(|_| status != StatusCode::FORBIDDEN) {
                self.note(format!("{function} {call}"));
            }
        });
        self.runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, upstream.clone(), note.clone()));
            }
        });
        url
    }

    fn note(&self, line: String) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, file) = &mut *calls;
        if !known.contains(&line) {
            writeln!(file, "{line}").expect("room for the calls");
            known.insert(line);
        }
    }
}

/// Passes on what comes over one connection. An error behind the door ends it without an answer.
async fn pass(
    stream: TcpStream,
    upstream: String,
    note: Arc<impl Fn(&request::Parts, &Bytes, StatusCode) + Send + Sync + 'static>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let behind = TcpStream::connect(upstream).await?;
    behind.set_nodelay(true)?;
    let (sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(behind)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let sender = Arc::new(tokio::sync::Mutex::new(sender));
    let service = service_fn(move |request: Request<Incoming>| {
        let (sender, note) = (sender.clone(), note.clone());
        async move {
            let (mut head, body) = request.into_parts();
            let body = to_bytes(Body::new(body), usize::MAX).await.map_err(io::Error::other)?;
            if head.headers.remove(header::TRANSFER_ENCODING).is_some() {
                head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
            }
            let mut sender = sender.lock().await;
            sender.ready().await.map_err(io::Error::other)?;
            let request = Request::from_parts(head.clone(), Body::from(body.clone()));
            let answer = sender.send_request(request).await.map_err(io::Error::other)?;
            note(&head, &body, answer.status());
            io::Result::<Response<Incoming>>::Ok(answer)
        }
    });
    let served = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    served.await.map_err(io::Error::other)
}

/// The actions that IAM would ask for, each with what it is done to.
fn calls(service: &str, head: &request::Parts, body: &Bytes) -> Vec<String> {
    match service {
        "AWS_ENDPOINT_URL_DYNAMODB" => dynamodb(head, body),
        "AWS_ENDPOINT_URL_S3" => s3(head),
        _ => ses(body),
    }
}

/// With the forms of the partition keys, which policies may have conditions on.
fn dynamodb(head: &request::Parts, body: &Bytes) -> Vec<String> {
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.rsplit('.').next()).unwrap_or_default();
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match operation {
        "TransactWriteItems" => {
            let parts = list(&body["TransactItems"]).filter_map(Value::as_object).flatten();
            let call = |(kind, part): (&String, &Value)| match kind.as_str() {
                "ConditionCheck" => format!("dynamodb:ConditionCheckItem table {}", written_key(part)),
                kind => format!("dynamodb:{kind}Item table {}", written_key(part)),
            };
            parts.map(call).collect()
        }
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().into_iter().flat_map(|tables| tables.values());
            let keys = tables.flat_map(|table| list(&table["Keys"]));
            keys.map(|key| format!("dynamodb:BatchGetItem table {}", form(&key["pk"]))).collect()
        }
        "Query" => {
            let index = body["IndexName"].as_str().map(|index| format!("/index/{index}"));
            // The service's queries name the partition so.
            let partition = form(&body["ExpressionAttributeValues"][":pk"]);
            vec![format!("dynamodb:Query table{} {partition}", index.unwrap_or_default())]
        }
        operation => vec![format!("dynamodb:{operation} table {}", written_key(&body))],
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The form of the partition key of a call about one item.
fn written_key(call: &Value) -> String {
    let item = if call["Item"].is_null() { &call["Key"] } else { &call["Item"] };
    form(&item["pk"])
}

/// A partition key without what is different each time: of its segments, those in capitals remain. A number has no others.
fn form(key: &Value) -> String {
    let is_word =
        |segment: &str| !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_uppercase());
    let segments = key["S"].as_str().unwrap_or_default().split('#');
    let segments: Vec<_> = segments.map(|segment| if is_word(segment) { segment } else { "x" }).collect();
    match segments[..] {
        // The histories of all resources, also of that whose identifier is a word.
        ["HISTORY", _, _] => "HISTORY#x#x".to_owned(),
        // Names may contain the separator.
        ["LOGIN", ..] => "LOGIN#x#x".to_owned(),
        _ => segments.join("#"),
    }
}

fn s3(head: &request::Parts) -> Vec<String> {
    // Preflights ask for nothing.
    if head.method == Method::OPTIONS {
        return Vec::new();
    }
    let path = head.uri.path().trim_start_matches('/');
    let key = path.split_once('/').map_or("", |(_, key)| key);
    let query = head.uri.query().unwrap_or_default();
    let has = |name: &str| url::form_urlencoded::parse(query.as_bytes()).any(|(found, _)| found == name);
    let on = |action: &str, key: &str| format!("s3:{action} bucket/{}", shortened(key));
    if key.is_empty() {
        if head.method == Method::POST && has("delete") {
            return vec!["s3:DeleteObject bucket/*".to_owned()];
        }
        let mut query = url::form_urlencoded::parse(query.as_bytes());
        // A function that lists some of the files of a kind may list all of them: patterns of policies tell no more apart.
        let listed = |prefix: &str| match prefix.split('/').collect::<Vec<_>>()[..] {
            [kind @ ("exports" | "takes"), _, ..] => format!("{kind}/x"),
            ["media", _, owners, ..] => format!("media/x/{owners}/x"),
            ["uploads", "videos", ..] => "uploads/videos/x".to_owned(),
            _ => shortened(prefix),
        };
        let prefix = query.find(|(name, _)| name == "prefix").map(|(_, prefix)| listed(&prefix));
        return vec![format!("s3:ListBucket bucket prefix={}", prefix.unwrap_or_default())];
    }
    match (&head.method, has("uploadId")) {
        (&Method::DELETE, true) => vec![on("AbortMultipartUpload", key)],
        (&Method::DELETE, false) => vec![on("DeleteObject", key)],
        (&Method::PUT | &Method::POST, _) => {
            let source = head.headers.get("x-amz-copy-source").and_then(|source| source.to_str().ok());
            let source = source.and_then(|source| source.trim_start_matches('/').split_once('/'));
            let read = source.map(|(_, key)| on("GetObject", key));
            read.into_iter().chain([on("PutObject", key)]).collect()
        }
        _ => vec![on("GetObject", key)],
    }
}

/// A key without what is different each time.
fn shortened(key: &str) -> String {
    let segments = key.split('/').map(|segment| if segment.len() >= 20 { "x" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

fn ses(body: &Bytes) -> Vec<String> {
    let form: HashMap<_, _> = url::form_urlencoded::parse(body).collect();
    let action = form.get("Action").map(AsRef::as_ref).unwrap_or_default();
    let set = form.contains_key("ConfigurationSetName").then(|| format!("ses:{action} configuration-set"));
    set.into_iter().chain([format!("ses:{action} identity")]).collect()
}
