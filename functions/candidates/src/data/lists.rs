//! The lists of the data document, which may span several pages. Each page continues after the previous one: first the
//! evaluations, ordered by evaluator, then the history.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;

use chrono::{DateTime, Utc};
use futures_util::stream::{BoxStream, Peekable, StreamExt as _, TryStreamExt as _};
use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::domain::evaluation::Evaluation;
use shared::domain::history::{HistoryEntry, ResourceRef};
use shared::domain::id::CustomerId;
use shared::domain::questionnaire::Questionnaire;
use shared::http::QueryParameters;
use shared::http::page::ResponseBudget;
use shared::http::view::EventView;
use shared::http::wire::Uri;
use shared::store::VersionedItem;

use super::evaluation::{EvaluationDataScope, EvaluationDataView, FirstJudgementDataView, VetoDataView};
use super::{AFTER, DataAccess};

/// The position of the last entries on the previous page.
// Positions are versions and evaluators, not offsets, so that writes between pages cannot move entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct DataPlace {
    /// The last shown version of the candidate's history.
    version: u64,
    /// The last shown version of the interview's history.
    interview_version: u64,
    /// The last shown evaluator; `None` if none is shown yet.
    evaluator: Option<CustomerId>,
}

impl DataPlace {
    /// Parses the position from the parameter in a `next` URL.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, '.');
        let mut number = || -> Option<u64> { parts.next()?.parse().ok() };
        let versions = number().zip(number());
        let evaluator = match parts.next() {
            Some("") => Some(None),
            Some(id) => id.parse().ok().map(Some),
            None => None,
        };
        let place = versions.zip(evaluator).map(|((version, interview_version), evaluator)| Self {
            version,
            interview_version,
            evaluator,
        });
        place.ok_or_else(|| "Invalid place. Follow `next` unchanged.".to_owned())
    }
}

impl fmt::Display for DataPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, interview_version, evaluator } = self;
        write!(f, "{version}.{interview_version}.")?;
        evaluator.map_or(Ok(()), |evaluator| write!(f, "{evaluator}"))
    }
}

/// The part of the lists on one page.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct DataListsView {
    /// The completed evaluations, by evaluator. Only staff get this field.
    evaluations: Vec<EvaluationDataView>,
    /// The first judgements of these evaluators, and of evaluators who have deleted or reopened their evaluations. Only
    /// staff get this field.
    first_judgements: Vec<FirstJudgementDataView>,
    /// The vetoes by the evaluators up to the last one on this page, oldest first. Only staff get this field.
    vetos: Vec<VetoDataView>,
    /// The stored history of the candidate and their interview, oldest first: who changed what, and when. Only staff
    /// get this field.
    history: Vec<EventView>,
    /// The URL of the page that continues `evaluations`, `first_judgements`, `vetos` and `history`; null on the last
    /// page. Only staff get this field.
    #[schemars(example = ())]
    next: Option<Uri>,
}

type EntryStream<'a> = Peekable<BoxStream<'a, Result<VersionedItem<HistoryEntry>>>>;
type EvaluationStream<'a> = Peekable<BoxStream<'a, Result<(CustomerId, Option<VersionedItem<Evaluation>>)>>>;

/// The lists after a position, read as far as a page shows them.
pub(super) struct DataLists<'a> {
    access: &'a DataAccess,
    place: DataPlace,
    evaluations: EvaluationStream<'a>,
    history: EntryStream<'a>,
    interview_history: EntryStream<'a>,
}

impl<'a> DataLists<'a> {
    /// Prepares reading the lists after `place`.
    pub(super) fn after(place: DataPlace, access: &'a DataAccess) -> Self {
        let store = &access.store;
        let company = access.company_id();
        let now = access.now;
        let project = access.target.project.id;
        let candidate = access.target.candidate.id;
        let of = |resource, version| store.whole_history_after(company, resource, version, now).boxed();
        let candidate_ref = ResourceRef::Candidate { project, candidate };
        let interview_ref = ResourceRef::Interview { project, candidate };
        let evaluators: Vec<CustomerId> = evaluators(access)
            .into_iter()
            .filter(|evaluator| place.evaluator.is_none_or(|last| *evaluator > last))
            .collect();
        Self {
            access,
            place,
            evaluations: store.evaluations_by(&access.target.candidate, &evaluators).boxed().peekable(),
            history: of(candidate_ref, place.version).peekable(),
            interview_history: of(interview_ref, place.interview_version).peekable(),
        }
    }

    /// Starts reading all lists concurrently. Returns no errors: [`read`](Self::read) does.
    pub(super) async fn begin(&mut self) -> Result<()> {
        tokio::join!(
            Pin::new(&mut self.evaluations).peek(),
            Pin::new(&mut self.history).peek(),
            Pin::new(&mut self.interview_history).peek(),
        );
        Ok(())
    }

