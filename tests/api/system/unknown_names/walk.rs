//! Walks every operation of the document, with a made-up name in each place.

use std::collections::BTreeMap;

use axum::http::Method;
use serde_json::{Value, json};
use tests::document::{document, request_body};
use tests::files::Form;
use tests::http::{Request, Response};

use super::NO_FIELD;
use crate::system::access::{AccessFixture, AccessRow, AccessTable};

/// Pages and documents, and where providers lead browsers back. They let all parameters pass, because programs decorate links to them, and
/// providers add parameters of their own.
const LINKED: [&str; 5] =
    ["/", "/openapi.json/", "/docs/", "/docs/{file}/", "/sign-in/{companyId}/callback/"];

/// Operations of OAuth, which ignores names in bodies that it does not know.
const OF_OAUTH: [&str; 1] = ["/api-token-exchange/"];

/// The pointer to the schema of an operation's body.
const BODY: &str = "/requestBody/content/application~1json/schema";

/// Every operation but that of guests, as the document describes it, with a request of a caller who may have it done.
async fn for_each_operation(given: &AccessFixture, mut meet: impl AsyncFnMut(&AccessRow, &Value, Request)) {
    let document = document().finish().unwrap();
    // By the stream, since the table grows with what each request is about.
    let mut changes = given.app.changes();
    for row in AccessTable::read().rows.iter().filter(|row| !row.path.starts_with("/review/")) {
        let method = row.method.as_str().to_ascii_lowercase();
        let mut operation = document["paths"][row.path][&method].clone();
        if let Some(body) = operation.pointer_mut(BODY) {
            *body = request_body(&document, &method, row.path);
        }
        let kind =
            if row.path == "/whoami/candidate/" { "other-candidate" } else { AccessFixture::doer(row) };
        let request = given.request(kind, row).await;
        changes.take();
        meet(row, &operation, request).await;
        assert_eq!(left_by(&changes.take()), [""; 0], "{} {} wrote something", row.method, row.path);
    }
}

/// The keys of the items that these changes have left otherwise than they were. A slot that a request takes and gives back is not.
fn left_by(changes: &[Value]) -> Vec<String> {
    let mut events = BTreeMap::<String, Vec<&Value>>::new();
    for change in changes {
        let key = change["dynamodb"]["Keys"].to_string();
        events.entry(key).or_default().push(&change["eventName"]);
    }
    let is_gone = |events: &[&Value]| events[0] == "INSERT" && events[events.len() - 1] == "REMOVE";
    let left = events.into_iter().filter(|(_, events)| !is_gone(events)).map(|(key, _)| key);
    // An exchange goes on whatever else is sent.
    left.filter(|key| !key.contains("EXCHANGED#")).collect()
}

/// The places in a body where a made-up name is sent, each with the value there.
fn places(operation: &Value) -> Vec<(&'static str, Value)> {
    let body = operation.pointer(BODY).unwrap_or(&Value::Null);
    let (place, object) = if body["type"] == "array" { ("row", &body["items"]) } else { ("member", body) };
    let mut places = vec![(place, json!({ "madeup": 1 }))];
    for (name, property) in object["properties"].as_object().into_iter().flatten() {
        // One that null takes away is a choice.
        let property = property["anyOf"].get(0).unwrap_or(property);
        if property.get("properties").is_some() {
            places.push(("object", json!({ name: { "madeup": 1 } })));
        }
        if property["items"].get("properties").is_some() {
            places.push(("item", json!({ name: [{ "madeup": 1 }] })));
        }
    }
    places
}

/// The body with these members too; of a list, those of its first row.
fn with_members(body: Option<Value>, members: Value) -> Value {
    let mut body = body.unwrap_or_else(|| json!({}));
    let object = if body.is_array() { &mut body[0] } else { &mut body };
    object.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    body
}

/// Whether a response refuses the made-up name in a body.
fn refuses_member(response: &Response) -> bool {
    let json = response.json();
    let errors = if response.status == 200 { &json["objects"][0]["errors"] } else { &json };
    let mut fields = errors.as_object().into_iter().flatten();
    fields.any(|(field, messages)| field.split('.').next_back() == Some("madeup") && messages[0] == NO_FIELD)
}

/// How often something was tried, by what it was.
type Tried = BTreeMap<&'static str, usize>;

