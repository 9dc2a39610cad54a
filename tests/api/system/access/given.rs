//! The service with one of each kind of caller.

use std::sync::atomic::{AtomicU32, Ordering};

use axum::http::Method;
use image::ImageFormat;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, Token, last_segment};
use tests::files::{Form, pdf, photo};
use tests::http::Request;
use tests::issuer::{SigningAlgorithm, SigningKey, TestIssuer};
use tests::videos::film;

use super::conducted::is_conducted;
use super::exchanged::{Exchanges, ends_credential};
use super::sent::{announcement, criterion, legal_text, new_customer, question, sign_in, veto};
use super::{AccessRow, CallerCredential, RowTarget};

/// The service with one of each kind of caller, and a project in which some of them have a role.
pub(crate) struct AccessFixture {
    pub(crate) app: TestApp,
    pub(crate) project: String,
    /// Another project with the same roles, in which nobody begins.
    draft: String,
    /// Another one, whose interviews the service conducts.
    asked: String,
    pub(crate) owner: Staff,
    roles: Value,
    staff: Vec<(&'static str, Staff)>,
    dead: String,
    /// The values of named tokens by the kinds of callers that have them.
    tokens: Vec<(&'static str, String)>,
    pub(super) exchanges: Exchanges,
    /// Candidates of the project whom no path names.
    candidate: Token,
    invited: Invited,
    /// A video that has been converted.
    playable: String,
    /// The provider of the company's staff.
    pub(super) issuer: TestIssuer,
    made: AtomicU32,
}

impl AccessFixture {
    pub(crate) async fn new() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let [admin, recruiter, r_manager] =
            [app.staff("admin").await, app.staff("recruiter").await, app.staff("recruiter").await];
        let [hiring, sharee] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
        let evaluator = app.staff("hiring-manager").await;
        let [reviewer, manager] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
        // By an admin, so that the owner holds no role.
        let project = app.staff("admin").await.running_project(json!({})).await;
        let roles = json!({
            "evaluators": [evaluator.uri],
            "reviewers": [reviewer.uri],
            "interview_managers": [r_manager.uri, manager.uri],
            "allow_hash_login": true,
            "veto_enabled": true,
        });
        let draft = app.staff("admin").await.project(json!({})).await;
        let asked =
            app.staff("admin").await.running_project(json!({ "interview_platform": "builtin" })).await;
        for project in [&project, &draft, &asked] {
            owner.patch(project, roles.clone()).await.expect(200);
        }
        let staff = vec![
            ("stranger", app.owner_of("globex").await),
            ("owner", owner.clone()),
            ("admin", admin),
            ("recruiter", recruiter),
            ("r-manager", r_manager),
            ("hiring", hiring),
            ("sharee", sharee),
            ("evaluator", evaluator),
            ("reviewer", reviewer),
            ("manager", manager),
        ];
        let dead = app.dead_session().await.secret;
        let managed = json!([project, draft, asked]);
        let rights = [
            ("token", json!({})),
            ("token:admin", json!({ "account_type": "admin" })),
            ("token:recruiter", json!({ "account_type": "recruiter" })),
            ("token:manager", json!({ "account_type": "recruiter", "projects": managed })),
            ("token:read-only", json!({ "read_only": true })),
        ];
        let exchanges = Exchanges::new(&app, &owner, &rights).await;
        let mut tokens = Vec::new();
        for (kind, rights) in rights {
            let (_, token) = owner.named_token_with(rights).await;
            // Later requests of the day then write nothing.
            token.get("/whoami/").await.expect(200);
            tokens.push((kind, token.secret));
        }
        app.app().finish_background().await;
        let candidate = owner.invite(&project, json!({})).await.register().await;
        let invited = owner.invite(&project, json!({})).await;
        let form = Form::new().text("name", "Welcome").file("file", "film.mp4", "video/mp4", &film());
        let playable = owner.send(Request::post("/companies/acme/videos/").form(form)).await.expect(201);
        let playable = playable.uri("resource_uri");
        let legal = "/companies/acme/legal/";
        owner.post(legal, legal_text("consent")).await.expect(201);
        app.settle().await;
        let issuer = TestIssuer::start(&[&SigningKey::new("first", SigningAlgorithm::Es256)]).await;
        let made = AtomicU32::new(0);
        Self {
            app,
            project,
            draft,
            asked,
            owner,
            roles,
            staff,
            dead,
            tokens,
            exchanges,
            candidate,
            invited,
            playable,
            issuer,
            made,
        }
    }

    /// Gives the kinds of callers their roles in a project.
    pub(super) async fn give_roles(&self, project: &str) {
        self.owner.patch(project, self.roles.clone()).await.expect(200);
    }

    /// A name that nothing has yet.
    pub(super) fn new_name(&self) -> String {
        format!("new-{}", self.new_number())
    }

    /// A number that nothing has yet.
    pub(super) fn new_number(&self) -> u32 {
        self.made.fetch_add(1, Ordering::Relaxed)
    }

    /// A new candidate for a request of `kind` on the route with this path, if it names one, and shared with the sharee if they send it.
    async fn candidate(&self, kind: &str, path: &str) -> Option<RowTarget> {
        let candidate = self.unshared_candidate(kind, path).await?;
        if kind == "sharee" {
            let share = json!({ "customer": self.staff("sharee").uri });
            self.owner.post(&format!("{}shares/", candidate.uri()), share).await.expect(201);
        }
        Some(candidate)
    }

    async fn unshared_candidate(&self, kind: &str, path: &str) -> Option<RowTarget> {
        if !path.contains("{candidateId}") {
            return None;
        }
        if is_conducted(path) {
            return Some(RowTarget::Invited(self.owner.invite(&self.asked, json!({})).await));
        }
        let needs_key = path.ends_with("/reminder/") || path.contains("/help-request/");
        if matches!(kind, "this-candidate" | "key") || needs_key || is_interviewed(path) {
            let invited = self.owner.invite(&self.project, json!({})).await;
            if path.ends_with("/advance/") {
                invited.choose_password().await;
            }
            return Some(RowTarget::Invited(invited));
        }
        let ready = json!({ "email": "ada@mail.example", "deadline": "2027-01-01T00:00:00Z" });
        Some(RowTarget::New(self.owner.candidate(&self.project, ready).await))
    }

    /// The path with the identifiers of things that are there.
    async fn target(&self, path: &str, about: Option<&RowTarget>) -> String {
        let path = match path {
            "/companies/{companyId}/search/" => format!("{path}?q=ada"),
            "/companies/{companyId}/usage/" => format!("{path}?from=2026-11&to=2026-11"),
            "/companies/{companyId}/candidates/" => format!("{path}?email=ada@mail.example"),
            "/companies/{companyId}/events/" => format!("{path}?project={}", self.project),
            _ => path.to_owned(),
        };
        let is_asked = path.contains("/questions/") || path.contains("/criteria/");
        let project = match is_conducted(&path) {
            true => &self.asked,
            false if is_asked => &self.draft,
            false => &self.project,
        };
        let mut target = path.replace("{companyId}", "acme").replace("{projectId}", last_segment(project));
        if let Some(about) = about {
            target = target.replace("{candidateId}", last_segment(about.uri()));
        }
        target = target.replace("{file}", "reference.css");
        if is_conducted(&path) {
            return self.answered(&path, target, about.unwrap().invited()).await;
        }
        if let Some(about) = about.filter(|_| is_interviewed(&path)) {
            about.invited().advance(about.uri()).await.expect(200);
            self.app.complete(about.uri()).await;
        }
        let evaluator = self.staff("evaluator");
        if path.contains("/evaluations/{customerId}/") || path.contains("/results/{candidateId}/") {
            self.app.evaluate(about.unwrap().uri(), &evaluator.uri, true).await;
            target = target.replace("{customerId}", evaluator.id());
        }
        if path.contains("{vetoId}") {
            let vetos = target.split_inclusive("/vetos/").next().unwrap();
            let veto = evaluator.post(vetos, veto()).await.expect(201).uri("resource_uri");
            target = target.replace("{vetoId}", last_segment(&veto));
        }
        if target.contains("{customerId}") {
            let new = new_customer(&self.new_name());
            let created = self.owner.post("/companies/acme/customers/", new).await.expect(201);
            target = target.replace("{customerId}", last_segment(&created.uri("resource_uri")));
        }
        if path.contains("/sign-in/") {
            let settings = Request::put("/companies/acme/sign-in/").json(&sign_in(&self.issuer.url));
            self.owner.send(settings).await.expect(200);
        }
        if path.ends_with("{customerId}/sign-in/") {
            let link = Request::put(&target).json(&json!({ "subject": self.new_name() }));
            self.owner.send(link).await.expect(200);
        }
        if path.contains("{labelId}") {
            let label = self.owner.label(&self.new_name()).await;
            target = target.replace("{labelId}", last_segment(&label));
        }
        if path.contains("{eventId}") {
            target = target.replace("{eventId}", &self.event().await);
        }
        if path.contains("{webhookId}") {
            // So that the company never has too many.
            let all = "/companies/acme/webhooks/";
            for old in self.owner.get(all).await.expect(200).json()["objects"].as_array().unwrap() {
                self.owner.delete(old["resource_uri"].as_str().unwrap()).await.expect(204);
            }
            let webhook = self.owner.post(all, self.webhook()).await.expect(201).uri("resource_uri");
            target = target.replace("{webhookId}", last_segment(&webhook));
        }
        if path.contains("{documentId}") {
            let all = "/companies/acme/legal/";
            let text = self.owner.post(all, legal_text("privacy_policy")).await.expect(201);
            target = target.replace("{documentId}", last_segment(&text.uri("resource_uri")));
        }
        target = target.replace("{kind}", "consent");
        if path.contains("{tokenId}") {
            let (token, _) = self.owner.named_token("Another").await;
            target = target.replace("{tokenId}", last_segment(&token));
        }
        if path.contains("/exports/") {
            self.clear_exports().await;
        }
        if path.contains("{exportId}") {
            let export = self.owner.post("/companies/acme/exports/", json!({})).await.expect(202);
            target = target.replace("{exportId}", last_segment(&export.uri("resource_uri")));
        }
        if path.contains("{shareId}") {
            let shares = target.split_inclusive("/shares/").next().unwrap();
            let body = json!({ "customer": self.owner.uri });
            let share = self.owner.post(shares, body).await.expect(201).uri("resource_uri");
            target = target.replace("{shareId}", last_segment(&share));
        }
        if path.contains("{roleId}") {
            let roles = target.split_inclusive("/roles/").next().unwrap();
            let role = self.owner.post(roles, self.new_role().await).await.expect(201).uri("resource_uri");
            target = target.replace("{roleId}", last_segment(&role));
        }
        for (parameter, of, new) in
            [("{questionId}", "/questions/", question()), ("{criterionId}", "/criteria/", criterion())]
        {
            if path.contains(parameter) {
                let all = target.split_inclusive(of).next().unwrap();
                // So that the project never has too many.
                for old in self.owner.get(all).await.expect(200).json()["objects"].as_array().unwrap() {
                    self.owner.delete(old["resource_uri"].as_str().unwrap()).await.expect(204);
                }
                let made = self.owner.post(all, new).await.expect(201).uri("resource_uri");
                target = target.replace(parameter, last_segment(&made));
            }
        }
        if path.contains("{videoId}") {
            let video = if path.contains("{token}") { self.playable.clone() } else { self.video().await };
            target = target.replace("{videoId}", last_segment(&video));
            // So that candidates may know of it.
            let videos = json!({ "videos": [{ "uri": video, "position": 1 }] });
            self.owner.patch(&self.project, videos).await.expect(200);
        } else if path.contains("{token}") {
            let resource = target.split_inclusive('/').rev().skip(2).collect::<Vec<_>>();
            let resource: String = resource.into_iter().rev().collect();
            let form = Form::new().file("photo", "p.png", "image/png", &photo(ImageFormat::Png, 4, 4));
            let form = match path.contains("{candidateId}") {
                true => form.file("cv", "cv.pdf", "application/pdf", &pdf(10)),
                false => form,
            };
            self.owner.send(Request::patch(&resource).form(form)).await.expect(200);
        }
        if path.contains("/captions/") {
            target = target.replace("{language}", "en");
            let captions = target.split_inclusive("/captions/en/").next().unwrap();
            self.owner.send(Request::put(captions).form(self.captions(captions).await)).await.expect(200);
        }
        if path.contains("/logo/") {
            let logo = Request::put("/companies/acme/logo/").form(self.logo());
            let company = self.owner.send(logo).await.expect(200);
            target = target.replace("{logoId}", last_segment(&company.uri("logo")));
        }
        if path.contains("{uploadId}") {
            let uploads = target.split_inclusive("/uploads/").next().unwrap();
            let upload = self.owner.post(uploads, announcement()).await.expect(201).uri("resource_uri");
            target = target.replace("{uploadId}", last_segment(&upload));
        }
        assert!(!target.replace("{token}", "").contains('{'), "say what to call in {path}");
        target
    }

    /// Forgets all exports, of which a company may request four a day.
    async fn clear_exports(&self) {
        let table = self.app.table();
        for key in table.contents().await.into_keys().filter(|(pk, _)| pk.starts_with("EXPORTS#")) {
            table.erase(&key).await;
        }
    }

    /// The kind of caller who may do what a row says: the owner, but for evaluations and vetoes, and for
    /// answers.
    pub(crate) fn doer(AccessRow { method, path, .. }: &AccessRow) -> &'static str {
        let is_evaluated =
            path.contains("{candidateId}/evaluations/") || path.contains("{candidateId}/vetos/");
        match is_evaluated {
            true => "evaluator",
            false if path.contains("/captions/") => "owner",
            false if path.ends_with("/draft/") || path.ends_with("/help-request/") => "this-candidate",
            false if is_conducted(path) && *method != Method::DELETE && !is_interviewed(path) => {
                "this-candidate"
            }
            false => "owner",
        }
    }

