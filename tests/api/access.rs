//! Every route × every kind of caller, against `access.txt`.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};
use shared::http::Routes;
use shared::http::mounts::MOUNTS;
use shared::http::routes::Route;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, PASSWORD, Staff, last_segment};
use tests::http::Request;

/// What is promised of one route: the status for each kind of caller, in the order of [`Promises::kinds`].
struct Row {
    method: Method,
    path: &'static str,
    statuses: Vec<u16>,
}

struct Promises {
    kinds: Vec<&'static str>,
    rows: Vec<Row>,
}

impl Promises {
    fn read() -> Self {
        let lines = include_str!("access.txt").lines();
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let kinds = lines.next().unwrap().split_whitespace().skip(2).collect();
        let rows = lines.map(|line| {
            let mut cells = line.split_whitespace();
            let (method, path) = (cells.next().unwrap().parse().unwrap(), cells.next().unwrap());
            Row { method, path, statuses: cells.map(|status| status.parse().unwrap()).collect() }
        });
        Self { kinds, rows: rows.collect() }
    }
}

/// Every group of routes that the gateway mounts.
fn groups() -> [(&'static str, Routes); 4] {
    [
        ("auth", auth::routes()),
        ("companies", companies::routes()),
        ("projects", projects::routes()),
        ("candidates", candidates::routes()),
    ]
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let mounted: BTreeSet<_> = MOUNTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(groups().iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(), mounted);

    let promises = Promises::read();
    let promised: Vec<_> = promises.rows.iter().map(|row| format!("{} {}", row.method, row.path)).collect();
    let name = |route: &Route| format!("{} {}", route.method, route.path);
    let routes: Vec<_> = groups().iter().flat_map(|(_, routes)| routes.list().iter().map(name)).collect();
    for route in &routes {
        assert!(promised.contains(route), "access.txt has no row for {route}");
    }
    for row in &promised {
        assert!(routes.contains(row), "access.txt has a row for {row}, which is no route");
    }
    assert_eq!(promised.len(), routes.len(), "a row, or a route, is there twice");
    for row in &promises.rows {
        assert_eq!(row.statuses.len(), promises.kinds.len(), "{} {}", row.method, row.path);
    }
}

/// The service with one of each kind of caller, and a project in which some of them have a role.
struct Given {
    app: TestApp,
    project: String,
    owner: Staff,
    staff: Vec<(&'static str, Staff)>,
    dead: String,
}

impl Given {
    async fn new() -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let [admin, recruiter, r_manager] =
            [app.staff("admin").await, app.staff("recruiter").await, app.staff("recruiter").await];
        let [hiring, evaluator] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
        let [reviewer, manager] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
        // By an admin, so that the owner holds no role.
        let project = app.staff("admin").await.running_project(json!({})).await;
        let roles = json!({
            "evaluators": [evaluator.uri],
            "reviewers": [reviewer.uri],
            "interview_managers": [r_manager.uri, manager.uri],
        });
        owner.patch(&project, roles).await.expect(200);
        let staff = vec![
            ("stranger", app.owner_of("globex").await),
            ("owner", owner.clone()),
            ("admin", admin),
            ("recruiter", recruiter),
            ("r-manager", r_manager),
            ("hiring", hiring),
            ("evaluator", evaluator),
            ("reviewer", reviewer),
            ("manager", manager),
        ];
        let dead = app.dead_session().await.secret;
        Self { app, project, owner, staff, dead }
    }

    /// A new candidate for a request of `kind` on the route with this path.
    async fn candidate(&self, kind: &str, path: &str) -> About {
        let is_candidate = matches!(kind, "itself" | "key");
        if is_candidate || path.ends_with("/reminder/") {
            let invited = self.owner.invite(&self.project, json!({})).await;
            if path.ends_with("/advance/") {
                invited.choose_password().await;
            }
            return About::Invited(invited);
        }
        let ready = json!({ "email": "ada@mail.example", "deadline": "2027-01-01T00:00:00Z" });
        About::New(self.owner.candidate(&self.project, ready).await)
    }

    /// A request of `kind` on a route, for something that would be done for whoever may have it done.
    async fn request(&self, kind: &str, Row { method, path, .. }: &Row) -> Request {
        let mut target = path.replace("{companyId}", "acme");
        target = target.replace("{projectId}", last_segment(&self.project));
        let about = self.candidate(kind, path).await;
        target = target.replace("{candidateId}", last_segment(about.uri()));
        // So that a session login is not refused for where it comes from.
        let mut request = Request::new(method.clone(), &target).header("sec-fetch-site", "same-origin");
        if let Some(body) = body(method, path) {
            request = request.json(&body);
        }
        let secret = match kind {
            "anonymous" => None,
            "dead" => Some(self.dead.clone()),
            "key" => return about.invited().sign(request),
            "itself" => Some(about.invited().register().await.secret),
            "candidate" => Some(self.owner.invite(&self.project, json!({})).await.register().await.secret),
            _ => {
                let (_, staff) = self.staff.iter().find(|(name, _)| *name == kind).unwrap();
                let ends_it = path.ends_with("-invalidate/");
                Some(if ends_it { staff.new_token().await.secret } else { staff.secret().to_owned() })
            }
        };
        match secret {
            Some(secret) => self.app.token(&secret).sign(request),
            None => request,
        }
    }
}

/// The candidate that a request is about.
enum About {
    New(String),
    Invited(Invited),
}

impl About {
    fn uri(&self) -> &str {
        match self {
            Self::New(uri) | Self::Invited(Invited { uri, .. }) => uri,
        }
    }

    fn invited(&self) -> &Invited {
        match self {
            Self::Invited(invited) => invited,
            Self::New(uri) => panic!("{uri} has no key"),
        }
    }
}

fn body(method: &Method, path: &str) -> Option<Value> {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap();
    match (method.as_str(), last) {
        ("GET" | "DELETE", _) => None,
        (_, "api-token-invalidate" | "api-session-invalidate" | "advance" | "skip" | "reminder") => None,
        ("PATCH", "deadline") => Some(json!({ "deadline": "2027-01-01T00:00:00Z" })),
        ("POST", "api-token-auth" | "api-session-auth") => {
            Some(json!({ "company": "acme", "username": "owner", "password": PASSWORD }))
        }
        ("POST", "projects") => Some(json!({ "name": "Another" })),
        ("POST", "candidates") => Some(json!({ "first_name": "Ada", "last_name": "Lovelace" })),
        ("POST", "import") => Some(json!([{ "first_name": "Ada", "last_name": "Lovelace" }])),
        ("PATCH", "status") => Some(json!({ "status": "40-running" })),
        ("PATCH", "{projectId}") => Some(json!({ "contact_person": "Grace Hopper" })),
        ("PATCH", "{candidateId}") => Some(json!({ "first_name": "Grace", "phone": "123" })),
        other => panic!("say what to send to {other:?}"),
    }
}

#[tokio::test]
async fn every_kind_of_caller_gets_from_every_route_what_is_promised() {
    let given = Given::new().await;
    let promises = Promises::read();
    let mut broken = Vec::new();
    for row in &promises.rows {
        for (kind, promised) in promises.kinds.iter().zip(&row.statuses) {
            let response = given.app.send(given.request(kind, row).await).await;
            let status = response.status.as_u16();
            if status != *promised {
                broken.push(format!("{} {} as {kind}: {status}, not {promised}", row.method, row.path));
                continue;
            }
            match status {
                401 => {
                    assert_eq!(response.header("www-authenticate"), Some("Token"), "{response}");
                }
                403 => drop(response.expect_code(403, "permission_denied")),
                404 => drop(response.expect_code(404, "not_found")),
                _ => {}
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[tokio::test]
async fn whoever_is_refused_changes_nothing() {
    let given = Given::new().await;
    let promises = Promises::read();
    for row in promises.rows.iter().filter(|row| !row.method.is_safe()) {
        let refused = promises.kinds.iter().zip(&row.statuses).filter(|(_, status)| **status >= 400);
        for (kind, _) in refused {
            let request = given.request(kind, row).await;
            let before = given.app.table().snapshot().await;
            given.app.send(request).await;
            assert_eq!(given.app.table().snapshot().await, before, "{} {} as {kind}", row.method, row.path);
        }
    }
}

#[tokio::test]
async fn a_role_counts_from_the_next_request_on_and_no_longer_than_it_is_held() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("hiring-manager").await;
    let project = owner.project(json!({})).await;
    let list = "/companies/acme/projects/";
    let seen = async || person.get(list).await.expect(200).json()["meta"]["total_count"].clone();
    person.get(&project).await.expect(404);
    assert_eq!(seen().await, 0);
    for (role, change) in [("evaluators", 403), ("interview_managers", 200), ("reviewers", 403)] {
        owner.patch(&project, json!({ role: [person.uri] })).await.expect(200);
        person.get(&project).await.expect(200);
        person.patch(&project, json!({ "internal_id": role })).await.expect(change);
        assert_eq!(seen().await, 1);
        owner.patch(&project, json!({ role: [] })).await.expect(200);
        person.get(&project).await.expect(404);
        assert_eq!(seen().await, 0);
        app.table().assert_sound().await;
    }
}
