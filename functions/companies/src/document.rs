//! The documentation of each route.

use serde_json::json;
use shared::domain::named_token::TOO_MANY_TOKENS;
use shared::http::view::LabelView;
use shared::openapi::OperationDoc;

use crate::changes::read_changes;
use crate::view::{CompanyView, TokenView};
use crate::{labels, shares, tokens};

pub(crate) fn change_company(operation: OperationDoc) -> OperationDoc {
    operation
        .body::<CompanyView, _>(read_changes)
        .example("deadline", json!({ "default_interview_period": 14, "timezone": "Europe/London" }))
}

pub(crate) fn list_languages(operation: OperationDoc) -> OperationDoc {
    operation.text("The languages that `support_lang` and `preferred_language` may name.")
}

pub(crate) fn list_labels(operation: OperationDoc) -> OperationDoc {
    operation.text("Oldest first.")
}

pub(crate) fn create_label(operation: OperationDoc) -> OperationDoc {
    operation.body::<LabelView, _>(labels::read_new).example("label", json!({ "text": "Senior" }))
}

pub(crate) fn change_label(operation: OperationDoc) -> OperationDoc {
    operation.body::<LabelView, _>(labels::read_changes).example("label", json!({ "text": "Principal" }))
}

pub(crate) fn delete_label(operation: OperationDoc) -> OperationDoc {
    operation.text("Also removes the label from all projects.")
}

pub(crate) fn list_shares_with_caller(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Candidates that other customers share with the caller, the oldest share first.")
        .expand(&[shares::CANDIDATE])
}

pub(crate) fn list_named_tokens(operation: OperationDoc) -> OperationDoc {
    operation.text("Without their values.")
}

pub(crate) fn create_named_token(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Creates a token without an expiry date, for a service that acts for the company. It has \
                     an owner's permissions, except for actions that need a person. Only this answer \
                     contains the value; a retry with the same `Idempotency-Key` returns the token without \
                     it.",
        )
        .body::<TokenView, _>(tokens::read_new)
        .field("value", "32 to 256 visible ASCII characters, hard to guess. By default generated.")
        .refuses(&[TOO_MANY_TOKENS])
        .example("token", json!({ "name": "Applicant tracking" }))
}

pub(crate) fn get_named_token(operation: OperationDoc) -> OperationDoc {
    operation.text("Without its value.")
}

pub(crate) fn delete_named_token(operation: OperationDoc) -> OperationDoc {
    operation.text("The token stops working at once.")
}
