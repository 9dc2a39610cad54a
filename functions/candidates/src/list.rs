//! Listing the candidates of a project.

use shared::Result;
use shared::auth::access::{CountedProjectAccess, GuardRejection, NotYetAdmitted, ReadAheadInputs};
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::parse_enum;
use shared::domain::policy::ReadProject;
use shared::domain::project_counts::ProjectCounts;
use shared::http::page::{ListQuery, PageView};
use shared::http::view::CandidateView;
use shared::store::page::Page;
use shared::store::{Store, VersionedItem};

use crate::view::viewer;

/// GET …/candidates/. The page is read while the caller is being admitted, unless it is named by its number alone: then
/// the counts tell where to look for it.
pub(crate) async fn list(
    pending: NotYetAdmitted<CountedProjectAccess<ReadProject>>,
    query: Result<ListQuery>,
) -> Result<PageView<CandidateView>, GuardRejection> {
    let wanted = query.and_then(CandidateQuery::of);
    let (access, early) = match &wanted {
        Ok(wanted) if !wanted.query.is_by_number() => {
            let read = async |ahead: ReadAheadInputs| {
                wanted.read(&ahead.store, &ahead.company, ahead.project()?, &CandidateStatus::ALL).await
            };
            pending.admit_while(read).await?
        }
        _ => (pending.admit().await?, None),
    };
    let wanted = wanted?;
    let counted = wanted.count(&access.counts);
    if let Some(total) = counted {
        wanted.query.check_range(total)?;
    }
    let (page, total) = match early {
        Some(found) => found?,
        None => {
            // Partitions without candidates need not be queried.
            let there: Vec<_> = access.counts.statuses().collect();
            wanted.read(&access.store, access.company_id(), access.project.id, &there).await?
        }
    };
    let total = counted.or(total).unwrap_or(0);
    let viewer = viewer(&access, &access.standing, &access.project);
    let page = page.map(|candidate| CandidateView::new(&candidate, &viewer));
    let address = access.references().candidates(access.company_id(), access.project.id);
    Ok(wanted.query.answer(&address, page, total)?)
}

/// A page as a request names it.
struct CandidateQuery {
    query: ListQuery,
    status: Option<CandidateStatus>,
    email: Option<String>,
}

impl CandidateQuery {
    fn of(query: ListQuery) -> Result<Self> {
        let status = query.filter("status", parse_enum)?;
        let email = query.filter("email", |email| Ok(email.to_owned()))?;
        Ok(Self { query, status, email })
    }

    /// How many rows the list has, if that is counted.
    fn count(&self, counts: &ProjectCounts) -> Option<u64> {
        let count = self.status.map_or_else(|| counts.candidates(), |status| counts.with_status(status));
        self.email.is_none().then(|| u64::try_from(count).unwrap_or(0))
    }

    /// The page, and how many rows the list has if it was read whole; its candidates are `among` these statuses.
    async fn read(
        &self,
        store: &Store,
        company: &CompanyId,
        project: ProjectId,
        among: &[CandidateStatus],
    ) -> Result<(Page<VersionedItem<Candidate>>, Option<u64>)> {
        let Some(email) = &self.email else {
            let page = store.list_candidates(company, project, self.status, among, self.query.page()).await?;
            return Ok((page, None));
        };
        let mut found = store.candidates_by_email(company, project, email).await?;
        found.retain(|candidate| self.status.is_none_or(|status| candidate.status == status));
        let (page, total) = self.query.slice(found, |candidate| candidate.id.to_string());
        Ok((page, Some(total)))
    }
}
