//! The evaluations of a candidate by staff.

use std::borrow::Cow;
use std::collections::BTreeSet;

use axum::Json;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use shared::auth::access::{Admitted, CandidateEvaluations, RatedCandidate};
use shared::auth::caller::CallerIdentity;
use shared::domain::evaluation::{
    Evaluation, MAX_RATINGS, MAX_SCORE, NOT_EVALUATOR, Rating, RatingTarget, Recommendation, Remark,
};
use shared::domain::id::CustomerId;
use shared::domain::parse_enum;
use shared::domain::policy::{Evaluate, ReadProject};
use shared::domain::scoring::change::EvaluationChange;
use shared::domain::scoring::first::{JudgementOrigin, JudgementWriter};
use shared::domain::text::TextLines;
use shared::http::exchange::respond::{CommittedResponse, CreatedOrUpdated, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::wire::tenths;
use shared::http::{BodyFields, ListItem};
use shared::{Error, Result};

use crate::view::{EvaluationScope, EvaluationView};

/// GET …/evaluations/
pub(crate) async fn list(
    access: Admitted<CandidateEvaluations, ReadProject>,
    query: ListQuery,
) -> Result<PageView<EvaluationView>> {
    let project = &access.target.project;
    let candidate = &access.target.candidate;
    let evaluations = access.store.evaluations_of(access.company_id(), project.id, candidate.id).await?;
    // Evaluators see no other evaluation until they have completed their own. This includes managers and owners:
    // another role does not make an opinion less biased.
    let mut evaluators = if access.is_blind() { BTreeSet::new() } else { candidate.completed_by() };
    // The caller's own draft is in the list too.
    let own = access.caller.customer();
    let is_written = |own: &CustomerId| {
        evaluations.get(&(candidate.id, *own)).is_some_and(|evaluation| !evaluation.is_withdrawn)
    };
    evaluators.extend(own.filter(is_written));
    let scope = EvaluationScope::new(project, &access.target.questionnaire, access.references());
    let (page, total) = query.slice(evaluators.into_iter().collect(), ToString::to_string);
    let page = page.map(|evaluator| {
        EvaluationView::new(candidate, evaluator, evaluations.get(&(candidate.id, evaluator)), scope)
    });
    query.answer(page, total)
}

/// GET …/evaluations/{customerId}/
pub(crate) async fn read(
    access: Admitted<Evaluation, ReadProject>,
) -> Result<CommittedResponse<Json<EvaluationView>>> {
    let scope = EvaluationScope::new(
        &access.target.rated.project,
        &access.target.rated.questionnaire,
        access.references(),
    );
    let evaluation = access.target.evaluation.as_deref();
    access.show(EvaluationView::new(
        &access.target.rated.candidate,
        access.target.evaluator,
        evaluation,
        scope,
    ))
}

/// PUT …/evaluations/{customerId}/
pub(crate) async fn save(
    access: Admitted<Evaluation, Evaluate>,
    body: BodyFields,
) -> Result<CommittedResponse<CreatedOrUpdated<EvaluationView>>> {
    let RatedCandidate { project, questionnaire, candidate } = &access.target.rated;
    let maximum = project.settings.maximum_score;
    let body = SaveEvaluation::read(body, maximum, |item| target_of(item, &access))?;
    require_evaluator(&access)?;
    let origin = if body.completed { Some(origin(&access).await?) } else { None };
    let before = access.target.evaluation.as_deref();
    let after = body.into_evaluation(&access);
    let change =
        EvaluationChange::save(project, questionnaire, candidate, before, after, origin, access.now)?;
    let scope = EvaluationScope::new(project, questionnaire, access.references());
    let view =
        EvaluationView::new(&change.candidate, access.target.evaluator, change.evaluation.as_ref(), scope);
    let shown =
        if access.target.exists() { CreatedOrUpdated::Old(view) } else { CreatedOrUpdated::New(view) };
    let stored = access.target.evaluation.as_ref();
    access.commit(access.store.save_evaluation(project, candidate, stored, change, access.now), shown).await
}

/// Refuses evaluations by customers who are not evaluators of the project. Admission checks this only for people, not
/// for named tokens.
fn require_evaluator(access: &Admitted<Evaluation, Evaluate>) -> Result<()> {
    let is_evaluator = access.target.rated.project.staff.evaluates(Some(access.target.evaluator)).is_some();
    if is_evaluator { Ok(()) } else { Err(NOT_EVALUATOR.into()) }
}

/// The person who completes the evaluation, and their role.
async fn origin(access: &Admitted<Evaluation, Evaluate>) -> Result<JudgementOrigin> {
    let author = access.target.evaluator;
    let (account_type, writer) = match &access.caller.identity {
        CallerIdentity::Customer(own) if access.caller.is_in_person() => {
            (own.account_type, JudgementWriter::Author)
        }
        CallerIdentity::Customer(own) => (own.account_type, JudgementWriter::OnBehalf),
        _ => {
            let found = access.store.customers(access.company_id(), [author]).await?;
            // An evaluator who cannot be read is being deleted.
            (found.first().ok_or(NOT_EVALUATOR)?.account_type, JudgementWriter::NamedToken)
        }
    };
    Ok(JudgementOrigin::new(author, account_type, &access.target.rated.project.staff, writer))
}

/// Reads which question or criterion a rating is for.
fn target_of(
    item: &mut ListItem<'_>,
    access: &Admitted<Evaluation, Evaluate>,
) -> Result<RatingTarget, String> {
    let company = access.company_id();
    let project = access.target.rated.project.id;
    let references = access.references();
    let target = match (item.get("question"), item.get("criterion")) {
        (Some(Value::String(question)), None | Some(Value::Null)) => {
            RatingTarget::Question(references.parse_in_project(company, project, question)?)
        }
        (None | Some(Value::Null), Some(Value::String(criterion))) => {
            RatingTarget::Criterion(references.parse_in_project(company, project, criterion)?)
        }
        _ => return Err("Expected objects with either question or criterion.".to_owned()),
    };
    if target.is_in(&access.target.rated.questionnaire) {
        Ok(target)
    } else {
        Err("The project has no such question or criterion.".to_owned())
    }
}

/// DELETE …/evaluations/{customerId}/
pub(crate) async fn delete(access: Admitted<Evaluation, Evaluate>) -> Result<CommittedResponse<NoContent>> {
    if !access.target.exists() {
        return Err(Error::NotFound);
    }
    require_evaluator(&access)?;
    let project = &access.target.rated.project;
    let candidate = &access.target.rated.candidate;
    let stored = access.target.evaluation.as_ref();
    let before = stored.map(|stored| &**stored);
    let change = EvaluationChange::delete(project, candidate, access.target.evaluator, before, access.now)?;
    access
        .commit(access.store.save_evaluation(project, candidate, stored, change, access.now), NoContent)
        .await
}

/// The body that saves an evaluation.
pub(crate) struct SaveEvaluation {
    maximum: u32,
    ratings: Vec<Rating>,
    remarks: Vec<Remark>,
    recommendation: Option<Recommendation>,
    comment: TextLines<2000>,
    completed: bool,
}

/// A rating in the body.
struct SentRating {
    target: RatingTarget,
    /// `None` for a comment without a value.
    tenths: Option<u32>,
    comment: TextLines<500>,
}

impl JsonSchema for SentRating {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SentRating".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let reference = |text: &str| json!({ "type": ["string", "null"], "format": "uri-reference", "description": text });
        json_schema!({
            "type": "object",
            "required": ["value"],
            "properties": {
                "question": reference("The question; either this or `criterion`."),
                "criterion": reference("The criterion; either this or `question`."),
                "value": {
                    "type": ["number", "null"], "minimum": 0,
                    "description": "Up to the project's `maximum_score`, with at most one decimal; null for a comment alone, which counts for nothing.",
                },
                "comment": {
                    "type": ["string", "null"], "maxLength": 500,
                    "description": "Why. Required without a value.",
                },
            },
        })
    }
}

