//! Secrets that the service shows again are sealed in the table under a key from outside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::{Json, Router};
use chrono::TimeDelta;
use image::ImageFormat;
use serde_json::{Value, json};
use shared::auth::SystemAccess;
use shared::domain::secret::MediaKey;
use shared::domain::webhook::SigningSecret;
use shared::media::FileUrlToken;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, last_segment};
use tests::files::{data_uri, photo};
use tests::http::{Request, Response};

use super::idempotency::{assert_first, assert_replay, keyed};
use crate::events::webhooks::endpoint::TestEndpoint;
use crate::events::webhooks::{URL, WEBHOOKS, stored};
use crate::interviews::guests::GuestFixture;

/// Everything that is sealed: a candidate with a key, a guest link whose URL a repeated request shows again, a named token, a webhook
/// with a former and a present secret, and the sessions of everybody.
struct SealedFixture {
    guests: GuestFixture,
    invited: String,
    token: String,
    webhook: String,
    signing: [String; 2],
}

impl SealedFixture {
    async fn start() -> Self {
        let guests = GuestFixture::start().await;
        let owner = &guests.owner;
        let invited = invite(owner, &guests.project).await;
        let token = owner.post("/companies/acme/tokens/", json!({ "name": "Payroll" })).await.expect(201);
        let token = token.uri("value");
        let made = json!({ "url": URL, "types": ["label.*"] });
        let made = owner.post(WEBHOOKS, made).await.expect(201);
        let webhook = made.uri("resource_uri");
        let rotated =
            owner.post(&format!("{webhook}secret/"), json!({ "grace_hours": 168 })).await.expect(200);
        let signing = [rotated.uri("secret"), made.uri("secret")];
        Self { guests, invited, token, webhook, signing }
    }
}

/// Invites a candidate without a mail, and gives their URL.
async fn invite(manager: &impl Caller, project: &str) -> String {
    let fields = json!({
        "first_name": "Grace", "last_name": "Hopper", "receive_mails": false, "deadline": "2027-06-01T10:00:00Z",
        "photo": data_uri("image/png", &photo(ImageFormat::Png, 32, 32)),
    });
    let uri = manager.post(&format!("{project}candidates/"), fields).await.expect(201).uri("resource_uri");
    manager.patch(&format!("{uri}status/advance/"), json!({})).await.expect(200);
    uri
}

fn key_of(candidate: &Value) -> String {
    candidate["activation_key"].as_str().unwrap().to_owned()
}

