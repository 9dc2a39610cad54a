//! Refuses ended keys of candidates, and tells their holders the reason and a contact.

use super::credential::invalid_credential;
use crate::config::Config;
use crate::domain::candidate::{Candidate, KeyEnd};
use crate::domain::company::Company;
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::http::reference::ReferenceUris;
use crate::http::view::EndedKeyView;
use crate::store::{ItemBatch, Store, keys};

/// The error for an ended key of `candidate`: the reason and a contact. If the caller `is_holder`, that is, certainly the
/// candidate, it also contains their latest request for help. `batch` must contain project and company.
pub(super) async fn explain_end(
    candidate: &Candidate,
    end: KeyEnd,
    is_holder: bool,
    batch: &mut ItemBatch,
    store: &Store,
    config: &Config,
) -> Result<Error> {
    let company = batch.take::<Company>(&keys::company(&candidate.company))?;
    let project = batch.take::<Project>(&keys::project(&candidate.company, candidate.project))?;
    let (Some(company), Some(project)) = (company, project) else { return Ok(invalid_credential()) };
    // Read the answers only now, so that an unknown key does not cost this read.
    let answers = match end {
        KeyEnd::Completed if candidate.interview.is_some() => {
            let answers = store.answers(&candidate.company, candidate.project, candidate.id).await?;
            Some(answers.map_or(0, |answers| answers.answered()))
        }
        _ => None,
    };
    let view = EndedKeyView::new(candidate, &project, &company, ReferenceUris::new(config));
    let view = match (end, candidate.ended_by_time) {
        (KeyEnd::Completed, _) => view.with_completion(candidate, &project, answers),
        (KeyEnd::Overdue, Some(ended)) => view.with_end_by_time(ended),
        _ => view,
    };
    let view = if is_holder { view.with_help_request(candidate) } else { view };
    Ok(Error::EndedKey(end.refusal(), view.into_map()?))
}
