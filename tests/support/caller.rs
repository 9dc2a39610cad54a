//! Callers in tests: each kind of caller is a type that authenticates its requests.

use std::future::Future;

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;

use crate::app::TestApp;
use crate::http::{Request, Response};

/// The password of all users in tests.
pub const PASSWORD: &str = "correct horse battery";

/// A caller that sends requests.
pub trait Caller: Send + Sync {
    /// The service that the caller uses.
    fn app(&self) -> &TestApp;

    /// Adds the caller's credential to a request.
    fn sign(&self, request: Request) -> Request;

    /// Sends a request as this caller.
    fn send(&self, request: Request) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.app().send(self.sign(request))
    }

    fn get(&self, target: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::get(target))
    }

    fn post(&self, target: &str, json: Value) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::post(target).json(&json))
    }

    fn patch(&self, target: &str, json: Value) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::patch(target).json(&json))
    }

    fn delete(&self, target: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::delete(target))
    }

    /// Advances the candidate at `uri`.
    fn advance(&self, uri: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::patch(&format!("{uri}status/advance/")))
    }

    /// Withdraws the candidate at `uri`.
    fn skip(&self, uri: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::patch(&format!("{uri}status/skip/")))
    }

    /// Cancels the interview of the candidate at `uri`.
    fn cancel(&self, uri: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        let reason = json!({ "reason": "The position is filled." });
        self.send(Request::post(&format!("{uri}cancel/")).json(&reason))
    }

    /// Sends a request for help, as the candidate at `uri`.
    fn ask(&self, uri: &str, kind: &str, text: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        let request = json!({ "kind": kind, "text": text });
        self.send(Request::put(&format!("{uri}help-request/")).json(&request))
    }

    /// Answers the request for help of the candidate at `uri`.
    fn answer_help(&self, uri: &str, text: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::post(&format!("{uri}help-request/answer/")).json(&json!({ "text": text })))
    }

    /// Reminds the candidate at `uri`.
    fn remind(&self, uri: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::post(&format!("{uri}reminder/")))
    }

    /// Sets the deadline of the candidate at `uri`.
    fn set_deadline(&self, uri: &str, deadline: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        self.send(Request::patch(&format!("{uri}deadline/")).json(&json!({ "deadline": deadline })))
    }
}

/// A caller without a credential.
#[derive(Clone)]
pub struct Anonymous(pub(crate) TestApp);

impl Caller for Anonymous {
    fn app(&self) -> &TestApp {
        &self.0
    }

    fn sign(&self, request: Request) -> Request {
        request
    }
}

impl Anonymous {
    /// Sends a login by token.
    pub async fn log_in(&self, company: &str, username: &str, password: &str) -> Response {
        let login = json!({ "company": company, "username": username, "password": password });
        self.post("/api-token-auth/", login).await
    }
}

/// A caller with a token, which may have been revoked.
#[derive(Clone)]
pub struct Token {
    pub(crate) app: TestApp,
    pub secret: String,
}

impl Caller for Token {
    fn app(&self) -> &TestApp {
        &self.app
    }

    fn sign(&self, request: Request) -> Request {
        request.header("authorization", &format!("Token {}", self.secret))
    }
}

/// A candidate with a key of their invitation.
#[derive(Clone)]
pub struct Invited {
    pub(crate) app: TestApp,
    /// The candidate's URL.
    pub uri: String,
    pub key: String,
    /// The candidate's email address.
    pub email: String,
}

impl Caller for Invited {
    fn app(&self) -> &TestApp {
        &self.app
    }

    fn sign(&self, request: Request) -> Request {
        request.header("authorization", &format!("ActivationKey {}", self.key))
    }
}

impl Invited {
    /// The candidate in a response, which must contain their key.
    #[track_caller]
    pub fn shown_in(app: &TestApp, response: &Response) -> Self {
        let [uri, key, email] = ["resource_uri", "activation_key", "email"].map(|name| response.uri(name));
        Self::new(app, &uri, &key, &email)
    }

