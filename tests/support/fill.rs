//! Writes many candidates directly to the table, as the service would, except for user names.

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
    /// Adds `count` invited candidates with this deadline to the project at `project`, and counts them.
    ///
    /// Their first name is Ada, their last name Byron and a number from 0.
    pub async fn fill(&self, project: &str, count: usize, deadline: DateTime<Utc>) {
        let name = |text: &str| ShortName::parse(text).expect("a name");
        let ada = |number| CandidateProfile::new(name("Ada"), name(&format!("Byron {number}")));
        self.fill_with(project, deadline, (0..count).map(ada)).await;
    }

    /// Adds an invited candidate with this deadline for each profile to the project at `project`, and counts them.
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
