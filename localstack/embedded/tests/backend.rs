//! The back end, through the clients of the AWS SDK.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use embedded::{BUCKET, Backend, Storage};
use serde_json::{Value, json};
use shared::app::App;
use shared::clock::{SystemClock, SystemEntropy};
use shared::config::Config;
use tokio::task::JoinSet;

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

#[test]
fn the_key_of_seals_is_beside_the_data_for_its_owner_alone() {
    let outer = Backend::start(&Storage::Memory).unwrap();
    let storage = Storage::Folder(outer.folder().join("kept"));
    let file = outer.folder().join("kept/secrets.json");
    let kept = [(); 2].map(|()| {
        let backend = Backend::start(&storage).unwrap();
        backend.create_table(TABLE).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::read_to_string(&file).unwrap()
    });
    assert_eq!(kept[0], kept[1]);
    assert!(kept[0].contains(&format!("{TABLE}-seals")), "{}", kept[0]);
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
async fn a_body_that_differs_from_its_checksum_changes_nothing() {
    let backend = Backend::start(&Storage::Memory).unwrap();
    let app = app(&backend, &[]);
    let put = |body: &[u8], checksum: &str| {
        let put = app.aws().s3().put_object().bucket(BUCKET).key("a").checksum_sha256(checksum);
        put.body(body.to_vec().into()).send()
    };
    // The SHA-256 of "one", from `printf one | openssl dgst -sha256 -binary | base64`.
    let of_one = "dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=";
    put(b"one", of_one).await.unwrap();
    let error = put(b"two", of_one).await.unwrap_err().into_service_error();
    assert_eq!(error.meta().code(), Some("BadDigest"));
    let object = app.aws().s3().get_object().bucket(BUCKET).key("a").send().await.unwrap();
    assert_eq!(object.body.collect().await.unwrap().to_vec(), b"one");
}

#[tokio::test]
async fn of_concurrent_objects_that_must_be_new_one_is_stored() {
    let backend = Backend::start(&Storage::Memory).unwrap();
    let app = app(&backend, &[]);
    for round in 0..20 {
        let key = format!("objects/{round}");
        let puts: JoinSet<Option<u8>> = (0..8_u8)
            .map(|n| {
                let put = app.aws().s3().put_object().bucket(BUCKET).key(&key).if_none_match("*");
                let put = put.body(vec![n; 100_000].into()).send();
                async move { put.await.is_ok().then_some(n) }
            })
            .collect();
        let winners: Vec<u8> = puts.join_all().await.into_iter().flatten().collect();
        let object = app.aws().s3().get_object().bucket(BUCKET).key(&key).send().await.unwrap();
        let body = object.body.collect().await.unwrap().to_vec();
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert!(body.iter().all(|byte| *byte == winners[0]), "the object is not the winner's");
    }
}

#[tokio::test]
async fn signed_urls_outlive_a_restart() {
    let outer = Backend::start(&Storage::Memory).unwrap();
    let storage = Storage::Folder(outer.folder().join("kept"));
    let endpoint = |backend: &Backend| {
        backend.environment("http://localhost:8080/api/v3", TABLE)["AWS_ENDPOINT_URL_S3"].clone()
    };
    let first = endpoint(&Backend::start(&storage).unwrap());
    assert_eq!(endpoint(&Backend::start(&storage).unwrap()), first);
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
