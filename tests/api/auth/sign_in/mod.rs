//! Sign-in of staff by their company's provider.

mod addresses;
mod apart;
mod attacks;
mod kept;
mod people;
mod problems;
mod providers;
mod settings;

use serde_json::{Value, json};
use shared::clock::Clock as _;
use tests::app::TestApp;
use tests::caller::{Browser, Caller, Staff};
use tests::http::{Request, Response};
use tests::issuer::{AuthorizationRequest, CLIENT, CLIENT_SECRET, SigningAlgorithm, SigningKey, TestIssuer};

pub(crate) const SETTINGS: &str = "/companies/acme/sign-in/";
pub(crate) const SIGN_IN: &str = "/sign-in/acme/";
const CALLBACK: &str = "/sign-in/acme/callback/";
/// The address to which the provider leads back.
const REDIRECT_URI: &str = "https://hr.example/api/v3/sign-in/acme/callback/";
/// Where a sign-in leads on to by default.
const HOME: &str = "https://hr.example/staff/acme/";

/// A company whose staff sign in by a provider on this computer.
pub(crate) struct Acme {
    pub(crate) app: TestApp,
    pub(crate) owner: Staff,
    pub(crate) issuer: TestIssuer,
    pub(crate) key: SigningKey,
    /// The address at the company that the provider vouches for by default. No other test has it.
    pub(crate) ada: String,
}

/// A sign-in that has begun in a browser.
#[derive(Clone)]
pub(crate) struct Begun {
    pub(crate) request: AuthorizationRequest,
    /// The cookie, as the browser sends it back.
    pub(crate) cookie: String,
}

impl Acme {
    /// The company, whose provider is set.
    pub(crate) async fn new() -> Self {
        let given = Self::without_provider(TestApp::start().await).await;
        given.set(json!({})).await.expect(200);
        given
    }

    /// The company, whose provider is not set yet.
    pub(crate) async fn without_provider(app: TestApp) -> Self {
        let owner = app.owner().await;
        let key = SigningKey::new("first", SigningAlgorithm::Es256);
        let issuer = TestIssuer::start(&[&key]).await;
        let ada = address(&app, "acme.example");
        Self { app, owner, issuer, key, ada }
    }

    /// The settings with these in the place of others; null takes one away.
    pub(crate) fn settings(&self, changes: Value) -> Value {
        let settings = json!({
            "issuer": self.issuer.url, "client_id": CLIENT, "client_secret": CLIENT_SECRET, "domains": ["acme.example"],
        });
        with(settings, changes)
    }

    /// Sets the provider with these changes.
    pub(crate) async fn set(&self, changes: Value) -> Response {
        self.owner.send(Request::put(SETTINGS).json(&self.settings(changes))).await
    }

    /// An address of this domain that no other test has.
    pub(crate) fn address(&self, domain: &str) -> String {
        address(&self.app, domain)
    }

    /// Staff with this address at work.
    pub(crate) async fn colleague(&self, account_type: &str, email: &str) -> Staff {
        self.owner.colleague(account_type, json!({ "email": email })).await.activate().await
    }

    /// Begins a sign-in.
    pub(crate) async fn begin(&self) -> Begun {
        self.begin_at(SIGN_IN).await
    }

    pub(crate) async fn begin_at(&self, path: &str) -> Begun {
        let begun = self.app.send(Request::get(path)).await.expect(302);
        let cookie = begun.header("set-cookie").unwrap();
        Begun {
            request: AuthorizationRequest::read(begun.header("location").unwrap()),
            cookie: cookie.split(';').next().unwrap().to_owned(),
        }
    }

    /// The claims of an ID token for a sign-in, with these in the place of others; null takes one away.
    pub(crate) fn claims(&self, begun: &Begun, changes: Value) -> Value {
        let now = self.app.clock().now().timestamp();
        let claims = json!({
            "iss": self.issuer.url, "aud": CLIENT, "sub": "ada-at-provider", "nonce": begun.request.nonce,
            "iat": now, "exp": now + 300, "email": self.ada, "email_verified": true,
        });
        with(claims, changes)
    }

    /// A code that is redeemed for the ID token with these claims.
    pub(crate) fn code(&self, begun: &Begun, changes: Value) -> String {
        self.issuer.issue_code(&begun.request, self.key.sign(&self.claims(begun, changes)))
    }

    /// Comes back from the provider with a code.
    pub(crate) async fn end(&self, begun: &Begun, code: &str) -> Response {
        self.end_with(begun, &format!("code={code}")).await
    }

    /// Comes back from the provider with these parameters besides `state`.
    pub(crate) async fn end_with(&self, begun: &Begun, parameters: &str) -> Response {
        let back = format!("{CALLBACK}?state={}&{parameters}", begun.request.state);
        self.app.send(Request::get(&back).header("cookie", &begun.cookie)).await
    }

    /// A whole sign-in, whose ID token has these claims in the place of others.
    pub(crate) async fn sign_in(&self, changes: Value) -> Response {
        let begun = self.begin().await;
        let code = self.code(&begun, changes);
        self.end(&begun, &code).await
    }

    /// The answer to `/whoami/` by the session that a sign-in has begun.
    pub(crate) async fn whoami(&self, ended: &Response) -> Value {
        let cookie = session_in(ended).unwrap_or_else(|| panic!("no session: {ended}"));
        let whoami = Request::get("/whoami/").header("cookie", &cookie);
        self.app.send(whoami).await.expect(200).json()
    }

    /// The browser with the session that a sign-in has begun.
    pub(crate) fn browser_of(&self, ended: &Response) -> Browser {
        let cookie = session_in(ended).unwrap_or_else(|| panic!("no session: {ended}"));
        self.app.browser_with(cookie.trim_start_matches("sessionid=").to_owned())
    }

    /// Has the owner log in again, since changes take a login of the last hour.
    pub(crate) async fn owner_again(&mut self) {
        self.owner = self.owner.again().await;
    }

    /// Makes sure that Ada gets in, as nothing has broken the sign-in meanwhile.
    pub(crate) async fn assert_works(&self) {
        let whoami = self.whoami(&self.sign_in(json!({})).await.expect(302)).await;
        assert_eq!(whoami["resource"]["email"], self.ada, "{whoami}");
    }
}

/// The session cookie that a response sets.
pub(crate) fn session_in(response: &Response) -> Option<String> {
    let set = response.headers.get_all("set-cookie").into_iter().filter_map(|value| value.to_str().ok());
    let mut cookies = set.filter_map(|cookie| cookie.split(';').next()).map(str::to_owned);
    cookies.find(|cookie| cookie.starts_with("sessionid="))
}

/// Makes sure that a sign-in was refused with this code, on the page that says so, without a session, and that its cookie is gone.
#[track_caller]
pub(crate) fn assert_refused(response: &Response, code: &str, company: Option<&str>) {
    let company = company.map(|company| format!("&company={company}")).unwrap_or_default();
    let page = format!("https://hr.example/sign-in/?code={code}{company}");
    assert_eq!((response.status.as_u16(), response.header("location")), (303, Some(&*page)), "{response}");
    assert_eq!(session_in(response), None, "{response}");
    assert!(response.body.is_empty(), "nothing of the provider is shown: {response}");
    assert_eq!(response.log().cause, None, "what strangers cause is no failure: {response}");
}

fn with(mut object: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(object.as_object_mut().unwrap().remove(name)),
            value => object[name] = value.clone(),
        }
    }
    object
}

fn address(app: &TestApp, domain: &str) -> String {
    app.next_email().replace("mail.example", domain)
}
