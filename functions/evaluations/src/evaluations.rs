//! What evaluators write about a candidate.

use std::collections::BTreeSet;

use axum::Json;
use serde_json::Value;
use shared::auth::access::{Admitted, CandidateEvaluations, RatedCandidate};
use shared::domain::candidate::Candidate;
use shared::domain::id::CustomerId;
use shared::domain::parse_enum;
use shared::domain::policy::{Evaluate, ReadProject};
use shared::domain::scorecard::{
    Evaluation, MAX_RATINGS, MAX_SCORE, NOT_EVALUATOR, Rating, RatingTarget, Recommendation,
};
use shared::domain::text::TextLines;
use shared::http::BodyFields;
use shared::http::page::{ListQuery, PageView};
use shared::http::respond::{CommittedResponse, Created, CreatedOrUpdated, NoContent};
use shared::http::wire::tenths;
use shared::store::EvaluationChange;
use shared::{Error, Result};

use crate::view::{EvaluationScope, EvaluationView};

/// GET …/evaluations/
pub(crate) async fn list(
    access: Admitted<CandidateEvaluations, ReadProject>,
    query: ListQuery,
) -> Result<PageView<EvaluationView>> {
    let candidate = &access.target.candidate;
    let cards = access.store.scorecards_of(access.company_id(), candidate.project, candidate.id).await?;
    // Evaluators are blind until they complete their own evaluation, managers and owners too: an opinion is as biased
    // with another role.
    let completed = candidate.completed_by().into_iter().filter(|_| !access.is_blind());
    let own = cards.keys().copied().filter(|by| access.caller.customer() == Some(*by));
    let shown: BTreeSet<CustomerId> = completed.chain(own).collect();
    let of = EvaluationScope::new(&access.target, access.references());
    let (page, total) = query.slice(shown.into_iter().collect(), ToString::to_string);
    let page = page.map(|by| EvaluationView::new(candidate, by, cards.get(&by), of));
    query.answer(page, total)
}

/// GET …/evaluations/{customerId}/
pub(crate) async fn read(
    access: Admitted<Evaluation, ReadProject>,
) -> Result<CommittedResponse<Json<EvaluationView>>> {
    access.show(view(&access, &access.target.rated.candidate, access.target.evaluation.as_deref()))
}

/// PUT …/evaluations/{customerId}/
pub(crate) async fn save(
    access: Admitted<Evaluation, Evaluate>,
    body: BodyFields,
) -> Result<CommittedResponse<CreatedOrUpdated<EvaluationView>>> {
    let RatedCandidate { project, interview, candidate } = &access.target.rated;
    let sent = SaveEvaluation::read(body, project.settings.maximum_score, |rating| about(&access, rating))?;
    require_evaluator(&access)?;
    let card = sent.apply_to(&access);
    let mut roster = project.roster.clone();
    let cards = (access.target.evaluation.as_deref(), &card);
    let after = Candidate::clone(candidate);
    let after = after.after_saving(cards, sent.completed, interview, &mut roster, access.now)?;
    let view = view(&access, &after, Some(&card));
    let shown = if access.target.exists() {
        CreatedOrUpdated::Old(view)
    } else {
        CreatedOrUpdated::New(created(&access, view))
    };
    let saved =
        EvaluationChange { project, roster, candidate, after, card: access.target.evaluation.as_ref() };
    access.commit(access.store.save_scorecard(saved, Some(&card), access.now), shown).await
}

fn created(access: &Admitted<Evaluation, Evaluate>, view: EvaluationView) -> Created<EvaluationView> {
    let of = EvaluationScope::new(&access.target.rated, access.references());
    Created(of.evaluation(access.target.rated.candidate.id, access.target.evaluator), view)
}

/// Refuses named tokens that write for a customer without the role; admission has checked people.
fn require_evaluator(access: &Admitted<Evaluation, Evaluate>) -> Result<()> {
    let is_evaluator = access.target.rated.project.staff.evaluates(Some(access.target.evaluator)).is_some();
    if is_evaluator { Ok(()) } else { Err(NOT_EVALUATOR.into()) }
}

