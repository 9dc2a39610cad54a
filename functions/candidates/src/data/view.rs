//! The view of the data document.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use shared::auth::access::CandidateTarget;
use shared::domain::candidate::{Candidate, CandidateProfile, CandidateStatus};
use shared::domain::id::CandidateId;
use shared::domain::language::Language;
use shared::domain::mail::suppression::EmailStatus;
use shared::domain::media::file::{FileKind, StoredFile};
use shared::domain::privacy::retention_rule::{RetentionRule, RetentionStart};
use shared::domain::questionnaire::Questionnaire;
use shared::domain::retention::ScheduledRule;
use shared::domain::text::{Email, ExternalId, Username};
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::{AdjustmentsView, CancellationView, HelpRequestView, ReopeningView, ShareView};
use shared::http::wire::{Identifier, OrEmpty, Timestamp, Uri};
use shared::store::ShownAnswers;

use super::DataRules;
use super::answers::AnswerDataView;
use super::guests::GuestLinkDataView;
use super::lists::DataListsView;
use crate::privacy::consents::ConsentDataView;
use crate::privacy::erasure_request::ErasureRequestView;
use crate::privacy::hold::HoldView;

/// The format of the document. New fields keep the number; a changed meaning needs a new one.
const SCHEMA: &str = "candidate-data/1";

/// The format of the pages after the first.
const CONTINUATION_SCHEMA: &str = "candidate-data-continuation/1";

/// The document, or a page of a document that is too long for one response.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "CandidateDataPage")]
pub(crate) enum CandidateDataPage {
    /// The document, or its first page.
    Document(Box<CandidateDataView>),
    /// A further page.
    Continuation(DataContinuationView),
}

/// A further page of a document that is too long for one response. Append its lists to those of the previous pages.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateDataContinuation")]
pub(crate) struct DataContinuationView {
    /// The format of this page. Ignore unknown fields: more may be added.
    #[schemars(extend("const" = CONTINUATION_SCHEMA))]
    schema: &'static str,
    /// The URL of the document that this page continues.
    #[schemars(example = example_uri::CANDIDATE_DATA)]
    continues: Uri,
    #[serde(flatten)]
    lists: DataListsView,
}

impl DataContinuationView {
    /// The page with these `lists` of the document about the target's candidate.
    pub(super) fn new(target: &CandidateTarget, lists: DataListsView, references: ReferenceUris<'_>) -> Self {
        Self { schema: CONTINUATION_SCHEMA, continues: document_uri(target, references), lists }
    }
}

fn document_uri(target: &CandidateTarget, references: ReferenceUris<'_>) -> Uri {
    let CandidateTarget { company, project, candidate, .. } = target;
    references.uri_in_project(&company.id, project.id, candidate.id).join("data")
}

/// All data that the service holds about a candidate. Staff get it to answer a request for access (GDPR, Article 15);
/// candidates get the data that they have provided or can see anyway, in a machine-readable form (Article 20).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateData")]
pub(crate) struct CandidateDataView {
    /// The format of this document. Ignore unknown fields: more may be added.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The URL of this document.
    #[schemars(example = example_uri::CANDIDATE_DATA)]
    resource_uri: Uri,
    /// The company, which is the controller of the data.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The name of the company.
    #[schemars(example = &"Acme")]
    company_name: String,
    /// The project for which the candidate applied, i.e. the purpose of processing.
    #[schemars(example = example_uri::PROJECT)]
    project: Uri,
    /// The name of the project.
    #[schemars(example = &"Backend engineer")]
    project_name: String,
    /// The candidate's profile and status.
    candidate: ProfileDataView,
    /// The candidate's files.
    files: Vec<FileDataView>,
    /// The legal texts that the candidate has accepted, including withdrawn consents.
    consents: Vec<ConsentDataView>,
    /// The candidate's adjustments to the interview; null for none.
    #[schemars(example = ())]
    adjustments: Option<AdjustmentsView>,
    /// The candidate's latest request for help, with the answer; null for none.
    #[schemars(example = ())]
    help_request: Option<HelpRequestView>,
    /// The candidate's answers in the interview.
    answers: Vec<AnswerDataView>,
    /// The request for erasure; null without one.
    erasure_request: Option<ErasureRequestView>,
    #[serde(flatten)]
    internal: Option<InternalDataView>,
}

