//! The service under test: the functions behind the gateway, on the local back end. Each test has its own table.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use admin::{CommandOutput, OperatorCommand};
use embedded::{Answers, Backend, Events, Gateway, Mail, Storage, Template};
use serde_json::{Value, json};
use shared::app::App;
use shared::clock::SystemEntropy;
use shared::config::Config;
use shared::domain::random::RandomSource;
use tokio::sync::OnceCell;

use crate::caller::{Anonymous, Browser, Caller, PASSWORD, Staff, Token};
use crate::changes::TableChanges;
use crate::clock::ManualClock;
use crate::functions::functions;
use crate::http::{Request, Response};
use crate::logs;
use crate::recorder;
use crate::soundness::SoundAtEnd;
use crate::table::Table;

/// The base URL of the service in tests.
pub const BASE_URL: &str = "https://hr.example/api/v3";
/// The company that most tests use.
pub const COMPANY: &str = "acme";

/// The timeout of a request: longer than the 30 seconds of AWS, because the computer may be busy.
const PATIENCE: Duration = Duration::from_secs(600);
/// The user name of the owner of every company.
const OWNER: &str = "owner";
/// Settings for password hashes with the same cost as in production.
pub const FULL_COST: [(&str, &str); 1] = [("WEAK_PASSWORD_HASHES", "")];

/// Several back ends for all tests of a process: starting one takes longer than most tests, and the DynamoDB emulator
/// searches all its transactions of the last ten minutes for each new one.
static BACKENDS: [LazyLock<Backend>; 16] = [const { LazyLock::new(start_backend) }; 16];

static TABLES: AtomicUsize = AtomicUsize::new(0);
/// The part of table names that distinguishes processes that use the same endpoint.
static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let mut bytes = [0; 4];
    SystemEntropy.fill(&mut bytes);
    format!("{:08x}", u32::from_be_bytes(bytes))
});
static ADDRESSES: AtomicUsize = AtomicUsize::new(0);

/// The service with an empty table and a clock that starts at [`ManualClock::START`]. Clones share everything.
///
/// When the last clone is dropped, the test fails unless the table is sound: see [`TestApp::assert_sound`].
#[derive(Clone)]
pub struct TestApp(Arc<Inner>);

struct Inner {
    backend: &'static Backend,
    environment: BTreeMap<&'static str, String>,
    app: App,
    clock: Arc<ManualClock>,
    gateway: Gateway,
    events: Events,
    /// The token, URL and email address of the owner of [`COMPANY`]. A caller is not stored, because it holds this app,
    /// which would never be dropped.
    owner: OnceCell<(String, String, String)>,
    people: AtomicUsize,
    sound: SoundAtEnd,
}

