//! Walking from page to page while others add and remove rows: whoever was there throughout is seen exactly once.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Colleague, Staff, last_segment};

/// A list that is walked, and how rows come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalkedList {
    Candidates,
    NewCandidates,
    CandidatesByEmail,
    Projects,
    IncompleteProjects,
    OwnProjects,
    Customers,
    InvitedCustomers,
    Labels,
    SharesOfCandidate,
    SharedWithMe,
    Roles,
    Tokens,
}

/// How many rows there are at first, and on a page.
const ROWS: usize = 17;
const SIZE: usize = 3;

struct PageWalk {
    list: WalkedList,
    owner: Staff,
    walker: Staff,
    project: String,
    candidate: String,
    /// The path of the list.
    target: String,
}

impl PageWalk {
    async fn new(list: WalkedList) -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let person = app.staff("hiring-manager").await;
        let project = app.staff("admin").await.running_project(json!({})).await;
        let candidate = owner.candidate(&project, json!({})).await;
        let acme = "/companies/acme/";
        let target = match list {
            WalkedList::Candidates => format!("{project}candidates/?"),
            WalkedList::NewCandidates => format!("{project}candidates/?status=new&"),
            WalkedList::CandidatesByEmail => format!("{project}candidates/?email=ada@mail.example&"),
            WalkedList::Projects | WalkedList::OwnProjects => format!("{acme}projects/?"),
            WalkedList::IncompleteProjects => format!("{acme}projects/?status=10-incomplete&"),
            WalkedList::Customers => format!("{acme}customers/?"),
            WalkedList::InvitedCustomers => format!("{acme}customers/?status=invited&"),
            WalkedList::Labels => format!("{acme}labels/?"),
            WalkedList::SharesOfCandidate => format!("{candidate}shares/?"),
            WalkedList::SharedWithMe => format!("{acme}shares/?"),
            WalkedList::Roles => format!("{project}roles/?"),
            WalkedList::Tokens => format!("{acme}tokens/?"),
        };
        let sees_own = matches!(list, WalkedList::OwnProjects | WalkedList::SharedWithMe);
        let walker = if sees_own { person } else { owner.clone() };
        Self { list, owner, walker, project, candidate, target: format!("{target}page_size={SIZE}") }
    }

    /// Adds a row and gives its address.
    async fn add(&self) -> String {
        let (owner, created) = (&self.owner, |response: tests::http::Response| response.uri("resource_uri"));
        match self.list {
            WalkedList::Candidates | WalkedList::NewCandidates | WalkedList::CandidatesByEmail => {
                owner.candidate(&self.project, json!({ "email": "ada@mail.example" })).await
            }
            WalkedList::Projects | WalkedList::IncompleteProjects => owner.project(json!({})).await,
            WalkedList::OwnProjects => owner.project(json!({ "reviewers": [self.walker.uri] })).await,
            WalkedList::Customers | WalkedList::InvitedCustomers => self.colleague().await.uri,
            WalkedList::Labels => owner.label(&owner.app().next_email()).await,
            WalkedList::SharesOfCandidate => {
                let body = json!({ "customer": self.colleague().await.uri });
                created(owner.post(&format!("{}shares/", self.candidate), body).await.expect(201))
            }
            WalkedList::SharedWithMe => {
                let candidate = owner.candidate(&self.project, json!({})).await;
                let body = json!({ "customer": self.walker.uri });
                created(owner.post(&format!("{candidate}shares/"), body).await.expect(201))
            }
            WalkedList::Roles => {
                let body = json!({ "customer": self.colleague().await.uri, "role": "reviewer" });
                created(owner.post(&format!("{}roles/", self.project), body).await.expect(201))
            }
            WalkedList::Tokens => owner.named_token("Payroll").await.0,
        }
    }

    async fn colleague(&self) -> Colleague {
        self.owner.colleague("hiring-manager", json!({})).await
    }

    /// Takes a row out of the list; false when that cannot be.
    async fn remove(&self, uri: &str) -> bool {
        let owner = &self.owner;
        match self.list {
            WalkedList::Projects => return false,
            WalkedList::IncompleteProjects => drop(owner.set_status(uri, "40-running").await.expect(200)),
            WalkedList::OwnProjects => drop(owner.patch(uri, json!({ "reviewers": [] })).await.expect(200)),
            WalkedList::NewCandidates => drop(owner.skip(uri).await.expect(200)),
            _ if [&owner.uri, &self.walker.uri].contains(&&uri.to_owned()) => return false,
            _ => drop(owner.delete(uri).await.expect(204)),
        }
        true
    }

    async fn page(&self, target: &str) -> (Vec<String>, Value) {
        let list = self.walker.get(target).await.expect(200).json();
        let rows = list["objects"].as_array().unwrap().iter();
        let uris: Vec<String> = rows.map(|row| row["resource_uri"].as_str().unwrap().to_owned()).collect();
        let ids: Vec<&Value> = list["objects"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
        assert_eq!(ids, uris.iter().map(|uri| last_segment(uri)).collect::<Vec<_>>());
        (uris, list["meta"].clone())
    }

    /// Every row of every page from `target` on by the links of one name, while rows come and go if they are to. Without that,
    /// as clients do that send the cursor as a parameter.
    async fn follow(
        &self,
        link: &str,
        target: &str,
        gone: Option<&mut BTreeSet<String>>,
    ) -> (Vec<String>, String) {
        let (all, mut gone) = (self.rows().await, gone);
        let (mut seen, mut next) = (Vec::new(), Some(target.to_owned()));
        let mut last = String::new();
        let by_cursor = gone.is_none();
        while let Some(target) = next {
            let (rows, meta) = self.page(&target).await;
            assert!(rows.len() <= SIZE);
            last = target;
            next = meta[link].as_str().map(str::to_owned);
            if by_cursor {
                next = meta["cursor"].as_str().map(|cursor| format!("{}&cursor={cursor}", self.target));
            }
            if let Some(gone) = &mut gone {
                // Both ends of the page, where the next one begins, and one of each neighbouring page.
                let place = |row: Option<&String>| all.iter().position(|uri| Some(uri) == row);
                let near = place(rows.first())
                    .into_iter()
                    .flat_map(|first| [first.wrapping_sub(2), first + SIZE + 1]);
                let near: Vec<&String> = near.filter_map(|place| all.get(place)).collect();
                let doomed: BTreeSet<String> =
                    [rows.first(), rows.last()].into_iter().flatten().chain(near).cloned().collect();
                for uri in doomed {
                    if !gone.contains(&uri) && self.remove(&uri).await {
                        gone.insert(uri);
                    }
                }
                if seen.len() < 2 * ROWS {
                    self.add().await;
                }
            }
            seen.extend(rows);
            assert!(seen.len() < 5 * ROWS, "the walk has no end: {seen:?}");
        }
        (seen, last)
    }

    /// Every row, in order.
    async fn rows(&self) -> Vec<String> {
        let (mut rows, mut next) =
            (Vec::new(), Some(self.target.replace(&format!("page_size={SIZE}"), "page_size=100")));
        while let Some(target) = next {
            let (page, meta) = self.page(&target).await;
            rows.extend(page);
            next = meta["next"].as_str().map(str::to_owned);
        }
        rows
    }
}

