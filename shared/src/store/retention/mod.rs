//! Access patterns of retention: the company's policy and its runs.

pub(super) mod company_erasure;
pub(super) mod run;

use std::ops::RangeInclusive;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _, TryStreamExt as _};

use super::due::{DuePages, DueQueue};
use super::table::handle::Store;
use super::table::item::{self, DueEntry, StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::read::batch::ItemBatch;
use super::table::read::query::{Query, QueryPage};
use super::table::write::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::history::ResourceChange;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::retention::RetentionPolicy;
use crate::domain::retention::review::{DueCandidate, RetentionReview};
use crate::domain::retention::run::{RetentionRun, RunCursor};
use crate::error::{Error, Result};

impl StoredEntity for RetentionPolicy {
    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::retention_policy(&self.company)
    }
}

impl StoredEntity for RetentionRun {
    fn key(&self) -> ItemKey {
        keys::retention_run(&self.company)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let company = &self.company;
        let shard = DueQueue::Retention.shard_of_text(company.as_str());
        Some(DueEntry { shard, at: self.work.indexed_at()?, company })
    }
}

/// The retention policy of a company, and its runs if there are any.
#[derive(Debug)]
pub struct CompanyRetention {
    /// The policy; [`RetentionPolicy::keep`] if none was ever set.
    pub policy: VersionedItem<RetentionPolicy>,
    /// The runs; `None` before the first policy of the company or of one of its projects.
    pub run: Option<VersionedItem<RetentionRun>>,
}

/// The keys of a [`CompanyRetention`].
pub(crate) fn retention_keys(company: &CompanyId) -> [ItemKey; 2] {
    [keys::retention_policy(company), keys::retention_run(company)]
}

impl ItemBatch {
    pub(crate) fn take_retention(&mut self, company: &CompanyId) -> Result<CompanyRetention> {
        let policy = self.take(&keys::retention_policy(company))?;
        let policy =
            policy.unwrap_or_else(|| VersionedItem::not_stored(RetentionPolicy::keep(company.clone())));
        Ok(CompanyRetention { policy, run: self.take(&keys::retention_run(company))? })
    }
}

impl Transaction {
    /// Creates the company's policy and the first run unless they exist.
    fn begin_runs(&mut self, before: &CompanyRetention, policy: &RetentionPolicy, first: &RetentionRun) {
        if !before.policy.is_stored() {
            self.create_unless(policy, || Error::Changed);
        }
        if before.run.is_none() {
            self.create_unless(first, || Error::Changed);
        }
    }
}

impl Store {
    /// Replaces the policy of a company by `after`. Creates the run `first` if there is none yet.
    pub fn set_retention(
        &self,
        before: &CompanyRetention,
        after: &RetentionPolicy,
        first: &RetentionRun,
    ) -> Transaction {
        let mut transaction = self.transaction();
        if !before.policy.is_stored() {
            // Responses have shown the default policy as revision 0. The `ETag` of this one must have revision 1.
            transaction.show();
        } else if *before.policy != *after {
            transaction.replace(&before.policy, after);
        }
        transaction.begin_runs(before, after, first);
        transaction
    }

    /// Ends the retention of a company, which then keeps its candidates. Does nothing if it has never had a policy.
    pub fn delete_retention(&self, before: &CompanyRetention) -> Transaction {
        if !before.policy.is_stored() {
            return self.transaction();
        }
        // The item stays: it counts the versions of its history.
        self.replacing(&before.policy, &RetentionPolicy::keep(before.policy.company.clone()))
    }

    /// Replaces a project by `after`, which has a retention of its own. Creates the run `first` if there is none yet.
    pub fn set_retention_of_project(
        &self,
        before: &VersionedItem<Project>,
        after: &Project,
        company: &CompanyRetention,
        first: &RetentionRun,
    ) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.begin_runs(company, &company.policy, first);
        transaction
    }

    /// Reads the retention policy of a company; `None` if it has never set one.
    pub async fn retention_policy(
        &self,
        company: &CompanyId,
    ) -> Result<Option<VersionedItem<RetentionPolicy>>> {
        self.one(keys::retention_policy(company)).await
    }

    /// Retention runs that are due to be started or continued.
    pub fn due_retention_runs(&self, now: DateTime<Utc>) -> DuePages<'_, RetentionRun> {
        self.due(DueQueue::Retention, now)
    }
}

/// The most candidates of one [`ReviewPage`].
const PAGE: usize = 500;

