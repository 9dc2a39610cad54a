//! The views of candidates and of their shares, in one file because each can contain the other.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::domain::candidate::{Candidate, CandidateStatus, InterviewAdjustments, Reopening};
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ShareId};
use crate::domain::language::Language;
use crate::domain::mail::suppression::EmailStatus;
use crate::domain::media::file::FileKind;
use crate::domain::policy::{Action, CallerRelation};
use crate::domain::project::Project;
use crate::domain::scoring::status::EvaluationStatus;
use crate::domain::text::{Email, ExternalId, Username};
use crate::error::Result;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::view::{CancellationView, CustomerView, ExpandedReference, HelpRequestView};
use crate::http::wire::{Decimal, Identifier, OrEmpty, Timestamp, Uri};
use crate::store::{OpenedKeys, SharedCandidate, Store};

/// The caller for whom the views of candidates are made: it decides which fields they show.
pub struct CandidateViewer<'a> {
    customer: Option<CustomerId>,
    is_staff: bool,
    sees_access: bool,
    is_manager: bool,
    /// Whether the caller sees adjustments and requests for help, as only managers and the candidate do.
    sees_needs: bool,
    project: &'a Project,
    // Made once for all candidates of a list.
    company_uri: Uri,
    project_uri: Uri,
    references: ReferenceUris<'a>,
    now: DateTime<Utc>,
    keys: OpenedKeys,
}

impl<'a> CandidateViewer<'a> {
    /// A caller with this relation to the project, at the time `now`. `customer` is `None` unless the caller is a staff user.
    /// Views show keys and links only after [`opening`](Self::opening).
    pub fn new(
        customer: Option<CustomerId>,
        relation: &CallerRelation,
        project: &'a Project,
        references: ReferenceUris<'a>,
        now: DateTime<Utc>,
    ) -> Self {
        // Only staff see `partner_data`, which the contract calls internal.
        let is_staff = !matches!(relation, CallerRelation::ThisCandidate);
        // A caller who has a candidate's key or link can act as the candidate, so read-only callers get neither.
        let sees_access = Action::AdvanceCandidate.is_allowed_in_full(relation);
        let is_manager = Action::ChangeProject.is_allowed(relation);
        let sees_needs = is_manager || !is_staff;
        Self {
            customer,
            is_staff,
            sees_access,
            is_manager,
            sees_needs,
            project,
            company_uri: references.company(&project.company),
            project_uri: references.uri(&project.company, project.id),
            references,
            now,
            keys: OpenedKeys::default(),
        }
    }

    /// Decrypts the keys of these candidates if the caller may see them.
    // Here and not when the store reads candidates, because most reads need no key decrypted.
    pub async fn opening<'c>(
        self,
        candidates: impl IntoIterator<Item = &'c Candidate>,
        store: &Store,
    ) -> Result<Self> {
        if !self.sees_access {
            return Ok(self);
        }
        Ok(Self { keys: store.open_access_keys(candidates).await?, ..self })
    }

    /// The candidate as the viewer of their own data, with their key.
    pub fn this_candidate(project: &'a Project, references: ReferenceUris<'a>, keys: OpenedKeys) -> Self {
        // The time does not matter: only fields for managers depend on it.
        Self {
            keys,
            ..Self::new(None, &CallerRelation::ThisCandidate, project, references, DateTime::UNIX_EPOCH)
        }
    }
}

/// A candidate.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Candidate")]
pub struct CandidateView {
    /// The URL of the company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The URL of the candidate's project.
    #[schemars(example = example_uri::PROJECT)]
    project: Uri,
    #[serde(flatten)]
    fields: CandidateFieldsView,
}

impl CandidateView {
    /// The view that `viewer` has of a candidate.
    pub fn new(candidate: &Candidate, viewer: &CandidateViewer<'_>) -> Self {
        Self {
            company: viewer.company_uri.clone(),
            project: viewer.project_uri.clone(),
            fields: CandidateFieldsView::new(candidate, viewer),
        }
    }
}