/// All texts in a value.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(values) => values.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn a_copy_of_table_and_bucket_with_the_source_opens_no_seal_and_signs_no_file_and_no_delivery() {
    let given = SealedFixture::start().await;
    let SealedFixture { guests, invited, token, webhook, signing } = &given;
    let GuestFixture { app, owner, .. } = guests;
    // The easiest key to guess.
    let request = guests.creation(json!({})).header("idempotency-key", "1");
    let made = owner.send(request.clone()).await.expect(201);
    let guest = last_segment(&made.uri("url")).to_owned();
    let shown = owner.get(invited).await.expect(200).json();
    let key = key_of(&shown);
    // An address that each kind of credential is shown, with what it is signed for.
    let film = guests.film(&guest).await;
    let by_token = app.token(token).get(invited).await.expect(200).uri("photo");
    let by_key = Request::get(invited).header("authorization", &format!("ActivationKey {key}"));
    let by_key = app.send(by_key).await.expect(200).uri("photo");
    let addresses = [
        (owner.secret(), shown["photo"].as_str().unwrap()),
        (token, &by_token),
        (&key, &by_key),
        (&guest, &film),
    ];

    // The copy, which nothing is kept from: neither the names of objects nor anything in an item.
    let copy = app.table().contents().await;
    let stored = app.table().text().await;
    let mut known: Vec<String> = app.object_keys();
    for item in copy.values() {
        texts(&serde_dynamo::from_item(item.clone()).unwrap(), &mut known);
    }
    known.extend(
        known
            .clone()
            .iter()
            .flat_map(|text| text.split(['.', '#', '/']).map(str::to_owned))
            .collect::<Vec<_>>(),
    );
    for (secret, address) in addresses {
        assert!(!stored.contains(secret), "{secret} stands in the table");
        assert!(!stored.contains(MediaKey::of(secret).as_str()), "the media key stands in the table");
        let signed = address.trim_end_matches('/').rsplit('/').next().unwrap().trim_end_matches(".mp4");
        let signed = FileUrlToken::parse(signed).unwrap();
        let objects = app.object_keys();
        let is_signed_by = |key: &MediaKey| {
            let names = objects.iter().map(|object| signed.is_for(key, object));
            // A take is signed by a name that stays when it is converted again.
            names.chain(objects.iter().map(|object| signed.is_for(key, &stable(object)))).any(|is_for| is_for)
        };
        assert!(is_signed_by(&MediaKey::of(secret)), "{address}");
        for text in &known {
            assert!(!is_signed_by(&MediaKey::new(text.clone())), "{text} signs {address}");
            assert!(!is_signed_by(&MediaKey::of(text)), "{text} signs {address}");
        }
    }

    for secret in signing {
        let (_, key) = secret.split_once('_').unwrap();
        for text in &known {
            assert!(!text.contains(key), "{text} signs deliveries");
        }
    }
    assert_eq!(opened(app, webhook).await.unwrap(), *signing);

    // A thief runs the source on the copy, with a key of their own, and logs in: nothing in the table is safe from them.
    let thief = TestApp::start().await;
    thief.leave_unsound("a copy without its bucket");
    thief.table().restore(&copy).await;
    let stolen = thief.token(owner.secret());
    let seen = stolen.get(invited).await.expect(200).json();
    assert_eq!([&seen["first_name"], &seen["interview_url"], &seen["activation_key"]], ["Grace", "", ""]);
    stolen.send(request.clone()).await.expect_code(500, "internal_error");
    for (_, address) in addresses {
        thief.send(Request::get(address)).await.expect_code(500, "internal_error");
    }
    assert!(opened(&thief, webhook).await.is_err());
    // Not even with the name of the true key: that tells nothing.
    assert_replay(&owner.send(request).await, &made);
}

/// The secrets that sign deliveries to a webhook, the present one first.
async fn opened(app: &TestApp, webhook: &str) -> shared::Result<Vec<String>> {
    let (webhook, _) = stored(app, webhook).await;
    let secrets = SystemAccess::of(app.app()).store.open_signing_secrets(&webhook, app.app().now()).await?;
    Ok(secrets.iter().map(SigningSecret::reveal).collect())
}

/// The name that addresses of an object are signed for.
fn stable(object: &str) -> String {
    match object.rsplit_once('-') {
        Some((start, end)) => {
            let extension = end.rsplit_once('.').map_or("", |(_, extension)| extension);
            format!("{start}.{extension}")
        }
        None => object.to_owned(),
    }
}

#[tokio::test]
async fn after_a_rotation_the_former_key_opens_for_90_days_and_seals_nothing() {
    let given = SealedFixture::start().await;
    let SealedFixture { guests, invited, token, webhook, signing } = &given;
    let GuestFixture { app, owner, project, .. } = guests;
    let creation = keyed(&guests.creation(json!({ "expires_at": "2027-01-30T10:00:00Z" })));
    let first = owner.send(creation.clone()).await;
    assert_first(&first);
    let guest = last_segment(&first.uri("url")).to_owned();
    let before_rotation = owner.get(invited).await.expect(200).json();
    let film = guests.film(&guest).await;
    let photo = app.token(token).get(invited).await.expect(200).uri("photo");
    let name = name_of_key(app, invited).await;

    app.clock().advance(TimeDelta::minutes(1));
    app.rotate_seal_key();
    let anew = app.started_anew(&[]);
    let new_owner = anew.token(owner.secret());
    assert_replay(&new_owner.send(creation.clone()).await, &first);
    let after = new_owner.get(invited).await.expect(200);
    let after_tag = after.header("etag").unwrap().to_owned();
    let after = after.json();
    assert_eq!(
        (key_of(&after), &after["interview_url"]),
        (key_of(&before_rotation), &before_rotation["interview_url"])
    );
    for address in [&film, &photo] {
        anew.send(Request::get(address)).await.expect(302);
    }
    // New seals are made by the new key, which processes that started before find as soon as they meet it.
    let later = invite(&new_owner, project).await;
    assert_ne!(name_of_key(app, &later).await, name);
    assert!(!key_of(&owner.get(&later).await.expect(200).json()).is_empty());

    // Lasting seals are made again, and nothing else of their items changes.
    let anew = app.started_anew(&[]);
    let reseal = || async { anew.operate(json!({ "command": "reseal" })).await.unwrap()["reseal"].clone() };
    assert_eq!(opened(&anew, webhook).await.unwrap(), *signing);
    // The keys of three candidates, of which the latest is new, both copies of the token, and both secrets of the webhook.
    assert_eq!(reseal().await, json!({ "seals": 7, "resealed": 6, "unopened": 0 }));
    assert_eq!(reseal().await, json!({ "seals": 7, "resealed": 0, "unopened": 0 }));
    assert_eq!(name_of_key(app, invited).await, name_of_key(app, &later).await);
    let seen = owner.send(Request::get(invited).header("if-none-match", after_tag.as_str())).await;
    assert_eq!(seen.status.as_u16(), 304);
    app.clock().advance(TimeDelta::days(91));
    let anew = app.started_anew(&[]);
    let payroll = anew.token(token);
    // The former one has ended.
    assert_eq!(opened(&anew, webhook).await.unwrap(), signing[..1]);
    assert_eq!(key_of(&payroll.get(invited).await.expect(200).json()), key_of(&before_rotation));
    let photo = payroll.get(invited).await.expect(200).uri("photo");
    anew.send(Request::get(&photo)).await.expect(302);
}

