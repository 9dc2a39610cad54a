//! Reads the candidates that a search has found, with the attributes that its results show.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;

use crate::domain::candidate::CandidateStatus;
use crate::domain::candidate::search_words::{MAX_RESULTS, SearchTerms, SearchedFields};
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::mail::address_change::PendingEmail;
use crate::domain::media::file::StoredFile;
use crate::domain::project::ProjectStatus;
use crate::domain::staff::ProjectStaff;
use crate::domain::text::{Email, ShortName};
use crate::error::Result;
use crate::store::candidate::search_entries::SearchHit;
use crate::store::table::handle::Store;
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::projection::ProjectionExpression;

/// A candidate that a search has found, with the attributes that results show.
#[derive(Debug)]
pub struct CandidateMatch {
    pub id: CandidateId,
    pub candidate: MatchedCandidate,
    pub project_id: ProjectId,
    pub project: Arc<MatchedProject>,
}

/// The attributes of a candidate that results show.
#[derive(Debug, Deserialize)]
pub struct MatchedCandidate {
    pub status: CandidateStatus,
    /// The names and the current email address, which is not the pending one.
    pub profile: MatchedProfile,
    pub photo: Option<StoredFile>,
    /// The address that the candidate has yet to confirm.
    pending_email: Option<PendingEmail>,
}

/// The fields of a candidate's profile that are searched and shown in results.
#[derive(Debug, Deserialize)]
pub struct MatchedProfile {
    pub first_name: ShortName,
    pub last_name: ShortName,
    email: Option<Email>,
}

/// The attributes of a project that results show or that decide whether a caller may see it.
#[derive(Debug, Deserialize)]
pub struct MatchedProject {
    pub status: ProjectStatus,
    /// The display name.
    pub settings: MatchedSettings,
    /// The roles in the project.
    pub staff: ProjectStaff,
}

/// The settings of a project that results show.
#[derive(Debug, Deserialize)]
pub struct MatchedSettings {
    /// The display name.
    pub name: ShortName,
}

/// The attributes that [`MatchedCandidate`] and [`MatchedProject`] have.
const SHOWN: ProjectionExpression = ProjectionExpression::new(
    "pk, sk, #status, photo, settings.#name, staff",
    &[("#status", "status"), ("#name", "name")],
)
.with(SearchedFields::ATTRIBUTES);

impl MatchedCandidate {
    /// The email address that clients see: the pending one, if there is one.
    pub fn shown_email(&self) -> Option<&Email> {
        self.pending_email.as_ref().map(|pending| &pending.email).or(self.profile.email.as_ref())
    }

    fn searched_fields(&self) -> SearchedFields<'_> {
        let MatchedProfile { first_name, last_name, .. } = &self.profile;
        SearchedFields { first_name, last_name, email: self.shown_email() }
    }
}

impl Store {
    /// Reads the candidates of the best `hits` with their projects. Drops candidates that no longer match `terms`.
    pub async fn matches(
        &self,
        company: &CompanyId,
        hits: Vec<SearchHit>,
        terms: &SearchTerms,
    ) -> Result<Vec<CandidateMatch>> {
        let mut seen = HashSet::new();
        let hits = hits.into_iter().filter(|hit| seen.insert(hit.candidate)).take(MAX_RESULTS);
        let ids: Vec<(ProjectId, CandidateId)> = hits.map(|hit| (hit.project, hit.candidate.0)).collect();
        let candidates: Vec<ItemKey> =
            ids.iter().map(|(project, id)| keys::candidate(company, *project, *id)).collect();
        let project_ids: HashSet<ProjectId> = ids.iter().map(|(project, _)| *project).collect();
        let projects = project_ids.iter().map(|id| keys::project(company, *id));
        let keys = candidates.iter().cloned().chain(projects);
        let mut batch = self.get_attributes(keys, &SHOWN).await?;
        let mut projects = HashMap::with_capacity(project_ids.len());
        for id in project_ids {
            let project = batch.take_listed_value(&keys::project(company, id))?;
            projects.extend(project.map(|project| (id, Arc::new(project))));
        }
        let mut found = Vec::with_capacity(ids.len());
        for ((project_id, id), key) in ids.into_iter().zip(candidates) {
            let candidate: Option<MatchedCandidate> = batch.take_listed_value(&key)?;
            // The candidate may have changed after the search entry was read.
            let candidate = candidate.filter(|now| now.searched_fields().match_terms(terms));
            let placed = candidate.zip(projects.get(&project_id).cloned());
            found.extend(placed.map(|(candidate, project)| CandidateMatch {
                id,
                candidate,
                project_id,
                project,
            }));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;
    use chrono::DateTime;

    use super::*;
    use crate::domain::candidate::Candidate;
    use crate::domain::samples;
    use crate::store::table::item::{self, Item};

    /// The item with the attributes that a search reads.
    fn projected(item: &Item) -> Item {
        let mut projected = Item::new();
        for path in SHOWN.expression().unwrap().split(", ") {
            let (name, below) =
                path.split_once('.').map_or((path, None), |(name, below)| (name, Some(below)));
            let name = name.trim_start_matches('#');
            match (item.get(name), below) {
                (Some(value), None) => drop(projected.insert(name.to_owned(), value.clone())),
                (Some(value), Some(below)) => {
                    let map = projected.entry(name.to_owned()).or_insert(AttributeValue::M(HashMap::new()));
                    let AttributeValue::M(map) = map else { panic!("{path}") };
                    map.extend(
                        value.as_m().unwrap().get(below).map(|value| (below.to_owned(), value.clone())),
                    );
                }
                (None, _) => {}
            }
        }
        projected
    }

    #[test]
    fn results_are_compared_with_all_words_of_a_candidate() {
        let email = |text: &str| Email::parse(text).unwrap();
        let pending = PendingEmail { email: email("new@mail.example"), asked_at: DateTime::UNIX_EPOCH };
        for pending_email in [None, Some(pending)] {
            let mut candidate = Candidate { pending_email, ..samples::candidate() };
            candidate.profile.email = Some(email("ada@mail.example"));
            let item = item::write(&candidate, 1).unwrap();
            let matched: MatchedCandidate = item::value_in(&projected(&item)).unwrap();
            let searched = matched.searched_fields();
            assert_eq!(searched.words(), candidate.words());
            // Every field must have a value: an empty one would be equal even if its attribute were not read.
            let SearchedFields { first_name: _, last_name: _, email } = searched;
            assert!(email.is_some());
        }
    }
}