    /// The candidate at `uri`, with a current or former key.
    pub fn new(app: &TestApp, uri: &str, key: &str, email: &str) -> Self {
        let [uri, key, email] = [uri, key, email].map(str::to_owned);
        Self { app: app.clone(), uri, key, email }
    }

    /// Sets the password to [`PASSWORD`].
    pub async fn choose_password(&self) {
        self.patch(&self.uri, json!({ "password": PASSWORD })).await.expect(200);
    }

    /// Sets the password to [`PASSWORD`] and logs in.
    pub async fn register(&self) -> Token {
        self.choose_password().await;
        self.log_in().await
    }

    /// Logs in with [`PASSWORD`].
    pub async fn log_in(&self) -> Token {
        self.app.log_in(company_of(&self.uri), &self.email).await
    }
}

/// The company in a URL.
fn company_of(uri: &str) -> &str {
    let rest = uri.split("/companies/").nth(1).unwrap_or_default();
    rest.split('/').next().unwrap_or_default()
}

/// A browser with a session cookie. Its requests come from the service's own origin.
#[derive(Clone)]
pub struct Browser {
    pub(crate) app: TestApp,
    /// The session's secret in the cookie.
    pub cookie: String,
}

impl Caller for Browser {
    fn app(&self) -> &TestApp {
        &self.app
    }

    fn sign(&self, request: Request) -> Request {
        request
            .header("cookie", &format!("theme=dark; sessionid={}", self.cookie))
            .header("sec-fetch-site", "same-origin")
    }
}

/// A staff user who has logged in by token.
#[derive(Clone)]
pub struct Staff {
    pub(crate) token: Token,
    pub company: String,
    /// The user's URL.
    pub uri: String,
    /// The user name.
    pub username: String,
    /// The user's email address.
    pub email: String,
}

impl Caller for Staff {
    fn app(&self) -> &TestApp {
        &self.token.app
    }

    fn sign(&self, request: Request) -> Request {
        self.token.sign(request)
    }
}

impl Staff {
    /// The secret of the user's token.
    pub fn secret(&self) -> &str {
        &self.token.secret
    }

    pub fn id(&self) -> &str {
        last_segment(&self.uri)
    }

    /// Logs the user in again and returns the new token.
    pub async fn new_token(&self) -> Token {
        self.app().log_in(&self.company, &self.username).await
    }

    /// The same user with a new session.
    pub async fn again(&self) -> Self {
        Self { token: self.new_token().await, ..self.clone() }
    }

    /// A browser after the user has logged in.
    pub async fn browser(&self) -> Browser {
        self.app().browser(&self.company, &self.username).await
    }

    /// Creates a project and returns its URL.
    pub async fn project(&self, fields: Value) -> String {
        let mut body = json!({ "name": "Sales" });
        merge(&mut body, fields);
        let projects = format!("/companies/{}/projects/", self.company);
        self.post(&projects, body).await.expect(201).uri("resource_uri")
    }

    /// Creates a customer with an account type and a unique email address, which is also the user name.
    pub async fn colleague(&self, account_type: &str, fields: Value) -> Colleague {
        let email = self.app().next_email();
        let mut body = json!({
            "first_name": "Col",
            "last_name": "League",
            "email": email,
            "account_type": account_type,
            "preferred_language": "en",
        });
        merge(&mut body, fields);
        let created = self.post(&format!("/companies/{}/customers/", self.company), body).await.expect(201);
        let (uri, email) = (created.uri("resource_uri"), created.uri("email"));
        Colleague { app: self.app().clone(), company: self.company.clone(), uri, email }
    }

    /// Creates a candidate in the project at `project` and returns their URL.
    pub async fn candidate(&self, project: &str, fields: Value) -> String {
        let mut body = json!({ "first_name": "Ada", "last_name": "Lovelace" });
        merge(&mut body, fields);
        self.post(&format!("{project}candidates/"), body).await.expect(201).uri("resource_uri")
    }

    /// Creates a label and returns its URL.
    pub async fn label(&self, text: &str) -> String {
        let labels = format!("/companies/{}/labels/", self.company);
        self.post(&labels, json!({ "text": text })).await.expect(201).uri("resource_uri")
    }

