//! The back end through the AWS SDK's clients.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use embedded::{BUCKET, Backend, Storage};
use serde_json::{Value, json};
use shared::app::App;
use shared::clock::{SystemClock, SystemEntropy};
use shared::config::Config;

const TABLE: &str = "backend-test";

fn app(backend: &Backend, changes: &[(&str, &str)]) -> App {
    let mut environment = backend.environment("http://localhost:8080/api/v3", TABLE);
    for (name, value) in changes {
        *environment.get_mut(name).unwrap() = (*value).to_owned();
    }
    let config = Config::from_variables(|name| environment.get(name).cloned()).unwrap();
    App::new(config, Arc::new(SystemClock), Arc::new(SystemEntropy))
}

async fn put(app: &App, item: Value) {
    let item = serde_dynamo::to_item(item).unwrap();
    app.aws().dynamodb().put_item().table_name(TABLE).set_item(Some(item)).send().await.unwrap();
}

async fn get(app: &App, pk: &str) -> Option<Value> {
    let key = serde_dynamo::to_item(json!({ "pk": pk, "sk": "x" })).unwrap();
    let output = app.aws().dynamodb().get_item().table_name(TABLE).set_key(Some(key)).send().await.unwrap();
    output.item.map(|item| serde_dynamo::from_item(item).unwrap())
}

#[tokio::test]
async fn a_table_is_as_the_template_defines_it() {
    let backend = Backend::start(&Storage::Memory).unwrap();
    backend.create_table(TABLE).unwrap();
    backend.create_table(TABLE).unwrap();
    let app = app(&backend, &[]);
    let table = app.aws().dynamodb().describe_table().table_name(TABLE).send().await.unwrap().table.unwrap();
    let keys: Vec<_> = table.key_schema().iter().map(|key| key.attribute_name.as_str()).collect();
    assert_eq!(keys, ["pk", "sk"]);
    let mut indexes: Vec<_> =
        table.global_secondary_indexes().iter().map(|index| index.index_name.as_deref().unwrap()).collect();
    indexes.sort_unstable();
    assert_eq!(indexes, ["by_status", "due", "search"]);
    assert!(table.latest_stream_arn.is_some());
    let ttl = app.aws().dynamodb().describe_time_to_live().table_name(TABLE).send().await.unwrap();
    assert_eq!(ttl.time_to_live_description.unwrap().attribute_name.as_deref(), Some("expires_at"));
}

#[tokio::test]
async fn a_folder_keeps_items_and_objects_for_the_next_start() {
    let folder = Backend::start(&Storage::Memory).unwrap();
    let storage = Storage::Folder(folder.folder().join("kept"));
    {
        let backend = Backend::start(&storage).unwrap();
        backend.create_table(TABLE).unwrap();
        let app = app(&backend, &[]);
        put(&app, json!({ "pk": "a", "sk": "x", "n": 1 })).await;
        let object = app.aws().s3().put_object().bucket(BUCKET).key("videos/1").content_type("video/mp4");
        object.body(vec![7_u8; 100_000].into()).send().await.unwrap();

        let refusal = Backend::start(&storage).err().unwrap().to_string();
        assert!(refusal.starts_with("another process uses the data folder"), "{refusal}");
    }
    let backend = Backend::start(&storage).unwrap();
    backend.create_table(TABLE).unwrap();
    let app = app(&backend, &[]);
    assert_eq!(get(&app, "a").await, Some(json!({ "pk": "a", "sk": "x", "n": 1 })));
    assert_eq!(get(&app, "b").await, None);
    let object = app.aws().s3().get_object().bucket(BUCKET).key("videos/1").send().await.unwrap();
    assert_eq!(object.content_type.as_deref(), Some("video/mp4"));
    assert_eq!(object.body.collect().await.unwrap().to_vec(), vec![7; 100_000]);
}

#[tokio::test]
async fn objects_need_the_right_secret() {
    let backend = Backend::start(&Storage::Memory).unwrap();
    let app = app(&backend, &[("AWS_SECRET_ACCESS_KEY", "guessed")]);
    let put = app.aws().s3().put_object().bucket(BUCKET).key("a").body(vec![1].into()).send().await;
    let error = put.unwrap_err().into_service_error();
    assert_eq!(error.meta().code(), Some("SignatureDoesNotMatch"));
}

#[tokio::test]
async fn tests_share_a_back_end_but_no_runtime() {
    let backend = Arc::new(Backend::start(&Storage::Memory).unwrap());
    backend.create_table(TABLE).unwrap();
    for n in 0..3 {
        let backend = backend.clone();
        let own_runtime = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(put(&app(&backend, &[]), json!({ "pk": format!("p{n}"), "sk": "x" })));
        };
        std::thread::spawn(own_runtime).join().unwrap();
    }
    assert!(get(&app(&backend, &[]), "p2").await.is_some());
}
