//! Receipts of erasures, verified by the keys that the service publishes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use image::ImageFormat::Jpeg;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Staff, last_segment};
use tests::chaos::Fault;
use tests::files::{Form, photo};
use tests::http::{Request, Response};

use super::feed::{FEED, read_all};

const KEYS: &str = "/receipt-keys/";

/// Creates a candidate with a photo and a CV, without a user name or an address.
async fn planted(owner: &Staff) -> String {
    let project = owner.project(json!({})).await;
    let form = Form::new().text("first_name", "Ada").text("last_name", "Byron");
    let form = form.file("photo", "p.jpg", "image/jpeg", &photo(Jpeg, 9, 9));
    let form = form.file("cv", "cv.pdf", "application/pdf", &tests::files::pdf(100));
    let request = Request::post(&format!("{project}candidates/")).form(form);
    owner.send(request).await.expect(201).uri("resource_uri")
}

/// Deletes a candidate. Returns the last event of them.
async fn erased(app: &TestApp, owner: &Staff, candidate: &str) -> Value {
    owner.delete(candidate).await.expect(204);
    app.clock().advance(TimeDelta::seconds(2));
    app.settle().await;
    last_event(owner, candidate).await
}

async fn last_event(owner: &Staff, candidate: &str) -> Value {
    read_all(owner, &format!("resource={candidate}")).await.pop().unwrap()
}

async fn fetch(caller: &impl Caller, event: &Value) -> Response {
    caller.get(&format!("{FEED}{}/receipt/", event["id"].as_str().unwrap())).await
}

async fn receipt(owner: &Staff, event: &Value) -> Value {
    fetch(owner, event).await.expect(200).json()
}

async fn keys(app: &TestApp) -> Vec<Value> {
    let response = app.anonymous().get(KEYS).await.expect(200);
    assert_eq!(response.header("cache-control"), Some("public, max-age=300"));
    response.json()["keys"].as_array().unwrap().clone()
}

fn decoded(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}

/// The payload of a JWS whose signature is by the key in `keys` that it names.
fn verified(jws: &str, keys: &[Value]) -> Option<Value> {
    let [header, payload, signature] = jws.split('.').collect::<Vec<_>>().try_into().ok()?;
    let named: Value = serde_json::from_slice(&decoded(header)).ok()?;
    assert_eq!((&named["alg"], &named["typ"]), (&json!("EdDSA"), &json!("erasure-receipt+jws")));
    let key = keys.iter().find(|key| key["kid"] == named["kid"])?;
    let key = UnparsedPublicKey::new(&ED25519, decoded(key["x"].as_str()?));
    let signed = format!("{header}.{payload}");
    key.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).ok()?).ok()?;
    serde_json::from_slice(&decoded(payload)).ok()
}

#[tokio::test]
async fn a_receipt_states_what_was_erased_and_its_signature_holds() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let candidate = planted(&owner).await;
    let bytes: usize = app.moment().files().map(|(_, bytes)| bytes.len()).sum();
    let before = app.table().snapshot().await;
    let event = erased(&app, &owner, &candidate).await;
    let after = app.table().snapshot().await;
    let items = before.keys().filter(|key| !after.contains_key(*key)).count();
    assert!(items > 3, "{items}: the candidate, and search entries of two words and the whole name");
    let receipt = receipt(&owner, &event).await;
    let (project, _) = candidate.split_once("candidates/").unwrap();
    assert_eq!(
        receipt["statement"],
        json!({
            "iss": "https://hr.example/api/v3",
            "id": event["id"],
            "company": event["company"],
            "project": project,
            "candidate": candidate,
            "reason": "deleted",
            "deleted_at": "2026-11-08T10:00:00Z",
            "erased_at": "2026-11-08T10:00:02Z",
            "erased": {
                "items": items,
                "evaluations": 0,
                // The creation and the deletion have an entry each.
                "history_entries": 2,
                "files": 2,
                "bytes": bytes,
            },
            "copies": [
                { "of": "table", "until": "2026-12-06" },
                { "of": "files", "until": "2026-12-08" },
                { "of": "logs", "until": "2027-02-06" },
            ],
        })
    );
    assert_eq!(receipt["statement"]["erased"], event["data"]["erased"]);
    let jws = receipt["jws"].as_str().unwrap();
    assert_eq!(verified(jws, &keys(&app).await).unwrap(), receipt["statement"]);
    // The payload is the statement as the answer has it, to the byte.
    let payload = String::from_utf8(decoded(jws.split('.').nth(1).unwrap())).unwrap();
    let text = String::from_utf8(fetch(&owner, &event).await.expect(200).body).unwrap();
    assert!(text.starts_with(&format!("{{\"statement\":{payload},")), "{text}");
}