/// The fields of a candidate except company and project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CandidateFieldsView {
    id: Identifier<CandidateId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::CANDIDATE)]
    resource_uri: Uri,
    /// First name.
    #[schemars(example = &"Ada", length(min = 1))]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Lovelace", length(min = 1))]
    last_name: String,
    /// A login name in addition to the email address, unique in the company; empty if there is none.
    #[schemars(example = &"ada")]
    username: OrEmpty<Username>,
    /// The email address, for mails and as a login name; empty if there is none. While `email_confirmed` is false, the former
    /// address remains in use.
    #[schemars(example = &"ada@example.com")]
    email: OrEmpty<Email>,
    /// False while a candidate with a password has yet to confirm this `email`; true otherwise.
    #[schemars(example = true)]
    email_confirmed: bool,
    /// The client's own key of the candidate, unique in the project and compared exactly; empty if there is none. Candidates do not
    /// see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"4711")]
    external_id: Option<OrEmpty<ExternalId>>,
    /// Whether mails reach the email address. An address that is not `deliverable` gets no mails until it is replaced. Empty
    /// without an address.
    email_status: EmailStatus,
    /// The status of the candidate, changed by advancing, skipping and cancelling, by deadlines and by the interview itself.
    status: CandidateStatus,
    /// When the invitation was accepted; null before.
    #[schemars(example = ())]
    confirmationdate: Option<Timestamp>,
    /// Whether the interview's time ended after the candidate had answered something but before the interview was complete. The
    /// candidate is `aborted` then.
    #[schemars(example = false)]
    ended_by_time: bool,
    /// When the candidate was last invited; null before the first invitation.
    #[schemars(example = ())]
    invitationdate: Option<Timestamp>,
    /// When the candidate first opened the interview, to the minute; null before. The page reports it when they first press
    /// something, other clients by `GET /whoami/candidate/?opened=true`. Another invitation does not reset it. Only callers who may
    /// change the project see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = ())]
    opened_at: Option<Option<Timestamp>>,
    /// When the interview was completed; null while it is not complete.
    #[schemars(example = ())]
    interviewdate: Option<Timestamp>,
    /// When the time for the interview ends; null without a deadline.
    deadline: Option<Timestamp>,
    /// The URL of the photo, valid for the session that fetched it; empty if there is none.
    #[schemars(example = &"")]
    photo: OrEmpty<Uri>,
    /// The URL of the CV, valid for the session that fetched it; empty if there is none.
    #[schemars(example = &"")]
    cv: OrEmpty<Uri>,
    /// The status of the evaluation by the project's evaluators.
    evaluation_status: EvaluationStatus,
    /// The status of the caller's evaluation; null if the caller is not an evaluator.
    my_evaluation_status: Option<EvaluationStatus>,
    /// The URL of the evaluation by the caller, which may not be saved yet. Only evaluators of the project see the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = example_uri::EVALUATION)]
    my_evaluation: Option<Uri>,
    /// Telephone number.
    #[schemars(example = &"+44 20 7946 0000")]
    phone: String,
    /// Free text from the client, for example `mr` or `mrs`.
    #[schemars(example = &"mrs")]
    gender: String,
    /// The URL of the customer who created the candidate; null if a named token did.
    #[schemars(example = example_uri::CUSTOMER)]
    created_by: Option<Uri>,
    /// Postal address, in several lines.
    #[schemars(example = &"12 St James's Square\nLondon")]
    address: String,
    /// A partner's own data, at most 4,096 bytes as JSON. The service does not use it, and candidates do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    partner_data: Option<Box<RawValue>>,
    /// The candidate's adjustments to the interview; null for none. Only callers who may change the project and the candidate see
    /// them, and no event mentions them.
    #[serde(skip_serializing_if = "Option::is_none")]
    adjustments: Option<Option<AdjustmentsView>>,
    /// The candidate's latest request for help, kept with its answer until the next request; null if there is none or the candidate
    /// has withdrawn it. Only callers who may change the project and the candidate see it. No event contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = ())]
    help_request: Option<Option<HelpRequestView>>,
    /// The last reopening of the interview by a manager; null if it was never reopened. Only callers who may change the project see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = ())]
    reopening: Option<Option<ReopeningView>>,
    /// The cancellation of the interview; null if it was not cancelled, even if the candidate was skipped in another way. Only
    /// callers who may change the project see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = ())]
    cancellation: Option<Option<CancellationView>>,
    /// When the service will erase the candidate because erasure was requested; null without a request. A hold delays it.
    #[schemars(example = ())]
    erasure_due_at: Option<Timestamp>,
    /// Whether a hold prevents the erasure of the candidate. It becomes false by itself when the hold ends. Only callers
    /// who may change the project see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = false)]
    is_on_hold: Option<bool>,
    /// The language of mails to the candidate and the initial language of the page, where they may choose another: a code of
    /// `GET …/languages/`. Null for the language of the project.
    #[schemars(example = ())]
    language: Option<Language>,
    /// Whether the service sends mails about the interview: the invitation, reminders and new deadlines. If false, the client sends
    /// them, and the candidate needs no email address.
    #[schemars(example = true)]
    receive_mails: bool,
    /// When the service next reminds the candidate automatically, by the project's `reminder_days`; null for never. The reminder is
    /// dropped if another mail was sent less than a day before it. Only callers who may change the project see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = ())]
    next_reminder_at: Option<Option<Timestamp>>,
    /// The URL of the page where staff log in, watch the interview and evaluate it. The URL never changes, and contains no credential.
    #[schemars(example = example_uri::CANDIDATE_PAGE)]
    interview_suite_url: Uri,
    #[serde(flatten)]
    access: Option<InterviewAccessView>,
    /// The candidate's shares. Only callers who may change the project see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    shares: Option<Vec<ShareView>>,
}

