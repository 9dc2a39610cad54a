//! Many candidates at once, written past the service: as it would have left them, but for names to log in with.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use chrono::{DateTime, Utc};
use shared::app::App;
use shared::clock::Clock;
use shared::domain::candidate::{Candidate, CandidateProfile, CandidateStatus};
use shared::domain::project_counts::shard_of;
use shared::domain::text::ShortName;
use tokio::task::JoinSet;

use crate::app::TestApp;
use crate::table::{candidate_item, search_entry_items};

/// How many items one call writes.
const TOGETHER: usize = 25;

impl TestApp {
    /// Puts `count` invited candidates with this deadline into the project at `project`, and counts them.
    ///
    /// All are called Ada Byron and their number, from 0.
    pub async fn fill(&self, project: &str, count: usize, deadline: DateTime<Utc>) {
        let name = |text: &str| ShortName::parse(text).expect("a name");
        let ada = |number| CandidateProfile::new(name("Ada"), name(&format!("Byron {number}")));
        self.fill_with(project, deadline, (0..count).map(ada)).await;
    }

    /// Puts an invited candidate with each of these profiles and this deadline into the project at `project`.
    pub async fn fill_with(
        &self,
        project: &str,
        deadline: DateTime<Utc>,
        profiles: impl Iterator<Item = CandidateProfile>,
    ) {
        let (app, now) = (self.app().clone(), self.clock().now());
        let reference = format!("{project}candidates/{}/", app.ids().next::<()>(now));
        let (company, project, _) = shared::http::reference::ReferenceUris::new(app.config())
            .parse_candidate(&reference)
            .expect("the address of a project");
        let mut counts = BTreeMap::<u8, i64>::new();
        let mut calls = JoinSet::new();
        let mut items = Vec::new();
        for mut profile in profiles {
            profile.deadline = Some(deadline);
            let id = app.ids().next(now);
            let mut candidate = Candidate::new(id, company.clone(), project, profile, None);
            candidate.status = CandidateStatus::Invited;
            candidate.invited_at = Some(now);
            *counts.entry(shard_of(id)).or_default() += 1;
            items.push(candidate_item(&candidate));
            items.extend(search_entry_items(&candidate));
            while items.len() >= TOGETHER {
                let rest = items.split_off(TOGETHER);
                calls.spawn(write(app.clone(), std::mem::replace(&mut items, rest)));
            }
            while calls.len() > 8 {
                calls.join_next().await.expect("a call").expect("a write");
            }
        }
        if !items.is_empty() {
            calls.spawn(write(app, items));
        }
        calls.join_all().await;
        for (shard, count) in counts {
            self.table().count((&company, project, shard), "status:invited", count).await;
        }
    }
}

async fn write(app: App, items: Vec<HashMap<String, AttributeValue>>) {
    let put = |item| PutRequest::builder().set_item(Some(item)).build().expect("a request");
    let requests: Vec<_> =
        items.into_iter().map(|item| WriteRequest::builder().put_request(put(item)).build()).collect();
    let call = app.aws().dynamodb().batch_write_item().request_items(&app.config().table, requests);
    let answer = call.send().await.expect("a write");
    assert!(answer.unprocessed_items.is_none_or(|left| left.is_empty()));
}
