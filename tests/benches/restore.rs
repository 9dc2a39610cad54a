//! The rate of `restore-table`: items a second, for both tables, and the processor's time and memory that they take.
//!
//! DynamoDB is the local back end, in this process, on the same processors. A twentieth of the items has changed.
#![recursion_limit = "256"]
use std::collections::HashMap;
use std::error::Error;
use std::process::{Command, Stdio};

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tests::app::TestApp;
use tests::binaries;
use tests::figures::{print_value, round};
use tests::function::watch;
use tests::table::{Contents, Item};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ITEMS: usize = 200_000;
/// Every so many items, one has changed, one is missing and one is newer.
const CHANGED: usize = 60;
const TOGETHER: usize = 25;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let count = arguments.first().copied().unwrap_or(ITEMS);
    // Along with this benchmark, because alone it would want other features of some dependencies, which would be built anew.
    let selection =
        ["--package", "tests", "--bench", "restore", "--package", "admin", "--bin", "restore-table"];
    let program = binaries::build(["--profile", "local"].iter().chain(&selection));
    let program = program.get("restore-table").ok_or("no program")?;

    let app = TestApp::start().await;
    app.leave_unsound("its items are of no kind that the service knows");
    let live = &app.app().config().table;
    let restored = app.table().restored(&Contents::new()).await;
    let stopwatch = Stopwatch::start();
    let newer = (count..count + count / CHANGED).map(|number| item(number, "new"));
    let kept = (0..count).filter(|number| number % CHANGED != 1);
    let now = kept.map(|number| item(number, if number % CHANGED == 0 { "new" } else { "old" }));
    put(&app, live, now.chain(newer)).await?;
    put(&app, &restored, (0..count).map(|number| item(number, "old"))).await?;
    print_value("filled_seconds", round(stopwatch.elapsed().as_secs_f64()));
    print_value("items", count);
    print_value("bytes_per_item", round(size(&item(count / 2, "old")) as f64));

    let folder = tempfile::TempDir::new()?;
    for step in ["prepare", "apply"] {
        let stopwatch = Stopwatch::start();
        let mut command = Command::new(program);
        command.arg(step).args([live, &restored]).arg(folder.path()).envs(app.environment());
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (seconds, peak) = watch(&mut run).await?;
        let output = run.wait_with_output()?;
        let rate = count as f64 / stopwatch.elapsed().as_secs_f64();
        print_value(&format!("{step}_items_per_second"), rate.round());
        print_value(&format!("{step}_items_per_second_of_one_processor"), (count as f64 / seconds).round());
        print_value(&format!("{step}_peak_megabytes"), round(peak as f64 / 1024.0));
        print_value(&format!("{step}_result"), serde_json::from_slice::<Value>(&output.stdout)?);
    }
    Ok(())
}

/// An item with the size and the attributes of an average one: `tests/benches/scale.md`.
fn item(number: usize, text: &str) -> Item {
    let item = json!({
        "pk": format!("COMPANY#bench#MEASURED#{}", number / 1000), "sk": format!("ITEM#{number:026}"), "version": 3,
        "company": "bench", "project": format!("{:026}", number / 1000), "id": format!("{number:026}"),
        "status": "interviewed", "created_at": "2026-11-08T10:00:00Z", "updated_at": "2026-11-09T10:00:00Z",
        "is_active": true, "by_status_pk": format!("COMPANY#bench#MEASURED#{}", number % 7),
        "by_status_sk": format!("{number:026}"), "scores": { "a": 1, "b": 2 }, "labels": ["a", "b"],
        "text": text.repeat(50),
    });
    serde_dynamo::to_item(item).unwrap_or_default()
}

fn size(item: &Item) -> usize {
    fn of(value: &AttributeValue) -> usize {
        match value {
            AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
            AttributeValue::M(map) => map.iter().map(|(name, value)| name.len() + of(value)).sum(),
            AttributeValue::L(list) => list.iter().map(of).sum(),
            _ => 1,
        }
    }
    item.iter().map(|(name, value)| name.len() + of(value)).sum()
}

async fn put(app: &TestApp, table: &str, items: impl Iterator<Item = Item>) -> Result<()> {
    let client = app.app().aws().dynamodb();
    let request = |item| PutRequest::builder().set_item(Some(item)).build();
    let requests = items.map(|item| Ok(WriteRequest::builder().put_request(request(item)?).build()));
    let requests = requests.collect::<Result<Vec<_>>>()?;
    let calls = requests.chunks(TOGETHER).map(|some| async move {
        let written = client.batch_write_item().request_items(table, some.to_vec()).send().await?;
        let left = written.unprocessed_items.map_or(0, |left| HashMap::len(&left));
        if left > 0 { Err("some items were not written".into()) } else { Result::Ok(()) }
    });
    stream::iter(calls).buffer_unordered(4).try_collect().await
}