/// A candidate's own fields.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateDataProfile")]
struct ProfileDataView {
    id: Identifier<CandidateId>,
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    resource_uri: Uri,
    /// First name.
    #[schemars(example = &"Ada")]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Lovelace")]
    last_name: String,
    /// The login name; empty if there is none.
    #[schemars(example = &"ada")]
    username: OrEmpty<Username>,
    /// The email address; empty if there is none.
    #[schemars(example = &"ada@example.com")]
    email: OrEmpty<Email>,
    /// False until the candidate has confirmed this `email`; true otherwise.
    #[schemars(example = true)]
    email_confirmed: bool,
    /// Whether mails can be delivered to this address. Empty without an address.
    email_status: EmailStatus,
    /// The language of mails about the interview; null for the project's language.
    #[schemars(example = ())]
    language: Option<Language>,
    /// Whether the service sends mails about the interview. If false, the company does.
    #[schemars(example = true)]
    receive_mails: bool,
    /// Telephone number.
    #[schemars(example = &"+44 20 7946 0000")]
    phone: String,
    /// The form of address as the client sent it, for example `mr` or `mrs`.
    #[schemars(example = &"mrs")]
    gender: String,
    /// Postal address, in several lines.
    #[schemars(example = &"12 St James's Square\nLondon")]
    address: String,
    /// The candidate's status.
    status: CandidateStatus,
    /// The deadline of the interview; null for none.
    deadline: Option<Timestamp>,
    /// When the candidate was created.
    created_at: Timestamp,
    /// When the candidate was last invited; null if they were not.
    #[schemars(example = ())]
    invitationdate: Option<Timestamp>,
    /// When the candidate first opened the interview, to the minute; null if they did not.
    #[schemars(example = ())]
    opened_at: Option<Timestamp>,
    /// When the last reminder was requested; null for none.
    #[schemars(example = ())]
    reminded_at: Option<Timestamp>,
    /// When the invitation was accepted; null if it was not.
    #[schemars(example = ())]
    confirmationdate: Option<Timestamp>,
    /// When the interview was last started, or reopened; null if it was not.
    #[schemars(example = ())]
    started_at: Option<Timestamp>,
    /// When the interview was completed; null if it was not.
    #[schemars(example = ())]
    interviewdate: Option<Timestamp>,
    /// When the interview was last aborted; null if it was not.
    #[schemars(example = ())]
    aborted_at: Option<Timestamp>,
    /// When the interview's time ended while it had answers but was not complete; null otherwise.
    #[schemars(example = ())]
    ended_by_time_at: Option<Timestamp>,
    /// The company's message when it last reopened the interview; empty without one.
    #[schemars(example = &"")]
    reopening_message: String,
    /// When the candidate last missed the deadline; null if they did not.
    #[schemars(example = ())]
    expired_at: Option<Timestamp>,
    /// When the candidate was withdrawn; null if they were not.
    #[schemars(example = ())]
    skipped_at: Option<Timestamp>,
}

/// A file of a candidate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FileData")]
struct FileDataView {
    /// The kind of the file.
    kind: FileKind,
    /// The type that the service has detected.
    #[schemars(example = &"application/pdf")]
    content_type: &'static str,
    /// When the file was uploaded.
    uploaded_at: Timestamp,
    /// The URL of the file; valid for the session that fetched this document.
    #[schemars(example = example_uri::CANDIDATE_CV)]
    url: Uri,
}

