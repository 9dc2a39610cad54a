//! The settings of a project, which managers change.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ReminderDays, ReturnUrl};
use crate::company::Company;
use crate::id::{LabelId, VideoId};
use crate::language::Language;
use crate::partner_data::PartnerData;
use crate::text::{Email, ExternalId, ShortName, TextLine, WebLink};

/// How candidates join a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum JoinMode {
    /// At any time.
    Rolling,
}

/// The place where the interviews of a project are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum InterviewPlatform {
    /// In this service.
    Builtin,
    /// On another platform, which reports by events.
    External,
}

/// A welcome video and its position in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PlacedVideo {
    /// A video of the company.
    #[schemars(rename = "uri")]
    pub video: VideoId,
    /// The position among the project's videos, ascending.
    pub position: u32,
}

/// The fields of a project that clients set, except status and roles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectSettings {
    /// The display name.
    pub name: ShortName,
    /// Link to the public job listing.
    pub job_url: WebLink,
    /// The URL where candidates continue after the interview.
    #[serde(default)]
    pub return_url: Option<ReturnUrl>,
    /// Sender address of mails to candidates.
    pub email_alias: Option<Email>,
    /// How candidates join.
    pub mode: JoinMode,
    /// The maximum score of an evaluation.
    pub maximum_score: u32,
    /// The language of mails to candidates; `None` for the company's default.
    pub support_lang: Option<Language>,
    /// The company's own identifier, for people; not unique.
    pub internal_id: TextLine<100>,
    /// The client's key, unique in the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<ExternalId>,
    /// Whether candidates may take the interview without a password.
    pub allow_hash_login: bool,
    /// The maximum duration of an interview, in minutes; `None` for no limit.
    pub max_interview_time: Option<u32>,
    #[serde(default = "external")]
    pub interview_platform: InterviewPlatform,
    /// Whether front ends may invite candidates; the service does not use it.
    pub invite_candidates: bool,
    /// The number of days until the default deadline of candidates.
    pub default_interview_period: Option<u32>,
    /// When the project was first closed or is planned to close.
    pub closedate: Option<NaiveDate>,
    /// When the project first ran or is planned to run.
    pub activationdate: Option<NaiveDate>,
    /// When the project was created.
    pub creationdate: NaiveDate,
    /// The person who answers candidates' questions.
    pub contact_person: TextLine<150>,
    /// Whether evaluators may veto.
    pub veto_enabled: bool,
    /// The number of completed evaluations that a fully evaluated candidate needs; 0 means all evaluators.
    pub team_evaluation: u8,
    /// When candidates are reminded automatically.
    #[serde(default)]
    pub reminder_days: ReminderDays,
    /// After how many days evaluators are reminded; `None` if they are not.
    #[serde(default)]
    pub evaluation_days: Option<u32>,
    /// A partner's own data.
    pub partner_data: PartnerData,
    pub labels: BTreeSet<LabelId>,
    /// Welcome videos of the company, ascending by position.
    pub videos: Vec<PlacedVideo>,
}

fn external() -> InterviewPlatform {
    InterviewPlatform::External
}

impl ProjectSettings {
    /// Whether the project shows this welcome video.
    pub fn shows(&self, video: VideoId) -> bool {
        self.videos.iter().any(|placed| placed.video == video)
    }

    /// The settings of a project with only a name, created at `now`.
    pub fn new(name: ShortName, company: &Company, now: DateTime<Utc>) -> Self {
        Self {
            name,
            job_url: WebLink::default(),
            return_url: None,
            email_alias: None,
            mode: JoinMode::Rolling,
            maximum_score: company.default_maximum_score,
            support_lang: None,
            internal_id: TextLine::default(),
            external_id: None,
            allow_hash_login: false,
            max_interview_time: None,
            interview_platform: InterviewPlatform::External,
            invite_candidates: false,
            default_interview_period: None,
            closedate: None,
            activationdate: None,
            creationdate: now.date_naive(),
            contact_person: TextLine::default(),
            veto_enabled: false,
            team_evaluation: 0,
            reminder_days: ReminderDays::default(),
            evaluation_days: None,
            partner_data: PartnerData::default(),
            labels: BTreeSet::new(),
            videos: Vec::new(),
        }
    }
}
