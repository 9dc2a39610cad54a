//! The fields of a project that a client may send.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, Utc};
use serde_json::Value;
use shared::domain::company::Company;
use shared::domain::evaluation::MAX_SCORE;
use shared::domain::id::{CompanyId, CustomerId, LabelId};
use shared::domain::language::Language;
use shared::domain::parse_enum;
use shared::domain::partner_data::PartnerData;
use shared::domain::project::{JoinMode, MAX_ATTACHED, PlacedVideo, ProjectSettings};
use shared::domain::staff::{MAX_STAFF, ProjectStaff};
use shared::domain::text::{Email, ShortName, TextLine, WebLink};
use shared::error::FieldErrors;
use shared::http::BodyFields;
use shared::http::fields::set;
use shared::http::reference::ReferenceUris;
use shared::{Error, Result};

/// What a client sent of a project; none leaves a field as it is.
pub(crate) struct UpdateProject {
    name: Option<ShortName>,
    job_url: Option<Option<WebLink>>,
    email_alias: Option<Option<Email>>,
    mode: Option<JoinMode>,
    maximum_score: Option<u32>,
    support_lang: Option<Option<Language>>,
    internal_id: Option<TextLine<100>>,
    allow_hash_login: Option<bool>,
    max_interview_time: Option<Option<u32>>,
    invite_candidates: Option<bool>,
    default_interview_period: Option<Option<u32>>,
    closedate: Option<Option<NaiveDate>>,
    activationdate: Option<Option<NaiveDate>>,
    creationdate: Option<Option<NaiveDate>>,
    contact_person: Option<TextLine<150>>,
    veto_enabled: Option<bool>,
    team_evaluation: Option<u8>,
    partner_data: Option<PartnerData>,
    labels: Option<BTreeSet<LabelId>>,
    videos: Option<Vec<PlacedVideo>>,
    evaluators: Option<BTreeSet<CustomerId>>,
    interview_managers: Option<BTreeSet<CustomerId>>,
    reviewers: Option<BTreeSet<CustomerId>>,
}

impl UpdateProject {
    /// Reads the body of a change.
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<Self> {
        let changes = Self::read_from(&mut body, company, references);
        body.finish(|| Some(changes))
    }

    /// Reads the body of a creation, which has a name.
    pub(crate) fn read_new(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<(ShortName, Self)> {
        body.require("name");
        let changes = Self::read_from(&mut body, company, references);
        body.finish(|| Some((changes.name.clone()?, changes)))
    }

    fn read_from(body: &mut BodyFields, company: &CompanyId, references: ReferenceUris<'_>) -> Self {
        let people = |name: &str, body: &mut BodyFields| {
            let people = body.list(name, MAX_STAFF, |value| references.parse_customer(company, text(value)?));
            people.map(BTreeSet::from_iter)
        };
        let changes = Self {
            evaluators: people("evaluators", body),
            interview_managers: people("interview_managers", body),
            reviewers: people("reviewers", body),
            name: body.text("name", ShortName::parse),
            job_url: body.clearable("job_url", WebLink::parse),
            email_alias: body.clearable("email_alias", Email::parse),
            mode: body.text("mode", parse_enum),
            maximum_score: body.integer("maximum_score", 1, MAX_SCORE),
            support_lang: body.clearable("support_lang", parse_enum),
            internal_id: body.line("internal_id"),
            allow_hash_login: body.flag("allow_hash_login"),
            max_interview_time: body.clearable_integer("max_interview_time", 1, 100_000),
            invite_candidates: body.flag("invite_candidates"),
            default_interview_period: body.clearable_integer("default_interview_period", 1, 3650),
            closedate: body.date("closedate"),
            activationdate: body.date("activationdate"),
            creationdate: body.date("creationdate"),
            contact_person: body.line("contact_person"),
            veto_enabled: body.flag("veto_enabled"),
            team_evaluation: body
                .integer("team_evaluation", 0, 2)
                .and_then(|number| u8::try_from(number).ok()),
            partner_data: body.partner_data("partner_data"),
            labels: body
                .list("labels", MAX_ATTACHED, |value| references.parse_label(company, text(value)?))
                .map(BTreeSet::from_iter),
            videos: body.list("videos", MAX_ATTACHED, |value| placed_video(value, company, references)),
        };
        if changes.videos.as_deref().is_some_and(repeats) {
            body.refuse("videos", "Each video, and each position, may appear only once.");
        }
        changes
    }

    /// The settings and staff of a new project.
    pub(crate) fn into_new(
        self,
        name: ShortName,
        company: &Company,
        now: DateTime<Utc>,
    ) -> Result<(ProjectSettings, ProjectStaff)> {
        let mut settings = ProjectSettings::new(name, company, now);
        let mut staff = ProjectStaff::default();
        self.apply_to(&mut settings, &mut staff)?;
        Ok((settings, staff))
    }

    /// Makes the changes, if the roles that were sent go together with those that were not.
    pub(crate) fn apply_to(self, settings: &mut ProjectSettings, staff: &mut ProjectStaff) -> Result<()> {
        set(&mut settings.name, self.name);
        set(&mut settings.job_url, self.job_url.map(Option::unwrap_or_default));
        set(&mut settings.email_alias, self.email_alias);
        set(&mut settings.mode, self.mode);
        set(&mut settings.maximum_score, self.maximum_score);
        set(&mut settings.support_lang, self.support_lang);
        set(&mut settings.internal_id, self.internal_id);
        set(&mut settings.allow_hash_login, self.allow_hash_login);
        set(&mut settings.max_interview_time, self.max_interview_time);
        set(&mut settings.invite_candidates, self.invite_candidates);
        set(&mut settings.default_interview_period, self.default_interview_period);
        set(&mut settings.closedate, self.closedate);
        set(&mut settings.activationdate, self.activationdate);
        set(&mut settings.creationdate, self.creationdate.flatten());
        set(&mut settings.contact_person, self.contact_person);
        set(&mut settings.veto_enabled, self.veto_enabled);
        set(&mut settings.team_evaluation, self.team_evaluation);
        set(&mut settings.partner_data, self.partner_data);
        set(&mut settings.labels, self.labels);
        set(&mut settings.videos, self.videos);
        settings.videos.sort_by_key(|placed| placed.position);
        set(&mut staff.evaluators, self.evaluators);
        set(&mut staff.interview_managers, self.interview_managers);
        set(&mut staff.reviewers, self.reviewers);
        staff.check().map_err(|message| Error::field(FieldErrors::ACROSS, message))
    }
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "Expected a list of references.".to_owned())
}

fn placed_video(
    value: &Value,
    company: &CompanyId,
    references: ReferenceUris<'_>,
) -> Result<PlacedVideo, String> {
    let uri = value.get("uri").and_then(Value::as_str);
    let position =
        value.get("position").and_then(Value::as_u64).and_then(|position| u32::try_from(position).ok());
    match (uri, position) {
        (Some(uri), Some(position)) => {
            Ok(PlacedVideo { video: references.parse_video(company, uri)?, position })
        }
        _ => Err("Expected objects with uri and position.".to_owned()),
    }
}

fn repeats(videos: &[PlacedVideo]) -> bool {
    let distinct =
        |key: &dyn Fn(&PlacedVideo) -> [u8; 16]| videos.iter().map(key).collect::<BTreeSet<_>>().len();
    let positions: BTreeSet<u32> = videos.iter().map(|placed| placed.position).collect();
    distinct(&|placed| placed.video.to_bytes()) < videos.len() || positions.len() < videos.len()
}
