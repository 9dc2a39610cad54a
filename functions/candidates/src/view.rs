//! A candidate as clients send and see it.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Map, Value};
use shared::auth::guard::InProject;
use shared::auth::policy::Grant;
use shared::domain::candidate::{Candidate, Profile};
use shared::domain::evaluation::{self, EvaluationStatus};
use shared::domain::id::CustomerId;
use shared::domain::partner_data::PartnerData;
use shared::domain::project::Project;
use shared::domain::text::{Email, Line, Lines, Name, Username};
use shared::http::Fields;
use shared::http::json::set;
use shared::http::reference::References;
use shared::http::respond::timestamp;
use shared::{Error, Result};

/// The fields of a candidate that a client may send; none leaves a field as it is.
pub(crate) struct Changes {
    first_name: Option<Name>,
    last_name: Option<Name>,
    username: Option<Option<Username>>,
    email: Option<Option<Email>>,
    deadline: Option<Option<DateTime<Utc>>>,
    phone: Option<Line<50>>,
    gender: Option<Line<20>>,
    address: Option<Lines<500>>,
    partner_data: Option<PartnerData>,
}

impl Changes {
    /// Reads the body of a change.
    pub(crate) fn read(mut body: Fields) -> Result<Self> {
        let changes = Self {
            first_name: body.text("first_name", Name::parse),
            last_name: body.text("last_name", Name::parse),
            username: body.clearable("username", Username::parse),
            email: body.clearable("email", Email::parse),
            deadline: body.timestamp("deadline"),
            phone: body.line("phone"),
            gender: body.line("gender"),
            address: body.lines("address"),
            partner_data: body.partner_data("partner_data"),
        };
        body.finish()?;
        Ok(changes)
    }

    /// Reads the body of a creation.
    pub(crate) fn read_new(mut body: Fields) -> Result<Profile> {
        body.require("first_name");
        body.require("last_name");
        let changes = Self::read(body)?;
        let (Some(first_name), Some(last_name)) = (&changes.first_name, &changes.last_name) else {
            return Err(Error::internal("a required field was neither read nor refused"));
        };
        let mut profile = Profile::new(first_name.clone(), last_name.clone());
        changes.apply_to(&mut profile);
        Ok(profile)
    }

    /// Makes the changes.
    pub(crate) fn apply_to(self, profile: &mut Profile) {
        set(&mut profile.first_name, self.first_name);
        set(&mut profile.last_name, self.last_name);
        set(&mut profile.username, self.username);
        set(&mut profile.email, self.email);
        set(&mut profile.deadline, self.deadline);
        set(&mut profile.phone, self.phone);
        set(&mut profile.gender, self.gender);
        set(&mut profile.address, self.address);
        set(&mut profile.partner_data, self.partner_data);
    }
}

/// Who looks at a candidate, and from where.
pub(crate) struct Viewer<'a> {
    customer: CustomerId,
    is_manager: bool,
    project: &'a Project,
    references: References<'a>,
}

impl<'a> Viewer<'a> {
    /// The caller whom a guard has admitted.
    pub(crate) fn of<G: Grant>(guard: &'a InProject<G>) -> Self {
        Self {
            customer: guard.caller.customer.id,
            is_manager: guard.is_manager(),
            project: &guard.project,
            references: guard.references(),
        }
    }
}

/// A candidate as clients see it.
#[derive(Serialize)]
pub(crate) struct CandidateView {
    resource_uri: String,
    company: String,
    project: String,
    first_name: String,
    last_name: String,
    username: String,
    email: String,
    status: &'static str,
    confirmationdate: Option<String>,
    invitationdate: Option<String>,
    interviewdate: Option<String>,
    deadline: Option<String>,
    photo: &'static str,
    cv: &'static str,
    evaluation_status: EvaluationStatus,
    my_evaluation_status: Option<EvaluationStatus>,
    phone: String,
    gender: String,
    created_by: Option<String>,
    address: String,
    partner_data: Map<String, Value>,
    interview_suite_url: String,
    #[serde(flatten)]
    managers_only: Option<ManagersOnly>,
}

/// What only project managers see. Keys come with the invitation.
#[derive(Serialize)]
struct ManagersOnly {
    interview_key: Option<String>,
    activation_key: Option<String>,
    shares: Vec<String>,
}

impl CandidateView {
    /// The view that `viewer` has of a candidate.
    pub(crate) fn new(candidate: &Candidate, viewer: &Viewer<'_>) -> Self {
        let Candidate { company, project, profile, .. } = candidate;
        let completed_by = candidate.completed_by();
        let references = viewer.references;
        let own = references.candidate(company, *project, candidate.id);
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Self {
            company: references.company(company),
            project: references.project(company, *project),
            first_name: profile.first_name.to_string(),
            last_name: profile.last_name.to_string(),
            username: text(profile.username.as_ref().map(Username::as_str)),
            email: text(profile.email.as_ref().map(Email::as_str)),
            status: candidate.status.as_str(),
            confirmationdate: candidate.confirmed_at.map(timestamp),
            invitationdate: candidate.invited_at.map(timestamp),
            interviewdate: candidate.interviewed_at.map(timestamp),
            deadline: profile.deadline.map(timestamp),
            photo: "",
            cv: "",
            evaluation_status: evaluation::status(&completed_by, viewer.project.evaluations_needed()),
            my_evaluation_status: evaluation::status_for(
                viewer.customer,
                &viewer.project.staff.evaluators,
                &completed_by,
            ),
            phone: profile.phone.to_string(),
            gender: profile.gender.to_string(),
            created_by: candidate.created_by.map(|by| references.customer(company, by)),
            address: profile.address.to_string(),
            partner_data: profile.partner_data.as_object().clone(),
            interview_suite_url: references.suite_page(&own),
            managers_only: viewer.is_manager.then(|| ManagersOnly {
                interview_key: None,
                activation_key: None,
                shares: Vec::new(),
            }),
            resource_uri: own,
        }
    }
}
