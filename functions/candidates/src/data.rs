//! All that the service holds about a candidate, as one document.

mod answers;
mod evaluation;
mod view;

use axum::Json;
use shared::auth::access::{Admitted, CandidateTarget};
use shared::domain::candidate::Candidate;
use shared::domain::evaluation::Evaluation;
use shared::domain::history::{HistoryEntry, ResourceRef};
use shared::domain::interview::Interview;
use shared::domain::policy::{CallerRelation, ExportCandidate};
use shared::domain::privacy::retention::RetentionPolicy;
use shared::domain::webhook::Webhook;
use shared::http::respond::{CommittedResponse, JsonFile};
use shared::store::{ReferenceIds, VersionedItem};
use shared::{Error, Result};

use answers::GivenAnswers;
use view::CandidateDataView;

/// What is stored about a candidate in items of its own, and what decides who gets it and for how long it is kept.
struct CandidateRecords {
    evaluations: Vec<VersionedItem<Evaluation>>,
    interview: Interview,
    history: Vec<VersionedItem<HistoryEntry>>,
    webhooks: Vec<VersionedItem<Webhook>>,
    policy: RetentionPolicy,
}

/// GET …/candidates/{candidateId}/data/
pub(crate) async fn read(
    access: Admitted<Candidate, ExportCandidate>,
) -> Result<CommittedResponse<JsonFile<CandidateDataView>>> {
    let CandidateTarget { candidate, project, relation, .. } = &access.target;
    candidate.may_be_exported_by(access.caller.customer(), project).map_err(Error::Forbidden)?;
    let answers = read_answers(&access);
    let (answers, records) = match relation {
        // What staff have written about candidates is theirs to release, with the other form of the document.
        CallerRelation::Own => (answers.await?, None),
        _ => {
            let (answers, records) = tokio::try_join!(answers, read_records(&access))?;
            (answers, Some(records))
        }
    };
    let view =
        CandidateDataView::new(&access.target, answers.as_ref(), records.as_ref(), access.references());
    let shown: CommittedResponse<Json<_>> = access.show(view)?;
    shown.as_file(&format!("candidate-{}-{}.json", candidate.id, access.now.date_naive()))
}

async fn read_answers(access: &Admitted<Candidate, ExportCandidate>) -> Result<Option<GivenAnswers>> {
    let (store, Candidate { company, project, id, .. }) = (&access.store, &*access.target.candidate);
    let Some(answers) = store.answers(company, *project, *id).await? else { return Ok(None) };
    let texts = store.answer_texts(&answers, answers.written()).await?;
    Ok(Some(GivenAnswers { answers, texts }))
}

async fn read_records(access: &Admitted<Candidate, ExportCandidate>) -> Result<CandidateRecords> {
    let CandidateTarget { candidate, project, .. } = &access.target;
    let (store, company) = (&access.store, access.company_id());
    let (project_id, candidate_id) = (project.id, candidate.id);
    let own = ResourceRef::Candidate { project: project_id, candidate: candidate_id };
    let of_interview = ResourceRef::Interview { project: project_id, candidate: candidate_id };
    let mut wanted = ReferenceIds::default();
    wanted.interviews.insert(project_id);
    let (evaluations, mut referred, mut history, answered, webhooks, policy) = tokio::try_join!(
        store.whole_evaluations(company, project_id, candidate_id),
        store.referred(company, &wanted),
        store.whole_history(company, own, access.now),
        store.whole_history(company, of_interview, access.now),
        store.webhooks(company),
        store.retention_policy(company),
    )?;
    if candidate.is_hidden_from(access.caller.customer(), project) {
        // Entries of drafts say who is evaluating.
        history.retain(|entry| entry.is_event());
    }
    history.extend(answered);
    history.sort_by_key(|entry| entry.origin.at);
    let interview = referred.interviews.remove(&project_id);
    Ok(CandidateRecords {
        evaluations,
        interview: interview
            .as_deref()
            .cloned()
            .unwrap_or_else(|| Interview::new(company.clone(), project_id)),
        history,
        webhooks,
        policy: policy.as_deref().cloned().unwrap_or_else(|| RetentionPolicy::keep(company.clone())),
    })
}