    /// Staff of this kind.
    pub(crate) fn staff(&self, kind: &str) -> &Staff {
        let (_, staff) = self.staff.iter().find(|(name, _)| *name == kind).unwrap();
        staff
    }

    /// A request on a route without a credential, for something that would be done for staff who may have it done.
    pub(crate) async fn unsigned(&self, row: &AccessRow) -> Request {
        let subject = self.subject("owner", row).await;
        self.about(row, &subject, &CallerCredential::None).await
    }

    /// The path of something for which the request of a route would be done for a caller of this kind, if they may have it
    /// done, but for the token in it.
    pub(super) async fn subject(&self, kind: &str, row: &AccessRow) -> String {
        self.subject_with(self.candidate(kind, row.path).await, row).await
    }

    async fn subject_with(
        &self,
        candidate: Option<RowTarget>,
        AccessRow { method, path, .. }: &AccessRow,
    ) -> String {
        let target = self.target(path, candidate.as_ref()).await;
        if path.contains("/help-request/") && *method != Method::PUT {
            let asking = candidate.as_ref().unwrap().invited();
            asking.ask(&asking.uri, "time", "My exam is on the same day.").await.expect(200);
        }
        let is_put_first = path.ends_with("/hold/") || path.ends_with("/erasure-request/");
        if is_put_first && *method != Method::PUT {
            let put = Request::put(&target);
            let put =
                if path.ends_with("/hold/") { put.json(&json!({ "reason": "A lawsuit." })) } else { put };
            self.owner.send(put).await.expect(200);
        }
        target
    }

