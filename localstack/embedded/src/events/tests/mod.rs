//! Triggers in front of functions that record their events, and fail on request.

mod stream;

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::DateTime;
use serde_json::json;
use shared::app::App;
use shared::clock::{SystemClock, SystemEntropy};
use shared::config::Config;
use shared::error::Error as Failure;

use super::*;
use crate::backend::Folder;
use crate::{BUCKET, Storage, in_process_event};

const TABLE: &str = "events-test";

const TEMPLATE: &str = r#"
Resources:
  Table: {Type: AWS::DynamoDB::Table}
  Bus: {Type: AWS::Events::EventBus}
  AFunction:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Minute: {Type: Schedule, Properties: {Schedule: rate(1 minute)}}
        Hour: {Type: Schedule, Properties: {Schedule: rate(1 hour)}}
        Ended:
          Type: EventBridgeRule
          Properties: {EventBusName: !Ref Bus, Pattern: {source: [platform], detail-type: [ended, lost]}}
        Put: {Type: EventBridgeRule, Properties: {Pattern: {detail: {object: {key: [{prefix: files/}]}}}}}
  BFunction:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Minute: {Type: Schedule, Properties: {Schedule: rate(1 minute)}}
        All: {Type: EventBridgeRule, Properties: {EventBusName: !Ref Bus, Pattern: {source: [platform]}}}
        Put: {Type: EventBridgeRule, Properties: {Pattern: {detail: {object: {key: [{prefix: videos/}]}}}}}
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      FunctionName: !Ref AFunction
      EventSourceArn: !GetAtt Table.StreamArn
      StartingPosition: TRIM_HORIZON
      BatchSize: 4
      MaximumRetryAttempts: 2
      BisectBatchOnFunctionError: true
      FunctionResponseTypes: [ReportBatchItemFailures]
      FilterCriteria:
        Filters:
          - Pattern: '{"eventName": ["INSERT"], "dynamodb": {"Keys": {"pk": {"S": [{"prefix": "EFFECT#"}]}}}}'
"#;

/// The events that the functions received, in order.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Value>>>);

impl Calls {
    fn list(&self) -> MutexGuard<'_, Vec<Value>> {
        self.0.lock().unwrap()
    }

    /// For each stream event, the sort keys of its records.
    fn batches(&self) -> Vec<String> {
        let keys = |event: &Value| event["Records"].as_array().unwrap().iter().map(sort_key).collect();
        self.list().iter().map(keys).collect()
    }
}

fn sort_key(record: &Value) -> &str {
    record["dynamodb"]["Keys"]["sk"]["S"].as_str().unwrap()
}

/// A function that records its event and returns `answer`, called with the event and the number of earlier calls.
fn noting(
    app: &App,
    calls: &Calls,
    answer: impl Fn(&Value, usize) -> shared::Result<Value> + Clone + Send + Sync + 'static,
) -> Function {
    let calls = calls.clone();
    in_process_event(app, move |_, event: Value| {
        let before = calls.list().len();
        let answer = answer(&event, before);
        calls.list().push(event);
        async { answer }
    })
}

fn reported(event: &Value, failed: &[&str]) -> shared::Result<Value> {
    let records = event["Records"].as_array().unwrap().iter();
    let failures = records
        .filter(|record| failed.contains(&sort_key(record)))
        .map(|record| json!({ "itemIdentifier": record["dynamodb"]["SequenceNumber"] }));
    Ok(json!({ "batchItemFailures": failures.collect::<Vec<_>>() }))
}

fn failure() -> Failure {
    Failure::internal("expected by the test")
}

struct Scene {
    backend: Backend,
    app: App,
    calls: Calls,
}

impl Scene {
    fn new(storage: &Storage) -> Self {
        let backend = Backend::start(storage).unwrap();
        backend.create_table(TABLE).unwrap();
        let environment = backend.environment("http://localhost/api/v3", TABLE);
        let config = Config::from_variables(|name| environment.get(name).cloned()).unwrap();
        let app = App::new(config, Arc::new(SystemClock), Arc::new(SystemEntropy));
        Self { backend, app, calls: Calls::default() }
    }

    /// The first function returns `answer`; the second always succeeds.
    fn events(
        &self,
        answer: impl Fn(&Value, usize) -> shared::Result<Value> + Clone + Send + Sync + 'static,
    ) -> Events {
        let functions = [
            ("AFunction".to_owned(), noting(&self.app, &self.calls, answer)),
            ("BFunction".to_owned(), noting(&self.app, &self.calls, |_, _| Ok(json!("b")))),
        ];
        let template = Template::parse(TEMPLATE).unwrap();
        Events::new(&template, &functions.into(), &self.backend, &self.app).unwrap()
    }