#[tokio::test]
async fn what_was_not_sealed_again_is_closed_90_days_after_a_rotation() {
    let given = SealedFixture::start().await;
    let SealedFixture { guests, invited, token, webhook, .. } = &given;
    let GuestFixture { app, owner, project, .. } = guests;
    app.rotate_seal_key();
    let anew = app.started_anew(&[]);
    let later = invite(&anew.token(owner.secret()), project).await;
    // The owner of a leaked key cannot use it, and the service neither.
    app.clock().advance(TimeDelta::days(90));
    let anew = app.started_anew(&[]);
    assert!(opened(&anew, webhook).await.is_err());
    let payroll = anew.token(token);
    let seen = payroll.get(invited).await.expect(200).json();
    assert_eq!([&seen["interview_url"], &seen["activation_key"]], ["", ""]);
    assert!(!key_of(&payroll.get(&later).await.expect(200).json()).is_empty());
    let photo = payroll.get(invited).await.expect(200).uri("photo");
    anew.send(Request::get(&photo)).await.expect_code(500, "internal_error");
}

#[tokio::test]
async fn a_value_that_makes_no_key_closes_only_what_the_lost_key_has_sealed() {
    let given = SealedFixture::start().await;
    let SealedFixture { guests, invited, token, .. } = &given;
    let GuestFixture { app, owner, project, .. } = guests;
    app.put_seal_secret("short");
    app.started_anew(&[]).token(owner.secret()).get(invited).await.expect_code(500, "internal_error");
    app.rotate_seal_key();
    let anew = app.started_anew(&[]);
    let later = invite(&anew.token(owner.secret()), project).await;
    let payroll = anew.token(token);
    let seen = payroll.get(invited).await.expect(200).json();
    assert_eq!([&seen["interview_url"], &seen["activation_key"]], ["", ""]);
    assert!(!key_of(&payroll.get(&later).await.expect(200).json()).is_empty());
}

/// The name of the key that has sealed the key of a candidate.
async fn name_of_key(app: &TestApp, candidate: &str) -> String {
    let sk = format!("CANDIDATE#{}", last_segment(candidate));
    let contents = app.table().contents().await;
    let (_, item) = contents.iter().find(|((pk, key), _)| *key == sk && pk.starts_with("COMPANY#")).unwrap();
    let item: Value = serde_dynamo::from_item(item.clone()).unwrap();
    item["access_key"]["sealed"].as_str().unwrap().split_once('.').unwrap().0.to_owned()
}