    async fn about(
        &self,
        AccessRow { method, path, .. }: &AccessRow,
        subject: &str,
        credential: &CallerCredential,
    ) -> Request {
        let mut target = subject.to_owned();
        if let Some((of, field)) = target.strip_suffix("/{token}/").and_then(|of| of.rsplit_once('/')) {
            // A take is shown with its answer.
            let shown_at = of.split("takes/").next().unwrap().trim_end_matches('/');
            // Captions are shown with their video or answer.
            let shown_at = shown_at.trim_end_matches("/captions");
            let shown = self.app.send(credential.sign(Request::get(&format!("{shown_at}/")))).await;
            // A caller who is not shown the resource has no token for its files.
            let address = match (shown.status.as_u16(), field) {
                // Candidates are shown no captions of their answers.
                (200, "en") => shown.json()["captions"][0]["url"].as_str().unwrap_or("AAAA").to_owned(),
                (200, "video") => shown.json()["streams"]["mp4"].as_str().unwrap().to_owned(),
                (200, _) => shown.uri(field),
                _ => "AAAA".to_owned(),
            };
            target = format!("{of}/{field}/{}/", last_segment(&address));
        }
        // So that a session login is not refused for where it comes from.
        let request = Request::new(method.clone(), &target).header("sec-fetch-site", "same-origin");
        match path.trim_end_matches('/').rsplit('/').next() {
            Some("{language}") if *method == Method::PUT => {
                return request.form(self.captions(&target).await);
            }
            Some("logo") if *method == Method::PUT => return request.form(self.logo()),
            _ => {}
        }
        match self.body(method, path).await {
            Some(body) => request.json(&body),
            None => request,
        }
    }

