//! The texts and examples of each route in the OpenAPI document.

use serde_json::{Value, json};
use shared::domain::evaluation::evaluator_index::TOO_MANY_EVALUATORS;
use shared::domain::evaluation::{
    ALREADY_VETOED, NOT_EVALUATOR, NOT_INTERVIEWED, NOTHING_RATED, VETO_DISABLED, VETOED,
};
use shared::domain::questionnaire::{
    QUESTIONS_IN_USE, TOO_MANY_CRITERIA, TOO_MANY_QUESTIONS, TOO_MANY_TEXTS,
};
use shared::domain::scoring::agreement::TOO_MANY_CANDIDATES;
use shared::http::view::{CriterionView, QuestionView};
use shared::openapi::OperationDoc;

use crate::changes::{NewCriterion, NewQuestion, read_criterion_changes, read_question_changes};
use crate::evaluations::SaveEvaluation;
use crate::results::ResultOrder;
use crate::vetos::read_new;
use crate::view::{EvaluationView, VetoView};

const LAST: &str = "Unique among the project's other positions. By default after the last one.";

pub(crate) fn list_questions(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "In the order of their positions. Candidates read the questions of their project from the beginning of \
         their interview on, without `internal_description`.",
    )
}

pub(crate) fn create_question(operation: OperationDoc) -> OperationDoc {
    operation
        .body_with_references::<QuestionView, _>(|body, company, references| {
            NewQuestion::read(body, company, references, 5)
        })
        .field("position", LAST)
        .field("takes", "How often candidates may record an answer; null for 20 times. By default 3, or 1 after a time to prepare.")
        .refuses(&[TOO_MANY_QUESTIONS, QUESTIONS_IN_USE])
        .example("question", question())
}

pub(crate) fn replace_question(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Missing fields get their defaults; without `position`, the question keeps its place.")
        .body_with_references::<QuestionView, _>(|body, company, references| {
            NewQuestion::read(body, company, references, 5)
        })
        .refuses(&[QUESTIONS_IN_USE, TOO_MANY_TEXTS])
        .example("question", question())
}

pub(crate) fn change_question(operation: OperationDoc) -> OperationDoc {
    operation
        .body_with_references::<QuestionView, _>(|body, company, references| {
            read_question_changes(body, company, references, 5)
        })
        .refuses(&[QUESTIONS_IN_USE, TOO_MANY_TEXTS])
        .example("text", json!({ "text": "Which project are you most proud of?" }))
}

pub(crate) fn delete_question(operation: OperationDoc) -> OperationDoc {
    operation.refuses(&[QUESTIONS_IN_USE])
}

pub(crate) fn list_criteria(operation: OperationDoc) -> OperationDoc {
    operation.text("In the order of their positions.")
}

pub(crate) fn create_criterion(operation: OperationDoc) -> OperationDoc {
    operation
        .body::<CriterionView, _>(|body| NewCriterion::read(body, 5))
        .field("position", LAST)
        .refuses(&[TOO_MANY_CRITERIA])
        .example(
            "criterion",
            json!({ "name": "Communication", "description": "Speaks clearly and listens." }),
        )
}

pub(crate) fn replace_criterion(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Missing fields get their defaults; without `position`, the criterion keeps its place.")
        .body::<CriterionView, _>(|body| NewCriterion::read(body, 5))
        .example("criterion", json!({ "name": "Communication" }))
}

pub(crate) fn change_criterion(operation: OperationDoc) -> OperationDoc {
    operation
        .body::<CriterionView, _>(|body| read_criterion_changes(body, 5))
        .example("name", json!({ "name": "Listening" }))
}

pub(crate) fn list_evaluations(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "By evaluator. Evaluators see those of others after they have completed their own. Drafts are shown to those \
         who write them.",
    )
}

pub(crate) fn get_evaluation(operation: OperationDoc) -> OperationDoc {
    operation.text(BLIND)
}

pub(crate) fn save_evaluation(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Replaces the caller's own evaluation; named tokens write for any evaluator of the project. Without \
             `completed`, it is a draft. A comment may wait for its value: a rating with `value` null counts neither for the completion \
             nor in results. Save a first draft with `If-None-Match: *` and later ones with `If-Match`, so that two windows do \
             not overwrite each other. An evaluation that is saved here is later than every `evaluation.recorded` \
             event that was applied before. Values are on the scale of `maximum_score`, by default the project's.",
        )
        .body::<EvaluationView, _>(|body| SaveEvaluation::read(body, 5, |_| Err(String::new())))
        .refuses(&[NOT_EVALUATOR, NOT_INTERVIEWED, NOTHING_RATED, VETOED, TOO_MANY_EVALUATORS])
        .example("completed", evaluation())
}

pub(crate) fn delete_evaluation(operation: OperationDoc) -> OperationDoc {
    operation.refuses(&[NOT_EVALUATOR, VETOED])
}

pub(crate) fn list_vetos(operation: OperationDoc) -> OperationDoc {
    operation.text(HIDDEN)
}

pub(crate) fn veto_candidate(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Completes the caller's own evaluation and, for all evaluators, that of the candidate.")
        .body::<VetoView, _>(read_new)
        .refuses(&[VETO_DISABLED, NOT_INTERVIEWED, ALREADY_VETOED, TOO_MANY_EVALUATORS])
        .example("veto", json!({ "comment": "The certificates could not be verified." }))
}

pub(crate) fn get_veto(operation: OperationDoc) -> OperationDoc {
    operation.text(BLIND)
}

pub(crate) fn list_vetos_of_project(operation: OperationDoc) -> OperationDoc {
    operation.text("Oldest first. ").text(HIDDEN)
}

pub(crate) fn list_results(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Interviewed candidates with an evaluation or a veto by an evaluator of the project, the oldest candidate \
             first. Evaluators get null for what others have said about a candidate until their own evaluation.",
        )
        .query::<ResultOrder>("ordering", "By overall rating. Results without one come last.")
}

pub(crate) fn get_result(operation: OperationDoc) -> OperationDoc {
    operation.text(BLIND)
}

pub(crate) fn get_agreement(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Krippendorff's alpha over the first versions of completed evaluations that their authors have written without having \
             read others, each on its scale from 0 to 1; for the recommendation, only the order of the values counts. Evaluators \
             who have yet to evaluate a candidate of the project get 403 with the code `evaluate_first`, managers too. It is \
             computed when it is read. What changes in the meantime counts or does not.",
        )
        .refuses(&[TOO_MANY_CANDIDATES])
}

const BLIND: &str = "Evaluators who have yet to evaluate the candidate get 403 with the code `evaluate_first` unless it \
                     is their own.";
const HIDDEN: &str = "Evaluators see the vetoes of a candidate only after their own evaluation.";

fn evaluation() -> Value {
    let project = "/api/v3/companies/acme/projects/01JQ8Z2M8F3A6D1S4J7H0K9PMA";
    json!({
        "ratings": [
            { "question": format!("{project}/questions/01JQ8Z2M8F3A6D1S4J7H0K9PMB/"), "value": 4, "comment": "Clear." },
            { "criterion": format!("{project}/criteria/01JQ8Z2M8F3A6D1S4J7H0K9PMC/"), "value": 3.5 },
        ],
        "recommendation": "yes",
        "completed": true,
    })
}

fn question() -> Value {
    json!({ "text": "Which project are you proud of?", "preparation_seconds": 30, "answer_seconds": 120 })
}
