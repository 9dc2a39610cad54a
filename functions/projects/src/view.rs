//! Views of projects.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use shared::auth::access::AdmittedRequest;
use shared::auth::caller::Caller;
use shared::domain::candidate::CandidateStatus;
use shared::domain::company::Company;
use shared::domain::id::ProjectId;
use shared::domain::language::Language;
use shared::domain::policy::Action;
use shared::domain::project::{InterviewPlatform, JoinMode, Project, ProjectStatus, ReminderDay, ReturnUrl};
use shared::domain::text::{Email, ExternalId};
use shared::domain::transition::project_counts::ProjectCounts;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::{
    CriterionView, CustomerView, ExpandedReference, LabelView, PlacedVideoView, QuestionView,
};
use shared::http::wire::{Identifier, OrEmpty, Uri};

use crate::expand::{EVALUATORS, ExpandedResources, INTERVIEW_MANAGERS, REVIEWERS};
use crate::roles::RoleView;

/// The caller who views projects, with everything else that a view needs except the project.
pub(crate) struct ProjectViewer<'a> {
    caller: &'a Caller,
    company: &'a Company,
    loaded: ExpandedResources,
    references: ReferenceUris<'a>,
}

impl<'a> ProjectViewer<'a> {
    /// The viewer of an admitted request, without expanded resources.
    pub(crate) fn of(access: &'a AdmittedRequest, company: &'a Company) -> Self {
        let loaded = ExpandedResources::default();
        Self { caller: &access.caller, company, loaded, references: access.references() }
    }

    /// Sets the resources to show instead of URLs.
    pub(crate) fn with(self, loaded: ExpandedResources) -> Self {
        Self { loaded, ..self }
    }
}

/// A project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub(crate) struct ProjectView {
    #[serde(flatten)]
    fields: ProjectFields,
    /// The number of skipped candidates.
    #[schemars(example = 0)]
    skipped_candidates_count: i64,
}

impl ProjectView {
    /// The view of a project with these counts for `viewer`.
    pub(crate) fn new(project: &Project, counts: &ProjectCounts, viewer: &ProjectViewer<'_>) -> Self {
        let skipped_candidates_count = counts.with_status(CandidateStatus::Skipped);
        Self { fields: ProjectFields::new(project, counts, viewer), skipped_candidates_count }
    }
}

/// A new project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NewProject")]
pub(crate) struct NewProjectView {
    #[serde(flatten)]
    project: ProjectView,
    /// The settings of the project in `copy_of` that were not copied, because the caller may not set them. For
    /// `retention`, the company's policy applies instead. More values may be added. Missing without `copy_of`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &["retention"])]
    not_copied: Option<Vec<String>>,
}

impl NewProjectView {
    /// The view of a new project; for a copy, with the settings that were not copied.
    pub(crate) fn new(project: ProjectView, not_copied: Option<Vec<String>>) -> Self {
        Self { project, not_copied }
    }
}

/// A project in a list, where one field has a different spelling.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListedProject")]
pub(crate) struct ListedProjectView {
    #[serde(flatten)]
    fields: ProjectFields,
    /// The number of skipped candidates; spelled like this in lists.
    #[schemars(example = 0)]
    skipped_candiates_count: i64,
}

impl ListedProjectView {
    /// The view of a project with these counts for `viewer`.
    pub(crate) fn new(project: &Project, counts: &ProjectCounts, viewer: &ProjectViewer<'_>) -> Self {
        let skipped_candiates_count = counts.with_status(CandidateStatus::Skipped);
        Self { fields: ProjectFields::new(project, counts, viewer), skipped_candiates_count }
    }
}

/// The codes of all languages, and the empty text.
fn language_codes() -> Vec<&'static str> {
    Language::ALL.map(Language::as_str).into_iter().chain([""]).collect()
}

