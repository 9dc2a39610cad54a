//! A candidate as clients see it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::auth::policy::{Action, Standing};
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::evaluation::{self, EvaluationStatus};
use crate::domain::file::FileKind;
use crate::domain::id::CustomerId;
use crate::domain::project::Project;
use crate::domain::text::{Email, Username};
use crate::http::reference::References;
use crate::http::respond::timestamp;
use crate::http::view::ShareView;

/// Who looks at a candidate, and from where.
pub struct Viewer<'a> {
    customer: Option<CustomerId>,
    sees_keys: bool,
    sees_shares: bool,
    project: &'a Project,
    references: References<'a>,
}

impl<'a> Viewer<'a> {
    /// A staff user, or nobody's user, of this standing in the project.
    pub fn new(
        customer: Option<CustomerId>,
        standing: &Standing,
        project: &'a Project,
        references: References<'a>,
    ) -> Self {
        let sees_keys = Action::AdvanceCandidate.is_allowed(standing);
        let sees_shares = Action::ChangeProject.is_allowed(standing);
        Self { customer, sees_keys, sees_shares, project, references }
    }

    /// The very candidate, of a project.
    pub fn itself(project: &'a Project, references: References<'a>) -> Self {
        Self::new(None, &Standing::Itself, project, references)
    }
}

/// A candidate as clients see it.
#[derive(Debug, Serialize)]
pub struct CandidateView {
    company: String,
    project: String,
    #[serde(flatten)]
    fields: CandidateFields,
}

impl CandidateView {
    /// The view that `viewer` has of a candidate.
    pub fn new(candidate: &Candidate, viewer: &Viewer<'_>) -> Self {
        let references = viewer.references;
        Self {
            company: references.company(&candidate.company),
            project: references.project(&candidate.company, candidate.project),
            fields: CandidateFields::new(candidate, viewer),
        }
    }
}

/// What a view of a candidate has besides its company and its project.
#[derive(Debug, Serialize)]
pub struct CandidateFields {
    resource_uri: String,
    first_name: String,
    last_name: String,
    username: String,
    email: String,
    email_status: &'static str,
    status: &'static str,
    confirmationdate: Option<String>,
    invitationdate: Option<String>,
    interviewdate: Option<String>,
    deadline: Option<String>,
    photo: String,
    cv: String,
    evaluation_status: EvaluationStatus,
    my_evaluation_status: Option<EvaluationStatus>,
    phone: String,
    gender: String,
    created_by: Option<String>,
    address: String,
    partner_data: Map<String, Value>,
    interview_suite_url: String,
    #[serde(flatten)]
    keys: Option<Keys>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shares: Option<Vec<ShareView>>,
}

/// What only project managers see, and the candidate its own: the key that came with the invitation, under the name of
/// what it opens.
#[derive(Debug, Serialize)]
struct Keys {
    activation_key: Option<String>,
    interview_key: Option<String>,
}

impl Keys {
    fn of(candidate: &Candidate) -> Self {
        let key = candidate.access_key.as_ref().map(|key| key.as_str().to_owned());
        let (activation_key, interview_key) =
            if candidate.status == CandidateStatus::Invited { (key, None) } else { (None, key) };
        Self { activation_key, interview_key }
    }
}

impl CandidateFields {
    /// The fields as `viewer` sees them.
    pub fn new(candidate: &Candidate, viewer: &Viewer<'_>) -> Self {
        let Candidate { company, project, profile, .. } = candidate;
        let completed_by = candidate.completed_by();
        let references = viewer.references;
        let own = references.candidate(company, *project, candidate.id);
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Self {
            first_name: profile.first_name.to_string(),
            last_name: profile.last_name.to_string(),
            username: text(profile.username.as_ref().map(Username::as_str)),
            email: text(profile.email.as_ref().map(Email::as_str)),
            email_status: candidate.email_status(),
            status: candidate.status.as_str(),
            confirmationdate: candidate.confirmed_at.map(timestamp),
            invitationdate: candidate.invited_at.map(timestamp),
            interviewdate: candidate.interviewed_at.map(timestamp),
            deadline: profile.deadline.map(timestamp),
            photo: references.file(company, candidate.owner(), FileKind::Photo, candidate.photo),
            cv: references.file(company, candidate.owner(), FileKind::Cv, candidate.cv),
            evaluation_status: evaluation::status(&completed_by, viewer.project.evaluations_needed()),
            my_evaluation_status: evaluation::status_for(
                viewer.project.staff.evaluates(viewer.customer),
                &completed_by,
            ),
            phone: profile.phone.to_string(),
            gender: profile.gender.to_string(),
            created_by: candidate.created_by.map(|by| references.customer(company, by)),
            address: profile.address.to_string(),
            partner_data: profile.partner_data.as_object().clone(),
            interview_suite_url: references.suite_page(&own),
            shares: viewer.sees_shares.then(|| ShareView::all_of(candidate, references)),
            keys: viewer.sees_keys.then(|| Keys::of(candidate)),
            resource_uri: own,
        }
    }
}