/// Candidates of one project that a review examines.
#[derive(Debug)]
pub struct ReviewPage {
    /// The project, as it was when the review reached it.
    pub project: Arc<VersionedItem<Project>>,
    /// The candidates, up to seconds old; empty if no candidate of the project is old enough to be due.
    pub candidates: Vec<VersionedItem<Candidate>>,
    /// The position after this page.
    pub cursor: RunCursor,
}

/// The most candidates that one [`DueList`] examines, and the most pages that it reads. Each page is a round trip.
const MAX_LOOKED_AT: usize = 5_000;
const MAX_PAGES: usize = 300;

/// Candidates who are due in a review, and the position that the request has reached.
#[derive(Debug, Default)]
pub struct DueList {
    pub rows: Vec<(RunCursor, DueCandidate)>,
    /// The number of candidates that were examined.
    pub looked_at: usize,
    /// The position from which to continue; `None` at the end.
    pub next: Option<RunCursor>,
}

/// The candidates that a review examines, by project and identifier.
pub type ReviewPages<'a> = BoxStream<'a, Result<ReviewPage>>;

impl Store {
    /// Streams the candidates after `cursor`, in each project up to the [last](RetentionReview::last_candidate) that
    /// can be due. Those that cannot be read are missing.
    pub fn review_pages<'a>(
        &'a self,
        review: &'a RetentionReview,
        cursor: Option<RunCursor>,
    ) -> ReviewPages<'a> {
        let projects = review.project.map_or(ProjectId::MIN..=ProjectId::MAX, |only| only..=only);
        let start = cursor.map_or(*projects.start(), |cursor| cursor.project);
        let projects = self.projects_between(&review.policy.company, start..=*projects.end());
        let pages = projects.map_ok(move |project| {
            let done = cursor.filter(|cursor| cursor.project == project.id).map(|cursor| cursor.candidate);
            let start = done.map_or(CandidateId::MIN, CandidateId::next);
            let last = review.last_candidate(&project).filter(|last| start <= *last);
            stream::iter(last).flat_map(move |last| self.candidates_between(project.clone(), start..=last))
        });
        pages.try_flatten().boxed()
    }

    /// Up to `most` candidates after `cursor` who are due in a review, in the order in which runs examine them.
    pub async fn list_due(
        &self,
        review: &RetentionReview,
        cursor: Option<RunCursor>,
        most: usize,
    ) -> Result<DueList> {
        let mut list = DueList::default();
        let mut pages_read = 0;
        let mut pages = self.review_pages(review, cursor);
        while let Some(ReviewPage { project, candidates, cursor }) = pages.try_next().await? {
            for candidate in candidates {
                let place = RunCursor { project: project.id, candidate: candidate.id };
                list.looked_at += 1;
                let due = review.find_due(&candidate, &project);
                list.rows.extend(due.map(|due| (place, due)));
                if list.rows.len() == most || list.looked_at == MAX_LOOKED_AT {
                    return Ok(DueList { next: Some(place), ..list });
                }
            }
            pages_read += 1;
            if pages_read == MAX_PAGES {
                return Ok(DueList { next: Some(cursor), ..list });
            }
        }
        Ok(list)
    }

    fn projects_between(
        &self,
        company: &CompanyId,
        ids: RangeInclusive<ProjectId>,
    ) -> impl Stream<Item = Result<Arc<VersionedItem<Project>>>> + Send + use<'_> {
        // Consistent, because an erasure is conditional only on the version of the candidate, not on that of the project.
        let pages = self.query_pages(Query::between(&keys::projects(company), ids));
        let rows = pages.map(|page| item::readable(page?.rows));
        rows.map_ok(|rows| stream::iter(rows).map(|project| Ok(Arc::new(project)))).try_flatten()
    }

    fn candidates_between(
        &self,
        project: Arc<VersionedItem<Project>>,
        ids: RangeInclusive<CandidateId>,
    ) -> impl Stream<Item = Result<ReviewPage>> + Send + use<'_> {
        let collection = keys::candidates(&project.company, project.id);
        let end = *ids.end();
        let mut query = Query::between(&collection, ids).that_may_lag();
        query.limit = Some(PAGE);
        self.query_pages(query).map(move |page| {
            let QueryPage { rows, last, .. } = page?;
            // On the last page, everything up to the end of the range is done, including identifiers without a row.
            let done =
                last.map_or(Ok(end), |last| collection.id_in(&last)?.parse().map_err(Error::internal))?;
            let cursor = RunCursor { project: project.id, candidate: done };
            Ok(ReviewPage { project: project.clone(), candidates: item::readable(rows)?, cursor })
        })
    }
}
