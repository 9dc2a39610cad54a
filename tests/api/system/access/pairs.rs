//! Pairs: each request that a restricted caller may send, with every field of the document set, and then each way to become
//! somebody else by what it has done. Nobody may see more afterwards than the caller did before.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use serde_json::{Map, Value, json};
use tests::caller::{Caller, PASSWORD, Staff, Token};
use tests::document::document;
use tests::effort;
use tests::http::{Request, Response};

use super::given::AccessFixture;
use super::{AccessRow, AccessTable, CallerCredential};

/// Callers who see less than all, by the names of `access.txt`.
const RESTRICTED: [&str; 13] = [
    "token:manager",
    "token:recruiter",
    "token:read-only",
    "r-manager",
    "recruiter",
    "manager",
    "hiring",
    "sharee",
    "evaluator",
    "reviewer",
    "this-candidate",
    "key",
    "other-candidate",
];

/// A project that no restricted caller sees, and what belongs to it.
struct HiddenProject {
    project: String,
    candidate: String,
    manager: Staff,
    webhook: String,
}

impl HiddenProject {
    async fn in_company(given: &AccessFixture) -> Self {
        let manager = given.app.staff("hiring-manager").await;
        let fields = json!({ "interview_managers": [manager.uri], "name": "Hidden" });
        let project = given.owner.running_project(fields).await;
        let candidate = given.owner.invite(&project, json!({ "external_id": "HIDDEN" })).await.uri;
        let webhook = json!({ "url": "https://hooks.example.com/hidden", "projects": [project] });
        let webhook = given.owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
        Self { project, candidate, manager, webhook: webhook.uri("resource_uri") }
    }

    /// Requests that give their sender a credential for something hidden, or everything of the company.
    fn grabs(&self) -> [(&'static str, Method, String); 6] {
        let Self { candidate, manager, webhook, .. } = self;
        [
            ("export", Method::POST, "/companies/acme/exports/".to_owned()),
            ("token", Method::POST, "/companies/acme/tokens/".to_owned()),
            ("webhook secret", Method::POST, format!("{webhook}secret/")),
            ("guest link", Method::POST, format!("{candidate}guest-links/")),
            ("key of a candidate", Method::PATCH, format!("{candidate}status/advance/")),
            ("invitation", Method::PATCH, format!("{}reinvite/", manager.uri)),
        ]
    }

    /// The names of the things that a client sees who signs requests like this.
    async fn seen(&self, given: &AccessFixture, sign: impl Fn(Request) -> Request) -> BTreeSet<&'static str> {
        let Self { project, candidate, manager, webhook } = self;
        let company = "/companies/acme/";
        let probes = [
            ("project", project.clone(), project.as_str()),
            ("candidates", format!("{project}candidates/"), candidate),
            ("candidate", candidate.clone(), candidate),
            ("keys of candidates", candidate.clone(), "\"activation_key\":\"ivk_"),
            ("results", format!("{project}results/"), "objects"),
            ("events", format!("{company}events/?project={project}"), candidate),
            ("candidates by key", format!("{company}candidates/?external_id=HIDDEN"), candidate),
            ("staff", format!("{company}customers/?page_size=100"), &manager.email),
            ("manager", manager.uri.clone(), &manager.email),
            ("labels", format!("{company}labels/"), "objects"),
            ("settings", company.to_owned(), "default_interview_period"),
            ("webhook", webhook.clone(), webhook),
            ("tokens", format!("{company}tokens/"), "objects"),
            ("exports", format!("{company}exports/"), "objects"),
            ("retention", format!("{company}retention/"), "days"),
            ("other candidates", format!("{}candidates/", given.project), "objects"),
        ];
        let mut seen = BTreeSet::new();
        for (name, target, shows) in probes {
            let shown = given.app.send(sign(Request::get(&target))).await;
            let text = String::from_utf8_lossy(&shown.body).into_owned();
            seen.extend((shown.status.as_u16() == 200 && text.contains(shows)).then_some(name));
        }
        seen
    }
}

/// A body with every field that the document names for a request, with values by which a caller would gain most.
struct FullBody<'a> {
    document: &'a Value,
    /// Makes names and addresses that nothing else has.
    number: u32,
    hidden: &'a HiddenProject,
}

