//! The documentation of each route.

use serde_json::{Value, json};
use shared::domain::interview::{QUESTIONS_IN_USE, TOO_MANY_CRITERIA, TOO_MANY_QUESTIONS};
use shared::http::view::{CriterionView, QuestionView};
use shared::openapi::Operation;

use crate::changes::{CriterionChanges, QuestionChanges};

const LAST: &str = "Unique among the project's other positions. By default after the last one.";

pub(crate) fn list_questions(operation: Operation) -> Operation {
    operation.summary("List questions").text(
        "In the order of their positions. Candidates read the questions of their project from the beginning of \
         their interview on, without `internal_description`.",
    )
}

pub(crate) fn create_question(operation: Operation) -> Operation {
    operation
        .summary("Create question")
        .body_with_references::<QuestionView, _>(QuestionChanges::read_whole)
        .field("position", LAST)
        .field("takes", "How often candidates may record an answer; null for no limit. By default 3, or 1 after a time to prepare.")
        .refuses(&[TOO_MANY_QUESTIONS, QUESTIONS_IN_USE])
        .example("question", question())
}

pub(crate) fn get_question(operation: Operation) -> Operation {
    operation.summary("Get question")
}

pub(crate) fn replace_question(operation: Operation) -> Operation {
    operation
        .summary("Replace question")
        .text("Missing fields get their defaults; without `position`, the question keeps its place.")
        .body_with_references::<QuestionView, _>(QuestionChanges::read_whole)
        .refuses(&[QUESTIONS_IN_USE])
        .example("question", question())
}

pub(crate) fn change_question(operation: Operation) -> Operation {
    operation
        .summary("Change question")
        .body_with_references::<QuestionView, _>(QuestionChanges::read)
        .refuses(&[QUESTIONS_IN_USE])
        .example("text", json!({ "text": "Which project are you most proud of?" }))
}

pub(crate) fn delete_question(operation: Operation) -> Operation {
    operation.summary("Delete question").refuses(&[QUESTIONS_IN_USE])
}

pub(crate) fn list_criteria(operation: Operation) -> Operation {
    operation.summary("List criteria").text("In the order of their positions.")
}

pub(crate) fn create_criterion(operation: Operation) -> Operation {
    operation
        .summary("Create criterion")
        .body::<CriterionView, _>(CriterionChanges::read_whole)
        .field("position", LAST)
        .refuses(&[TOO_MANY_CRITERIA])
        .example(
            "criterion",
            json!({ "name": "Communication", "description": "Speaks clearly and listens." }),
        )
}

pub(crate) fn get_criterion(operation: Operation) -> Operation {
    operation.summary("Get criterion")
}

pub(crate) fn replace_criterion(operation: Operation) -> Operation {
    operation
        .summary("Replace criterion")
        .text("Missing fields get their defaults; without `position`, the criterion keeps its place.")
        .body::<CriterionView, _>(CriterionChanges::read_whole)
        .example("criterion", json!({ "name": "Communication" }))
}

pub(crate) fn change_criterion(operation: Operation) -> Operation {
    operation
        .summary("Change criterion")
        .body::<CriterionView, _>(CriterionChanges::read)
        .example("name", json!({ "name": "Listening" }))
}

pub(crate) fn delete_criterion(operation: Operation) -> Operation {
    operation.summary("Delete criterion")
}

fn question() -> Value {
    json!({ "text": "Which project are you proud of?", "preparation_seconds": 30, "answer_seconds": 120 })
}