    /// Reads what fits into the response. Fails with [`Error::Unreadable`](shared::Error::Unreadable) if an item cannot
    /// be read.
    pub(super) async fn read(
        mut self,
        questionnaire: &Questionnaire,
        query: &QueryParameters,
        budget: &mut ResponseBudget,
    ) -> Result<DataListsView> {
        let mut shown = DataListsView::default();
        let is_whole = self.read_evaluations(questionnaire, budget, &mut shown).await?
            && self.read_history(budget, &mut shown).await?;
        shown.next = (!is_whole).then(|| query.link_to([(AFTER, self.place.to_string())]));
        Ok(shown)
    }

    /// Reads the evaluations that fit. Returns whether they are all.
    async fn read_evaluations(
        &mut self,
        questionnaire: &Questionnaire,
        budget: &mut ResponseBudget,
        shown: &mut DataListsView,
    ) -> Result<bool> {
        let access = self.access;
        let candidate = &*access.target.candidate;
        let references = access.references();
        let scope = EvaluationDataScope { candidate, questionnaire, references };
        let mut vetos = Vec::new();
        let mut is_whole = true;
        while let Some((evaluator, written)) = self.evaluations.try_next().await? {
            let evaluation = scope.completed(evaluator, written.as_deref());
            let veto = written
                .as_deref()
                .and_then(|written| Some((written.veto.as_ref()?.id, scope.veto(written)?)));
            let first = written.as_deref().and_then(|written| scope.first(written));
            if !budget.fits(&(&evaluation, &first, veto.as_ref().map(|(_, view)| view)))? {
                is_whole = false;
                break;
            }
            self.place.evaluator = Some(evaluator);
            shown.evaluations.extend(evaluation);
            shown.first_judgements.extend(first);
            vetos.extend(veto);
        }
        vetos.sort_by_key(|(id, _)| *id);
        shown.vetos = vetos.into_iter().map(|(_, view)| view).collect();
        Ok(is_whole)
    }

    /// Reads the entries of both histories that fit. Returns whether they are all.
    async fn read_history(&mut self, budget: &mut ResponseBudget, shown: &mut DataListsView) -> Result<bool> {
        let access = self.access;
        let target = &access.target;
        let caller = access.caller.customer();
        // Entries of drafts reveal who is evaluating.
        let hides_drafts = target.candidate.is_hidden_from(caller, &target.project);
        while let Some(entry) = self.next_entry().await? {
            let is_of_interview = matches!(entry.change.resource, ResourceRef::Interview { .. });
            let view = EventView::new(&entry, access.references());
            // Count hidden entries too: otherwise one request might read a long history.
            if !budget.fits(&view)? {
                return Ok(false);
            }
            if is_of_interview {
                self.place.interview_version = entry.version_after;
            } else {
                self.place.version = entry.version_after;
            }
            if is_of_interview || !hides_drafts || entry.is_event() {
                shown.history.push(view);
            }
        }
        Ok(true)
    }

    /// Takes the older one of the two histories' next entries; `None` at the end of both.
    async fn next_entry(&mut self) -> Result<Option<VersionedItem<HistoryEntry>>> {
        let (own, other) =
            tokio::join!(Pin::new(&mut self.history).peek(), Pin::new(&mut self.interview_history).peek());
        // Treat an error as the oldest entry, so that it comes first.
        let at = |entry: &Result<VersionedItem<HistoryEntry>>| {
            entry.as_ref().map_or(DateTime::<Utc>::MIN_UTC, |entry| entry.origin.at)
        };
        let is_of_interview = match (own.map(at), other.map(at)) {
            (Some(own), Some(other)) => other < own,
            (own, _) => own.is_none(),
        };
        let next = if is_of_interview { &mut self.interview_history } else { &mut self.history };
        next.try_next().await
    }
}

/// All customers who have ever saved or completed an evaluation of the candidate, or vetoed them.
fn evaluators(access: &DataAccess) -> BTreeSet<CustomerId> {
    let candidate = &access.target.candidate;
    candidate.completed_by().into_iter().chain(candidate.scores.keys().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_the_way_to_the_client_and_nothing_else_passes_for_one() {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().ok();
        for evaluator in [None, id] {
            let place = DataPlace { version: 7, interview_version: 12, evaluator };
            assert_eq!(DataPlace::parse(&place.to_string()), Ok(place));
        }
        for other in ["", "7", "7.12", "7.x.", "-7.12.", "7.12.x", "7.12.01ARZ3NDEKTSV4RRFFQ69G5FAV."] {
            assert!(DataPlace::parse(other).is_err(), "{other}");
        }
    }
}
