//! Vetos, by which one evaluator completes the evaluation of a candidate for all.

use axum::Json;
use shared::auth::access::{EvaluationAccess, EvaluationsAccess, InterviewAccess, Pending, Rejection};
use shared::domain::candidate::Candidate;
use shared::domain::id::{CustomerId, VetoId};
use shared::domain::policy::{CastVeto, ReadProject};
use shared::domain::scorecard::{Scorecard, Veto, VetoComment};
use shared::http::Fields;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::{Answered, Created};
use shared::store::{Saved, Summarised};
use shared::{Error, Result};

use crate::evaluations::{cards, of};
use crate::view::{Of, VetoView};

/// GET …/candidates/{candidateId}/vetos/
pub(crate) async fn list(
    pending: Pending<EvaluationsAccess<ReadProject>>,
    query: Result<ListQuery>,
) -> Result<Envelope<VetoView>, Rejection> {
    let (access, cards) = pending.admit_beside(cards).await?;
    let (query, cards) = (query?, cards.ok_or(Error::NotFound)??);
    let mut vetos: Vec<(&Veto, &Scorecard)> =
        cards.values().filter_map(|card| Some((card.veto.as_ref()?, card))).collect();
    vetos.sort_by_key(|(veto, _)| veto.id);
    let of = of(&access, access.references());
    let (page, total) = query.slice(vetos, |(veto, _)| veto.id.to_string());
    let page = page.map(|(veto, card)| VetoView::new(veto, card, of).hidden_if(access.is_blind()));
    Ok(query.answer(&of.candidate(access.candidate.id).join("vetos"), page, total)?)
}

/// POST …/candidates/{candidateId}/vetos/
pub(crate) async fn create(
    access: EvaluationAccess<CastVeto>,
    body: Fields,
) -> Result<Answered<Created<VetoView>>> {
    let comment = read_new(body)?;
    let (project, candidate) = (&access.of.project, &access.of.candidate);
    let mut roster = project.roster.clone();
    let id = access.store.next_id(access.now);
    let veto = (access.evaluator, id);
    let after = Candidate::clone(candidate).after_veto(veto, project, &mut roster, access.now)?;
    let empty = || Scorecard::new(candidate, access.evaluator, project);
    let before = access.card.as_deref().cloned().unwrap_or_else(empty);
    let veto = Veto { id, comment };
    let card = Scorecard { veto: Some(veto.clone()), ..before };
    let of = Of { project, interview: &access.of.interview, references: access.references() };
    let address = of.candidate(candidate.id).join("vetos").join(id);
    let created = Created(address, VetoView::new(&veto, &card, of));
    let saved = Saved { project, roster, candidate, after, card: access.card.as_ref() };
    access.commit(access.store.save_scorecard(saved, Some(&card), access.now), created).await
}

/// Reads the body of a veto.
pub(crate) fn read_new(mut body: Fields) -> Result<VetoComment> {
    let comment = body.required("comment", VetoComment::parse);
    body.finish(|| comment)
}

/// GET …/candidates/{candidateId}/vetos/{vetoId}/
pub(crate) async fn read(
    pending: Pending<EvaluationsAccess<ReadProject>>,
) -> Result<Answered<Json<VetoView>>, Rejection> {
    let (access, cards) =
        pending.admit_beside(async |ahead| Ok((ahead.id("vetoId"), cards(ahead).await?))).await?;
    let (id, cards) = cards.ok_or(Error::NotFound)??;
    let id: VetoId = id.map_err(|_| Error::NotFound)?;
    let of = of(&access, access.references());
    let mut vetos = cards.values().filter_map(|card| Some((card.veto.as_ref()?, card)));
    let (veto, card) = vetos.find(|(veto, _)| veto.id == id).ok_or(Error::NotFound)?;
    access.require_sight()?;
    Ok(access.show(VetoView::new(veto, card, of))?)
}

/// GET …/projects/{projectId}/vetos/
pub(crate) async fn list_of_project(
    access: InterviewAccess<ReadProject>,
    query: ListQuery,
) -> Result<Envelope<VetoView>> {
    let (project, caller) = (&access.project, access.caller.customer());
    let found = access.store.all_vetoed(access.company_id(), project.id).await?;
    let vetos_of = |Summarised { candidate, summary }: &Summarised| {
        let is_hidden = summary.is_hidden_from(caller, project);
        let candidate = *candidate;
        let veto = move |(by, id): (&CustomerId, &VetoId)| (*id, (candidate, *by), is_hidden);
        summary.vetos.iter().map(veto).collect::<Vec<_>>()
    };
    let mut vetos: Vec<_> = found.iter().flat_map(vetos_of).collect();
    vetos.sort_by_key(|(id, ..)| *id);
    let (page, total) = query.slice(vetos, |(id, ..)| id.to_string());
    query.check_range(total)?;
    let cards = page.rows.iter().map(|(_, card, _)| *card);
    let cards = access.store.scorecards(access.company_id(), project.id, cards).await?;
    let of = Of { project, interview: &access.stored.interview, references: access.references() };
    // One that was deleted between the two reads is left out.
    let page = page.filter_map(|(_, card, is_hidden)| {
        let card = cards.get(&card)?;
        Some(VetoView::new(card.veto.as_ref()?, card, of).hidden_if(is_hidden))
    });
    let address = access.references().project(access.company_id(), project.id).join("vetos");
    query.answer(&address, page, total)
}