    async fn put(&self, pk: &str, sk: &str) {
        let item = serde_dynamo::to_item(json!({ "pk": pk, "sk": sk, "n": 1 })).unwrap();
        let put = self.app.aws().dynamodb().put_item().table_name(TABLE).set_item(Some(item));
        put.send().await.unwrap();
    }

    async fn put_object(&self, key: &str) {
        let put = self.app.aws().s3().put_object().bucket(BUCKET).key(key);
        put.body(b"x".to_vec().into()).send().await.unwrap();
    }

    async fn put_effects(&self, keys: &str) {
        for key in keys.chars() {
            self.put("EFFECT#1", &key.to_string()).await;
        }
    }
}

#[tokio::test]
async fn an_object_is_told_of_once_and_after_a_restart_again_by_the_same_event() {
    let folder = Folder::temporary().unwrap();
    let storage = Storage::Folder(folder.path().join("kept"));
    let first = {
        let scene = Scene::new(&storage);
        let events = scene.events(|_, _| Err(failure()));
        for key in ["files/1", "media/1", "videos/1"] {
            scene.put_object(key).await;
        }
        let error = events.deliver_objects().await.unwrap_err().to_string();
        assert!(error.contains("expected by the test"), "{error}");
        assert_eq!(events.deliver_objects().await.unwrap(), 0);
        scene.calls.list().clone()
    };
    let keys = |calls: &[Value]| -> Vec<_> {
        calls.iter().map(|event| event["detail"]["object"]["key"].clone()).collect()
    };
    assert_eq!(keys(&first), ["files/1", "videos/1"]);

    let scene = Scene::new(&storage);
    let events = scene.events(|_, _| Ok(Value::Null));
    assert_eq!(events.deliver_objects().await.unwrap(), 2);
    assert_eq!(keys(&scene.calls.list()), ["files/1", "videos/1"]);
    for (before, after) in first.iter().zip(scene.calls.list().iter()) {
        assert_eq!((&before["id"], &before["detail"]), (&after["id"], &after["detail"]));
    }
    assert_ne!(first[0]["id"], first[1]["id"]);
    // Putting the object again is another event.
    scene.put_object("files/1").await;
    assert_eq!(events.deliver_objects().await.unwrap(), 1);
    assert_ne!(scene.calls.list().last().unwrap()["id"], first[0]["id"]);
}