#[tokio::test]
async fn nothing_is_written_without_a_seal_and_nothing_else_misses_the_key() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let labels = "/companies/acme/labels/";
    let label = owner.post(labels, json!({ "text": "Berlin" })).await.expect(201).uri("resource_uri");
    let before = app.table().snapshot().await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("http://{nobody}");
    for (name, value, status, code) in [
        ("SEAL_SECRET_ID", "", 500, "internal_error"),
        ("SEAL_SECRET_ID", "misspelt-seals", 500, "internal_error"),
        ("AWS_REGION", "eu-west-1", 500, "internal_error"),
        ("AWS_ENDPOINT_URL_SECRETS_MANAGER", &nobody, 503, "busy"),
    ] {
        let broken = app.started_anew(&[(name, value)]);
        let caller = broken.token(owner.secret());
        let creation = Request::post(labels).json(&json!({ "text": "Paris" }));
        let refused: Response = caller.send(keyed(&creation)).await;
        refused.expect_code(status, code);
        let token = json!({ "name": "Payroll" });
        caller.post("/companies/acme/tokens/", token).await.expect_code(status, code);
        broken.anonymous().log_in("acme", "owner", PASSWORD).await.expect_code(status, code);
        let mut after = app.table().snapshot().await;
        // The login was counted before its password was known to be right.
        after.retain(|(pk, _), _| !pk.starts_with("FAILURES#"));
        assert_eq!(after, before, "{name}");
        // Neither needs a seal.
        caller.get(&label).await.expect(200);
        let changed = caller.patch(&label, json!({ "text": "Berlin" })).await.expect(200);
        assert_eq!(changed.json()["text"], "Berlin");
    }
}

#[tokio::test]
async fn many_first_uses_fetch_the_key_once_and_reads_without_a_seal_never() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let counter = fetched.clone();
    let router = Router::new().fallback(async move |body: String| {
        // The key of receipts is fetched there as well.
        counter.fetch_add(usize::from(body.contains("seals")), Ordering::Relaxed);
        Json(json!({ "SecretString": "0123456789abcdef0123456789abcdef", "CreatedDate": 1.7e9 }))
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, router).await });
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let counting = app.started_anew(&[("AWS_ENDPOINT_URL_SECRETS_MANAGER", &url)]);
    let caller = counting.token(owner.secret());
    for path in ["/whoami/", "/companies/acme/", "/companies/acme/labels/", "/companies/acme/customers/"] {
        caller.get(path).await.expect(200);
    }
    assert_eq!(fetched.load(Ordering::Relaxed), 0);
    let creations = (0..50).map(|number| {
        let creation = Request::post("/companies/acme/labels/").json(&json!({ "text": number.to_string() }));
        caller.send(creation.header("idempotency-key", &number.to_string()))
    });
    for created in futures_util::future::join_all(creations).await {
        created.expect(201);
    }
    assert_eq!(fetched.load(Ordering::Relaxed), 1);
    let endpoint = TestEndpoint::willing().await;
    caller.post(WEBHOOKS, json!({ "url": endpoint.url, "types": ["label.*"], "after": 0 })).await.expect(201);
    counting.settle().await;
    assert!(endpoint.arrivals().len() >= 50);
    // While calls are recorded, each function is an environment of its own, and has fetched the key for itself.
    let by_all = fetched.load(Ordering::Relaxed);
    caller.post("/companies/acme/labels/", json!({ "text": "Paris" })).await.expect(201);
    counting.settle().await;
    assert!(endpoint.arrivals().len() >= 51);
    assert_eq!(fetched.load(Ordering::Relaxed), by_all);
    server.abort();
}

#[tokio::test]
async fn a_seal_opens_in_no_other_place() {
    let given = SealedFixture::start().await;
    let GuestFixture { app, owner, project, .. } = &given.guests;
    let other = invite(owner, project).await;
    let place = |candidate: &str| {
        let project = last_segment(project);
        (format!("COMPANY#acme#PROJECT#{project}"), format!("CANDIDATE#{}", last_segment(candidate)))
    };
    // An attacker with access to the table gives themselves the key of somebody else.
    let contents = app.table().contents().await;
    let stolen = contents[&place(&given.invited)]["access_key"].clone();
    app.table().set(&place(&other), "access_key", stolen).await;
    app.leave_unsound("an item was tampered with");
    let seen = owner.get(&other).await.expect(200).json();
    assert_eq!([&seen["interview_url"], &seen["activation_key"]], ["", ""]);
}
