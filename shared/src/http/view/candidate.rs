//! A candidate as clients see it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::evaluation::{self, EvaluationStatus};
use crate::domain::file::FileKind;
use crate::domain::id::CustomerId;
use crate::domain::policy::{Action, Standing};
use crate::domain::project::Project;
use crate::domain::suppression::EmailStatus;
use crate::domain::text::{Email, Username};
use crate::http::reference::References;
use crate::http::view::ShareView;
use crate::http::wire::{OrEmpty, Timestamp, Uri};

/// Who looks at a candidate, and from where.
pub struct Viewer<'a> {
    customer: Option<CustomerId>,
    is_staff: bool,
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
        let is_staff = !matches!(standing, Standing::Itself);
        let sees_keys = Action::AdvanceCandidate.is_allowed(standing);
        let sees_shares = Action::ChangeProject.is_allowed(standing);
        Self { customer, is_staff, sees_keys, sees_shares, project, references }
    }

    /// The very candidate, of a project.
    pub fn itself(project: &'a Project, references: References<'a>) -> Self {
        Self::new(None, &Standing::Itself, project, references)
    }
}

/// A candidate as clients see it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Candidate")]
pub struct CandidateView {
    /// The company.
    company: Uri,
    /// The project that it is a candidate of.
    project: Uri,
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct CandidateFields {
    /// Its own address.
    resource_uri: Uri,
    /// First name.
    #[schemars(example = &"Ada")]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Lovelace")]
    last_name: String,
    /// A name to log in with besides the email address, unique in the company; empty without one.
    #[schemars(example = &"ada")]
    username: OrEmpty<Username>,
    /// Where mails go; also a name to log in with. Empty without one.
    #[schemars(example = &"ada@example.com")]
    email: OrEmpty<Email>,
    /// Whether mails reach it: who bounced or complained gets none until the address changes. Empty without an address.
    email_status: EmailStatus,
    /// Where it stands. Changed by advancing and skipping, by deadlines and by the interview itself.
    status: CandidateStatus,
    /// When it took the invitation up.
    confirmationdate: Option<Timestamp>,
    /// When it was invited.
    invitationdate: Option<Timestamp>,
    /// When it completed the interview.
    interviewdate: Option<Timestamp>,
    /// By when the interview is to be completed.
    deadline: Option<Timestamp>,
    /// Where its photo is; empty without one. Good for the session that was shown it.
    #[schemars(example = &"")]
    photo: OrEmpty<Uri>,
    /// Where its CV is; empty without one. Good for the session that was shown it.
    #[schemars(example = &"")]
    cv: OrEmpty<Uri>,
    /// How far its evaluation by the project's evaluators has come.
    evaluation_status: EvaluationStatus,
    /// The same by the caller alone; null for who does not evaluate.
    my_evaluation_status: Option<EvaluationStatus>,
    /// Telephone number.
    #[schemars(example = &"+44 20 7946 0000")]
    phone: String,
    /// As the client has sent it.
    #[schemars(example = &"mrs")]
    gender: String,
    /// The customer who created it; null for a named token.
    created_by: Option<Uri>,
    /// Postal address, of several lines.
    #[schemars(example = &"12 St James's Square\nLondon")]
    address: String,
    /// Data of a partner's own, which the service only keeps: at most 4,096 bytes as JSON. Not shown to the candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    partner_data: Option<Map<String, Value>>,
    /// Its page in the web application.
    interview_suite_url: Uri,
    #[serde(flatten)]
    keys: Option<Keys>,
    /// With whom it is shared; only for who may change the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    shares: Option<Vec<ShareView>>,
}

/// What only project managers see, and candidates their own: the key that came with the invitation, under the name of
/// what it opens.
#[derive(Debug, Serialize, JsonSchema)]
struct Keys {
    /// The key of an invitation that was not taken up, empty otherwise; only for project managers and the candidate.
    #[schemars(example = &"")]
    activation_key: String,
    /// The key by which a candidate without a password takes the interview, from the confirmation on, empty otherwise;
    /// only for project managers and the candidate.
    #[schemars(example = &"")]
    interview_key: String,
}

impl Keys {
    fn of(candidate: &Candidate) -> Self {
        let key = candidate.access_key.as_ref().map_or("", |key| key.as_str()).to_owned();
        if candidate.status == CandidateStatus::Invited {
            Self { activation_key: key, interview_key: String::new() }
        } else {
            Self { activation_key: String::new(), interview_key: key }
        }
    }
}

impl CandidateFields {
    /// The fields as `viewer` sees them.
    pub fn new(candidate: &Candidate, viewer: &Viewer<'_>) -> Self {
        let Candidate { company, project, profile, .. } = candidate;
        let completed_by = candidate.completed_by();
        let (staff, references) = (&viewer.project.staff, viewer.references);
        let own = references.candidate(company, *project, candidate.id);
        Self {
            first_name: profile.first_name.to_string(),
            last_name: profile.last_name.to_string(),
            username: OrEmpty(profile.username.clone()),
            email: OrEmpty(profile.email.clone()),
            email_status: candidate.email_status(),
            status: candidate.status,
            confirmationdate: candidate.confirmed_at.map(Timestamp),
            invitationdate: candidate.invited_at.map(Timestamp),
            interviewdate: candidate.interviewed_at.map(Timestamp),
            deadline: profile.deadline.map(Timestamp),
            photo: OrEmpty(references.file(company, candidate.owner(), FileKind::Photo, candidate.photo)),
            cv: OrEmpty(references.file(company, candidate.owner(), FileKind::Cv, candidate.cv)),
            evaluation_status: evaluation::status(
                completed_by.intersection(&staff.evaluators).count(),
                viewer.project.evaluations_needed(),
            ),
            my_evaluation_status: evaluation::status_for(staff.evaluates(viewer.customer), &completed_by),
            phone: profile.phone.to_string(),
            gender: profile.gender.to_string(),
            created_by: candidate.created_by.map(|by| references.customer(company, by)),
            address: profile.address.to_string(),
            partner_data: viewer.is_staff.then(|| profile.partner_data.as_object().clone()),
            interview_suite_url: references.suite_page(&own),
            shares: viewer.sees_shares.then(|| ShareView::all_of(candidate, references)),
            keys: viewer.sees_keys.then(|| Keys::of(candidate)),
            resource_uri: own,
        }
    }
}
