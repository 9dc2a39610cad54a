//! The service as tests start it: the functions behind the gateway, on the local back end, each test with its own table.

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

/// The base URL that the service of a test believes to have.
pub const BASE_URL: &str = "https://hr.example/api/v3";
/// The company that most tests are about.
pub const COMPANY: &str = "acme";

/// How long a request may take. AWS allows 30 seconds, which a computer that is busy with other things may exceed.
const PATIENCE: Duration = Duration::from_secs(600);
/// The user name of the owner of every company.
const OWNER: &str = "owner";
/// Has passwords hashed as in production.
pub const FULL_COST: [(&str, &str); 1] = [("WEAK_PASSWORD_HASHES", "")];

/// Some for all tests of a process: starting one costs more than most tests, and each transaction of DynamoDB's emulator looks at
/// all of its transactions of the last ten minutes.
static BACKENDS: [LazyLock<Backend>; 16] = [const { LazyLock::new(start_backend) }; 16];

static TABLES: AtomicUsize = AtomicUsize::new(0);
/// The part of table names that tells this process from others at the same endpoint.
static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let mut bytes = [0; 4];
    SystemEntropy.fill(&mut bytes);
    format!("{:08x}", u32::from_be_bytes(bytes))
});
static ADDRESSES: AtomicUsize = AtomicUsize::new(0);

/// The service with an empty table and a clock that stands at [`ManualClock::START`]. Clones share everything.
///
/// The test fails when the last one is dropped, unless the table is sound: see [`TestApp::assert_sound`].
#[derive(Clone)]
pub struct TestApp(Arc<Inner>);

struct Inner {
    backend: &'static Backend,
    environment: BTreeMap<&'static str, String>,
    app: App,
    clock: Arc<ManualClock>,
    gateway: Gateway,
    events: Events,
    /// The token, the URL and the email address of the owner of [`COMPANY`]: a caller would hold this app for ever.
    owner: OnceCell<(String, String, String)>,
    people: AtomicUsize,
    sound: SoundAtEnd,
}