#[tokio::test]
async fn nothing_waits_behind_an_object_that_a_function_is_busy_with() {
    let scene = Scene::new(&Storage::Memory);
    let (calls, done) = (scene.calls.clone(), Arc::new(tokio::sync::Semaphore::new(0)));
    let may_end = done.clone();
    let busy = in_process_event(&scene.app, move |_, event: Value| {
        calls.list().push(event);
        let may_end = may_end.clone();
        async move { Ok(may_end.acquire().await.map(drop).is_ok()) }
    });
    let functions = [
        ("AFunction".to_owned(), noting(&scene.app, &scene.calls, |_, _| Ok(Value::Null))),
        ("BFunction".to_owned(), busy),
    ];
    let template = Template::parse(TEMPLATE).unwrap();
    let background =
        Events::new(&template, &functions.into(), &scene.backend, &scene.app).unwrap().in_background();
    let until = async |calls: usize| {
        while scene.calls.list().len() < calls {
            #[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    scene.put_object("videos/1").await;
    until(1).await;
    scene.put_object("files/1").await;
    scene.put_effects("a").await;
    let others = tokio::time::timeout(Duration::from_secs(20), until(3)).await;
    done.add_permits(1);
    background.stop().await;
    assert!(others.is_ok(), "{:?}", scene.calls.list());
}

#[tokio::test]
async fn every_function_with_a_schedule_runs_once_and_fails_alone() {
    let scene = Scene::new(&Storage::Memory);
    let answers = scene.events(|_, _| Err(failure())).run_schedules().await;
    assert_eq!(answers["BFunction"].as_ref().unwrap(), "b");
    let error = answers["AFunction"].as_ref().unwrap_err().to_string();
    assert!(error.contains("expected by the test"), "{error}");
    let calls = scene.calls.list();
    assert_eq!(calls.len(), 2);
    assert_eq!(
        (&calls[1]["source"], &calls[1]["detail-type"]),
        (&json!("aws.events"), &json!("Scheduled Event"))
    );
    assert_eq!(
        calls[1]["resources"],
        json!(["arn:aws:events:eu-central-1:000000000000:rule/BFunctionMinute"])
    );
    assert!(DateTime::parse_from_rfc3339(calls[1]["time"].as_str().unwrap()).is_ok());
}

#[tokio::test]
async fn a_function_that_dies_fails_alone() {
    let scene = Scene::new(&Storage::Memory);
    let answers = scene.events(|_, _| panic!("expected by the test")).run_schedules().await;
    assert!(answers["AFunction"].is_err() && answers["BFunction"].is_ok());
}

#[tokio::test]
async fn an_event_goes_where_rules_take_it_with_everything_filled_in() {
    let scene = Scene::new(&Storage::Memory);
    let events = scene.events(|_, _| Ok(json!("a")));
    let event = json!({ "source": "platform", "detail-type": "lost", "detail": { "n": 1 } });
    let answers = events.put_event(event).await.unwrap();
    let answers: Vec<_> =
        answers.iter().map(|(name, answer)| (name.as_str(), answer.as_ref().unwrap())).collect();
    assert_eq!(answers, [("AFunction", &json!("a")), ("BFunction", &json!("b"))]);
    {
        let calls = scene.calls.list();
        assert_eq!(calls[0]["detail"], json!({ "n": 1 }));
        assert_eq!(
            (&calls[0]["version"], &calls[0]["account"], &calls[0]["region"], &calls[0]["resources"]),
            (&json!("0"), &json!("000000000000"), &json!("eu-central-1"), &json!([]))
        );
        assert_eq!(calls[0]["id"].as_str().unwrap().len(), 36);
        assert_eq!((&calls[0]["id"], &calls[0]["time"]), (&calls[1]["id"], &calls[1]["time"]));
    }
    let given = json!({
        "version": "0", "id": "mine", "account": "1", "time": "2026-11-08T10:00:00Z", "region": "eu-west-1",
        "resources": ["x"], "source": "platform", "detail-type": "other", "detail": {},
    });
    let answers = events.put_event(given.clone()).await.unwrap();
    assert_eq!(answers.keys().collect::<Vec<_>>(), ["BFunction"]);
    assert_eq!(scene.calls.list().last(), Some(&given));
}

#[tokio::test]
async fn events_that_no_function_could_get_are_refused() {
    let scene = Scene::new(&Storage::Memory);
    let events = scene.events(|_, _| Ok(Value::Null));
    let event = |name: &str, value: Value| {
        let mut event = json!({ "source": "platform", "detail-type": "lost", "detail": {} });
        event[name] = value;
        event
    };
    for (refused, named) in [
        (json!([]), "must be a JSON object"),
        (json!({}), "has no \"source\""),
        (json!({ "source": "platform", "detailType": "lost", "detail": {} }), "has no \"detail-type\""),
        (event("Detail", json!({})), "no member \"Detail\""),
        (event("detail", json!("{}")), "\"detail\" must be an object"),
        (event("detail-type", json!("")), "\"detail-type\" must be a text"),
        (event("time", json!("today")), "\"time\" must be a time"),
        (event("resources", json!([1])), "\"resources\" must be a list"),
        (event("source", json!("elsewhere")), "no rule takes events of source \"elsewhere\""),
    ] {
        let error = events.put_event(refused).await.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    assert_eq!(scene.calls.list().len(), 0);
}

#[tokio::test]
async fn in_the_background_the_stream_is_followed_until_the_stop() {
    let scene = Scene::new(&Storage::Memory);
    let background = scene.events(|_, _| Ok(Value::Null)).in_background();
    scene.put_effects("a").await;
    while scene.calls.list().is_empty() {
        #[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    background.stop().await;
    scene.put_effects("b").await;
    #[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(scene.calls.batches(), ["a"]);
}

#[tokio::test]
async fn an_invocation_under_way_at_the_stop_ends_in_order() {
    let scene = Scene::new(&Storage::Memory);
    let calls = scene.calls.clone();
    let slow = in_process_event(&scene.app, move |_, event: Value| {
        let calls = calls.clone();
        async move {
            calls.list().push(json!("begun"));
            #[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
            tokio::time::sleep(Duration::from_millis(300)).await;
            calls.list().push(event);
            Ok(Value::Null)
        }
    });
    let functions = ["AFunction", "BFunction"].map(|name| (name.to_owned(), slow.clone())).into();
    let template = Template::parse(TEMPLATE).unwrap();
    let background = Events::new(&template, &functions, &scene.backend, &scene.app).unwrap().in_background();
    scene.put_effects("abcdefgh").await;
    while scene.calls.list().is_empty() {
        #[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    background.stop().await;
    assert_eq!(scene.calls.list().len(), 2);
}

#[tokio::test]
async fn a_trigger_without_its_function_is_named() {
    let scene = Scene::new(&Storage::Memory);
    let template = Template::parse(TEMPLATE).unwrap();
    let functions = [("AFunction".to_owned(), noting(&scene.app, &scene.calls, |_, _| Ok(Value::Null)))];
    let error = Events::new(&template, &functions.into(), &scene.backend, &scene.app).err().unwrap();
    assert_eq!(error.to_string(), "a trigger has no function BFunction");
}