/// Adjustments to the interview of a candidate, for example because of a disability.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Adjustments")]
pub struct AdjustmentsView {
    /// The factor, from 1 to 3, that multiplies the times to prepare and to answer, and the time of the interview.
    #[schemars(range(min = 1, max = 3), example = 1.5)]
    time_factor: Decimal,
    /// The number of takes that the candidate may record in addition to the limit of each question.
    #[schemars(range(max = 10), example = 0)]
    extra_takes: u32,
    /// Whether the candidate may answer every question in writing.
    may_write: bool,
}

impl AdjustmentsView {
    /// The view of adjustments.
    pub fn new(adjustments: InterviewAdjustments) -> Self {
        let InterviewAdjustments { time_factor, extra_takes, may_write } = adjustments;
        Self { time_factor: Decimal::of_hundredths(time_factor.hundredths()), extra_takes, may_write }
    }
}

/// The last reopening of an interview.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reopening")]
pub struct ReopeningView {
    /// Why the interview was reopened. It never appears in events.
    #[schemars(example = &"The second answer has no sound.")]
    reason: String,
    /// The message to the candidate; empty without one.
    #[schemars(example = &"Please record the second answer once more.")]
    message: String,
    /// When the interview was reopened.
    reopened_at: Timestamp,
    /// The number of reopenings, including this one. Each gives one more take of each question.
    #[schemars(example = 1)]
    count: u32,
}

impl ReopeningView {
    /// The view of a reopening.
    pub fn new(reopening: &Reopening) -> Self {
        let Reopening { reason, message, reopened_at, count, was_complete: _ } = reopening;
        Self {
            reason: reason.to_string(),
            message: message.as_ref().map(ToString::to_string).unwrap_or_default(),
            reopened_at: Timestamp(*reopened_at),
            count: *count,
        }
    }
}

/// The fields that only project managers and the candidate see: the link to the interview, and the key in it under the name of
/// what it opens.
#[derive(Debug, Serialize, JsonSchema)]
struct InterviewAccessView {
    /// The link to the interview, the same as in mails, for clients that send it themselves. Empty unless the candidate is
    /// `invited` or `confirmed` or, if this service conducts the interview, `interviewing`. It is as secret as the keys. Only
    /// project managers and the candidate see it; read-only tokens never do.
    #[schemars(example = &"")]
    interview_url: OrEmpty<Uri>,
    /// The key of the invitation while the candidate is `invited`, empty otherwise. Only project managers and the candidate see it;
    /// read-only tokens never do.
    #[schemars(example = &"")]
    activation_key: String,
    /// The key of a candidate without a password who is `confirmed` or `interviewing`, empty otherwise. Only project managers and
    /// the candidate see it; read-only tokens never do.
    #[schemars(example = &"")]
    interview_key: String,
}

impl InterviewAccessView {
    fn new(candidate: &Candidate, viewer: &CandidateViewer<'_>) -> Self {
        let CandidateViewer { project, references, keys, .. } = viewer;
        let interview_url = OrEmpty(references.interview_url(candidate, project, keys));
        let key = candidate.shown_key().and(keys.of(candidate)).unwrap_or_default().to_owned();
        // There is one key; its field is named after what it opens.
        if candidate.status == CandidateStatus::Invited {
            Self { interview_url, activation_key: key, interview_key: String::new() }
        } else {
            Self { interview_url, activation_key: String::new(), interview_key: key }
        }
    }
}

