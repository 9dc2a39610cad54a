//! Vetoes. One evaluator's veto completes the evaluation of the candidate for all evaluators.

use axum::Json;
use shared::auth::access::{Admitted, CandidateEvaluations};
use shared::domain::evaluation::{Evaluation, Veto, VetoComment};
use shared::domain::policy::{CastVeto, ReadProject};
use shared::domain::questionnaire::Questionnaire;
use shared::domain::scoring::change::EvaluationChange;
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created};
use shared::http::page::{ListQuery, PageView};
use shared::store::CandidateResult;
use shared::{Error, Result};

use crate::view::{EvaluationScope, VetoView};

/// GET …/candidates/{candidateId}/vetos/
pub(crate) async fn list(
    access: Admitted<CandidateEvaluations, ReadProject>,
    query: ListQuery,
) -> Result<PageView<VetoView>> {
    let project = &access.target.project;
    let candidate = &access.target.candidate;
    let evaluations = access.store.evaluations_of(access.company_id(), project.id, candidate.id).await?;
    let visible = evaluations.values().filter(|_| !access.is_blind());
    let mut vetos: Vec<(&Veto, &Evaluation)> =
        visible.filter_map(|evaluation| Some((evaluation.veto.as_ref()?, evaluation))).collect();
    vetos.sort_by_key(|(veto, _)| veto.id);
    let scope = EvaluationScope::new(project, &access.target.questionnaire, access.references());
    let (page, total) = query.slice(vetos, |(veto, _)| veto.id.to_string());
    let page = page.map(|(veto, evaluation)| VetoView::new(veto, evaluation, scope));
    query.answer(page, total)
}

/// POST …/candidates/{candidateId}/vetos/
pub(crate) async fn create(
    access: Admitted<Evaluation, CastVeto>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<VetoView>>> {
    let veto = Veto { id: access.store.next_id(access.now), comment: read_new(body)? };
    let project = &access.target.rated.project;
    let candidate = &access.target.rated.candidate;
    let evaluator = access.target.evaluator;
    let before = access.target.evaluation.as_deref();
    let after = before.cloned().unwrap_or_else(|| Evaluation::new(candidate, evaluator, project));
    let scope = EvaluationScope::new(project, &access.target.rated.questionnaire, access.references());
    let created = Created(VetoView::new(&veto, &after, scope));
    let change = EvaluationChange::veto(project, candidate, after, veto, access.now)?;
    let stored = access.target.evaluation.as_ref();
    access.commit(access.store.save_evaluation(project, candidate, stored, change, access.now), created).await
}

pub(crate) fn read_new(mut body: BodyFields) -> Result<VetoComment> {
    let comment = body.required("comment", VetoComment::parse);
    body.finish(|| comment)
}

/// GET …/candidates/{candidateId}/vetos/{vetoId}/
pub(crate) async fn read(access: Admitted<Veto, ReadProject>) -> Result<CommittedResponse<Json<VetoView>>> {
    let project = &access.target.rated.project;
    let ids = (access.target.rated.candidate.id, access.target.evaluator);
    let evaluations = access.store.evaluations(access.company_id(), project.id, [ids]).await?;
    let evaluation = evaluations.get(&ids).ok_or(Error::NotFound)?;
    let veto = evaluation.veto.as_ref().ok_or(Error::NotFound)?;
    let scope = EvaluationScope::new(project, &access.target.rated.questionnaire, access.references());
    access.show(VetoView::new(veto, evaluation, scope))
}

/// GET …/projects/{projectId}/vetos/
pub(crate) async fn list_of_project(
    access: Admitted<Questionnaire, ReadProject>,
    query: ListQuery,
) -> Result<PageView<VetoView>> {
    let project = &access.target.project;
    let caller = access.caller.customer();
    let mut vetos = Vec::new();
    for CandidateResult { candidate, summary } in
        access.store.all_vetoed(access.company_id(), project.id).await?
    {
        if !summary.is_hidden_from(caller, project) {
            vetos.extend(summary.vetos.into_iter().map(|(customer, veto)| (veto, (candidate, customer))));
        }
    }
    vetos.sort_unstable();
    let (page, total) = query.slice(vetos, |(veto, _)| veto.to_string());
    query.check_range(total)?;
    let ids = page.rows.iter().map(|(_, ids)| *ids);
    let evaluations = access.store.evaluations(access.company_id(), project.id, ids).await?;
    let scope = EvaluationScope::new(project, &access.target.questionnaire, access.references());
    // Leave out vetoes that were deleted between the two reads.
    let page = page.filter_map(|(_, ids)| {
        let evaluation = evaluations.get(&ids)?;
        Some(VetoView::new(evaluation.veto.as_ref()?, evaluation, scope))
    });
    query.answer(page, total)
}