impl SaveEvaluation {
    /// Reads the body. Values are on the scale of its `maximum_score`, by default `maximum`. `target` reads which
    /// question or criterion a rating is for.
    pub(crate) fn read(
        mut body: BodyFields,
        maximum: u32,
        target: impl Fn(&mut ListItem<'_>) -> Result<RatingTarget, String>,
    ) -> Result<Self> {
        // The body may contain the scale, so that clients can send back what they have read after the project's scale
        // has changed.
        let maximum = body.integer("maximum_score", 1, MAX_SCORE).unwrap_or(maximum);
        let sent = body.list("ratings", MAX_RATINGS, |item| {
            let value = item.get("value").ok_or("Expected objects with value.")?;
            let comment = match item.get("comment") {
                None | Some(Value::Null) => TextLines::default(),
                Some(comment) => TextLines::parse(comment.as_str().ok_or("Expected comments as strings.")?)?,
            };
            let target = target(item)?;
            let tenths = match value {
                Value::Null if comment == TextLines::default() => {
                    return Err("A rating without a value needs a comment.".to_owned());
                }
                Value::Null => None,
                value => Some(tenths(value, maximum)?),
            };
            Ok(SentRating { target, tenths, comment })
        });
        let sent = sent.unwrap_or_default();
        let distinct: BTreeSet<RatingTarget> = sent.iter().map(|rating| rating.target).collect();
        if distinct.len() < sent.len() {
            body.refuse("ratings", "Each question and criterion may be rated only once.");
        }
        let (mut ratings, mut remarks) = (Vec::new(), Vec::new());
        for SentRating { target, tenths, comment } in sent {
            match tenths {
                Some(tenths) => ratings.push(Rating { target, tenths, comment }),
                None => remarks.push(Remark { target, comment }),
            }
        }
        let recommendation = body.clearable("recommendation", parse_enum).flatten();
        let comment = body.text_or_empty("comment", TextLines::parse).unwrap_or_default();
        let completed = body.flag("completed").unwrap_or(false);
        body.finish(|| Some(Self { maximum, ratings, remarks, recommendation, comment, completed }))
    }

    fn into_evaluation<A>(self, access: &Admitted<Evaluation, A>) -> Evaluation {
        let Self { maximum, ratings, remarks, recommendation, comment, .. } = self;
        let empty = Evaluation::new(
            &access.target.rated.candidate,
            access.target.evaluator,
            &access.target.rated.project,
        );
        let written = Evaluation { maximum, ratings, remarks, recommendation, comment, ..empty };
        match &access.target.evaluation {
            Some(before) => written.replacing(before),
            None => written,
        }
    }
}
