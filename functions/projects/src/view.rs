//! A project as clients see it.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use shared::auth::access::Context;
use shared::domain::candidate::CandidateStatus;
use shared::domain::company::Company;
use shared::domain::id::CustomerId;
use shared::domain::language::Language;
use shared::domain::project::{Mode, Project, ProjectStatus};
use shared::domain::tally::Tally;
use shared::domain::text::Email;
use shared::http::reference::References;
use shared::http::view::{CustomerView, LabelView, Nested, PlacedVideoView};
use shared::http::wire::{OrEmpty, Uri};

use crate::nested::Loaded;
use crate::roles::RoleView;

/// Who looks at a project.
pub(crate) struct Viewer<'a> {
    customer: Option<CustomerId>,
    company: &'a Company,
    loaded: Loaded,
    references: References<'a>,
}

impl<'a> Viewer<'a> {
    /// The caller whom a access has admitted.
    pub(crate) fn of(access: &'a Context, company: &'a Company) -> Self {
        let loaded = Loaded::default();
        Self { customer: access.caller.customer(), company, loaded, references: access.references() }
    }

    /// The same, with what was loaded in place of references.
    pub(crate) fn with(self, loaded: Loaded) -> Self {
        Self { loaded, ..self }
    }
}

/// A project as clients see it when they read it alone.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub(crate) struct ProjectView {
    #[serde(flatten)]
    fields: ProjectFields,
    /// How many candidates were skipped.
    #[schemars(example = 0)]
    skipped_candidates_count: i64,
}

impl ProjectView {
    /// The view that `viewer` has of a project with these counts.
    pub(crate) fn new(project: &Project, tally: &Tally, viewer: &Viewer<'_>) -> Self {
        let skipped_candidates_count = tally.with_status(CandidateStatus::Skipped);
        Self { fields: ProjectFields::new(project, tally, viewer), skipped_candidates_count }
    }
}

/// A project as clients see it in a list, where one name has always been spelled in its own way.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListedProject")]
pub(crate) struct ListedProjectView {
    #[serde(flatten)]
    fields: ProjectFields,
    /// How many candidates were skipped. Spelled so in lists.
    #[schemars(example = 0)]
    skipped_candiates_count: i64,
}

impl ListedProjectView {
    /// The view that `viewer` has of a project with these counts.
    pub(crate) fn new(project: &Project, tally: &Tally, viewer: &Viewer<'_>) -> Self {
        let skipped_candiates_count = tally.with_status(CandidateStatus::Skipped);
        Self { fields: ProjectFields::new(project, tally, viewer), skipped_candiates_count }
    }
}

/// The short codes of all languages, and that of none.
fn language_codes() -> Vec<&'static str> {
    Language::ALL.map(Language::as_str).into_iter().chain([""]).collect()
}