#[tokio::test]
async fn every_operation_refuses_names_and_conditions_that_it_does_not_know_wherever_they_stand() {
    let given = AccessFixture::new().await;
    let mut tried = Tried::new();
    for_each_operation(&given, async |row, operation, request| {
        if LINKED.contains(&row.path) {
            let found = given.app.send(request.parameter("madeup=1")).await;
            assert!(!found.status.is_client_error(), "{found}");
            return;
        }
        send_names(&given, row, operation, &request, &mut tried).await;
        send_parameters(&given, operation, &request, &mut tried).await;
        send_conditions(&given, row, operation, &request, &mut tried).await;
    })
    .await;
    let expected = [
        ("query", 157),
        ("member", 61),
        ("object", 1),
        ("item", 5),
        ("row", 2),
        ("form", 7),
        ("documented", 110),
        ("condition", 84),
    ];
    for (place, least) in expected {
        assert!(tried[place] >= least, "{tried:?}");
    }
}

/// Sends a made-up name in each place where there are names.
async fn send_names(
    given: &AccessFixture,
    row: &AccessRow,
    operation: &Value,
    request: &Request,
    tried: &mut Tried,
) {
    let refused = given.app.send(request.clone().parameter("madeup=1")).await;
    *tried.entry("query").or_default() += 1;
    assert_eq!(refused.expect_code(400, "unknown_parameter").json()["parameter"], "madeup");
    if matches!(row.method, Method::GET | Method::DELETE) {
        return;
    }
    if operation["requestBody"]["content"].get("multipart/form-data").is_some() {
        let form = Form::new().text("madeup", "1");
        let refused = given.app.send(request.clone().without_body().form(form)).await;
        *tried.entry("form").or_default() += 1;
        assert!(refuses_member(&refused), "{refused}");
    }
    for (place, members) in places(operation) {
        let body = with_members(request.sent_json(), members.clone());
        if OF_OAUTH.contains(&row.path) {
            given.app.send(request.clone().without_body().json(&body)).await.expect(200);
            continue;
        }
        let refused = given.app.send(request.clone().without_body().json(&body)).await;
        *tried.entry(place).or_default() += 1;
        assert!(refuses_member(&refused), "{members}: {refused}");
    }
}

/// Sends the parameters that the document gives the operation, which it must know, and each of them twice.
async fn send_parameters(given: &AccessFixture, operation: &Value, request: &Request, tried: &mut Tried) {
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let Some(name) = parameter["name"].as_str().filter(|_| parameter["in"] == "query") else { continue };
        *tried.entry("documented").or_default() += 1;
        if !request.has_parameter(name) {
            // No value of any of them, so that nothing is done.
            let wrong = given.app.send(request.clone().parameter(&format!("{name}=%7F"))).await;
            let code = if wrong.status == 400 { wrong.json()["code"].clone() } else { Value::Null };
            assert!(code.is_null(), "{wrong}");
        }
        let twice = given.app.send(request.clone().parameter(&format!("{name}=&{name}="))).await;
        match parameter["schema"]["type"] == "array" {
            true => assert_ne!(twice.json()["code"], "repeated_parameter", "{twice}"),
            false => drop(twice.expect_code(400, "repeated_parameter")),
        }
    }
}

/// Sends conditions on what the operation compares with nothing.
async fn send_conditions(
    given: &AccessFixture,
    row: &AccessRow,
    operation: &Value,
    request: &Request,
    tried: &mut Tried,
) {
    if row.method == Method::GET {
        return;
    }
    *tried.entry("condition").or_default() += 1;
    let mut parameters = operation["parameters"].as_array().into_iter().flatten();
    let may_create = parameters.any(|parameter| parameter["$ref"] == "#/components/parameters/IfAbsent");
    for tag in ["*", "\"1-a\""] {
        // A request that may create takes the star.
        if !may_create || tag != "*" {
            let code = if may_create { "invalid_if_none_match" } else { "if_none_match_not_supported" };
            let refused = given.app.send(request.clone().header("if-none-match", tag)).await;
            refused.expect_code(400, code);
        }
        if row.method == Method::POST {
            let refused = given.app.send(request.clone().header("if-match", tag)).await;
            refused.expect_code(400, "if_match_not_supported");
        }
    }
}