/// What a rating in a body is about.
fn about(access: &Admitted<Evaluation, Evaluate>, rating: &Value) -> Result<RatingTarget, String> {
    let (company, project, references) =
        (access.company_id(), access.target.rated.project.id, access.references());
    let about = match (rating.get("question"), rating.get("criterion")) {
        (Some(Value::String(question)), None | Some(Value::Null)) => {
            RatingTarget::Question(references.parse_question(company, project, question)?)
        }
        (None | Some(Value::Null), Some(Value::String(criterion))) => {
            RatingTarget::Criterion(references.parse_criterion(company, project, criterion)?)
        }
        _ => return Err("Expected objects with either question or criterion.".to_owned()),
    };
    let unknown = || "The project has no such question or criterion.".to_owned();
    if about.is_in(&access.target.rated.interview) { Ok(about) } else { Err(unknown()) }
}

/// DELETE …/evaluations/{customerId}/
pub(crate) async fn delete(access: Admitted<Evaluation, Evaluate>) -> Result<CommittedResponse<NoContent>> {
    if !access.target.exists() {
        return Err(Error::NotFound);
    }
    require_evaluator(&access)?;
    let project = &access.target.rated.project;
    let mut roster = project.roster.clone();
    let candidate = Candidate::clone(&access.target.rated.candidate);
    let after = candidate.after_taking_back(access.target.evaluator, &mut roster, access.now)?;
    let saved = EvaluationChange {
        project,
        roster,
        candidate: &access.target.rated.candidate,
        after,
        card: access.target.evaluation.as_ref(),
    };
    access.commit(access.store.save_scorecard(saved, None, access.now), NoContent).await
}

fn view<A>(
    access: &Admitted<Evaluation, A>,
    candidate: &Candidate,
    card: Option<&Evaluation>,
) -> EvaluationView {
    EvaluationView::new(
        candidate,
        access.target.evaluator,
        card,
        EvaluationScope::new(&access.target.rated, access.references()),
    )
}

/// What a client sent of an evaluation.
pub(crate) struct SaveEvaluation {
    maximum: u32,
    ratings: Vec<Rating>,
    recommendation: Option<Recommendation>,
    comment: TextLines<2000>,
    completed: bool,
}

impl SaveEvaluation {
    /// Reads the body, with values up to the `maximum_score` that it names; without one, up to `maximum`. `about` tells
    /// what a rating is about.
    pub(crate) fn read(
        mut body: BodyFields,
        maximum: u32,
        about: impl Fn(&Value) -> Result<RatingTarget, String>,
    ) -> Result<Self> {
        // Names the scale of the values, so that what was read can be sent back after the project's has changed.
        let maximum = body.integer("maximum_score", 1, MAX_SCORE).unwrap_or(maximum);
        let ratings = body.list("ratings", MAX_RATINGS, |value| {
            let number = value.get("value").ok_or("Expected objects with value.")?;
            let comment = match value.get("comment") {
                None | Some(Value::Null) => TextLines::default(),
                Some(comment) => TextLines::parse(comment.as_str().ok_or("Expected comments as strings.")?)?,
            };
            Ok(Rating { about: about(value)?, tenths: tenths(number, maximum)?, comment })
        });
        let ratings = ratings.unwrap_or_default();
        let distinct: BTreeSet<RatingTarget> = ratings.iter().map(|rating| rating.about).collect();
        if distinct.len() < ratings.len() {
            body.refuse("ratings", "Each question and criterion may be rated only once.");
        }
        let recommendation = body.clearable("recommendation", parse_enum).flatten();
        let comment = body.emptied("comment", TextLines::parse).unwrap_or_default();
        let completed = body.flag("completed").unwrap_or(false);
        body.finish(|| Some(Self { maximum, ratings, recommendation, comment, completed }))
    }

    /// The evaluation with what was sent. A veto stays.
    fn apply_to<A>(&self, access: &Admitted<Evaluation, A>) -> Evaluation {
        let known = access.target.evaluation.as_deref();
        Evaluation {
            maximum: self.maximum,
            ratings: self.ratings.clone(),
            recommendation: self.recommendation,
            comment: self.comment.clone(),
            veto: known.and_then(|known| known.veto.clone()),
            ..Evaluation::new(
                &access.target.rated.candidate,
                access.target.evaluator,
                &access.target.rated.project,
            )
        }
    }
}