impl CandidateFieldsView {
    /// The fields as `viewer` sees them.
    pub fn new(candidate: &Candidate, viewer: &CandidateViewer<'_>) -> Self {
        let Candidate { company, project, profile, .. } = candidate;
        let references = viewer.references;
        let own = references.uri_in_project(company, *project, candidate.id);
        Self {
            first_name: profile.first_name.to_string(),
            last_name: profile.last_name.to_string(),
            username: OrEmpty(profile.username.clone()),
            email: OrEmpty(candidate.shown_email().cloned()),
            email_confirmed: candidate.pending_email.is_none(),
            external_id: viewer.is_staff.then(|| OrEmpty(profile.external_id.clone())),
            email_status: candidate.email_status(),
            status: candidate.status,
            confirmationdate: candidate.confirmed_at.map(Timestamp),
            ended_by_time: candidate.ended_by_time.is_some(),
            invitationdate: candidate.invited_at.map(Timestamp),
            opened_at: viewer.is_manager.then(|| candidate.opened_at.map(Timestamp)),
            interviewdate: candidate.interviewed_at.map(Timestamp),
            deadline: profile.deadline.map(Timestamp),
            photo: OrEmpty(references.file(company, candidate.account(), FileKind::Photo, candidate.photo)),
            cv: OrEmpty(references.file(company, candidate.account(), FileKind::Cv, candidate.cv)),
            evaluation_status: candidate.evaluation_status(viewer.project),
            my_evaluation_status: candidate.own_evaluation_status(viewer.customer, viewer.project),
            my_evaluation: viewer
                .project
                .staff
                .evaluates(viewer.customer)
                .map(|evaluator| own.join("evaluations").join(evaluator)),
            phone: profile.phone.to_string(),
            gender: profile.gender.to_string(),
            created_by: candidate.created_by.map(|by| references.uri(company, by)),
            address: profile.address.to_string(),
            partner_data: viewer.is_staff.then(|| profile.partner_data.to_json()),
            adjustments: viewer.sees_needs.then(|| candidate.adjustments.map(AdjustmentsView::new)),
            help_request: viewer
                .sees_needs
                .then(|| candidate.help_request.as_ref().map(HelpRequestView::from)),
            reopening: viewer.is_manager.then(|| candidate.reopening.as_ref().map(ReopeningView::new)),
            cancellation: viewer.is_manager.then(|| {
                let told = candidate.cancellation.as_ref();
                told.map(|cancellation| CancellationView::new(cancellation, company, references))
            }),
            erasure_due_at: candidate.erasure_request.map(|request| Timestamp(request.due_at)),
            is_on_hold: viewer.is_manager.then(|| candidate.hold_at(viewer.now).is_some()),
            language: profile.language,
            receive_mails: profile.receive_mails,
            next_reminder_at: viewer.is_manager.then(|| candidate.next_reminder_at().map(Timestamp)),
            interview_suite_url: references.candidate_page(company, *project, candidate.id),
            shares: viewer.is_manager.then(|| ShareView::all_of(candidate, references)),
            access: viewer.sees_access.then(|| InterviewAccessView::new(candidate, viewer)),
            id: Identifier(candidate.id),
            resource_uri: own,
        }
    }
}

/// A share of a candidate.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Share")]
pub struct ShareView {
    id: Identifier<ShareId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::SHARE)]
    resource_uri: Uri,
    /// The customer who sees the candidate.
    #[schemars(example = example_uri::CUSTOMER)]
    customer: ExpandedReference<CustomerView>,
    /// The shared candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: ExpandedReference<CandidateView>,
}

impl ShareView {
    /// The view of a share.
    pub fn new(company: &CompanyId, shared: &SharedCandidate, references: ReferenceUris<'_>) -> Self {
        let SharedCandidate { share, project, candidate, customer } = *shared;
        Self {
            id: Identifier(share),
            resource_uri: references.share(company, project, candidate, share),
            customer: ExpandedReference::Reference(references.uri(company, customer)),
            candidate: ExpandedReference::Reference(references.uri_in_project(company, project, candidate)),
        }
    }

    /// The view with the customer instead of the reference, if given.
    pub fn with_customer(self, customer: Option<CustomerView>) -> Self {
        Self { customer: self.customer.expanded(customer), ..self }
    }

    /// The view with the candidate instead of the reference, if given.
    pub fn with_candidate(self, candidate: Option<CandidateView>) -> Self {
        Self { candidate: self.candidate.expanded(candidate), ..self }
    }

    /// The views of all shares of a candidate, oldest first.
    pub fn all_of(candidate: &Candidate, references: ReferenceUris<'_>) -> Vec<Self> {
        let shares = SharedCandidate::all_of(candidate);
        shares.map(|shared| Self::new(&candidate.company, &shared, references)).collect()
    }
}