#[tokio::test]
async fn no_changed_byte_passes_and_no_other_key() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let event = erased(&app, &owner, &planted(&owner).await).await;
    let receipt = receipt(&owner, &event).await;
    let (jws, keys) = (receipt["jws"].as_str().unwrap(), keys(&app).await);
    let (header, rest) = jws.split_once('.').unwrap();
    let (payload, signature) = rest.split_once('.').unwrap();
    for position in 0..decoded(payload).len() {
        let mut changed = decoded(payload);
        changed[position] ^= 1;
        let changed = URL_SAFE_NO_PAD.encode(changed);
        assert_eq!(verified(&format!("{header}.{changed}.{signature}"), &keys), None, "{position}");
    }
    let other = TestApp::start_with(&[("RECEIPT_SECRET_ID", "another")]).await;
    let others = self::keys(&other).await;
    assert_eq!(verified(jws, &others), None);
    let mut forged = others[0].clone();
    forged["kid"] = keys[0]["kid"].clone();
    assert_eq!(verified(jws, &[forged]), None);
}

#[tokio::test]
async fn a_replaced_secret_signs_within_five_minutes_and_stands_in_no_environment() {
    let app = TestApp::start_with(&[("RECEIPT_SECRET_ID", "rotated-receipts")]).await;
    // The first text of the secret is its name, which settings hold: one of its own can be looked for.
    app.put_secret("RECEIPT_SECRET_ID", "the former secret");
    let owner = app.owner().await;
    let event = erased(&app, &owner, &planted(&owner).await).await;
    let old = receipt(&owner, &event).await;
    let published = keys(&app).await;
    assert_eq!(published.len(), 1);
    let former = published[0]["x"].as_str().unwrap();
    // The public key is noted by a release before the secret is replaced.
    let released = app.started_anew(&[("FORMER_RECEIPT_KEYS", former)]);
    assert_eq!(keys(&released).await, published);
    app.put_secret("RECEIPT_SECRET_ID", "the next secret");
    assert_eq!(keys(&released).await, published, "for five minutes, the former key signs");
    let owner_there = released.token(owner.secret());
    let during = fetch(&owner_there, &event).await.expect(200).json();
    app.clock().advance(TimeDelta::minutes(5));
    let published = keys(&released).await;
    assert_eq!((published.len(), &published[1]["x"]), (2, &json!(former)));
    let after = fetch(&owner_there, &event).await.expect(200).json();
    for signed in [&old, &during, &after] {
        assert_eq!(verified(signed["jws"].as_str().unwrap(), &published).unwrap(), old["statement"]);
    }
    assert_eq!(during["jws"], old["jws"]);
    assert_eq!(verified(after["jws"].as_str().unwrap(), &published[1..]), None, "another key has signed it");
    // The settings of functions hold neither secret.
    for environment in [app.environment(), released.environment()] {
        let has = |secret: &str| environment.values().any(|value| value.contains(secret));
        assert!(!has("the former secret") && !has("the next secret"), "{environment:?}");
    }
}

#[tokio::test]
async fn a_secret_that_cannot_be_fetched_signs_nothing_at_first_and_is_used_on_later() {
    let (app, chaos) = TestApp::start_with_secrets_chaos().await;
    let owner = app.owner().await;
    let event = erased(&app, &owner, &planted(&owner).await).await;
    let before = app.started_anew(&[]);
    let receipt = fetch(&owner, &event).await.expect(200).json();
    app.clock().advance(TimeDelta::minutes(6));
    chaos.always("GetSecretValue", Fault::Unreachable);
    assert_eq!(fetch(&owner, &event).await.expect(200).json(), receipt);
    before.anonymous().get(KEYS).await.expect(503);
    chaos.heal();
    before.anonymous().get(KEYS).await.expect(200);
    let missing = app.started_anew(&[("RECEIPT_SECRET_ID", "there-is-none")]);
    fetch(&missing.token(owner.secret()), &event).await.expect(500);
    missing.anonymous().get(KEYS).await.expect(500);
}

