//! A project as clients see it.

use serde::Serialize;
use serde_json::{Map, Value};
use shared::auth::guard::Scope;
use shared::domain::candidate::CandidateStatus;
use shared::domain::company::Company;
use shared::domain::id::CustomerId;
use shared::domain::project::{HeldRole, Project, ProjectStatus};
use shared::domain::tally::Tally;
use shared::domain::text::Email;
use shared::http::Fields;
use shared::http::reference::References;
use shared::http::respond::date;
use shared::http::view::{CustomerView, LabelView, Nested, PlacedVideoView};
use shared::{Error, Result};

use crate::nested::Loaded;

/// Reads the body of a change of status.
pub(crate) fn read_status(mut body: Fields) -> Result<ProjectStatus> {
    let status = body.required("status", ProjectStatus::parse);
    body.finish()?;
    status.ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}

/// Who looks at a project.
pub(crate) struct Viewer<'a> {
    customer: Option<CustomerId>,
    company: &'a Company,
    loaded: Loaded,
    references: References<'a>,
}

impl<'a> Viewer<'a> {
    /// The caller whom a guard has admitted.
    pub(crate) fn of(scope: &'a Scope, company: &'a Company) -> Self {
        let loaded = Loaded::default();
        Self { customer: scope.caller.customer(), company, loaded, references: scope.references() }
    }

    /// The same, with what was loaded in place of references.
    pub(crate) fn with(self, loaded: Loaded) -> Self {
        Self { loaded, ..self }
    }
}

/// The status of a project as clients see it.
#[derive(Serialize)]
pub(crate) struct StatusView {
    resource_uri: String,
    status: &'static str,
}

impl StatusView {
    /// The view of a project's status.
    pub(crate) fn new(project: &Project, references: References<'_>) -> Self {
        let own = references.project(&project.company, project.id);
        Self { resource_uri: format!("{own}status/"), status: project.status.as_str() }
    }
}

/// A role in a project as clients see it.
#[derive(Serialize)]
pub(crate) struct RoleView {
    resource_uri: String,
    project: String,
    customer: String,
    role: &'static str,
}

impl RoleView {
    /// The view of a role that somebody has in a project.
    pub(crate) fn new(project: &Project, held: HeldRole, references: References<'_>) -> Self {
        let Project { company, id, .. } = project;
        Self {
            resource_uri: references.role(company, *id, held.id()),
            project: references.project(company, *id),
            customer: references.customer(company, held.customer),
            role: held.role.as_str(),
        }
    }
}

/// A project as clients see it when they read it alone.
#[derive(Serialize)]
pub(crate) struct ProjectView {
    #[serde(flatten)]
    fields: ProjectFields,
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
#[derive(Serialize)]
pub(crate) struct ListedProjectView {
    #[serde(flatten)]
    fields: ProjectFields,
    skipped_candiates_count: i64,
}

impl ListedProjectView {
    /// The view that `viewer` has of a project with these counts.
    pub(crate) fn new(project: &Project, tally: &Tally, viewer: &Viewer<'_>) -> Self {
        let skipped_candiates_count = tally.with_status(CandidateStatus::Skipped);
        Self { fields: ProjectFields::new(project, tally, viewer), skipped_candiates_count }
    }
}

#[derive(Serialize)]
struct ProjectFields {
    resource_uri: String,
    company: String,
    name: String,
    job_url: String,
    email_alias: String,
    mode: &'static str,
    maximum_score: u32,
    support_lang: &'static str,
    language: &'static str,
    status: &'static str,
    internal_id: String,
    allow_hash_login: bool,
    max_interview_time: Option<u32>,
    invite_candidates: bool,
    default_interview_period: Option<u32>,
    closedate: Option<String>,
    activationdate: Option<String>,
    creationdate: String,
    contact_person: String,
    veto_enabled: bool,
    status_update_uri: String,
    evaluators: Vec<Nested<CustomerView>>,
    interview_managers: Vec<Nested<CustomerView>>,
    reviewers: Vec<Nested<CustomerView>>,
    labels: Vec<Nested<LabelView>>,
    questions: String,
    candidates: String,
    results: String,
    roles: Nested<Vec<RoleView>>,
    criteria: String,
    videos: Vec<PlacedVideoView>,
    can_evaluate: bool,
    can_see_results: bool,
    can_archive: bool,
    candidates_count: i64,
    interviewed_candidates_count: i64,
    expired_candidates_count: i64,
    invited_candidates_count: i64,
    confirmed_candidates_count: i64,
    interviewing_candidates_count: i64,
    aborted_candidates_count: i64,
    evaluated_candidates_count: i64,
    partner_data: Map<String, Value>,
    team_evaluation: u8,
    interview_suite_url: String,
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
            email_alias: settings.email_alias.as_ref().map(Email::as_str).unwrap_or_default().to_owned(),
            mode: settings.mode.as_str(),
            maximum_score: settings.maximum_score,
            support_lang: settings.support_lang.map_or("", |language| language.code()),
            language: language.iso(),
            status: project.status.as_str(),
            internal_id: settings.internal_id.to_string(),
            allow_hash_login: settings.allow_hash_login,
            max_interview_time: settings.max_interview_time,
            invite_candidates: settings.invite_candidates,
            default_interview_period: settings.default_interview_period,
            closedate: settings.closedate.map(date),
            activationdate: settings.activationdate.map(date),
            creationdate: date(settings.creationdate),
            contact_person: settings.contact_person.to_string(),
            veto_enabled: settings.veto_enabled,
            status_update_uri: format!("{own}status/"),
            evaluators: loaded.evaluators(project, references),
            interview_managers: loaded.interview_managers(project, references),
            reviewers: loaded.reviewers(project, references),
            labels: loaded.labels(project, references),
            questions: format!("{own}questions/"),
            candidates: references.candidates(company, project.id),
            results: format!("{own}results/"),
            roles: loaded.roles(project, references),
            criteria: format!("{own}criteria/"),
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