#[derive(Serialize, JsonSchema)]
struct ProjectFields {
    /// Its own address.
    resource_uri: Uri,
    /// The company whose project it is.
    company: Uri,
    /// Its name.
    #[schemars(example = &"Backend engineer")]
    name: String,
    /// The public job listing; empty for none.
    #[schemars(example = &"")]
    job_url: String,
    /// The address that mails to candidates can be answered at, and come from once the operator has verified it; empty for none.
    #[schemars(example = &"ada@example.com")]
    email_alias: OrEmpty<Email>,
    /// How candidates join.
    mode: Mode,
    /// The best score of an evaluation.
    #[schemars(example = 10)]
    maximum_score: u32,
    /// The language of mails to candidates; empty for the company's default.
    #[schemars(extend("enum" = language_codes()), example = &"en")]
    support_lang: OrEmpty<Language>,
    /// The language that holds, with its country.
    #[schemars(example = &"en-GB")]
    language: &'static str,
    /// Where it stands; changed at `status_update_uri` only.
    status: ProjectStatus,
    /// The company's own name for it.
    #[schemars(example = &"BE-7")]
    internal_id: String,
    /// Whether candidates may take part without a password, by the key of their invitation alone.
    allow_hash_login: bool,
    /// Minutes that an interview may take; null for no limit.
    #[schemars(example = 45)]
    max_interview_time: Option<u32>,
    /// Whether the web application may invite candidates.
    invite_candidates: bool,
    /// Days that a candidate without a deadline gets when it is invited; null for the company's default.
    #[schemars(example = 14)]
    default_interview_period: Option<u32>,
    /// When it was first closed, or is meant to be.
    #[schemars(example = &"2026-11-08")]
    closedate: Option<NaiveDate>,
    /// When it first ran, or is meant to.
    #[schemars(example = &"2026-11-08")]
    activationdate: Option<NaiveDate>,
    /// When it was created.
    #[schemars(example = &"2026-11-08")]
    creationdate: NaiveDate,
    /// Who answers questions about it.
    #[schemars(example = &"Grace Hopper")]
    contact_person: String,
    /// Whether an evaluator may veto.
    veto_enabled: bool,
    /// Where its status is changed.
    status_update_uri: Uri,
    /// Who evaluates interviews.
    evaluators: Vec<Nested<CustomerView>>,
    /// Who runs the project.
    interview_managers: Vec<Nested<CustomerView>>,
    /// Who looks on.
    reviewers: Vec<Nested<CustomerView>>,
    /// Its labels.
    labels: Vec<Nested<LabelView>>,
    /// Its questions.
    questions: Uri,
    /// Its candidates.
    candidates: Uri,
    /// Its results.
    results: Uri,
    /// The roles in it.
    roles: Nested<Vec<RoleView>>,
    /// Its criteria.
    criteria: Uri,
    /// Its welcome videos, in the order in which they are shown.
    videos: Vec<PlacedVideoView>,
    /// Whether the caller evaluates here and somebody was interviewed.
    can_evaluate: bool,
    /// Whether there are results to show to the caller.
    can_see_results: bool,
    /// Whether it can be closed.
    #[schemars(example = true)]
    can_archive: bool,
    /// How many candidates there are.
    #[schemars(example = 0)]
    candidates_count: i64,
    /// How many candidates are `interviewed`.
    #[schemars(example = 0)]
    interviewed_candidates_count: i64,
    /// How many candidates are `expired`.
    #[schemars(example = 0)]
    expired_candidates_count: i64,
    /// How many candidates are `invited`.
    #[schemars(example = 0)]
    invited_candidates_count: i64,
    /// How many candidates are `confirmed`.
    #[schemars(example = 0)]
    confirmed_candidates_count: i64,
    /// How many candidates are `interviewing`.
    #[schemars(example = 0)]
    interviewing_candidates_count: i64,
    /// How many candidates are `aborted`.
    #[schemars(example = 0)]
    aborted_candidates_count: i64,
    /// How many interviewed candidates are fully evaluated by the evaluators of today.
    #[schemars(example = 0)]
    evaluated_candidates_count: i64,
    /// Data of a partner's own, which the service only keeps: at most 4,096 bytes as JSON.
    partner_data: Map<String, Value>,
    /// How many completed evaluations by its evaluators make a candidate fully evaluated: 1, 2, or 0 for those of all
    /// evaluators. Evaluations by others do not count.
    #[schemars(example = 0)]
    team_evaluation: u8,
    /// Its page in the web application.
    interview_suite_url: Uri,
}

impl ProjectFields {
    fn new(project: &Project, tally: &Tally, viewer: &Viewer<'_>) -> Self {
        let Project { company, settings, .. } = project;
        let (references, loaded) = (viewer.references, &viewer.loaded);
        let own = references.project(company, project.id);
        let language = settings.support_lang.unwrap_or(viewer.company.default_project_lang);
        Self {
            company: references.company(company),
            name: settings.name.to_string(),
            job_url: settings.job_url.as_str().to_owned(),
            email_alias: OrEmpty(settings.email_alias.clone()),
            mode: settings.mode,
            maximum_score: settings.maximum_score,
            support_lang: OrEmpty(settings.support_lang),
            language: language.iso(),
            status: project.status,
            internal_id: settings.internal_id.to_string(),
            allow_hash_login: settings.allow_hash_login,
            max_interview_time: settings.max_interview_time,
            invite_candidates: settings.invite_candidates,
            default_interview_period: settings.default_interview_period,
            closedate: settings.closedate,
            activationdate: settings.activationdate,
            creationdate: settings.creationdate,
            contact_person: settings.contact_person.to_string(),
            veto_enabled: settings.veto_enabled,
            status_update_uri: own.join("status"),
            evaluators: loaded.evaluators(project, references),
            interview_managers: loaded.interview_managers(project, references),
            reviewers: loaded.reviewers(project, references),
            labels: loaded.labels(project, references),
            questions: own.join("questions"),
            candidates: references.candidates(company, project.id),
            results: own.join("results"),
            roles: loaded.roles(project, references),
            criteria: own.join("criteria"),
            videos: PlacedVideoView::all_of(project, references),
            can_evaluate: tally.can_evaluate(project, viewer.customer),
            can_see_results: tally.can_see_results(project, viewer.customer),
            can_archive: tally.can_archive(project),
            candidates_count: tally.candidates(),
            interviewed_candidates_count: tally.with_status(CandidateStatus::Interviewed),
            expired_candidates_count: tally.with_status(CandidateStatus::Expired),
            invited_candidates_count: tally.with_status(CandidateStatus::Invited),
            confirmed_candidates_count: tally.with_status(CandidateStatus::Confirmed),
            interviewing_candidates_count: tally.with_status(CandidateStatus::Interviewing),
            aborted_candidates_count: tally.with_status(CandidateStatus::Aborted),
            evaluated_candidates_count: tally.evaluated(project),
            partner_data: settings.partner_data.as_object().clone(),
            team_evaluation: settings.team_evaluation,
            interview_suite_url: references.suite_page(&own),
            resource_uri: own,
        }
    }
}