impl FullBody<'_> {
    fn email(&self) -> String {
        format!("attacker-{}@mail.example", self.number)
    }

    fn resolve<'b>(&'b self, schema: &'b Value) -> &'b Value {
        match schema["$ref"].as_str() {
            Some(reference) => {
                let name = reference.trim_start_matches("#/components/schemas/");
                self.resolve(&self.document["components"]["schemas"][name])
            }
            None => schema,
        }
    }

    /// The fields of an operation, or those of each entry of its list; `None` if it takes none.
    fn of(&self, method: &Method, path: &str) -> Option<RequestFields> {
        let operation = &self.document["paths"][path][method.as_str().to_lowercase()];
        let schema = self.resolve(&operation["requestBody"]["content"]["application/json"]["schema"]);
        let is_list = !schema["items"].is_null();
        let schema = if is_list { self.resolve(&schema["items"]) } else { schema };
        let fields = schema["properties"].as_object()?;
        let all = fields.iter().map(|(name, field)| (name.clone(), self.value(name, field))).collect();
        let required = schema["required"].as_array().into_iter().flatten();
        let required = required.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        Some(RequestFields { all, required, is_list })
    }

    fn value(&self, name: &str, schema: &Value) -> Value {
        let HiddenProject { project, manager, candidate, .. } = self.hidden;
        match name {
            "email" => self.email().into(),
            "username" | "external_id" => format!("attacker-{}", self.number).into(),
            "password" => PASSWORD.into(),
            "account_type" => "hiring-manager".into(),
            "name" | "text" | "first_name" | "last_name" => format!("Attacker {}", self.number).into(),
            "position" => self.number.into(),
            "pk_attribute" => "email".into(),
            "content_type" => "image/png".into(),
            "field" => "photo".into(),
            "language" => "en".into(),
            "customer" => manager.uri.clone().into(),
            "evaluators" | "interview_managers" => json!([manager.uri]),
            "reviewers" | "videos" | "labels" | "roles" => json!([]),
            "projects" => json!([project]),
            "copy_of" => project.clone().into(),
            "candidates" => json!([candidate]),
            "deadline" | "expires_at" => "2026-12-24T18:00:00Z".into(),
            "receive_mails" | "allow_hash_login" | "is_active" | "is_enabled" => true.into(),
            _ => self.sample(self.resolve(schema)),
        }
    }

    fn sample(&self, schema: &Value) -> Value {
        if let Some(example) = schema["examples"].get(0).or(schema.get("example")) {
            return example.clone();
        }
        if let Some(one) = schema["enum"].as_array().and_then(|all| all.last()) {
            return one.clone();
        }
        let kind = schema["type"].as_str().or(schema["type"][0].as_str());
        match kind {
            Some("integer" | "number") => schema["minimum"].as_i64().unwrap_or(1).into(),
            Some("boolean") => true.into(),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => "attacker".into(),
        }
    }
}

/// The fields of a request, as the document names them.
struct RequestFields {
    all: Map<String, Value>,
    required: BTreeSet<String>,
    /// Whether the body is a list of such objects.
    is_list: bool,
}

/// Sends a request with all fields, without those that are refused. If it is refused as a whole, once for each field, with those
/// that are required. Gives what was answered, and whether it was done at least once.
async fn send_with_fields(
    given: &AccessFixture,
    request: &Request,
    credential: &CallerCredential,
    fields: &RequestFields,
) -> (String, bool) {
    let RequestFields { all, required, is_list } = fields;
    let send = async |mut fields: Map<String, Value>| loop {
        let body = if *is_list { json!([fields]) } else { json!(fields) };
        let response = given.app.send(credential.sign(request.clone()).json(&body)).await;
        let before = fields.len();
        if response.status.as_u16() == 400 {
            let refused = response.json();
            fields.retain(|name, _| {
                refused.get(name).is_none() && refused.get(format!("[0].{name}")).is_none()
            });
        }
        if fields.len() == before {
            return response;
        }
    };
    let whole = send(all.clone()).await;
    let (mut answers, mut is_done) = (text_of(&whole), whole.status.is_success());
    for name in all.keys().filter(|_| !whole.status.is_success()) {
        let mut some = all.clone();
        some.retain(|field, _| field == name || required.contains(field));
        let response = send(some).await;
        answers += &text_of(&response);
        is_done |= response.status.is_success();
    }
    (answers, is_done)
}

fn text_of(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

/// All secrets in a text, by the beginnings that scanners know.
fn secrets(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let words = text.split(|c| !is_part(c));
    let prefixes = ["ivt_", "ivs_", "ivk_", "ivo_", "ivn_", "ivg_"];
    words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix))).map(str::to_owned).collect()
}