#[derive(Serialize, JsonSchema)]
struct ProjectFields {
    id: Identifier<ProjectId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::PROJECT)]
    resource_uri: Uri,
    /// The project's company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The display name.
    #[schemars(example = &"Backend engineer", length(min = 1))]
    name: String,
    /// The URL of the public job listing; empty for none.
    #[schemars(example = &"")]
    job_url: String,
    /// The address at which candidates can continue after the interview: the last screen shows a button that leads there. An
    /// https URL without a user name and a fragment; empty for none. The service adds `candidate` to the query, the last segment
    /// of the candidate's `resource_uri`, and their `external_id` if they have one, so the query may contain neither, and nothing
    /// that servers read differently: no `;`, and no `[` or `]` in names. The host has a name, not an IP address. Everyone can
    /// open this URL, so it does not prove who returns. Only callers who may change the project see the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"https://jobs.example.com/done?from=interview")]
    return_url: Option<OrEmpty<ReturnUrl>>,
    /// The reply address of mails to candidates, and their sender once the operator has verified it; empty for none.
    #[schemars(example = &"ada@example.com")]
    email_alias: OrEmpty<Email>,
    /// How candidates join.
    mode: JoinMode,
    /// The maximum score of an evaluation.
    #[schemars(example = 10)]
    maximum_score: u32,
    /// The language of mails to candidates; empty for the company's default.
    #[schemars(extend("enum" = language_codes()), example = &"en")]
    support_lang: OrEmpty<Language>,
    /// The effective language, with its country.
    #[schemars(example = &"en-GB")]
    language: &'static str,
    /// The current status; change it at `status_update_uri`.
    status: ProjectStatus,
    /// The company's own identifier of the project, shown to people. Other projects may have the same.
    #[schemars(example = &"BE-7")]
    internal_id: String,
    /// The client's own key of the project, unique in the company and compared exactly; empty if there is none.
    #[schemars(example = &"REQ-7")]
    external_id: OrEmpty<ExternalId>,
    /// Whether candidates may take the interview without a password, with the key of their invitation.
    allow_hash_login: bool,
    /// The place of the interview: `builtin` for this service, with the project's questions; `external` for another
    /// platform, which reports by events. It cannot change once a candidate has begun.
    interview_platform: InterviewPlatform,
    /// The time limit in minutes of interviews that begin from now on; null for no limit except the deadline.
    #[schemars(example = 45)]
    max_interview_time: Option<u32>,
    /// Stored for front ends. It does nothing in this service.
    invite_candidates: bool,
    /// Days until the deadline that a candidate without one gets with the invitation; null for the company's default.
    #[schemars(example = 14)]
    default_interview_period: Option<u32>,
    /// When the project was first closed or is planned to close.
    #[schemars(example = &"2026-12-31")]
    closedate: Option<NaiveDate>,
    /// When the project first ran or is planned to run.
    #[schemars(example = &"2026-11-02")]
    activationdate: Option<NaiveDate>,
    /// When the resource was created.
    #[schemars(example = &"2026-11-01")]
    creationdate: NaiveDate,
    /// The person who answers candidates' questions.
    #[schemars(example = &"Grace Hopper")]
    contact_person: String,
    /// Whether evaluators may veto.
    veto_enabled: bool,
    /// The URL that changes the status.
    #[schemars(example = format!("{}status/", example_uri::PROJECT))]
    status_update_uri: Uri,
    /// The customers who evaluate interviews.
    #[schemars(example = [example_uri::CUSTOMER])]
    evaluators: Vec<ExpandedReference<CustomerView>>,
    /// The customers who manage the project.
    #[schemars(example = [example_uri::CUSTOMER])]
    interview_managers: Vec<ExpandedReference<CustomerView>>,
    /// The customers who may read the project without evaluating.
    #[schemars(example = [example_uri::CUSTOMER])]
    reviewers: Vec<ExpandedReference<CustomerView>>,
    /// The project's labels.
    #[schemars(example = [example_uri::LABEL])]
    labels: Vec<ExpandedReference<LabelView>>,
    /// The list of questions.
    #[schemars(example = format!("{}questions/", example_uri::PROJECT))]
    questions: ExpandedReference<Vec<QuestionView>>,
    /// The URL of the list of candidates.
    #[schemars(example = format!("{}candidates/", example_uri::PROJECT))]
    candidates: Uri,
    /// The results.
    #[schemars(example = format!("{}results/", example_uri::PROJECT))]
    results: Uri,
    /// The URL of the list of roles, or the roles.
    #[schemars(example = format!("{}roles/", example_uri::PROJECT))]
    roles: ExpandedReference<Vec<RoleView>>,
    /// The URL of the list of criteria, or the criteria.
    #[schemars(example = format!("{}criteria/", example_uri::PROJECT))]
    criteria: ExpandedReference<Vec<CriterionView>>,
    /// The project's welcome videos, in display order.
    videos: Vec<PlacedVideoView>,
    /// Whether the caller is an evaluator and there are interviewed candidates.
    can_evaluate: bool,
    /// Whether there are results that the caller may see.
    can_see_results: bool,
    /// Whether the project can be closed.
    #[schemars(example = true)]
    can_archive: bool,
    /// The number of candidates.
    #[schemars(example = 0)]
    candidates_count: i64,
    /// The number of `interviewed` candidates.
    #[schemars(example = 0)]
    interviewed_candidates_count: i64,
    /// The number of `expired` candidates.
    #[schemars(example = 0)]
    expired_candidates_count: i64,
    /// The number of `invited` candidates.
    #[schemars(example = 0)]
    invited_candidates_count: i64,
    /// The number of `confirmed` candidates.
    #[schemars(example = 0)]
    confirmed_candidates_count: i64,
    /// The number of `interviewing` candidates.
    #[schemars(example = 0)]
    interviewing_candidates_count: i64,
    /// The number of `aborted` candidates.
    #[schemars(example = 0)]
    aborted_candidates_count: i64,
    /// The number of interviewed candidates who are fully evaluated by the current evaluators.
    #[schemars(example = 0)]
    evaluated_candidates_count: i64,
    /// The number of interviewed candidates who wait for the caller's evaluation; null if the caller is not an evaluator.
    #[schemars(example = 3)]
    my_pending_evaluations_count: Option<i64>,
    /// How many days before the deadline `invited` and `confirmed` candidates are reminded by mail, ascending: at most
    /// three days. A change applies to later invitations and deadlines.
    #[schemars(length(max = 3), example = [1, 3])]
    reminder_days: Vec<ReminderDay>,
    /// How many days after a completed interview its evaluators get the first reminder by mail. Until they have
    /// evaluated it, they are reminded on each working day from 8 o'clock in the company's time zone, at most ten
    /// times; null for never.
    #[schemars(range(min = 1, max = 30), example = 3)]
    evaluation_days: Option<u32>,
    /// A partner's own data, at most 4,096 bytes as JSON. The service does not use it.
    #[schemars(with = "Map<String, Value>")]
    partner_data: Box<RawValue>,
    /// The number of completed evaluations by the project's evaluators that make a candidate fully evaluated: 1, 2, or
    /// 0 for all evaluators.
    #[schemars(example = 0)]
    team_evaluation: u8,
    /// The page that shows the project to staff: candidates who wait for evaluation, and candidates in interviews. The
    /// URL never changes.
    #[schemars(example = example_uri::PROJECT_PAGE)]
    interview_suite_url: Uri,
}

