//! Errors that the document shows as examples.

use serde_json::{Value, json};

use crate::domain::candidate::{GuestLinkEnd, KeyEnd};
use crate::error::Error;
use crate::http::example_uri;

pub(super) fn unknown_parameter() -> Error {
    Error::UnknownParameter {
        parameter: "externalid".to_owned(),
        detail: "There is no parameter externalid. Did you mean external_id?".to_owned(),
    }
}

pub(super) fn ended_mailed_key() -> Error {
    Error::EndedMailedKey { company: example_uri::COMPANY.to_owned(), is_of_staff: true }
}

pub(super) fn external_id_taken(resource_uri: Option<String>) -> Error {
    Error::ExternalIdTaken { holder: None, resource_uri }
}

pub(super) fn ended_key(end: KeyEnd, interviewdate: Value, answers: Value) -> Error {
    let return_url = if end == KeyEnd::Completed {
        "https://jobs.example.com/done?candidate=01JQ8ZB4T1H6W5Y7X3Q9E2G0FA"
    } else {
        ""
    };
    let told = json!({
        "resource_uri": example_uri::CANDIDATE,
        "company": { "resource_uri": example_uri::COMPANY, "name": "Acme Ltd", "logo": example_uri::LOGO },
        "contact": { "person": "Grace Hopper", "email": "jobs@example.com" },
        "return_url": return_url,
        "interviewdate": interviewdate,
        "answers": answers,
        "ended_by_time": false,
        "ended_at": null,
    });
    Error::EndedKey(end.refusal(), told.as_object().cloned().unwrap_or_default())
}

pub(super) fn ended_by_time() -> Error {
    let Error::EndedKey(refusal, mut told) = ended_key(KeyEnd::Overdue, json!(null), json!(1)) else {
        return Error::internal("a sample is of another kind");
    };
    told.insert("ended_by_time".to_owned(), json!(true));
    told.insert("ended_at".to_owned(), json!("2026-11-08T22:59:00Z"));
    Error::EndedKey(refusal, told)
}

pub(super) fn ended_guest_link(end: GuestLinkEnd) -> Error {
    let told = json!({
        "company": { "name": "Acme Ltd", "logo": example_uri::LOGO },
        "contact": { "person": "Grace Hopper", "email": "jobs@example.com" },
    });
    Error::EndedKey(end.refusal(), told.as_object().cloned().unwrap_or_default())
}
