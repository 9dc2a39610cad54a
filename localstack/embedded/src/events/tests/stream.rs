//! Delivery of the stream: filters, order, and retries of failed records.

use super::*;

#[tokio::test]
async fn a_function_gets_the_records_that_its_filter_lets_through_once() {
    let scene = Scene::new(&Storage::Memory);
    let events = scene.events(|event, _| reported(event, &[]));
    assert_eq!(events.deliver_stream().await.unwrap(), 0);
    scene.put("COMPANY#a", "EFFECT#").await;
    scene.put_effects("abcdef").await;
    scene.put_effects("a").await;
    assert_eq!(events.deliver_stream().await.unwrap(), 6);
    assert_eq!(events.deliver_stream().await.unwrap(), 0);
    assert_eq!(scene.calls.batches(), ["abcd", "ef"]);

    let mut record = scene.calls.list()[0]["Records"][0].take();
    assert_eq!(record["eventID"].as_str().unwrap().len(), 32);
    assert!(
        record["eventSourceARN"]
            .as_str()
            .unwrap()
            .starts_with("arn:aws:dynamodb:eu-central-1:000000000000:table/events-test/stream/")
    );
    let change = &mut record["dynamodb"];
    assert!(change["ApproximateCreationDateTime"].is_number() && change["SizeBytes"].is_number());
    assert!(change["SequenceNumber"].as_str().unwrap().len() >= 21);
    for varying in ["ApproximateCreationDateTime", "SizeBytes", "SequenceNumber"] {
        change[varying].take();
    }
    for varying in ["eventID", "eventSourceARN"] {
        record[varying].take();
    }
    let keys = json!({ "pk": { "S": "EFFECT#1" }, "sk": { "S": "a" } });
    assert_eq!(
        record,
        json!({
            "eventID": null,
            "eventName": "INSERT",
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "eventSourceARN": null,
            "awsRegion": "eu-central-1",
            "dynamodb": {
                "ApproximateCreationDateTime": null,
                "Keys": keys,
                "SequenceNumber": null,
                "SizeBytes": null,
                "StreamViewType": "KEYS_ONLY",
            },
        })
    );
}

#[tokio::test]
async fn records_are_retried_from_the_first_reported_failure() {
    let scene = Scene::new(&Storage::Memory);
    let events = scene.events(|event, calls| match calls {
        0 => reported(event, &["d", "b"]),
        1 => reported(event, &["c"]),
        _ => reported(event, &[]),
    });
    scene.put_effects("abcdef").await;
    assert_eq!(events.deliver_stream().await.unwrap(), 6);
    assert_eq!(scene.calls.batches(), ["abcd", "bcd", "cd", "ef"]);
}

#[tokio::test]
async fn a_report_of_unknown_records_counts_for_the_whole_batch() {
    let scene = Scene::new(&Storage::Memory);
    let unknown = json!({ "batchItemFailures": [{ "itemIdentifier": "1" }] });
    let events = scene.events(move |_, calls| Ok(if calls == 0 { unknown.clone() } else { Value::Null }));
    scene.put_effects("ab").await;
    assert_eq!(events.deliver_stream().await.unwrap(), 2);
    assert_eq!(scene.calls.batches(), ["ab", "ab"]);
}

#[tokio::test]
async fn a_record_that_keeps_failing_is_given_up_and_named() {
    let scene = Scene::new(&Storage::Memory);
    let events = scene.events(|event, _| reported(event, &["b"]));
    scene.put_effects("abef").await;
    scene.put_effects("g").await;
    let error = events.deliver_stream().await.unwrap_err().to_string();
    assert!(error.contains("AFunction did not take 3 records"), "{error}");
    assert_eq!(scene.calls.batches(), ["abef", "bef", "bef", "g"]);
    assert_eq!(events.deliver_stream().await.unwrap(), 0);
}

#[tokio::test]
async fn a_batch_that_a_function_fails_on_is_cut_until_the_rest_gets_through() {
    let scene = Scene::new(&Storage::Memory);
    let events = scene.events(|event, _| {
        let poison = event["Records"].as_array().unwrap().iter().any(|record| sort_key(record) == "c");
        if poison { Err(failure()) } else { Ok(Value::Null) }
    });
    scene.put_effects("abcd").await;
    let error = events.deliver_stream().await.unwrap_err().to_string();
    assert!(error.contains("1 records") && error.contains("expected by the test"), "{error}");
    assert_eq!(scene.calls.batches(), ["abcd", "ab", "cd", "c", "c", "c", "d"]);
}

