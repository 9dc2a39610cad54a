//! The views of the contact for candidates, and of refusals of ended keys.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::candidate::{Candidate, EndedByTime};
use crate::domain::company::Company;
use crate::domain::project::Project;
use crate::domain::project::contact::Contact;
use crate::domain::text::Email;
use crate::error::{Error, Result};
use crate::http::reference::ReferenceUris;
use crate::http::view::HelpRequestView;
use crate::http::wire::{OrEmpty, Timestamp, Uri};

/// The contact for questions of candidates.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Contact")]
pub struct ContactView {
    /// The contact person of the project; empty for none.
    #[schemars(example = &"Grace Hopper")]
    person: String,
    /// The email address of the project or, without one, of the company; empty if neither has one.
    #[schemars(example = &"jobs@example.com")]
    email: OrEmpty<Email>,
}

impl From<Contact> for ContactView {
    fn from(contact: Contact) -> Self {
        Self { person: contact.person.to_string(), email: OrEmpty(contact.email) }
    }
}

/// A company, as its candidates see it.
#[derive(Debug, Serialize)]
struct NamedCompanyView {
    resource_uri: Uri,
    name: String,
    logo: Option<Uri>,
}

/// The fields of the response to a candidate's ended key, except `detail` and `code`. The OpenAPI document describes
/// them with the failure.
#[derive(Debug, Serialize)]
pub(crate) struct EndedKeyView {
    resource_uri: Uri,
    company: NamedCompanyView,
    contact: ContactView,
    return_url: OrEmpty<String>,
    interviewdate: Option<Timestamp>,
    answers: Option<usize>,
    ended_by_time: bool,
    ended_at: Option<Timestamp>,
    help_request: Option<HelpRequestView>,
}

/// The fields of the response to a guest link's ended key, except `detail` and `code`. The OpenAPI document describes them
/// with the failure.
#[derive(Debug, Serialize)]
pub(crate) struct EndedGuestLinkView {
    company: ReviewedCompanyView,
    contact: ContactView,
}

/// A company, as guests see it.
// The company has no `resource_uri` here, because guests may not read it.
#[derive(Debug, Serialize)]
struct ReviewedCompanyView {
    name: String,
    logo: Option<Uri>,
}

impl EndedGuestLinkView {
    /// The view for a guest link to answers in `project`.
    pub(crate) fn new(project: &Project, company: &Company, references: ReferenceUris<'_>) -> Self {
        Self {
            company: ReviewedCompanyView { name: company.name.to_string(), logo: references.logo(company) },
            contact: Contact::of(project, company).into(),
        }
    }

    /// The members of the JSON object.
    pub(crate) fn into_map(self) -> Result<Map<String, Value>> {
        members_of(self)
    }
}

impl EndedKeyView {
    /// The view for the key of `candidate`.
    pub(crate) fn new(
        candidate: &Candidate,
        project: &Project,
        company: &Company,
        references: ReferenceUris<'_>,
    ) -> Self {
        Self {
            resource_uri: references.uri_in_project(&company.id, project.id, candidate.id),
            company: NamedCompanyView {
                resource_uri: references.company(&company.id),
                name: company.name.to_string(),
                logo: references.logo(company),
            },
            contact: Contact::of(project, company).into(),
            return_url: OrEmpty(None),
            interviewdate: None,
            answers: None,
            ended_by_time: false,
            ended_at: None,
            help_request: None,
        }
    }

    /// Adds when the interview was completed, the number of answers, and the URL to which the candidate goes on.
    pub(crate) fn with_completion(
        self,
        candidate: &Candidate,
        project: &Project,
        answers: Option<usize>,
    ) -> Self {
        let return_url = OrEmpty(candidate.return_url(project));
        Self { return_url, interviewdate: candidate.interviewed_at.map(Timestamp), answers, ..self }
    }

    /// Adds the candidate's latest request for help.
    pub(crate) fn with_help_request(self, candidate: &Candidate) -> Self {
        Self { help_request: candidate.help_request.as_ref().map(HelpRequestView::from), ..self }
    }

    /// Adds when the time of the interview ended, and how many answers there were.
    pub(crate) fn with_end_by_time(self, ended: EndedByTime) -> Self {
        let ended_at = Some(Timestamp(ended.ended_at));
        Self { answers: Some(ended.answered), ended_by_time: true, ended_at, ..self }
    }

    /// The members of the JSON object.
    pub(crate) fn into_map(self) -> Result<Map<String, Value>> {
        members_of(self)
    }
}

fn members_of(view: impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(view).map_err(Error::internal)? {
        Value::Object(members) => Ok(members),
        _ => Err(Error::internal("a view is no object")),
    }
}
