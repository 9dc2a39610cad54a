//! Records which AWS calls each function makes during tests. `.ci/permissions` compares them with the template.
//!
//! If `RECORD_CALLS` names a file, each function has its own AWS clients, whose calls are recorded there. A signed URL
//! counts as the call that it allows.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{LazyLock, Mutex, PoisonError};

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, SharedInterceptor};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use serde_json::Value;
use shared::app::App;
use shared::domain::effect::EffectTask;
use url::Url;

/// The action recorded for a list request that need not be allowed. `.ci/permissions` knows it.
const ASKS_FOR_ABSENCE: &str = "ask-for-absence";

/// The written lines and their file; `None` if calls are not recorded.
static RECORD: LazyLock<Option<Mutex<CallRecord>>> = LazyLock::new(|| {
    let path = std::env::var_os("RECORD_CALLS")?;
    let file = OpenOptions::new().create(true).append(true).open(path).expect("a file for the calls");
    Some(Mutex::new(CallRecord { known: HashSet::new(), file }))
});

#[derive(Debug)]
struct CallRecord {
    known: HashSet<String>,
    file: File,
}

impl CallRecord {
    fn note(&mut self, line: String) {
        if !self.known.contains(&line) {
            writeln!(self.file, "{line}").expect("room for the calls");
            self.known.insert(line);
        }
    }
}

/// The `App` of the function with this logical id, whose calls are recorded.
pub(crate) fn watch(app: &App, function: &str) -> App {
    let Some(record) = &*RECORD else { return app.clone() };
    app.with_interceptor(SharedInterceptor::new(CallRecorder { function: function.to_owned(), record }))
}

/// Records the calls of one function.
#[derive(Debug)]
struct CallRecorder {
    function: String,
    record: &'static Mutex<CallRecord>,
}

impl Intercept for CallRecorder {
    fn name(&self) -> &'static str {
        "CallRecorder"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        for call in calls(context.request()) {
            record.note(format!("{} {call}", self.function));
        }
        Ok(())
    }
}

/// The IAM actions of a request, each with its resource.
fn calls(request: &HttpRequest) -> Vec<String> {
    let body = request.body().bytes().unwrap_or_default();
    match request.headers().get("x-amz-target") {
        Some("secretsmanager.GetSecretValue") => vec![secret(body)],
        Some(target) => dynamodb(target, body),
        None if request.headers().get("content-type") == Some("application/x-www-form-urlencoded") => {
            ses(body)
        }
        None => s3(request),
    }
}

/// The template's name of the fetched secret.
fn secret(body: &[u8]) -> String {
    let is_of_seals = String::from_utf8_lossy(body).contains("-seals\"");
    format!("secretsmanager:GetSecretValue {}", if is_of_seals { "SealKey" } else { "ReceiptKey" })
}

/// The actions with the forms of partition keys, which policies may use in conditions.
fn dynamodb(target: &str, body: &[u8]) -> Vec<String> {
    let operation = target.rsplit('.').next().unwrap_or_default();
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
            // The service's queries always name the partition `:pk`.
            let partition = form(&body["ExpressionAttributeValues"][":pk"]);
            vec![format!("dynamodb:Query table{} {partition}", index.unwrap_or_default())]
        }
        operation => vec![format!("dynamodb:{operation} table {}", written_key(&body))],
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The form of the partition key in a call about one item.
fn written_key(call: &Value) -> String {
    let item = if call["Item"].is_null() { &call["Key"] } else { &call["Item"] };
    form(&item["pk"])
}

/// Reduces a partition key to its constant segments, which are in capitals; others become `x`, as do numbers.
fn form(key: &Value) -> String {
    let is_word = |segment: &str| {
        !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    let key = key["S"].as_str().unwrap_or_default();
    if key.starts_with("EFFECT#") {
        // Policies may distinguish effects by their tasks.
        let of_task = |task: &&str| key.ends_with(&format!("-{task}"));
        let task = EffectTask::KINDS.into_iter().filter(of_task).max_by_key(|task| task.len());
        return task.map_or_else(|| "EFFECT#x".to_owned(), |task| format!("EFFECT#x-{task}"));
    }
    let segments: Vec<_> =
        key.split('#').map(|segment| if is_word(segment) { segment } else { "x" }).collect();
    match segments[..] {
        // One form for all histories: an identifier may also be in capitals.
        ["HISTORY", _, _] => "HISTORY#x#x".to_owned(),
        // Names may contain the separator.
        ["LOGIN", ..] => "LOGIN#x#x".to_owned(),
        _ => segments.join("#"),
    }
}

fn s3(request: &HttpRequest) -> Vec<String> {
    let url = Url::parse(request.uri()).expect("a URL");
    let path = url.path().trim_start_matches('/');
    let key = path.split_once('/').map_or("", |(_, key)| key);
    // The service signs this request only to learn the bucket's URL, and never sends it.
    if key == "origin" {
        return Vec::new();
    }
    let has = |name: &str| url.query_pairs().any(|(found, _)| found == name);
    let on = |action: &str, key: &str| format!("s3:{action} bucket/{}", shortened(key));
    if key.is_empty() {
        if request.method() == "POST" && has("delete") {
            return vec!["s3:DeleteObject bucket/*".to_owned()];
        }
        // A function that lists some files of a kind may list all of them: policy patterns are no more precise.
        let listed = |prefix: &str| match prefix.split('/').collect::<Vec<_>>()[..] {
            [kind @ ("exports" | "takes"), _, ..] => format!("{kind}/x"),
            ["media", _, owners, ..] => format!("media/x/{owners}/x"),
            ["uploads", "videos", ..] => "uploads/videos/x".to_owned(),
            _ => shortened(prefix),
        };
        let prefix = url.query_pairs().find(|(name, _)| name == "prefix").map(|(_, prefix)| listed(&prefix));
        // Checks whether an object that could not be read exists. A function that may not list treats the refusal as
        // absence.
        let asks = url.query_pairs().any(|(name, value)| name == "max-keys" && value == "1");
        let action = if asks { ASKS_FOR_ABSENCE } else { "s3:ListBucket" };
        return vec![format!("{action} bucket prefix={}", prefix.unwrap_or_default())];
    }
    match (request.method(), has("uploadId")) {
        ("DELETE", true) => vec![on("AbortMultipartUpload", key)],
        ("DELETE", false) => vec![on("DeleteObject", key)],
        ("PUT" | "POST", _) => {
            let source = request.headers().get("x-amz-copy-source");
            let source = source.and_then(|source| source.trim_start_matches('/').split_once('/'));
            let read = source.map(|(_, key)| on("GetObject", key));
            read.into_iter().chain([on("PutObject", key)]).collect()
        }
        _ => vec![on("GetObject", key)],
    }
}

/// A key without its variable segments.
fn shortened(key: &str) -> String {
    let segments = key.split('/').map(|segment| if segment.len() >= 20 { "x" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

fn ses(body: &[u8]) -> Vec<String> {
    let form: HashMap<_, _> = url::form_urlencoded::parse(body).collect();
    let action = form.get("Action").map(AsRef::as_ref).unwrap_or_default();
    let set = form.contains_key("ConfigurationSetName").then(|| format!("ses:{action} configuration-set"));
    set.into_iter().chain([format!("ses:{action} identity")]).collect()
}