async fn check(list: WalkedList) {
    let walk = PageWalk::new(list).await;
    for _ in 0..ROWS {
        walk.add().await;
    }
    for link in ["next", "previous"] {
        while walk.rows().await.len() < ROWS {
            walk.add().await;
        }
        let there = walk.rows().await;
        let (forth, end) = walk.follow("next", &walk.target, None).await;
        assert_eq!(forth, there, "{list:?}, undisturbed");
        let start = if link == "next" { &walk.target } else { &end };
        let mut gone = BTreeSet::new();
        let (seen, _) = walk.follow(link, start, Some(&mut gone)).await;
        let distinct: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len(), "{list:?} by {link}: a row was seen twice");
        for uri in there.iter().filter(|uri| !gone.contains(*uri)) {
            assert!(distinct.contains(uri), "{list:?} by {link}: {uri} was missed");
        }
        assert!(gone.len() >= 5 || list == WalkedList::Projects, "{list:?} has hardly changed");
    }
}

macro_rules! walks {
    ($($name:ident: $list:ident;)+) => {
        $(#[tokio::test]
        async fn $name() {
            check(WalkedList::$list).await;
        })+
    };
}

walks! {
    candidates: Candidates;
    candidates_with_a_status: NewCandidates;
    candidates_with_an_email: CandidatesByEmail;
    projects: Projects;
    projects_with_a_status: IncompleteProjects;
    projects_with_a_role: OwnProjects;
    customers: Customers;
    customers_with_a_status: InvitedCustomers;
    labels: Labels;
    shares_of_a_candidate: SharesOfCandidate;
    shares_with_the_caller: SharedWithMe;
    roles: Roles;
    named_tokens: Tokens;
}

#[tokio::test]
async fn from_a_page_that_has_emptied_the_links_lead_back_to_the_rows_next_to_it() {
    let walk = PageWalk::new(WalkedList::Labels).await;
    let mut labels = Vec::new();
    for _ in 0..5 {
        labels.push(walk.add().await);
    }
    let (first, meta) = walk.page(&walk.target).await;
    let next = meta["next"].as_str().unwrap();
    for uri in &labels[3..] {
        assert!(walk.remove(uri).await);
    }
    let (none, meta) = walk.page(next).await;
    assert_eq!((none.len(), &meta["next"]), (0, &Value::Null));
    assert_eq!(walk.page(meta["previous"].as_str().unwrap()).await.0, first);
}