/// A function that writes another effect when it receives the effect "a".
fn writing_a_sequel(scene: &Scene) -> Function {
    in_process_event(&scene.app, async |app: App, event: Value| {
        if sort_key(&event["Records"][0]) == "a" {
            let item = serde_dynamo::to_item(json!({ "pk": "EFFECT#1", "sk": "sequel" })).unwrap();
            let put = app.aws().dynamodb().put_item().table_name(TABLE).set_item(Some(item));
            put.send().await.unwrap();
        }
        Ok(Value::Null)
    })
}

#[tokio::test]
async fn records_that_come_of_a_delivery_are_delivered_too() {
    let scene = Scene::new(&Storage::Memory);
    let sequel = writing_a_sequel(&scene);
    let functions = ["AFunction", "BFunction"].map(|name| (name.to_owned(), sequel.clone())).into();
    let template = Template::parse(TEMPLATE).unwrap();
    let events = Events::new(&template, &functions, &scene.backend, &scene.app).unwrap();
    scene.put_effects("a").await;
    assert_eq!(events.deliver_stream().await.unwrap(), 2);
}

/// The template, with a second mapping to the other function.
fn two_mappings() -> Template {
    let (_, mapping) = TEMPLATE.split_once("  Mapping:").unwrap();
    let second = mapping.replace("AFunction", "BFunction");
    Template::parse(&format!("{TEMPLATE}  SecondMapping:{second}")).unwrap()
}

#[tokio::test]
async fn a_busy_function_holds_up_its_own_mapping_of_the_stream_alone() {
    for (busy, free) in [("AFunction", "BFunction"), ("BFunction", "AFunction")] {
        let scene = Scene::new(&Storage::Memory);
        let (begun, end) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
        let (has_begun, may_end) = (begun.clone(), end.clone());
        let hung = in_process_event(&scene.app, move |_, _: Value| {
            has_begun.notify_one();
            let may_end = may_end.clone();
            async move {
                may_end.notified().await;
                Ok(Value::Null)
            }
        });
        let functions = [
            (busy.to_owned(), hung),
            (free.to_owned(), noting(&scene.app, &scene.calls, |_, _| Ok(Value::Null))),
        ];
        let events = Events::new(&two_mappings(), &functions.into(), &scene.backend, &scene.app).unwrap();
        let background = events.in_background();
        scene.put_effects("a").await;
        begun.notified().await;
        scene.put_effects("b").await;
        let delivered = async {
            while !scene.calls.batches().concat().contains('b') {
                #[expect(clippy::disallowed_methods, reason = "the background runs in real time")]
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let delivered = tokio::time::timeout(Duration::from_secs(20), delivered).await;
        assert!(delivered.is_ok(), "{busy} holds up {free}: {:?}", scene.calls.batches());
        end.notify_one();
        background.stop().await;
    }
}

#[tokio::test]
async fn records_that_a_later_mapping_creates_for_an_earlier_one_are_delivered_too() {
    let scene = Scene::new(&Storage::Memory);
    let sequel = writing_a_sequel(&scene);
    let functions = [
        ("AFunction".to_owned(), noting(&scene.app, &scene.calls, |_, _| Ok(Value::Null))),
        ("BFunction".to_owned(), sequel),
    ];
    let events = Events::new(&two_mappings(), &functions.into(), &scene.backend, &scene.app).unwrap();
    scene.put_effects("a").await;
    assert_eq!(events.deliver_stream().await.unwrap(), 4);
    assert_eq!(scene.calls.batches(), ["a", "sequel"]);
}

#[tokio::test]
async fn a_kept_stream_goes_on_where_it_was_left() {
    let folder = Folder::temporary().unwrap();
    let storage = Storage::Folder(folder.path().join("kept"));
    {
        let scene = Scene::new(&storage);
        scene.put_effects("ab").await;
        assert_eq!(scene.events(|_, _| Ok(Value::Null)).deliver_stream().await.unwrap(), 2);
        scene.put_effects("c").await;
    }
    let scene = Scene::new(&storage);
    assert_eq!(scene.events(|_, _| Ok(Value::Null)).deliver_stream().await.unwrap(), 1);
    assert_eq!(scene.calls.batches(), ["c"]);
}
