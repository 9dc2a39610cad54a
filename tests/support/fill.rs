//! Many candidates at once, written past the service: as it would have left them, but for names to log in with.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use shared::clock::Clock;
use shared::domain::candidate::{Candidate, CandidateProfile, CandidateStatus};
use shared::domain::text::ShortName;
use shared::domain::transition::project_counts::shard_of;
use tokio::task::JoinSet;

use crate::app::TestApp;
use crate::table::{BATCH, Item, Table, candidate_item, search_entry_items};

impl TestApp {
    /// Puts `count` invited candidates with this deadline into the project at `project`, and counts them.
    ///
    /// All are called Ada Byron and their number, from 0.
    pub async fn fill(&self, project: &str, count: usize, deadline: DateTime<Utc>) {
        let name = |text: &str| ShortName::parse(text).expect("a name");
        let ada = |number| CandidateProfile::new(name("Ada"), name(&format!("Byron {number}")));
        self.fill_with(project, deadline, (0..count).map(ada)).await;
    }

    /// Puts an invited candidate with each of these profiles and this deadline into the project at `project`, and counts them.
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
        let write = |items| {
            let app = app.clone();
            async move { Table::of(&app).write([], items).await }
        };
        let mut items: Vec<Item> = Vec::new();
        for mut profile in profiles {
            profile.deadline = Some(deadline);
            let id = app.ids().next(now);
            let mut candidate = Candidate::new(id, company.clone(), project, profile, None);
            candidate.status = CandidateStatus::Invited;
            candidate.invited_at = Some(now);
            *counts.entry(shard_of(id)).or_default() += 1;
            items.push(candidate_item(&candidate));
            items.extend(search_entry_items(&candidate));
            while items.len() >= BATCH {
                let rest = items.split_off(BATCH);
                calls.spawn(write(std::mem::replace(&mut items, rest)));
            }
            while calls.len() > 8 {
                calls.join_next().await.expect("a call").expect("a write");
            }
        }
        calls.spawn(write(items));
        calls.join_all().await;
        for (shard, count) in counts {
            self.table().count((&company, project, shard), "status:invited", count).await;
        }
    }
}