/// The part of the document that only staff get.
#[derive(Serialize, JsonSchema)]
struct InternalDataView {
    /// The customer who created the candidate; null for a named token. Only staff get this field.
    #[schemars(example = example_uri::CUSTOMER)]
    created_by: Option<Uri>,
    /// The client's own key of the candidate; empty if there is none. Only staff get this field.
    #[schemars(example = &"4711")]
    external_id: OrEmpty<ExternalId>,
    /// The partner's own data about the candidate. Only staff get this field.
    #[schemars(with = "Map<String, Value>")]
    partner_data: Box<RawValue>,
    /// The address whose mails are suppressed after a bounce or complaint, possibly a former address of the candidate;
    /// empty if there is none. Only staff get this field.
    #[schemars(example = &"")]
    suppressed_email: OrEmpty<Email>,
    /// Former addresses that are still stored: the one in use until `email` is confirmed, and recipients of mails about
    /// changes. Only staff get this field.
    #[schemars(example = &["ada@mail.example"])]
    former_emails: Vec<Email>,
    /// The hold that prevents erasure, even after its end; null without one. Only staff get this field.
    #[schemars(example = ())]
    hold: Option<HoldView>,
    /// The last reopening of the interview by a manager; null if there was none. Only staff get this field.
    #[schemars(example = ())]
    reopening: Option<ReopeningView>,
    /// The cancellation of the interview by a manager; null if there was none. Only staff get this field.
    #[schemars(example = ())]
    cancellation: Option<CancellationView>,
    /// The customers who may read the candidate without a role in the project. Only staff get this field.
    shares: Vec<ShareView>,
    /// The links that let people without an account watch the answers, or did until at most 30 days ago, except deleted
    /// links. Only staff get this field.
    guest_links: Vec<GuestLinkDataView>,
    #[serde(flatten)]
    lists: DataListsView,
    /// The host names of the webhooks that receive events about the candidate, including disabled webhooks. These
    /// events contain identifiers, the client's keys and facts, but no names; the service does not know what else the
    /// receivers read. Only staff get this field.
    #[schemars(example = &["hooks.example.com"])]
    recipients: BTreeSet<String>,
    /// How long the candidate is kept. Only staff get this field.
    retention: RetentionDataView,
}

/// The retention rule of the candidate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionData")]
struct RetentionDataView {
    /// The number of days; null if candidates are kept until a user deletes them.
    #[schemars(example = 180)]
    days: Option<u32>,
    /// The event that starts the count of days.
    from: RetentionStart,
    /// Whether the rule is inherited from the company.
    #[schemars(example = true)]
    is_inherited: bool,
    /// The rule erases nothing before this time; null if it never erases.
    starts_at: Option<Timestamp>,
    /// When the retention time ends, as of now; null if it does not end yet, because the rule has no days or the
    /// project is open.
    due_at: Option<Timestamp>,
}