    /// A request of `kind` on a route, for something that would be done for whoever may have it done.
    pub(crate) async fn request(&self, kind: &str, row: &AccessRow) -> Request {
        let (credential, subject) = self.prepared(kind, row).await;
        self.signed(row, &subject, &credential).await
    }

    /// The credential of `kind` for a request on a route, and the path of something for which it would be done.
    pub(super) async fn prepared(&self, kind: &str, row: &AccessRow) -> (CallerCredential, String) {
        let candidate = self.candidate(kind, row.path).await;
        // Before the candidate begins the interview, which ends their key.
        let credential = self.credential(kind, row.path, candidate.as_ref()).await;
        let own = candidate.as_ref().filter(|_| kind == "this-candidate" && is_interviewed(row.path));
        let own = own.map(|about| about.invited().clone());
        let subject = self.subject_with(candidate, row).await;
        // The session has ended with the interview.
        let credential = match own {
            Some(own) => CallerCredential::Token(own.log_in().await),
            None => credential,
        };
        (credential, subject)
    }

    /// A request of `kind`, which is not the candidate, on a route about this.
    pub(super) async fn request_about(&self, subject: &str, kind: &str, row: &AccessRow) -> Request {
        self.signed(row, subject, &self.credential(kind, row.path, None).await).await
    }