impl TestApp {
    /// The service with the settings that most tests have.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// The service with some environment variables of its own.
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
        // Another deployment, whose secret has its name as its text.
        for (_, name) in
            variables.iter().filter(|(name, value)| *name == "RECEIPT_SECRET_ID" && !value.is_empty())
        {
            backend.create_secret(name, name).expect("a new secret");
        }
        Self::with_environment(backend, environment, Arc::new(clock), entropy)
    }

    /// The same service in processes that have just started, with other values of some environment variables.
    pub fn started_anew(&self, variables: &[(&'static str, &str)]) -> Self {
        let mut environment = self.environment().clone();
        environment.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Self::with_environment(self.backend(), environment, self.0.clock.clone(), Arc::new(SystemEntropy))
    }

    /// Gives the seals of the table another key, as an operator does.
    pub fn rotate_seal_key(&self) {
        self.put_seal_secret(&"0123456789abcdef".repeat(4));
    }

    /// Gives the secret of the seals another value.
    pub fn put_seal_secret(&self, text: &str) {
        self.put_secret("SEAL_SECRET_ID", text);
    }

    /// Gives the secret that this variable of functions names another value.
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
        // The candidate's page sends recordings to the bucket, as in the template.
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

    /// The AWS services behind it.
    pub(crate) fn backend(&self) -> &'static Backend {
        self.0.backend
    }

    /// The environment variables of its functions.
    pub fn environment(&self) -> &BTreeMap<&'static str, String> {
        &self.0.environment
    }

    pub fn app(&self) -> &App {
        &self.0.app
    }

    /// The `App` of the function with this logical id, whose calls are recorded.
    pub(crate) fn app_of(&self, function: &str) -> App {
        recorder::watch(self.app(), function)
    }

    pub fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    /// The clock, for what runs beside the service.
    pub fn shared_clock(&self) -> Arc<ManualClock> {
        self.0.clock.clone()
    }

    /// Every item of the table, in DynamoDB's JSON.
    pub fn items(&self) -> Vec<Value> {
        self.backend().items(&self.app().config().table).expect("a scan")
    }

    /// The changes of the table from its first item on.
    pub fn changes(&self) -> TableChanges {
        TableChanges::of(self)
    }

    /// The table behind the service.
    pub fn table(&self) -> Table<'_> {
        Table::of(self.app())
    }

    /// Sends a request through the gateway.
    pub async fn send(&self, request: Request) -> Response {
        let request = request.into_http(&self.app().config().base_url);
        let line = format!("{} {}", request.method(), request.uri());
        // Boxed, since tests that send many kinds of requests would overflow their thread's stack.
        Response::read(line, Box::pin(self.0.gateway.call(request)).await).await
    }

    /// Answers a request as the gateway does, for a server of the test's.
    pub async fn answer(&self, request: axum::extract::Request) -> axum::response::Response {
        self.0.gateway.call(request).await
    }

    /// The events that start functions, for tests in which a function is to fail.
    pub fn events(&self) -> &Events {
        &self.0.events
    }

    /// Has everything done that the table's stream and the bucket's events lead to, and gives the number of records and
    /// events that functions took.
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

    /// Checks that the table is sound: everything that follows from companies and what they own is there, and nothing
    /// else. Every test ends with this check; call it where a later step could hide what went wrong.
    ///
    /// # Panics
    /// With everything that is wrong.
    pub fn assert_sound(&self) {
        self.0.sound.check();
    }

    /// Lets the test end with an unsound table, for a reason.
    pub fn leave_unsound(&self, reason: &'static str) {
        self.0.sound.excuse(reason);
    }

    /// Runs every function that has a schedule, and gives their answers by their logical ids.
    pub async fn sweep(&self) -> BTreeMap<String, Value> {
        succeeded(self.events().run_schedules().await)
    }

    /// Puts an event on the platform's bus, and gives the answers of the functions that take it by their logical ids.
    pub async fn put_event(&self, event: Value) -> BTreeMap<String, Value> {
        succeeded(self.events().put_event(event).await.unwrap_or_else(|refused| panic!("{refused}")))
    }

    /// Somebody without a credential.
    pub fn anonymous(&self) -> Anonymous {
        Anonymous(self.clone())
    }

    /// A caller with this token.
    pub fn token(&self, secret: &str) -> Token {
        Token { app: self.clone(), secret: secret.to_owned() }
    }

    /// The owner of [`COMPANY`], which comes to exist with them.
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

    /// The owner of a new company.
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

    /// A new staff user of [`COMPANY`], of an account type such as `recruiter`.
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

    /// An address that nobody else in this process has.
    pub fn next_email(&self) -> String {
        next_address("candidate", "mail.example")
    }

    /// The mails that SES took for an address, newest first.
    pub fn mails_to(&self, address: &str) -> Vec<Arc<Mail>> {
        self.backend().mailbox().to(address)
    }

    /// The key that ends the link in the newest mail to an address.
    ///
    /// # Panics
    /// When there is none.
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

    /// Gives an operator's command.
    pub async fn operate(&self, command: Value) -> shared::Result<CommandOutput> {
        let command: OperatorCommand = serde_json::from_value(command).expect("a command");
        // Boxed, as in `shared::event`.
        Box::pin(admin::handle(&self.app_of("AdminFunction"), command)).await
    }

    /// A token of a staff user, by a real login.
    pub(crate) async fn log_in(&self, company: &str, username: &str) -> Token {
        let response = self.anonymous().log_in(company, username, PASSWORD).await.expect(200);
        self.token(&response.uri("token"))
    }

    /// A browser in which somebody has logged in.
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

    /// A browser with this session.
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

    /// A token that has been invalidated.
    pub async fn dead_session(&self) -> Token {
        let token = self.owner().await.new_token().await;
        token.send(Request::post("/api-token-invalidate/")).await.expect(204);
        token
    }
}

/// With `AWS_ENDPOINT_URL`, the services that answer there.
fn start_backend() -> Backend {
    let external = std::env::var_os("AWS_ENDPOINT_URL");
    let storage = external.map_or(Storage::Memory, |url| Storage::External(url.to_string_lossy().into()));
    Backend::start(&storage).expect("the back end starts")
}

/// One that serves as many tests as any other.
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

/// An address that nobody else in this process has: tests share mailboxes.
fn next_address(name: &str, domain: &str) -> String {
    format!("{name}.{}@{domain}", ADDRESSES.fetch_add(1, Ordering::Relaxed))
}

/// A staff user as the operator's commands describe one.
pub fn person(username: &str, email: &str) -> Value {
    json!({
        "first_name": "Sam",
        "last_name": "Staff",
        "username": username,
        "email": email,
        "password": PASSWORD,
    })
}