#[tokio::test]
async fn copies_end_as_the_deployment_is_set_up() {
    let app = TestApp::start_with(&[("RECOVERY_DAYS", "21"), ("LOG_RETENTION_DAYS", "14")]).await;
    let owner = app.owner().await;
    let event = erased(&app, &owner, &planted(&owner).await).await;
    let copies = receipt(&owner, &event).await["statement"]["copies"].clone();
    let until = ["2026-11-29", "2026-12-01", "2026-11-22"];
    let found: Vec<_> =
        copies.as_array().unwrap().iter().map(|copy| copy["until"].as_str().unwrap()).collect();
    assert_eq!(found, until);

    // Settings that change later change nothing of what a receipt states.
    let later = TestApp::start_with(&[("RECOVERY_DAYS", "35"), ("LOG_RETENTION_DAYS", "365")]).await;
    later.table().restore(&app.table().contents().await).await;
    let stated = fetch(&later.token(owner.secret()), &event).await.expect(200).json();
    assert_eq!(stated["statement"]["copies"], copies);
}

#[tokio::test]
async fn a_receipt_after_a_restoration_names_the_first_deletion_and_the_last_erasure() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let candidate = planted(&owner).await;
    app.settle().await;
    let before = app.moment();
    owner.delete(&candidate).await.expect(204);
    let deleted = app.moment();
    app.settle().await;
    for (hour, moment) in (11..).zip([before, deleted]) {
        app.clock().advance(TimeDelta::hours(1));
        app.operate(json!({ "command": "advance-sequence", "company": "acme" })).await.unwrap();
        app.take_back_to(&moment).await;
        let since = moment.at - TimeDelta::minutes(15);
        app.operate(json!({ "command": "erase-again", "since": since.to_rfc3339() })).await.unwrap();
        app.settle().await;
        app.clock().advance(TimeDelta::minutes(11));
        app.sweep().await;
        app.settle().await;
        let statement = receipt(&owner, &last_event(&owner, &candidate).await).await["statement"].clone();
        let erased_at = statement["erased_at"].as_str().unwrap();
        assert!(erased_at.starts_with(&format!("2026-11-08T{hour}:")), "{statement}");
        let expected = (&json!("restored"), &json!("2026-11-08T10:00:00Z"));
        assert_eq!((&statement["reason"], &statement["deleted_at"]), expected, "{statement}");
    }
}

#[tokio::test]
async fn only_erasures_have_receipts_and_only_those_who_read_events_get_them() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let candidate = planted(&owner).await;
    app.settle().await;
    let created = last_event(&owner, &candidate).await;
    let event = erased(&app, &owner, &candidate).await;
    let events = read_all(&owner, &format!("resource={candidate}")).await;
    let deleted = &events[events.len() - 2];
    let recruiter = app.staff("recruiter").await;
    let unknown = json!({ "id": format!("evt_{}_9_1795293767", last_segment(&candidate)) });
    assert_refusals!([
        fetch(&owner, &created).await,
        fetch(&owner, deleted).await,
        fetch(&owner, &unknown).await,
        fetch(&owner, &json!({ "id": "x" })).await,
        fetch(&recruiter, &event).await,
        fetch(&app.anonymous(), &event).await,
        owner.send(Request::post(KEYS)).await,
    ], @r#"
    4 x 404 {"code":"not_found","detail":"Not found."}
    403 {
      "code":"permission_denied",
      "detail":"You do not have the permission `read_events` here.",
      "permission":"read_events"
    }
    401 {"code":"not_authenticated","detail":"Authentication credentials were not provided."}
    405 {"code":"method_not_allowed","detail":"Method not allowed. The `Allow` header lists the methods of this path."}
    "#);
    let (_, token) = owner.named_token("Archive").await;
    fetch(&token, &event).await.expect(200);
}
