//! The bodies of requests that create or change a project.

use std::collections::BTreeSet;

use serde_json::Value;
use shared::domain::evaluation::MAX_SCORE;
use shared::domain::id::{CompanyId, CustomerId, ProjectId};
use shared::domain::parse_enum;
use shared::domain::project::{MAX_ATTACHED, PlacedVideo, Project, ReminderDay, ReminderDays, ReturnUrl};
use shared::domain::staff::MAX_STAFF;
use shared::domain::text::{Email, ExternalId, ShortName, TextLine, WebLink};
use shared::error::FieldErrors;
use shared::http::iso8601::parse_date;
use shared::http::reference::ReferenceUris;
use shared::http::{BodyChanges, BodyFields, ListItem};
use shared::{Error, Result};

/// Reads the body of a change. `is_local` allows URLs that only local deployments may use.
pub(crate) fn read_changes(
    mut body: BodyFields,
    company: &CompanyId,
    references: ReferenceUris<'_>,
    is_local: bool,
) -> Result<BodyChanges<Project>> {
    let mut changes = read_optional(&mut body, company, references, is_local);
    changes.set(body.text("name", ShortName::parse), |project| &mut project.settings.name);
    body.finish(|| Some(changes))
}

/// The body of a creation.
pub(crate) struct NewProject {
    pub(crate) name: ShortName,
    /// The project to copy.
    pub(crate) copy_of: Option<ProjectId>,
    /// The other fields.
    pub(crate) changes: BodyChanges<Project>,
}

/// Reads the body of a creation. `is_local` allows URLs that only local deployments may use.
pub(crate) fn read_new(
    mut body: BodyFields,
    company: &CompanyId,
    references: ReferenceUris<'_>,
    is_local: bool,
) -> Result<NewProject> {
    let name = body.required("name", ShortName::parse);
    let copy_of = body.clearable("copy_of", |reference| references.parse(company, reference)).flatten();
    let changes = read_optional(&mut body, company, references, is_local);
    body.finish(|| Some(NewProject { name: name?, copy_of, changes }))
}

fn read_optional(
    body: &mut BodyFields,
    company: &CompanyId,
    references: ReferenceUris<'_>,
    is_local: bool,
) -> BodyChanges<Project> {
    // Accept the misspelt name of project lists, because clients may send back a row.
    body.ignore("skipped_candiates_count");
    let mut changes: BodyChanges<Project> = BodyChanges::default();
    changes.set(read_staff(body, "evaluators", company, references), |project| &mut project.staff.evaluators);
    changes.set(read_staff(body, "interview_managers", company, references), |project| {
        &mut project.staff.interview_managers
    });
    changes.set(read_staff(body, "reviewers", company, references), |project| &mut project.staff.reviewers);
    let job_url = body.clearable("job_url", WebLink::parse).map(Option::unwrap_or_default);
    changes.set(job_url, |project| &mut project.settings.job_url);
    let return_url = body.clearable("return_url", |text| ReturnUrl::parse(text, is_local));
    changes.set(return_url, |project| &mut project.settings.return_url);
    changes.set(body.clearable("email_alias", Email::parse), |project| &mut project.settings.email_alias);
    changes.set(body.text("mode", parse_enum), |project| &mut project.settings.mode);
    changes.set(body.integer("maximum_score", 1, MAX_SCORE), |project| &mut project.settings.maximum_score);
    changes.set(body.clearable("support_lang", parse_enum), |project| &mut project.settings.support_lang);
    changes
        .set(body.text_or_empty("internal_id", TextLine::parse), |project| &mut project.settings.internal_id);
    changes
        .set(body.clearable("external_id", ExternalId::parse), |project| &mut project.settings.external_id);
    changes.set(body.flag("allow_hash_login"), |project| &mut project.settings.allow_hash_login);
    let minutes = body.clearable_integer("max_interview_time", 1, 100_000);
    changes.set(minutes, |project| &mut project.settings.max_interview_time);
    changes
        .set(body.text("interview_platform", parse_enum), |project| &mut project.settings.interview_platform);
    changes.set(body.flag("invite_candidates"), |project| &mut project.settings.invite_candidates);
    let period = body.clearable_integer("default_interview_period", 1, 3650);
    changes.set(period, |project| &mut project.settings.default_interview_period);
    changes.set(body.clearable_date("closedate", parse_date), |project| &mut project.settings.closedate);
    changes.set(body.clearable_date("activationdate", parse_date), |project| {
        &mut project.settings.activationdate
    });
    // Ignore null: a project always has a creation date.
    changes.set(body.clearable_date("creationdate", parse_date).flatten(), |project| {
        &mut project.settings.creationdate
    });
    changes.set(body.text_or_empty("contact_person", TextLine::parse), |project| {
        &mut project.settings.contact_person
    });
    changes.set(body.flag("veto_enabled"), |project| &mut project.settings.veto_enabled);
    let needed = body.integer("team_evaluation", 0, 2).and_then(|number| u8::try_from(number).ok());
    changes.set(needed, |project| &mut project.settings.team_evaluation);
    changes.set(read_reminder_days(body), |project| &mut project.settings.reminder_days);
    let days = body.clearable_integer("evaluation_days", 1, 30);
    changes.set(days, |project| &mut project.settings.evaluation_days);
    changes.set(body.partner_data("partner_data"), |project| &mut project.settings.partner_data);
    let labels = body.list("labels", MAX_ATTACHED, |item| references.parse(company, item.reference()?));
    changes.set(labels.map(BTreeSet::from_iter), |project| &mut project.settings.labels);
    changes.set(read_videos(body, company, references), |project| &mut project.settings.videos);
    changes
}

