//! Looks for secrets in the log. Every test's lines are searched for the prefixes of secrets when they are written; this test
//! also looks for values without such a prefix.

use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Token};
use tests::chaos::Fault;
use tests::http::Request;
use tests::issuer::{AuthorizationRequest, SigningAlgorithm, SigningKey, TestIssuer};
use tests::logs::Recording;

/// A word of this kind is in everything that is secret here, and in nothing else.
const CANARY: &str = "Kanarienvogel";

struct CanaryStory {
    app: TestApp,
    secrets: Vec<String>,
}

impl CanaryStory {
    fn keep(&mut self, secret: impl Into<String>) -> String {
        let secret = secret.into();
        self.secrets.push(secret.clone());
        secret
    }

    async fn log_in(&mut self, name: &str, password: &str) -> Token {
        let response = self.app.anonymous().log_in("acme", name, password).await.expect(200);
        let secret = self.keep(response.uri("token"));
        self.app.token(&secret)
    }

    /// The key in the newest mail to an address, all of whose mails are secret.
    async fn mailed_key(&mut self, address: &str) -> String {
        self.app.settle().await;
        for mail in self.app.mails_to(address) {
            let parts = [&mail.text, &mail.html].into_iter().flatten();
            for line in parts.flat_map(|part| part.lines()).filter(|line| line.trim().len() > 24) {
                self.keep(line.trim());
            }
        }
        let key = self.app.mailed_key(address);
        self.keep(key)
    }
}

