//! The smallest function that makes the same DynamoDB calls as another one: what requests are compared with.
//!
//! It has the same SDK client and reads the calls of each request from a recording, the file `RECORDED_CALLS`. It answers
//! with items as JSON: those whose sort keys begin with `SHOWN_ITEMS`, of the last calls that read or put any. There is no
//! route, no permission, no rule and no history.

mod call;

use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_dynamodb::Client;
use futures_util::future::try_join_all;
use lambda_http::{Body, Error, Request, Response, run, service_fn};
use serde_json::Value;
use shared::aws::AwsClients;
use shared::config::AwsConfig;

use self::call::{Call, Item};

/// The calls of a request, in steps: those of one step are concurrent.
type Steps = Vec<Vec<Call>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let clients = AwsClients::new(&AwsConfig::from_environment()?);
    let shown = variable("SHOWN_ITEMS")?;
    let shown = shown.to_str().ok_or("SHOWN_ITEMS is no text")?;
    let requests = recorded_requests()?;
    let count = AtomicUsize::new(0);
    let (dynamodb, requests, count) = (clients.dynamodb(), &requests, &count);
    run(service_fn(async move |_: Request| {
        let steps = requests.get(count.fetch_add(1, Ordering::Relaxed));
        answer(dynamodb, steps.ok_or("more requests than were recorded")?, shown).await
    }))
    .await
}

/// The requests in their order.
fn recorded_requests() -> Result<Vec<Steps>, Error> {
    let file = File::open(variable("RECORDED_CALLS")?)?;
    let requests: Vec<Vec<Vec<Value>>> = serde_json::from_reader(BufReader::new(file))?;
    let step = |calls: &Vec<Value>| calls.iter().map(Call::read).collect();
    requests.iter().map(|steps| steps.iter().map(step).collect()).collect()
}

fn variable(name: &str) -> Result<OsString, Error> {
    std::env::var_os(name).ok_or_else(|| format!("{name} is not set").into())
}

async fn answer(dynamodb: &Client, steps: &Steps, shown: &str) -> Result<Response<Body>, Error> {
    let mut items = Vec::new();
    for calls in steps {
        let found = try_join_all(calls.iter().map(|call| call.send(dynamodb, shown))).await?;
        let found: Vec<Item> = found.into_iter().flatten().collect();
        if !found.is_empty() {
            items = found;
        }
    }
    let values: Vec<Value> = serde_dynamo::from_items(items)?;
    Ok(Response::builder()
        .header("content-type", "application/json")
        .body(serde_json::to_string(&values)?.into())?)
}