impl ProjectFields {
    fn new(project: &Project, counts: &ProjectCounts, viewer: &ProjectViewer<'_>) -> Self {
        let Project { company, settings, .. } = project;
        let references = viewer.references;
        let loaded = &viewer.loaded;
        let own = references.uri(company, project.id);
        let language = settings.support_lang.unwrap_or(viewer.company.default_project_lang);
        let is_manager =
            Action::ChangeProject.is_allowed(&viewer.caller.in_project(project.id, &project.staff));
        let customer = viewer.caller.customer();
        Self {
            company: references.company(company),
            name: settings.name.to_string(),
            job_url: settings.job_url.as_str().to_owned(),
            return_url: is_manager.then(|| OrEmpty(settings.return_url.clone())),
            email_alias: OrEmpty(settings.email_alias.clone()),
            mode: settings.mode,
            maximum_score: settings.maximum_score,
            support_lang: OrEmpty(settings.support_lang),
            language: language.iso(),
            status: project.status,
            internal_id: settings.internal_id.to_string(),
            external_id: OrEmpty(settings.external_id.clone()),
            allow_hash_login: settings.allow_hash_login,
            interview_platform: settings.interview_platform,
            max_interview_time: settings.max_interview_time,
            invite_candidates: settings.invite_candidates,
            default_interview_period: settings.default_interview_period,
            closedate: settings.closedate,
            activationdate: settings.activationdate,
            creationdate: settings.creationdate,
            contact_person: settings.contact_person.to_string(),
            veto_enabled: settings.veto_enabled,
            status_update_uri: own.join("status"),
            evaluators: loaded.people(EVALUATORS, project, &project.staff.evaluators, references),
            interview_managers: loaded.people(
                INTERVIEW_MANAGERS,
                project,
                &project.staff.interview_managers,
                references,
            ),
            reviewers: loaded.people(REVIEWERS, project, &project.staff.reviewers, references),
            labels: loaded.labels(project, references),
            questions: loaded.questions(project, references),
            candidates: own.join("candidates"),
            results: own.join("results"),
            roles: loaded.roles(project, references),
            criteria: loaded.criteria(project, references),
            videos: PlacedVideoView::all_of(project, references),
            can_evaluate: counts.can_evaluate(project, customer),
            can_see_results: counts.can_see_results(project, customer),
            can_archive: counts.can_archive(project),
            candidates_count: counts.candidates(),
            interviewed_candidates_count: counts.with_status(CandidateStatus::Interviewed),
            expired_candidates_count: counts.with_status(CandidateStatus::Expired),
            invited_candidates_count: counts.with_status(CandidateStatus::Invited),
            confirmed_candidates_count: counts.with_status(CandidateStatus::Confirmed),
            interviewing_candidates_count: counts.with_status(CandidateStatus::Interviewing),
            aborted_candidates_count: counts.with_status(CandidateStatus::Aborted),
            evaluated_candidates_count: counts.evaluated(project),
            my_pending_evaluations_count: counts.awaiting_evaluation(project, customer),
            reminder_days: settings.reminder_days.iter().collect(),
            evaluation_days: settings.evaluation_days,
            partner_data: settings.partner_data.to_json(),
            team_evaluation: settings.team_evaluation,
            interview_suite_url: references.project_page(company, project.id),
            id: Identifier(project.id),
            resource_uri: own,
        }
    }
}