    async fn signed(&self, row: &AccessRow, subject: &str, credential: &CallerCredential) -> Request {
        let request = self.about(row, subject, credential).await;
        // The token in the path is all that a request for a file has.
        if row.path.contains("{token}") { request } else { credential.sign(request) }
    }

    async fn credential(&self, kind: &str, path: &str, about: Option<&RowTarget>) -> CallerCredential {
        let ends_it = ends_credential(path);
        if let Some(secret) = self.exchanges.secret(&self.app, kind, ends_it).await {
            return CallerCredential::Token(self.app.token(&secret));
        }
        let secret = match kind {
            "anonymous" => return CallerCredential::None,
            "dead" => self.dead.clone(),
            kind if kind.starts_with("token") => {
                let (_, token) = self.tokens.iter().find(|(known, _)| *known == kind).unwrap();
                token.clone()
            }
            "key" => return CallerCredential::Key(about.map_or(&self.invited, RowTarget::invited).clone()),
            "this-candidate" if about.is_some() => about.unwrap().invited().register().await.secret,
            "this-candidate" | "other-candidate" if ends_it => {
                self.owner.invite(&self.project, json!({})).await.register().await.secret
            }
            "this-candidate" | "other-candidate" => self.candidate.secret.clone(),
            _ => {
                let staff = self.staff(kind);
                if ends_it { staff.new_token().await.secret } else { staff.secret().to_owned() }
            }
        };
        CallerCredential::Token(self.app.token(&secret))
    }
}

/// Whether a path is about a candidate who has completed the interview.
fn is_interviewed(path: &str) -> bool {
    path.contains("{candidateId}/vetos/")
        || path.contains("/results/{candidateId}/")
        || path.ends_with("/interview/reopen/")
        || path.contains("{candidateId}/guest-links/")
}