/// Questions, criteria and everything that evaluators write about a candidate, and what is wrong with it.
async fn judge(owner: &Token, project: &str, candidate: &str) {
    let criterion = json!({ "name": CANARY, "description": CANARY });
    let criterion =
        owner.post(&format!("{project}criteria/"), criterion).await.expect(201).uri("resource_uri");
    let question = json!({ "text": CANARY, "internal_description": CANARY, "kind": CANARY });
    assert_refusal!(owner.post(&format!("{project}questions/"), question).await, @r#"400 {"kind":["\"Kanarienvogel\" is not a valid choice. Use one of: video, text."]}"#);
    let me = owner.get("/whoami/").await.expect(200).json()["resource"]["resource_uri"].clone();
    owner.patch(project, json!({ "evaluators": [me], "veto_enabled": true })).await.expect(200);
    owner.app().complete(candidate).await;
    let own = me.as_str().unwrap().trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    let target = format!("{candidate}evaluations/{own}/");
    let rating = json!({ "criterion": criterion, "value": 4, "comment": CANARY });
    let body = json!({ "ratings": [rating], "comment": CANARY, "completed": true });
    owner.send(Request::put(&target).json(&body)).await.expect(201);
    let wrong = json!({ "ratings": CANARY, "recommendation": CANARY });
    assert_refusal!(owner.send(Request::put(&target).json(&wrong)).await, @r#"400 {"ratings":["Expected a list of items."],"recommendation":["\"Kanarienvogel\" is not a valid choice. Use one of: definitely_no, no, yes, strong_yes."]}"#);
    owner
        .post(&format!("{candidate}vetos/"), json!({ "comment": format!("{CANARY} veto") }))
        .await
        .expect(201);
    for target in
        [&target, &format!("{project}results/"), &format!("{project}vetos/"), &format!("{candidate}vetos/")]
    {
        owner.get(target).await.expect(200);
    }
}

/// The settings of a provider, a sign-in by it and others that fail, each with everything that is secret.
async fn sign_in(story: &mut CanaryStory, owner: &Token, email: &str) {
    let app = story.app.clone();
    let key = SigningKey::new(CANARY, SigningAlgorithm::Es256);
    let issuer = TestIssuer::start(&[&key]).await;
    let secret = story.keep(format!("{CANARY}/secret"));
    let settings = json!({
        "issuer": issuer.url, "client_id": CANARY, "client_secret": secret, "domains": ["mail.example"],
    });
    let set =
        async |settings: &Value| owner.send(Request::put("/companies/acme/sign-in/").json(settings)).await;
    set(&settings).await.expect(200);
    let wrong = json!({ "issuer": CANARY, "client_id": format!("{CANARY}*"), "client_secret": format!("{CANARY} x"), "domains": [CANARY] });
    set(&wrong).await.expect(400);
    let claims = |nonce: &str| {
        let now = app.clock().now().timestamp();
        json!({
            "iss": issuer.url, "aud": CANARY, "sub": format!("{CANARY} subject"), "nonce": nonce, "iat": now, "exp": now + 300,
            "email": email, "email_verified": true, "name": CANARY,
        })
    };
    for forged in [true, false] {
        let begun = app.send(Request::get("/sign-in/acme/?return_to=/Kanarienvogel/")).await.expect(302);
        let request = AuthorizationRequest::read(begun.header("location").unwrap());
        let cookie = begun.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        story.keep(cookie.split_once('=').unwrap().1);
        story.keep(&*request.state);
        story.keep(&*request.nonce);
        let mut id_token = key.sign(&claims(&request.nonce));
        if forged {
            id_token.push('x');
        }
        let code = issuer.issue_code(&request, story.keep(id_token));
        story.keep(&*code);
        let back = format!("/sign-in/acme/callback/?state={}&code={code}&{CANARY}={CANARY}", request.state);
        for cookie in ["", &*cookie] {
            let ended = app.send(Request::get(&back).header("cookie", cookie)).await;
            for set in ended.headers.get_all("set-cookie") {
                let value = set.to_str().unwrap().split(&['=', ';'][..]).nth(1).unwrap();
                if !value.is_empty() {
                    story.keep(value);
                }
            }
        }
    }
    set(&json!({
        "issuer": issuer.url, "client_id": CANARY, "client_secret": format!("{CANARY}-mistyped"), "domains": ["mail.example"],
    }))
    .await
    .expect(200);
    owner.delete("/companies/acme/sign-in/").await.expect(204);
}

#[tokio::test]
async fn no_log_line_contains_passwords_tokens_keys_or_mail_texts() {
    let recording = Recording::start();
    let (app, chaos) = TestApp::start_with_chaos().await;
    let mut story = CanaryStory { app: app.clone(), secrets: vec![CANARY.to_owned(), CANARY.to_lowercase()] };
    let password = |n: u32| format!("{CANARY} password {n}");
    let address = |name: &str| format!("{CANARY}.{name}@mail.example");
    let person = |name: &str| {
        json!({
            "first_name": format!("{CANARY}{name}"), "last_name": CANARY, "email": address(name),
            "account_type": "admin", "preferred_language": "en", "phone": CANARY, "position": CANARY,
        })
    };

    // The operator's word, a session of each kind, and what is wrong with all of that.
    let mut boss = person("Boss");
    boss["username"] = format!("{CANARY}-boss").into();
    boss["password"] = password(1).into();
    let company = json!({ "command": "create-company", "company": "acme", "name": CANARY, "owner": boss });
    app.operate(company.clone()).await.unwrap();
    app.operate(company).await.unwrap();
    let owner = story.log_in(&address("Boss"), &password(1)).await;
    let login = json!({ "company": "acme", "username": address("Boss"), "password": password(1) });
    let session = Request::post("/api-session-auth/").json(&login).header("sec-fetch-site", "same-origin");
    let cookie = app.send(session).await.expect(200);
    let cookie = cookie.header("set-cookie").and_then(|cookie| cookie.split(&['=', ';'][..]).nth(1));
    let cookie = story.keep(cookie.unwrap());
    for n in 0..11 {
        app.anonymous().log_in("acme", &address("Nobody"), &password(100 + n)).await;
    }
    let basic = STANDARD.encode(format!("token:{}", owner.secret));
    story.keep(basic.clone());
    for (name, value) in [
        ("authorization", format!("Basic {basic}")),
        ("authorization", format!("Bearer {}", owner.secret)),
        ("authorization", format!("Token {}x", owner.secret)),
        ("authorization", format!("ActivationKey {}", owner.secret)),
        ("cookie", format!("sessionid={cookie}")),
        ("cookie", format!("sessionid={CANARY}")),
        ("origin", format!("https://{CANARY}.example")),
        ("user-agent", CANARY.to_owned()),
        ("x-request-id", CANARY.to_owned()),
    ] {
        app.send(Request::get("/whoami/").header(name, &value)).await;
    }
    for target in [
        format!("/whoami/?token={}", owner.secret),
        format!("/companies/acme/customers/{}/", owner.secret),
        format!("/companies/acme/customers/?username={CANARY}"),
        format!("/companies/acme/{CANARY}/{}/", owner.secret),
        format!("/{CANARY}/{}", owner.secret),
        format!("/companies/{CANARY}/"),
    ] {
        owner.get(&target).await;
    }
    for body in [format!("{{\"password\": \"{}\"", password(1)), format!("\"{CANARY}\""), CANARY.to_owned()] {
        app.send(Request::post("/api-token-auth/").body("application/json", body.clone())).await.expect(400);
        app.send(Request::post("/api-token-auth/").body(CANARY, body)).await.expect(415);
    }

    // Staff: invited, activated, forgetful, imported, acting for others, deleted.
    let customers = "/companies/acme/customers/";
    let grace = owner.post(customers, person("Grace")).await.expect(201).uri("resource_uri");
    let key = story.mailed_key(&address("Grace")).await;
    let wrong = json!({ "activation_key": format!("{key}{CANARY}"), "password": password(2) });
    app.anonymous().post("/api-activate/", wrong).await.expect(400);
    let choice = json!({ "activation_key": key, "password": password(2) });
    app.anonymous().post("/api-activate/", choice).await.expect(200);
    let token = story.log_in(&address("Grace"), &password(2)).await;
    let change = json!({ "password": password(3), "current_password": password(2) });
    token.patch(&grace, change).await.expect(200);
    let forgotten = json!({ "company": "acme", "username": address("Grace") });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    let key = story.mailed_key(&address("Grace")).await;
    let choice = json!({ "key": key, "password": password(4) });
    app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(204);
    app.table().set_customer(&grace, "authenticate_on_behalf", AttributeValue::Bool(true)).await;
    let token = story.log_in(&address("Grace"), &password(4)).await;
    let mut entries = [person("Boss"), person("Grace"), person("New")];
    for (entry, username) in
        entries.iter_mut().zip([format!("{CANARY}-boss"), address("Grace"), address("New")])
    {
        entry["pk_attribute"] = "username".into();
        entry["username"] = username.into();
        entry["account_type"] = "recruiter".into();
    }
    owner.post(&format!("{customers}batch-import/"), json!(entries)).await.expect(200);
    story.mailed_key(&address("New")).await;
    let for_new = json!({ "company": "acme", "username": address("New") });
    let for_new = token.post("/api-token-auth/", for_new).await.expect(200).uri("token");
    let for_new = story.keep(for_new);
    app.token(&for_new).get("/whoami/").await.expect(200);

    sign_in(&mut story, &owner, &address("Boss")).await;

    // Webhooks.
    let webhook =
        json!({ "url": format!("https://{CANARY}.example/{CANARY}?key={CANARY}"), "description": CANARY });
    let webhook = owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
    story.keep(webhook.uri("secret"));
    let webhook = webhook.uri("resource_uri");
    let wrong = json!({ "url": format!("ftp://{CANARY}"), "types": [CANARY], "projects": [CANARY] });
    assert_refusal!(owner.patch(&webhook, wrong).await, @r#"
        400 {
          "projects":["\"Kanarienvogel\" is not a URL under https://hr.example/api/v3/companies/acme/projects/."],
          "types":["\"Kanarienvogel\" is not a type of events. Use one such as candidate.invited, or candidate.*"],
          "url":["Use a URL that begins with https://, or with http:// for this computer."]
        }
        "#);
    let rotated = owner.post(&format!("{webhook}secret/"), json!({})).await.expect(200).uri("secret");
    story.keep(rotated);
    assert_refusal!(owner.post(&format!("{webhook}deliveries/"), json!({ "event": CANARY })).await, @r#"400 {"event":["There is no such event, or it has been deleted because of its age."]}"#);
    owner.get(&format!("{webhook}deliveries/?event={CANARY}")).await.expect(200);

    // Candidates.
    let project = owner.post("/companies/acme/projects/", json!({ "name": CANARY })).await.expect(201);
    let project = project.uri("resource_uri");
    owner.patch(&format!("{project}status/"), json!({ "status": "40-running" })).await.expect(200);
    let mut ada = person("Ada");
    for of_staff in ["account_type", "position", "preferred_language"] {
        ada.as_object_mut().unwrap().remove(of_staff);
    }
    ada["deadline"] = app.clock().in_days(7).into();
    let ada = owner.post(&format!("{project}candidates/"), ada).await.expect(201).uri("resource_uri");
    let invited = owner.send(Request::patch(&format!("{ada}status/advance/"))).await.expect(200);
    let key = story.keep(invited.uri("activation_key"));
    let act = |request: Request| request.header("authorization", &format!("ActivationKey {key}"));
    let choice = json!({ "password": password(5) });
    app.send(act(Request::patch(&ada).json(&choice))).await.expect(200);
    app.send(act(Request::get("/whoami/candidate/"))).await.expect(200);
    let own = story.log_in(&address("Ada"), &password(5)).await;
    own.get("/whoami/").await.expect(200);
    owner.send(Request::post(&format!("{ada}reminder/"))).await.expect(200);
    app.clock().advance(TimeDelta::minutes(5));
    let forgotten = json!({ "company": "acme", "username": address("Ada") });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    story.mailed_key(&address("Ada")).await;
    owner.post(&format!("{ada}shares/"), json!({ "customer": grace })).await.expect(201);
    own.advance(&ada).await.expect(200);
    judge(&owner, &project, &ada).await;
    owner.delete(&grace).await.expect(204);
    app.settle().await;
    app.sweep().await;

    // Failures on the way say why, and no more.
    for operation in ["BatchGetItem", "TransactWriteItems", "PutItem", "Query"] {
        chaos.always(operation, Fault::Throttled);
        app.anonymous().log_in("acme", &address("Boss"), &password(1)).await;
        owner.post(customers, person("Late")).await;
        owner.get(&format!("{customers}?username={CANARY}")).await;
        chaos.heal();
    }

    let log = recording.text();
    assert!(log.lines().count() > 60, "{log}");
    for told in ["/api/v3/api-activate/", "batch-import", "create-company", "\"cause\":"] {
        assert!(log.contains(told), "the log has been looked at where it says something: {told}");
    }
    let lower = log.to_lowercase();
    for secret in &story.secrets {
        let quoted = Value::from(secret.as_str()).to_string();
        let quoted = quoted.trim_matches('"');
        for form in [secret.as_str(), quoted] {
            if let Some(line) = log.lines().find(|line| line.contains(form)) {
                panic!("{form:?} stands in the log: {line}");
            }
        }
        assert!(!lower.contains(&secret.to_lowercase()), "{secret:?} stands in the log in another case");
    }
    assert!(story.secrets.len() > 15, "{:?}", story.secrets);
    assert_histories_are_silent(&app).await;
}

/// No history holds text that people entered, except the names of projects, by which integrations find them.
async fn assert_histories_are_silent(app: &TestApp) {
    let mut entries = app.table().snapshot().await;
    entries.retain(|(pk, _), _| pk.starts_with("HISTORY#"));
    assert!(entries.len() > 20, "{}", entries.len());
    for (key, entry) in &mut entries {
        if entry["change"]["resource"]["kind"] == "project" {
            entry["change"]["details"]["facts"].as_object_mut().unwrap().remove("name");
        }
        let text = entry.to_string().to_lowercase();
        for word in [CANARY, "@", "correct horse", "argon2"] {
            assert!(!text.contains(&word.to_lowercase()), "{key:?} holds {word}: {entry}");
        }
    }
}