#[tokio::test]
async fn nobody_sees_more_by_becoming_somebody_else() {
    let given = AccessFixture::new().await;
    let hidden = HiddenProject::in_company(&given).await;
    let document = document().finish().expect("a document");
    let promises = AccessTable::read();
    let rows = promises.rows.iter().filter(|row| !row.method.is_safe() && !row.path.contains("-invalidate/"));
    let rows: Vec<&AccessRow> = rows.filter(|row| row.path.starts_with("/companies/")).collect();
    let mut allowed = Vec::new();
    for kind in RESTRICTED {
        allowed.extend(rows.iter().filter(|row| promises.promised(row, kind) < 400).map(|row| (kind, *row)));
    }
    let all = allowed.len();
    let (mut with_fields, mut done, mut pairs, mut broken) = (0, 0, 0, BTreeMap::new());
    let mut baselines: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (kind, row) in effort::cases(allowed) {
        // An earlier request may have taken them.
        given.give_roles(&given.project).await;
        let call = format!("{} {}", row.method, row.path);
        let (credential, target) = given.prepared(kind, row).await;
        if row.path.contains("/customers/{customerId}/") {
            let customer: String = target.split_inclusive('/').take(5).collect();
            let managers = json!({ "interview_managers": [hidden.manager.uri, format!("https://hr.example/api/v3{customer}")] });
            given.owner.patch(&hidden.project, managers).await.expect(200);
        }
        let baseline = match baselines.get(kind) {
            Some(seen) => seen.clone(),
            None => {
                let seen = hidden.seen(&given, |request| credential.sign(request)).await;
                baselines.entry(kind).or_insert(seen).clone()
            }
        };
        let body = FullBody { document: &document, number: given.new_number(), hidden: &hidden };
        let request = Request::new(row.method.clone(), &target);
        let fields = body.of(&row.method, row.path);
        let names = [body.email(), format!("attacker-{}", body.number)];
        let (answer, is_done) = match &fields {
            Some(fields) => send_with_fields(&given, &request, &credential, fields).await,
            None => {
                let response = given.app.send(credential.sign(request)).await;
                (text_of(&response), response.status.is_success())
            }
        };
        with_fields += usize::from(fields.is_some());
        done += usize::from(is_done);
        if !is_done {
            eprintln!("not done: {kind}: {call}: {answer:.300}");
        }
        given.app.settle().await;
        // Things that the caller sees by itself.
        let mut ways: Vec<(&str, BTreeSet<&str>)> = Vec::new();
        ways.push(("itself", hidden.seen(&given, |request| credential.sign(request)).await));
        // The caller reads the thing as well, which may show keys now.
        let shown = given.app.send(credential.sign(Request::get(&target))).await;
        // Changes that the caller may now make to the hidden project by itself.
        for (way, method, target) in hidden.grabs() {
            let grab = Request::new(method, &target).json(&json!({ "recipient": "Me", "name": "Mine" }));
            let taken = given.app.send(credential.sign(grab)).await;
            pairs += 1;
            if taken.status.is_success() {
                broken.insert((kind, call.clone()), format!("{kind}: {call}, then {way}: {taken}"));
            }
        }
        for name in &names {
            let reset = json!({ "company": "acme", "username": name });
            given.app.anonymous().post("/api-password-reset/", reset).await.expect(202);
        }
        given.app.settle().await;
        let mailed = given.app.mails_to(&body.email());
        let mailed = mailed.iter().filter_map(|mail| mail.text.clone()).collect::<Vec<_>>().join("\n");
        for (way, text) in [("answer", answer), ("resource", text_of(&shown)), ("mail", mailed)] {
            for secret in secrets(&text) {
                if secret.starts_with("ivo_") {
                    let chosen = json!({ "key": secret, "password": PASSWORD });
                    given.app.anonymous().post("/api-password-reset/confirm/", chosen).await;
                    let chosen = json!({ "activation_key": secret, "password": PASSWORD });
                    given.app.anonymous().post("/api-activate/", chosen).await;
                    continue;
                }
                for scheme in ["Token", "ActivationKey", "GuestKey"] {
                    let sign =
                        |request: Request| request.header("authorization", &format!("{scheme} {secret}"));
                    ways.push((way, hidden.seen(&given, sign).await));
                }
            }
        }
        // The resets of both names, and the mails.
        pairs += names.len();
        let has_names = fields.as_ref().is_some_and(|fields| fields.all.contains_key("email"));
        for name in names.iter().filter(|_| has_names) {
            let login = given.app.anonymous().log_in("acme", name, PASSWORD).await;
            pairs += 1;
            if login.status.as_u16() == 200 {
                let token: Token = given.app.token(&login.uri("token"));
                ways.push(("login", hidden.seen(&given, |request| token.sign(request)).await));
            }
        }
        pairs += ways.len();
        for (way, seen) in ways {
            let more: Vec<&str> = seen.difference(&baseline).copied().collect();
            if !more.is_empty() {
                broken.insert((kind, call.clone()), format!("{kind}: {call}, then {way}: {more:?}"));
            }
        }
    }
    eprintln!(
        "{all} requests; of those tried, {with_fields} have fields and {done} were done; {pairs} pairs"
    );
    assert!(broken.is_empty(), "{}", broken.into_values().collect::<Vec<_>>().join("\n"));
    assert!(pairs >= effort::bound(600, 200), "{pairs} pairs");
}
