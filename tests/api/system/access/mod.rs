//! Every route × every kind of caller, against `access.txt`.

mod conducted;
mod exchanged;
mod given;
mod handbook;
mod pairs;
mod sent;

use std::collections::BTreeSet;

use axum::http::Method;
use embedded::groups;
use serde_json::{Value, json};
use shared::http::serve::mounts::MOUNTS;
use shared::openapi::ApiDocument;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Token};
use tests::document::document;
use tests::http::Request;

pub(crate) use given::AccessFixture;

/// The promised statuses of one route, one for each kind of caller, in the order of [`Promises::kinds`].
pub(crate) struct AccessRow {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    statuses: Vec<u16>,
}

pub(crate) struct AccessTable {
    kinds: Vec<&'static str>,
    pub(crate) rows: Vec<AccessRow>,
}

impl AccessTable {
    pub(crate) fn read() -> Self {
        let lines = include_str!("../access.txt").lines();
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let kinds = lines.next().unwrap().split_whitespace().skip(2).collect();
        let rows = lines.map(|line| {
            let mut cells = line.split_whitespace();
            let (method, path) = (cells.next().unwrap().parse().unwrap(), cells.next().unwrap());
            AccessRow { method, path, statuses: cells.map(|status| status.parse().unwrap()).collect() }
        });
        Self { kinds, rows: rows.collect() }
    }

    /// The status that a row promises to this kind of caller.
    fn promised(&self, row: &AccessRow, kind: &str) -> u16 {
        let column = self.kinds.iter().position(|one| *one == kind).unwrap();
        row.statuses[column]
    }
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let mounted: BTreeSet<_> = MOUNTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(groups::<ApiDocument>().iter().map(|(name, _)| *name).collect::<BTreeSet<_>>(), mounted);

    let promises = AccessTable::read();
    let promised: Vec<_> = promises.rows.iter().map(|row| format!("{} {}", row.method, row.path)).collect();
    let document = document();
    let routes: Vec<_> = document.routes().iter().map(|(method, path)| format!("{method} {path}")).collect();
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

/// The credential that a caller presents.
enum CallerCredential {
    None,
    Token(Token),
    Key(Invited),
}

impl CallerCredential {
    fn sign(&self, request: Request) -> Request {
        match self {
            Self::None => request,
            Self::Token(token) => token.sign(request),
            Self::Key(invited) => invited.sign(request),
        }
    }
}

/// The candidate that a request is about.
enum RowTarget {
    New(String),
    Invited(Invited),
}

impl RowTarget {
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

#[tokio::test]
async fn every_kind_of_caller_gets_the_promised_status_from_every_route_that_reads() {
    assert_promised_statuses(|row| row.method.is_safe()).await;
}

#[tokio::test]
async fn every_kind_of_caller_gets_the_promised_status_from_every_route_that_changes() {
    assert_promised_statuses(|row| !row.method.is_safe()).await;
}

/// Also, what is refused changes nothing.
async fn assert_promised_statuses(is_meant: impl Fn(&AccessRow) -> bool) {
    let given = AccessFixture::new().await;
    let promises = AccessTable::read();
    // By the stream, since the table grows with what each request is about.
    let mut changes = given.app.changes();
    let mut broken = Vec::new();
    for row in promises.rows.iter().filter(|row| is_meant(row)) {
        let kinds = promises.kinds.iter().copied().zip(row.statuses.iter().copied());
        let kinds = kinds.clone().chain(exchanged::promised(row, kinds));
        // Requests that change nothing share one subject, except those of the candidate in the path and of a sharee.
        let (unchanging, others): (Vec<_>, Vec<_>) = kinds.partition(|(kind, promised)| {
            (row.method.is_safe() || *promised >= 400)
                && !matches!(*kind, "this-candidate" | "key" | "sharee")
        });
        let common = match unchanging.first() {
            Some((kind, _)) => Some(given.subject(kind, row).await),
            None => None,
        };
        // The others come later: creating their subjects may delete the shared one.
        let unchanging = unchanging.into_iter().map(|caller| (caller, common.as_deref()));
        for ((kind, promised), subject) in unchanging.chain(others.into_iter().map(|caller| (caller, None))) {
            let request = match subject {
                Some(subject) => given.request_about(subject, kind, row).await,
                None => given.request(kind, row).await,
            };
            changes.take();
            let response = given.app.send(request).await;
            let call = format!("{} {} as {kind}", row.method, row.path);
            let status = response.status.as_u16();
            if status != promised {
                broken.push(format!("{call}: {status}, not {promised}"));
                continue;
            }
            if status >= 400 {
                assert_eq!(changes.take(), [Value::Null; 0], "{call}");
            }
            match status {
                401 => {
                    assert_eq!(response.header("www-authenticate"), Some("Token"), "{response}");
                }
                403 if kind.ends_with("token:read-only") && !row.method.is_safe() => {
                    drop(response.expect_code(403, "read_only_token"));
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
    }
}
