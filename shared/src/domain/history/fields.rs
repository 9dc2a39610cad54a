//! What the history notes of each field: the one table of that.
//!
//! The values of facts are kept, since clients branch on them and they identify no person. Of all other fields, the history
//! keeps the name alone. Every field of a resource is either listed or left out on purpose: a new one does not compile
//! unnoticed.

use std::collections::BTreeSet;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::Value;

use crate::domain::candidate::{Candidate, CandidateProfile};
use crate::domain::company::Company;
use crate::domain::customer::Customer;
use crate::domain::id::CustomerId;
use crate::domain::interview::Interview;
use crate::domain::label::Label;
use crate::domain::named_token::NamedToken;
use crate::domain::project::{Project, ProjectSettings};
use crate::domain::staff::ProjectStaff;
use crate::domain::video::Video;
use crate::domain::webhook::Webhook;

/// A field with its name in the API.
pub(crate) type NamedField = (&'static str, FieldValue);

/// The value of a field, and what is noted of its changes.
#[derive(Clone, PartialEq)]
pub(crate) enum FieldValue {
    /// The former and the new value.
    Fact(Value),
    /// The customers who came and went.
    Customers(BTreeSet<CustomerId>),
    /// Nothing besides its name.
    Private(Value),
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn fact(value: &impl Serialize) -> FieldValue {
    FieldValue::Fact(json(value))
}

fn moment(at: Option<DateTime<Utc>>) -> FieldValue {
    fact(&at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)))
}

fn customers<'a>(all: impl IntoIterator<Item = &'a CustomerId>) -> FieldValue {
    FieldValue::Customers(all.into_iter().copied().collect())
}

fn private(value: &impl Serialize) -> FieldValue {
    FieldValue::Private(json(value))
}

#[rustfmt::skip]
pub(super) fn of_candidate(candidate: &Candidate) -> Vec<NamedField> {
    let Candidate {
        status, profile, invited_at, confirmed_at, interviewed_at, shares, password_hash, photo, cv,
        // Told by the identifiers, by events, or by other fields.
        id: _, company: _, project: _, created_by: _, reminded_at: _, evaluations: _, scores: _, suppression: _,
        // Internal.
        started_at: _, mail_rate: _, access_key: _, session_epoch: _, one_time_key: _,
    } = candidate;
    let CandidateProfile {
        first_name, last_name, username, email, deadline, phone, gender, address, partner_data,
    } = profile;
    let completed_by = candidate.completed_by();
    vec![
        ("status", fact(status)),
        ("deadline", moment(*deadline)),
        ("invitationdate", moment(*invited_at)),
        ("confirmationdate", moment(*confirmed_at)),
        ("interviewdate", moment(*interviewed_at)),
        ("email_status", fact(&candidate.email_status())),
        ("completed_evaluations", fact(&completed_by.len())),
        ("evaluations", customers(&completed_by)),
        ("shares", customers(shares.values())),
        ("first_name", private(first_name)),
        ("last_name", private(last_name)),
        ("username", private(username)),
        ("email", private(email)),
        ("phone", private(phone)),
        ("gender", private(gender)),
        ("address", private(address)),
        ("partner_data", private(partner_data)),
        ("password", private(password_hash)),
        ("photo", private(photo)),
        ("cv", private(cv)),
    ]
}

#[rustfmt::skip]
pub(super) fn of_customer(customer: &Customer) -> Vec<NamedField> {
    let Customer {
        account_type, username, email, first_name, last_name, phone, gender, position, role, preferred_language,
        status, is_active, invited_at, confirmed_at, receive_interview_notifications, seen_welcome, password_hash,
        authenticate_on_behalf, photo,
        // Told by the identifiers or by other fields.
        id: _, company: _, created_by: _, suppression: _,
        // Internal.
        mail_rate: _, session_epoch: _, one_time_key: _,
    } = customer;
    vec![
        ("account_type", fact(account_type)),
        ("status", fact(status)),
        ("is_active", fact(is_active)),
        ("authenticate_on_behalf", fact(authenticate_on_behalf)),
        ("invitationdate", moment(*invited_at)),
        ("confirmationdate", moment(*confirmed_at)),
        ("email_status", fact(&customer.email_status())),
        ("first_name", private(first_name)),
        ("last_name", private(last_name)),
        ("username", private(username)),
        ("email", private(email)),
        ("phone", private(phone)),
        ("gender", private(gender)),
        ("position", private(position)),
        ("role", private(role)),
        ("preferred_language", private(preferred_language)),
        ("receive_interview_notifications", private(receive_interview_notifications)),
        ("seen_welcome", private(seen_welcome)),
        ("password", private(password_hash)),
        ("photo", private(photo)),
    ]
}