impl CandidateDataView {
    /// The document about the target's candidate: for staff with `rules`, without them for the candidate.
    pub(super) fn new(
        target: &CandidateTarget,
        answers: Option<&ShownAnswers>,
        questionnaire: &Questionnaire,
        rules: Option<&DataRules>,
        references: ReferenceUris<'_>,
    ) -> Self {
        let CandidateTarget { company, project, candidate, .. } = target;
        // No `..`: a new field does not compile until it is listed here for the callers who get it.
        let Candidate {
            id,
            profile,
            pending_email,
            status,
            created_by,
            invited_at,
            opened_at,
            confirmed_at,
            interviewed_at,
            started_at,
            reminded_at,
            aborted_at,
            ended_by_time,
            expired_at,
            skipped_at,
            hold,
            reopening,
            cancellation,
            erasure_request,
            suppression,
            photo,
            cv,
            adjustments,
            help_request,
            // Shown by `ConsentDataView`.
            consents: _,
            // Derived from the project when the candidate began.
            interview: _,
            // Shown above the candidate, as shares, or in the lists.
            company: _,
            project: _,
            shares: _,
            guest_links: _,
            evaluations: _,
            scores: _,
            // `former_emails` shows the addresses; the keys are credentials.
            email_keys: _,
            // Credentials: the document may be passed on and must not let others log in.
            access_key: _,
            is_key_mailed: _,
            former_keys: _,
            password_hash: _,
            session_epoch: _,
            one_time_key: _,
            // The times of mails in the last hour, which the history contains too.
            mail_rate: _,
            mailed_at: _,
            // Derived from the deadline and the project's settings.
            reminders: _,
            // Counters that limit requests.
            own_changes: _,
            help_asked: _,
            links_mailed: _,
        } = &**candidate;
        let CandidateProfile {
            first_name,
            last_name,
            username,
            email: _,
            external_id,
            deadline,
            phone,
            gender,
            address,
            partner_data,
            language,
            receive_mails,
        } = profile;
        let told = reopening.as_ref().and_then(|last| last.message.as_ref());
        let own = references.uri_in_project(&company.id, project.id, *id);
        let internal = rules.map(|DataRules { webhooks, guest_links, policy }| {
            let wanting = webhooks.iter().filter(|webhook| webhook.wants_candidates_of(project.id));
            let scheduled = policy.applied_to(project);
            InternalDataView {
                created_by: created_by.map(|by| references.uri(&company.id, by)),
                external_id: OrEmpty(external_id.clone()),
                partner_data: partner_data.to_json(),
                suppressed_email: OrEmpty(suppression.as_ref().map(|known| known.address().clone())),
                former_emails: candidate.account_email().former_emails().into_iter().cloned().collect(),
                hold: hold.as_ref().map(HoldView::new),
                reopening: reopening.as_ref().map(ReopeningView::new),
                cancellation: cancellation
                    .as_ref()
                    .map(|told| CancellationView::new(told, &company.id, references)),
                shares: ShareView::all_of(candidate, references),
                guest_links: GuestLinkDataView::all_of(guest_links, references),
                lists: DataListsView::default(),
                recipients: wanting.map(|webhook| webhook.url.host().to_owned()).collect(),
                retention: RetentionDataView::new(
                    scheduled,
                    project.retention.own.is_none(),
                    scheduled.rule.due_at(candidate, project),
                ),
            }
        });
        let files = [(FileKind::Photo, *photo), (FileKind::Cv, *cv)];
        let file = |(kind, file): (FileKind, Option<StoredFile>)| {
            let url = references.file(&company.id, candidate.account(), kind, file)?;
            let StoredFile { id, file_type } = file?;
            let content_type = file_type.content_type();
            let uploaded_at = Timestamp(id.created_at());
            Some(FileDataView { kind, content_type, uploaded_at, url })
        };
        Self {
            schema: SCHEMA,
            resource_uri: document_uri(target, references),
            company: references.company(&company.id),
            company_name: company.name.to_string(),
            project: references.uri(&company.id, project.id),
            project_name: project.settings.name.to_string(),
            candidate: ProfileDataView {
                id: Identifier(candidate.id),
                resource_uri: own,
                first_name: first_name.to_string(),
                last_name: last_name.to_string(),
                username: OrEmpty(username.clone()),
                email: OrEmpty(candidate.shown_email().cloned()),
                email_confirmed: pending_email.is_none(),
                email_status: candidate.email_status(),
                language: *language,
                receive_mails: *receive_mails,
                phone: phone.to_string(),
                gender: gender.to_string(),
                address: address.to_string(),
                status: *status,
                deadline: deadline.map(Timestamp),
                created_at: Timestamp(id.created_at()),
                invitationdate: invited_at.map(Timestamp),
                opened_at: opened_at.map(Timestamp),
                reminded_at: reminded_at.map(Timestamp),
                confirmationdate: confirmed_at.map(Timestamp),
                started_at: started_at.map(Timestamp),
                interviewdate: interviewed_at.map(Timestamp),
                aborted_at: aborted_at.map(Timestamp),
                ended_by_time_at: ended_by_time.map(|ended| Timestamp(ended.ended_at)),
                reopening_message: told.map(ToString::to_string).unwrap_or_default(),
                expired_at: expired_at.map(Timestamp),
                skipped_at: skipped_at.map(Timestamp),
            },
            files: files.into_iter().filter_map(file).collect(),
            consents: ConsentDataView::all_of(candidate, references),
            adjustments: adjustments.map(AdjustmentsView::new),
            help_request: help_request.as_ref().map(HelpRequestView::from),
            answers: AnswerDataView::all_of(answers, questionnaire, references),
            erasure_request: erasure_request.map(ErasureRequestView::new),
            internal,
        }
    }

    /// Sets the lists of a document for staff.
    pub(super) fn show_lists(&mut self, lists: DataListsView) {
        if let Some(internal) = &mut self.internal {
            internal.lists = lists;
        }
    }
}

impl RetentionDataView {
    fn new(scheduled: ScheduledRule, is_inherited: bool, due_at: Option<DateTime<Utc>>) -> Self {
        let ScheduledRule { rule: RetentionRule { days, from }, starts_at } = scheduled;
        Self { days, from, is_inherited, starts_at: starts_at.map(Timestamp), due_at: due_at.map(Timestamp) }
    }
}
