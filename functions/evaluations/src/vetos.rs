//! Vetos, by which one evaluator completes the evaluation of a candidate for all.

use axum::Json;
use shared::auth::access::{EvaluationAccess, EvaluationsAccess, InterviewAccess, VetoAccess};
use shared::domain::candidate::Candidate;
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
    access: EvaluationsAccess<ReadProject>,
    query: ListQuery,
) -> Result<PageView<VetoView>> {
    let candidate = &access.of.candidate;
    let cards = access.store.scorecards_of(access.company_id(), candidate.project, candidate.id).await?;
    let visible = cards.values().filter(|_| !access.is_blind());
    let mut vetos: Vec<(&Veto, &Evaluation)> =
        visible.filter_map(|card| Some((card.veto.as_ref()?, card))).collect();
    vetos.sort_by_key(|(veto, _)| veto.id);
    let of = EvaluationScope::new(&access.of, access.references());
    let (page, total) = query.slice(vetos, |(veto, _)| veto.id.to_string());
    let page = page.map(|(veto, card)| VetoView::new(veto, card, of));
    query.answer(&of.candidate(candidate.id).join("vetos"), page, total)
}

/// POST …/candidates/{candidateId}/vetos/
pub(crate) async fn create(
    access: EvaluationAccess<CastVeto>,
    body: BodyFields,
) -> Result<CommittedResponse<Created<VetoView>>> {
    let comment = read_new(body)?;
    let (project, candidate) = (&access.of.project, &access.of.candidate);
    let mut roster = project.roster.clone();
    let id = access.store.next_id(access.now);
    let veto = (access.evaluator, id);
    let after = Candidate::clone(candidate).after_veto(veto, project, &mut roster, access.now)?;
    let empty = || Evaluation::new(candidate, access.evaluator, project);
    let before = access.card.as_deref().cloned().unwrap_or_else(empty);
    let veto = Veto { id, comment };
    let card = Evaluation { veto: Some(veto.clone()), ..before };
    let of = EvaluationScope::new(&access.of, access.references());
    let address = of.candidate(candidate.id).join("vetos").join(id);
    let created = Created(address, VetoView::new(&veto, &card, of));
    let saved = EvaluationChange { project, roster, candidate, after, card: access.card.as_ref() };
    access.commit(access.store.save_scorecard(saved, Some(&card), access.now), created).await
}

/// Reads the body of a veto.
pub(crate) fn read_new(mut body: BodyFields) -> Result<VetoComment> {
    let comment = body.required("comment", VetoComment::parse);
    body.finish(|| comment)
}

/// GET …/candidates/{candidateId}/vetos/{vetoId}/
pub(crate) async fn read(access: VetoAccess<ReadProject>) -> Result<CommittedResponse<Json<VetoView>>> {
    let candidate = &access.of.candidate;
    let cards = access.store.scorecards_of(access.company_id(), candidate.project, candidate.id).await?;
    let card = cards.get(&access.evaluator).ok_or(Error::NotFound)?;
    let veto = card.veto.as_ref().ok_or(Error::NotFound)?;
    access.show(VetoView::new(veto, card, EvaluationScope::new(&access.of, access.references())))
}

/// GET …/projects/{projectId}/vetos/
pub(crate) async fn list_of_project(
    access: InterviewAccess<ReadProject>,
    query: ListQuery,
) -> Result<PageView<VetoView>> {
    let (project, caller) = (&access.project, access.caller.customer());
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
    let of =
        EvaluationScope { project, interview: &access.stored.interview, references: access.references() };
    // One that was deleted between the two reads is left out.
    let page = page.filter_map(|(_, card)| {
        let card = cards.get(&card)?;
        Some(VetoView::new(card.veto.as_ref()?, card, of))
    });
    let address = access.references().project(access.company_id(), project.id).join("vetos");
    query.answer(&address, page, total)
}
