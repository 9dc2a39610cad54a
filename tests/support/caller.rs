//! Callers of tests: each kind of caller is a type that knows how to present itself.

use std::future::Future;

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;

use crate::app::TestApp;
use crate::http::{Request, Response};

/// The password of everybody in tests.
pub const PASSWORD: &str = "correct horse battery";

/// Somebody who sends requests.
pub trait Caller: Send + Sync {
    /// The service that is called.
    fn app(&self) -> &TestApp;

    /// The request with this caller's credential.
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

    /// Takes the candidate at `uri` out.
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

    /// Asks for help as the candidate at `uri`.
    fn ask(&self, uri: &str, kind: &str, text: &str) -> impl Future<Output = Response> + Send
    where
        Self: Sized,
    {
        let request = json!({ "kind": kind, "text": text });
        self.send(Request::put(&format!("{uri}help-request/")).json(&request))
    }

    /// Answers what the candidate at `uri` has asked for.
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

/// Somebody without a credential.
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
    /// Tries to log in for a token.
    pub async fn log_in(&self, company: &str, username: &str, password: &str) -> Response {
        let login = json!({ "company": company, "username": username, "password": password });
        self.post("/api-token-auth/", login).await
    }
}

/// A caller with a token, dead or alive.
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

/// A candidate that has the key of its invitation.
#[derive(Clone)]
pub struct Invited {
    pub(crate) app: TestApp,
    /// The address of the candidate.
    pub uri: String,
    pub key: String,
    /// The address that mails go to.
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
    /// The candidate in a response, which must show its key.
    #[track_caller]
    pub fn shown_in(app: &TestApp, response: &Response) -> Self {
        let [uri, key, email] = ["resource_uri", "activation_key", "email"].map(|name| response.uri(name));
        Self::new(app, &uri, &key, &email)
    }

    /// The candidate at `uri`, with a key that it has or had.
    pub fn new(app: &TestApp, uri: &str, key: &str, email: &str) -> Self {
        let [uri, key, email] = [uri, key, email].map(str::to_owned);
        Self { app: app.clone(), uri, key, email }
    }

    /// Chooses [`PASSWORD`].
    pub async fn choose_password(&self) {
        self.patch(&self.uri, json!({ "password": PASSWORD })).await.expect(200);
    }

    /// Chooses [`PASSWORD`] and logs in.
    pub async fn register(&self) -> Token {
        self.choose_password().await;
        self.log_in().await
    }

    /// Logs in with [`PASSWORD`].
    pub async fn log_in(&self) -> Token {
        self.app.log_in(company_of(&self.uri), &self.email).await
    }
}

/// The company that an address is of.
fn company_of(uri: &str) -> &str {
    let rest = uri.split("/companies/").nth(1).unwrap_or_default();
    rest.split('/').next().unwrap_or_default()
}

/// A browser with a session cookie, on a page of the service's own origin.
#[derive(Clone)]
pub struct Browser {
    pub(crate) app: TestApp,
    /// The secret in the cookie.
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

/// A staff user who has logged in for a token.
#[derive(Clone)]
pub struct Staff {
    pub(crate) token: Token,
    pub company: String,
    /// The address of the user.
    pub uri: String,
    /// The name to log in with.
    pub username: String,
    /// The address that mails go to.
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
    /// The secret of the token that this user presents.
    pub fn secret(&self) -> &str {
        &self.token.secret
    }

    /// The identifier.
    pub fn id(&self) -> &str {
        last_segment(&self.uri)
    }

    /// One more token of this user.
    pub async fn new_token(&self) -> Token {
        self.app().log_in(&self.company, &self.username).await
    }

    /// The same user, who has just logged in again.
    pub async fn again(&self) -> Self {
        Self { token: self.new_token().await, ..self.clone() }
    }

    /// A browser in which this user has logged in.
    pub async fn browser(&self) -> Browser {
        self.app().browser(&self.company, &self.username).await
    }

    /// Creates a project and gives its address.
    pub async fn project(&self, fields: Value) -> String {
        let mut body = json!({ "name": "Sales" });
        merge(&mut body, fields);
        let projects = format!("/companies/{}/projects/", self.company);
        self.post(&projects, body).await.expect(201).uri("resource_uri")
    }

    /// Creates a customer of an account type with an address of its own, who is its user name as well.
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

    /// Creates a candidate in the project at `project` and gives its address.
    pub async fn candidate(&self, project: &str, fields: Value) -> String {
        let mut body = json!({ "first_name": "Ada", "last_name": "Lovelace" });
        merge(&mut body, fields);
        self.post(&format!("{project}candidates/"), body).await.expect(201).uri("resource_uri")
    }

    /// Creates a label and gives its address.
    pub async fn label(&self, text: &str) -> String {
        let labels = format!("/companies/{}/labels/", self.company);
        self.post(&labels, json!({ "text": text })).await.expect(201).uri("resource_uri")
    }

    /// Creates a named token with an owner's rights and uses it once. Gives its address and its holder.
    // The first use of a day is written; later requests of the day write nothing of it.
    pub async fn named_token(&self, name: &str) -> (String, Token) {
        let (uri, token) = self.named_token_with(json!({ "name": name })).await;
        token.get("/whoami/").await.expect(200);
        self.app().app().finish_background().await;
        (uri, token)
    }

    /// Creates a named token with these fields, which has not been used. Gives its address and its holder.
    pub async fn named_token_with(&self, fields: Value) -> (String, Token) {
        let tokens = format!("/companies/{}/tokens/", self.company);
        let mut body = json!({ "name": "Service" });
        merge(&mut body, fields);
        let created = self.post(&tokens, body).await.expect(201);
        (created.uri("resource_uri"), self.app().token(&created.uri("value")))
    }

    /// Creates a project and lets it run.
    pub async fn running_project(&self, fields: Value) -> String {
        let project = self.project(fields).await;
        self.set_status(&project, "40-running").await.expect(200);
        project
    }

    /// Creates a candidate with an address of its own and a deadline in a week, and invites it.
    pub async fn invite(&self, project: &str, fields: Value) -> Invited {
        let app = self.app();
        let email = app.next_email();
        let mut own = json!({ "email": email, "deadline": app.clock().in_days(7) });
        merge(&mut own, fields);
        let uri = self.candidate(project, own).await;
        Invited::shown_in(app, &self.advance(&uri).await.expect(200))
    }

    /// Creates a candidate in the running project at `project`, which lets candidates take part without a password, and
    /// brings it to a status by what really leads there.
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

/// A customer who has been invited.
#[derive(Clone)]
pub struct Colleague {
    app: TestApp,
    company: String,
    /// The address of the customer.
    pub uri: String,
    /// The address that mails go to.
    pub email: String,
}

impl Colleague {
    /// Takes up the invitation with [`PASSWORD`] and logs in.
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

/// The identifier at the end of an address.
pub fn last_segment(uri: &str) -> &str {
    uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Adds these fields to a body, and replaces those that it has.
pub fn merge(body: &mut Value, fields: Value) {
    if let (Value::Object(body), Value::Object(fields)) = (body, fields) {
        body.extend(fields);
    }
}
