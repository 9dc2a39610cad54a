//! Reads the candidates of a project for requests about many of them.

use std::collections::{BTreeSet, HashMap};

use crate::domain::candidate::CandidateStatus;
use crate::domain::history::ResourceRef;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::text::{ExternalId, Username, fold_case};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::string;
use crate::store::table::keys::{self, BY_STATUS};
use crate::store::table::read::query::Query;

impl Store {
    /// The first candidates of a project with a status, at most `most`, oldest first, from an index that may lag by
    /// seconds. `after` skips all candidates up to and including this one, who may have been deleted.
    pub async fn candidate_ids_with_status(
        &self,
        company: &CompanyId,
        project: ProjectId,
        status: CandidateStatus,
        after: Option<CandidateId>,
        most: usize,
    ) -> Result<Vec<CandidateId>> {
        let candidates = keys::candidates(company, project);
        let query = Query::new(BY_STATUS, string(keys::candidates_by_status(company, project, status)));
        let query = match after {
            Some(candidate) => query.after(candidate.to_string()),
            None => query,
        };
        let rows = self.query_rows(query, most).await?;
        rows.iter().map(|row| candidates.id_in(row)?.parse().map_err(Error::internal)).collect()
    }

    /// The candidates of a project with these `external_id`s, by `external_id`. Some may have changed it or been deleted since.
    pub async fn candidates_with_external_ids(
        &self,
        company: &CompanyId,
        project: ProjectId,
        external_ids: impl IntoIterator<Item = &ExternalId>,
    ) -> Result<HashMap<ExternalId, CandidateId>> {
        let marker = |key: &ExternalId| keys::candidates_by_external_id(company, key).key(project);
        let external_ids: Vec<&ExternalId> = external_ids.into_iter().collect();
        let mut batch = self.get(external_ids.iter().map(|key| marker(key))).await?;
        let mut found = HashMap::new();
        for key in external_ids {
            if let Some(ResourceRef::Candidate { candidate, .. }) = batch.take_listed_value(&marker(key))? {
                found.insert(key.clone(), candidate);
            }
        }
        Ok(found)
    }

    /// Returns the usernames, in folded case, that a new candidate cannot have, because another account logs in with them.
    pub async fn usernames_of_others(
        &self,
        company: &CompanyId,
        usernames: impl IntoIterator<Item = &Username>,
    ) -> Result<BTreeSet<String>> {
        let mut names: BTreeSet<String> =
            usernames.into_iter().map(|name| fold_case(name.as_str())).collect();
        let places = |name: &String| [keys::login_username(company, name), keys::login_email(company, name)];
        let batch = self.get(names.iter().flat_map(places)).await?;
        names.retain(|name| places(name).iter().any(|place| batch.contains(place)));
        Ok(names)
    }
}