impl TestApp {
    /// Starts the service with the usual settings.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts the service with additional environment variables.
    pub async fn start_with(variables: &[(&'static str, &str)]) -> Self {
        Self::assemble(next_backend(), variables, Arc::new(SystemEntropy), ManualClock::new())
    }

    pub(crate) fn assemble(
        backend: &'static Backend,
        variables: &[(&'static str, &str)],
        entropy: Arc<dyn RandomSource>,
        clock: ManualClock,
    ) -> Self {
        logs::install();
        let table = format!("test-{}-{:04}", *PROCESS, TABLES.fetch_add(1, Ordering::Relaxed));
        backend.create_table(&table).expect("a new table");
        let bucket = format!("{table}-media");
        backend.create_bucket(&bucket).expect("a new bucket");
        let mut environment = backend.environment(BASE_URL, &table);
        environment.insert("BUCKET_NAME", bucket);
        if backend.is_embedded() {
            environment.insert("WEAK_PASSWORD_HASHES", "1".to_owned());
            environment.insert("OUTGOING_TARGETS", "loopback".to_owned());
        }
        environment.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        // The service uses another receipt secret: its text equals its name.
        for (_, name) in
            variables.iter().filter(|(name, value)| *name == "RECEIPT_SECRET_ID" && !value.is_empty())
        {
            backend.create_secret(name, name).expect("a new secret");
        }
        Self::with_environment(backend, environment, Arc::new(clock), entropy)
    }

    /// A newly started service on the same back end, with other values of some environment variables.
    pub fn started_anew(&self, variables: &[(&'static str, &str)]) -> Self {
        let mut environment = self.environment().clone();
        environment.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Self::with_environment(self.backend(), environment, self.0.clock.clone(), Arc::new(SystemEntropy))
    }

    /// Replaces the key that encrypts the table's secrets, as an operator does.
    pub fn rotate_seal_key(&self) {
        self.put_seal_secret(&"0123456789abcdef".repeat(4));
    }

    /// Replaces the text of the secret that the encryption key is derived from.
    pub fn put_seal_secret(&self, text: &str) {
        self.put_secret("SEAL_SECRET_ID", text);
    }

    /// Replaces the text of the secret that an environment variable names.
    pub fn put_secret(&self, variable: &str, text: &str) {
        let now = shared::clock::Clock::now(&*self.0.clock);
        self.backend().put_secret(&self.environment()[variable], text, now).expect("another value");
    }

    fn with_environment(
        backend: &'static Backend,
        environment: BTreeMap<&'static str, String>,
        clock: Arc<ManualClock>,
        entropy: Arc<dyn RandomSource>,
    ) -> Self {
        let config = Config::from_variables(|name| environment.get(name).cloned()).expect("settings");
        let app = App::new(config, clock.clone(), entropy);
        let (table, bucket) = (&app.config().table, &environment["BUCKET_NAME"]);
        // The candidate's page uploads recordings to the bucket, as in the template.
        let page = app.config().base_url.origin().ascii_serialization();
        let origins = [app.config().allowed_origins.as_slice(), &[page]].concat();
        backend.allow_origins(bucket, &origins);
        let functions = functions(|id| recorder::watch(&app, id));
        let origins = &app.config().allowed_origins;
        let template = Template::of_workspace().expect("the template");
        let gateway = Gateway::with_timeout(template, &functions, origins, PATIENCE).expect("the gateway");
        let events = Events::new(template, &functions, backend, &app).expect("the triggers");
        let sound = SoundAtEnd::new(backend, table.clone());
        Self(Arc::new(Inner {
            backend,
            environment,
            app,
            clock,
            gateway,
            events,
            owner: OnceCell::new(),
            people: AtomicUsize::new(0),
            sound,
        }))
    }

    /// The AWS services that the service uses.
    pub(crate) fn backend(&self) -> &'static Backend {
        self.0.backend
    }

    /// The environment variables of the functions.
    pub fn environment(&self) -> &BTreeMap<&'static str, String> {
        &self.0.environment
    }

    pub fn app(&self) -> &App {
        &self.0.app
    }

    /// The `App` of the function with this logical id. Its AWS calls are recorded.
    pub(crate) fn app_of(&self, function: &str) -> App {
        recorder::watch(self.app(), function)
    }

    pub fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    /// The clock, for code that runs concurrently with the service.
    pub fn shared_clock(&self) -> Arc<ManualClock> {
        self.0.clock.clone()
    }

    pub fn items(&self) -> Vec<Value> {
        self.backend().items(&self.app().config().table).expect("a scan")
    }

    /// The changes of the table, from its first item.
    pub fn changes(&self) -> TableChanges {
        TableChanges::of(self)
    }

    pub fn table(&self) -> Table<'_> {
        Table::of(self.app())
    }

    /// Sends a request through the gateway.
    pub async fn send(&self, request: Request) -> Response {
        let request = request.into_http(&self.app().config().base_url);
        let line = format!("{} {}", request.method(), request.uri());
        // Boxed: the futures of tests that send many kinds of requests would overflow the thread's stack.
        Response::read(line, Box::pin(self.0.gateway.call(request)).await).await
    }

    /// Answers a request as the gateway does, for a test's own server.
    pub async fn answer(&self, request: axum::extract::Request) -> axum::response::Response {
        self.0.gateway.call(request).await
    }

    /// The events that start functions, for tests where a function must fail.
    pub fn events(&self) -> &Events {
        &self.0.events
    }

    /// Delivers the table's stream and the bucket's events until nothing is left. Returns the number of delivered
    /// records and events.
    pub async fn settle(&self) -> usize {
        let mut taken = 0;
        loop {
            let objects = self.events().deliver_objects().await.unwrap_or_else(|failed| panic!("{failed}"));
            let records = self.events().deliver_stream().await.unwrap_or_else(|failed| panic!("{failed}"));
            taken += objects + records;
            if objects + records == 0 {
                return taken;
            }
        }
    }

    /// Checks that the table is sound: it contains exactly the items and counts that follow from the companies and what
    /// they own. Every test ends with this check; call it before a step that could hide a problem.
    ///
    /// # Panics
    /// With all problems.
    pub fn assert_sound(&self) {
        self.0.sound.check();
    }

    /// Allows the test to end with an unsound table. `reason` says why.
    pub fn leave_unsound(&self, reason: &'static str) {
        self.0.sound.excuse(reason);
    }

    /// Runs every scheduled function. Returns the responses by logical id.
    pub async fn sweep(&self) -> BTreeMap<String, Value> {
        succeeded(self.events().run_schedules().await)
    }

    /// Puts an event on the platform's bus. Returns the responses of the functions that receive it, by logical id.
    pub async fn put_event(&self, event: Value) -> BTreeMap<String, Value> {
        succeeded(self.events().put_event(event).await.unwrap_or_else(|refused| panic!("{refused}")))
    }

    /// A caller without a credential.
    pub fn anonymous(&self) -> Anonymous {
        Anonymous(self.clone())
    }

    /// A caller with this token.
    pub fn token(&self, secret: &str) -> Token {
        Token { app: self.clone(), secret: secret.to_owned() }
    }

    /// The owner of [`COMPANY`]. The first call creates the company.
    pub async fn owner(&self) -> Staff {
        let create = async || {
            let owner = self.owner_of(COMPANY).await;
            (owner.secret().to_owned(), owner.uri.clone(), owner.email.clone())
        };
        let (secret, uri, email) = self.0.owner.get_or_init(create).await;
        Staff {
            token: self.token(secret),
            company: COMPANY.to_owned(),
            uri: uri.clone(),
            username: OWNER.to_owned(),
            email: email.clone(),
        }
    }

    /// Creates a company and returns its owner.
    pub async fn owner_of(&self, company: &str) -> Staff {
        let email = next_address(OWNER, &format!("{company}.example"));
        let command = json!({
            "command": "create-company",
            "company": company,
            "name": "Acme & Sons",
            "owner": person(OWNER, &email),
        });
        self.log_in_created(command, company, OWNER, email).await
    }

    /// Creates a staff user of [`COMPANY`] with an account type such as `recruiter`.
    pub async fn staff(&self, account_type: &str) -> Staff {
        self.owner().await;
        let number = self.0.people.fetch_add(1, Ordering::Relaxed) + 1;
        let username = format!("{account_type}-{number}");
        let email = next_address(&username, &format!("{COMPANY}.example"));
        let command = json!({
            "command": "create-customer",
            "company": COMPANY,
            "account_type": account_type,
            "customer": person(&username, &email),
        });
        self.log_in_created(command, COMPANY, &username, email).await
    }

    /// An email address that is unique in this process.
    pub fn next_email(&self) -> String {
        next_address("candidate", "mail.example")
    }

    /// The mails sent to an address, newest first.
    pub fn mails_to(&self, address: &str) -> Vec<Arc<Mail>> {
        self.backend().mailbox().to(address)
    }

    /// The key at the end of the link in the newest mail to an address.
    ///
    /// # Panics
    /// If there is no such mail or link.
    pub fn mailed_key(&self, address: &str) -> String {
        let mails = self.mails_to(address);
        let text = mails.first().and_then(|mail| mail.text.as_deref());
        let text = text.unwrap_or_else(|| panic!("no mail to {address}"));
        let link = ["/activate/", "/reset-password/", "/confirm-email/", "/restore-email/"]
            .iter()
            .find_map(|path| Some(text.split_once(path)?.1));
        let rest = link.unwrap_or_else(|| panic!("no link with a key in {text}"));
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect()
    }

    /// Runs an operator command.
    pub async fn operate(&self, command: Value) -> shared::Result<CommandOutput> {
        let command: OperatorCommand = serde_json::from_value(command).expect("a command");
        // Boxed, as in `shared::event`.
        Box::pin(admin::handle(&self.app_of("AdminFunction"), command)).await
    }

    /// Logs a staff user in and returns their token.
    pub(crate) async fn log_in(&self, company: &str, username: &str) -> Token {
        let response = self.anonymous().log_in(company, username, PASSWORD).await.expect(200);
        self.token(&response.uri("token"))
    }

    /// A browser after a user has logged in.
    pub async fn browser(&self, company: &str, username: &str) -> Browser {
        let login = json!({ "company": company, "username": username, "password": PASSWORD });
        let request =
            Request::post("/api-session-auth/").json(&login).header("sec-fetch-site", "same-origin");
        let response = self.send(request).await.expect(200);
        let cookie = response.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        let cookie = cookie.and_then(|pair| pair.strip_prefix("sessionid="));
        let cookie = cookie.unwrap_or_else(|| panic!("no session cookie in {response}")).to_owned();
        self.browser_with(cookie)
    }

    /// A browser with this session cookie.
    pub fn browser_with(&self, cookie: String) -> Browser {
        Browser { app: self.clone(), cookie }
    }

    async fn log_in_created(&self, command: Value, company: &str, username: &str, email: String) -> Staff {
        let created = self.operate(command).await.unwrap_or_else(|refused| panic!("{refused}"));
        let token = self.log_in(company, username).await;
        let username = username.to_owned();
        let uri = created["customer"].as_str().expect("a staff user").to_owned();
        Staff { token, company: company.to_owned(), uri, username, email }
    }

    /// A token whose session was revoked.
    pub async fn dead_session(&self) -> Token {
        let token = self.owner().await.new_token().await;
        token.send(Request::post("/api-token-invalidate/")).await.expect(204);
        token
    }
}

/// Starts a back end; with `AWS_ENDPOINT_URL`, it uses the services at that URL.
fn start_backend() -> Backend {
    let external = std::env::var_os("AWS_ENDPOINT_URL");
    let storage = external.map_or(Storage::Memory, |url| Storage::External(url.to_string_lossy().into()));
    Backend::start(&storage).expect("the back end starts")
}

/// The next back end in turn, so that all serve equally many tests.
pub(crate) fn next_backend() -> &'static Backend {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    &BACKENDS[NEXT.fetch_add(1, Ordering::Relaxed) % BACKENDS.len()]
}

fn succeeded(answers: Answers) -> BTreeMap<String, Value> {
    let succeed = |(name, answer): (String, Result<Value, _>)| match answer {
        Ok(answer) => (name, answer),
        Err(failed) => panic!("{name}: {failed}"),
    };
    answers.into_iter().map(succeed).collect()
}

/// An email address that is unique in this process: tests share mailboxes.
fn next_address(name: &str, domain: &str) -> String {
    format!("{name}.{}@{domain}", ADDRESSES.fetch_add(1, Ordering::Relaxed))
}

/// A staff user, as arguments of operator commands.
pub fn person(username: &str, email: &str) -> Value {
    json!({
        "first_name": "Sam",
        "last_name": "Staff",
        "username": username,
        "email": email,
        "password": PASSWORD,
    })
}