    /// Creates a named token with an owner's rights and uses it once. Returns its URL and a caller with the token.
    // The service records only the first use of a day, so later requests of the day write nothing.
    pub async fn named_token(&self, name: &str) -> (String, Token) {
        let (uri, token) = self.named_token_with(json!({ "name": name })).await;
        token.get("/whoami/").await.expect(200);
        self.app().app().finish_background().await;
        (uri, token)
    }

    /// Creates a named token with these fields, without using it. Returns its URL and a caller with the token.
    pub async fn named_token_with(&self, fields: Value) -> (String, Token) {
        let tokens = format!("/companies/{}/tokens/", self.company);
        let mut body = json!({ "name": "Service" });
        merge(&mut body, fields);
        let created = self.post(&tokens, body).await.expect(201);
        (created.uri("resource_uri"), self.app().token(&created.uri("value")))
    }

    /// Creates a project, starts it, and returns its URL.
    pub async fn running_project(&self, fields: Value) -> String {
        let project = self.project(fields).await;
        self.set_status(&project, "40-running").await.expect(200);
        project
    }

    /// Creates and invites a candidate, by default with a unique email address and a deadline in a week.
    pub async fn invite(&self, project: &str, fields: Value) -> Invited {
        let app = self.app();
        let email = app.next_email();
        let mut own = json!({ "email": email, "deadline": app.clock().in_days(7) });
        merge(&mut own, fields);
        let uri = self.candidate(project, own).await;
        Invited::shown_in(app, &self.advance(&uri).await.expect(200))
    }

    /// Creates a candidate in the running project at `project`, and moves them to a status as users would. The project
    /// must let candidates take part without a password.
    pub async fn candidate_at(&self, project: &str, status: CandidateStatus) -> String {
        use CandidateStatus::{
            Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
        };
        if status == New {
            return self.candidate(project, json!({})).await;
        }
        let app = self.app();
        let invited = self.invite(project, json!({})).await;
        let uri = invited.uri.clone();
        let advances = match status {
            New | Invited | Expired | Skipped => 0,
            Confirmed => 1,
            Interviewing | Interviewed | Aborted => 2,
        };
        for _ in 0..advances {
            invited.advance(&uri).await.expect(200);
        }
        match status {
            New | Invited | Confirmed | Interviewing => {}
            Interviewed => app.complete(&uri).await,
            Aborted => app.abort(&uri).await,
            Skipped => drop(self.skip(&uri).await.expect(200)),
            Expired => {
                self.set_deadline(&uri, &app.clock().in_days(0)).await.expect(200);
                app.expire_overdue().await;
            }
        }
        uri
    }

    /// Changes the status of the project at `project`.
    pub async fn set_status(&self, project: &str, status: &str) -> Response {
        self.patch(&format!("{project}status/"), json!({ "status": status })).await
    }
}

/// An invited customer.
#[derive(Clone)]
pub struct Colleague {
    app: TestApp,
    company: String,
    /// The customer's URL.
    pub uri: String,
    /// The customer's email address.
    pub email: String,
}

impl Colleague {
    /// Accepts the invitation with [`PASSWORD`] and logs in.
    pub async fn activate(&self) -> Staff {
        self.app.settle().await;
        let choice = json!({ "activation_key": self.app.mailed_key(&self.email), "password": PASSWORD });
        let activated = self.app.anonymous().post("/api-activate/", choice).await.expect(200);
        let username = activated.uri("username");
        Staff {
            token: self.app.log_in(&self.company, &username).await,
            company: self.company.clone(),
            uri: self.uri.clone(),
            username,
            email: self.email.clone(),
        }
    }
}

/// The identifier at the end of a URL.
pub fn last_segment(uri: &str) -> &str {
    uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Adds fields to a body, replacing fields of the same name.
pub fn merge(body: &mut Value, fields: Value) {
    if let (Value::Object(body), Value::Object(fields)) = (body, fields) {
        body.extend(fields);
    }
}