fn read_staff(
    body: &mut BodyFields,
    name: &'static str,
    company: &CompanyId,
    references: ReferenceUris<'_>,
) -> Option<BTreeSet<CustomerId>> {
    let staff = body.list(name, MAX_STAFF, |item| references.parse(company, item.reference()?));
    staff.map(BTreeSet::from_iter)
}

fn read_reminder_days(body: &mut BodyFields) -> Option<ReminderDays> {
    let days = body.list("reminder_days", ReminderDays::MAX, |item| {
        ReminderDay::new(item.number().unwrap_or_default())
    })?;
    ReminderDays::new(days).map_err(|message| body.refuse("reminder_days", message)).ok()
}

fn read_videos(
    body: &mut BodyFields,
    company: &CompanyId,
    references: ReferenceUris<'_>,
) -> Option<Vec<PlacedVideo>> {
    let mut videos = body.list("videos", MAX_ATTACHED, |item| placed_video(item, company, references))?;
    let distinct: BTreeSet<_> = videos.iter().map(|placed| placed.video).collect();
    let positions: BTreeSet<u32> = videos.iter().map(|placed| placed.position).collect();
    if distinct.len() < videos.len() || positions.len() < videos.len() {
        body.refuse("videos", "Each video, and each position, may appear only once.");
    }
    videos.sort_by_key(|placed| placed.position);
    Some(videos)
}

/// Applies the changes. Fails with a field error if roles in the request contradict existing ones.
pub(crate) fn apply(changes: BodyChanges<Project>, project: &mut Project) -> Result<()> {
    changes.apply_to(project);
    project.staff.check().map_err(|message| Error::field(FieldErrors::ACROSS, message))
}

fn placed_video(
    item: &mut ListItem<'_>,
    company: &CompanyId,
    references: ReferenceUris<'_>,
) -> Result<PlacedVideo, String> {
    let uri = item.get("uri").and_then(Value::as_str);
    let position =
        item.get("position").and_then(Value::as_u64).and_then(|position| u32::try_from(position).ok());
    match (uri, position) {
        (Some(uri), Some(position)) => Ok(PlacedVideo { video: references.parse(company, uri)?, position }),
        _ => Err("Expected objects with uri and position.".to_owned()),
    }
}