#[rustfmt::skip]
pub(super) fn of_project(project: &Project) -> Vec<NamedField> {
    let Project {
        status, settings, staff: ProjectStaff { interview_managers, evaluators, reviewers },
        id: _, company: _, evaluator_index: _,
    } = project;
    let ProjectSettings {
        name, job_url, email_alias, mode, maximum_score, support_lang, internal_id, allow_hash_login,
        max_interview_time, invite_candidates, default_interview_period, closedate, activationdate, creationdate,
        contact_person, veto_enabled, team_evaluation, partner_data, labels, videos,
    } = settings;
    vec![
        ("name", fact(name)),
        ("internal_id", fact(internal_id)),
        ("status", fact(status)),
        ("activationdate", fact(activationdate)),
        ("closedate", fact(closedate)),
        ("interview_managers", customers(interview_managers)),
        ("evaluators", customers(evaluators)),
        ("reviewers", customers(reviewers)),
        ("job_url", private(job_url)),
        ("email_alias", private(email_alias)),
        ("mode", private(mode)),
        ("maximum_score", private(maximum_score)),
        ("support_lang", private(support_lang)),
        ("allow_hash_login", private(allow_hash_login)),
        ("max_interview_time", private(max_interview_time)),
        ("invite_candidates", private(invite_candidates)),
        ("default_interview_period", private(default_interview_period)),
        ("creationdate", private(creationdate)),
        ("contact_person", private(contact_person)),
        ("veto_enabled", private(veto_enabled)),
        ("team_evaluation", private(team_evaluation)),
        ("partner_data", private(partner_data)),
        ("labels", private(labels)),
        ("videos", private(videos)),
    ]
}

pub(super) fn of_interview(interview: &Interview) -> Vec<NamedField> {
    let Interview { questions, criteria, company: _, project: _ } = interview;
    vec![("questions", private(questions)), ("criteria", private(criteria))]
}

#[rustfmt::skip]
pub(super) fn of_video(video: &Video) -> Vec<NamedField> {
    let Video {
        name, description, internal_description, status, converted, failure,
        // Never changed, or told by the status.
        id: _, company: _, upload_filename: _, file: _, submitted_by: _, author: _, submitted_at: _,
        // Internal.
        attempt: _, given_up_at: _, is_active: _,
    } = video;
    vec![
        ("video_conversion_status", fact(status)),
        ("length", fact(&converted.map_or(0, |made| made.seconds))),
        ("video_conversion_error", private(failure)),
        ("name", private(name)),
        ("description", private(description)),
        ("internal_description", private(internal_description)),
    ]
}

pub(super) fn of_label(label: &Label) -> Vec<NamedField> {
    let Label { text, id: _, company: _, is_active: _ } = label;
    vec![("text", private(text))]
}

#[rustfmt::skip]
pub(super) fn of_webhook(webhook: &Webhook) -> Vec<NamedField> {
    let Webhook {
        url, description, types, projects, disabled_reason, secret,
        // Never changed, or told by the secret.
        id: _, company: _, former_secret: _, created_at: _,
    } = webhook;
    vec![
        ("is_enabled", fact(&webhook.is_enabled())),
        ("disabled_reason", fact(disabled_reason)),
        ("url", private(url)),
        ("description", private(description)),
        ("types", private(types)),
        ("projects", private(projects)),
        ("secret", private(secret)),
    ]
}

pub(super) fn of_token(token: &NamedToken) -> Vec<NamedField> {
    let NamedToken { name, id: _, company: _, hash: _, media_key: _, created_at: _, created_by: _ } = token;
    vec![("name", private(name))]
}

#[rustfmt::skip]
pub(super) fn of_company(company: &Company) -> Vec<NamedField> {
    let Company {
        name, address, city, postcode, country, phone, default_interview_period, default_maximum_score,
        default_project_lang, registration_email, timezone, verified_senders,
        id: _,
    } = company;
    vec![
        ("name", private(name)),
        ("address", private(address)),
        ("city", private(city)),
        ("postcode", private(postcode)),
        ("country", private(country)),
        ("phone", private(phone)),
        ("default_interview_period", private(default_interview_period)),
        ("default_maximum_score", private(default_maximum_score)),
        ("default_project_lang", private(default_project_lang)),
        ("registration_email", private(registration_email)),
        ("timezone", private(timezone)),
        ("verified_senders", private(verified_senders)),
    ]
}
