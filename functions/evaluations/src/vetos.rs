//! Vetos, by which one evaluator completes the evaluation of a candidate for all.

use axum::Json;
use shared::auth::access::{Admitted, CandidateEvaluations};
use shared::domain::candidate::Candidate;
use shared::domain::interview::Interview;
use shared::domain::policy::{CastVeto, ReadProject};
use shared::domain::scorecard::{Evaluation, Veto, VetoComment};
use shared::http::BodyFields;
use shared::http::page::{ListQuery, PageView};
use shared::http::respond::{CommittedResponse, Created};
use shared::store::{CandidateResult, EvaluationChange};
use shared::{Error, Result};

use crate::view::{EvaluationScope, VetoView};

/// GET …/candidates/{candidateId}/vetos/
pub(crate) async fn list(
    access: Admitted<CandidateEvaluations, ReadProject>,
    query: ListQuery,
) -> Result<PageView<VetoView>> {
    let candidate = &access.target.candidate;
    let cards = access.store.scorecards_of(access.company_id(), candidate.project, candidate.id).await?;
    let visible = cards.values().filter(|_| !access.is_blind());
    let mut vetos: Vec<(&Veto, &Evaluation)> =
        visible.filter_map(|card| Some((card.veto.as_ref()?, card))).collect();
    vetos.sort_by_key(|(veto, _)| veto.id);
    let of = EvaluationScope::new(&access.target, access.references());
    let (page, total) = query.slice(vetos, |(veto, _)| veto.id.to_string());
    let page = page.map(|(veto, card)| VetoView::new(veto, card, of));
    query.answer(page, total)
}

/// POST …/candidates/{candidateId}/vetos/
pub(crate) async fn create(
    access: Admitted<Evaluation, CastVeto>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<VetoView>>> {
    let comment = read_new(body)?;
    let (project, candidate) = (&access.target.rated.project, &access.target.rated.candidate);
    let mut roster = project.roster.clone();
    let id = access.store.next_id(access.now);
    let veto = (access.target.evaluator, id);
    let after = Candidate::clone(candidate).after_veto(veto, project, &mut roster, access.now)?;
    let empty = || Evaluation::new(candidate, access.target.evaluator, project);
    let before = access.target.evaluation.as_deref().cloned().unwrap_or_else(empty);
    let veto = Veto { id, comment };
    let card = Evaluation { veto: Some(veto.clone()), ..before };
    let of = EvaluationScope::new(&access.target.rated, access.references());
    let address = of.candidate(candidate.id).join("vetos").join(id);
    let created = Created(address, VetoView::new(&veto, &card, of));
    let saved =
        EvaluationChange { project, roster, candidate, after, card: access.target.evaluation.as_ref() };
    access.commit(access.store.save_scorecard(saved, Some(&card), access.now), created).await
}

/// Reads the body of a veto.
pub(crate) fn read_new(mut body: BodyFields) -> Result<VetoComment> {
    let comment = body.required("comment", VetoComment::parse);
    body.finish(|| comment)
}

/// GET …/candidates/{candidateId}/vetos/{vetoId}/
pub(crate) async fn read(access: Admitted<Veto, ReadProject>) -> Result<CommittedResponse<Json<VetoView>>> {
    let candidate = &access.target.rated.candidate;
    let cards = access.store.scorecards_of(access.company_id(), candidate.project, candidate.id).await?;
    let card = cards.get(&access.target.evaluator).ok_or(Error::NotFound)?;
    let veto = card.veto.as_ref().ok_or(Error::NotFound)?;
    access.show(VetoView::new(veto, card, EvaluationScope::new(&access.target.rated, access.references())))
}

/// GET …/projects/{projectId}/vetos/
pub(crate) async fn list_of_project(
    access: Admitted<Interview, ReadProject>,
    query: ListQuery,
) -> Result<PageView<VetoView>> {
    let (project, caller) = (&access.target.project, access.caller.customer());
    let found = access.store.all_vetoed(access.company_id(), project.id).await?;
    let visible = found.iter().filter(|row| !row.summary.is_hidden_from(caller, project));
    let vetos_of = |row: &CandidateResult| {
        let candidate = row.candidate;
        row.summary.vetos.clone().into_iter().map(move |(by, id)| (id, (candidate, by)))
    };
    let mut vetos: Vec<_> = visible.flat_map(vetos_of).collect();
    vetos.sort_unstable();
    let (page, total) = query.slice(vetos, |(id, _)| id.to_string());
    query.check_range(total)?;
    let cards = page.rows.iter().map(|(_, card)| *card);
    let cards = access.store.scorecards(access.company_id(), project.id, cards).await?;
    let of = EvaluationScope {
        project,
        interview: &access.target.stored.interview,
        references: access.references(),
    };
    // One that was deleted between the two reads is left out.
    let page = page.filter_map(|(_, card)| {
        let card = cards.get(&card)?;
        Some(VetoView::new(card.veto.as_ref()?, card, of))
    });
    query.answer(page, total)
}
