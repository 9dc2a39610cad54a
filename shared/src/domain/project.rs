//! A project: an interview that candidates are invited to, its staff, and the moves of its status.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Refusal;
use super::company::Company;
use super::evaluation;
use super::id::{CompanyId, CustomerId, Id, LabelId, ProjectId, RoleId, VideoId};
use super::language::Language;
use super::partner_data::PartnerData;
use super::text::{Email, Line, Name, WebLink};

/// The most people that may hold a role in one project.
pub const MAX_STAFF: usize = 40;
/// The most welcome videos, and the most labels, of one project.
pub const MAX_ATTACHED: usize = 20;

/// Where a project stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum ProjectStatus {
    /// A draft.
    #[serde(rename = "10-incomplete")]
    Incomplete,
    /// Active.
    #[serde(rename = "40-running")]
    Running,
    /// Archived.
    #[serde(rename = "60-closed")]
    Closed,
}

impl ProjectStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Incomplete, Self::Running, Self::Closed];

    /// The status with this name, such as `40-running`.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == name);
        found.ok_or_else(|| format!("\"{name}\" is not a valid choice."))
    }

    /// What must hold of the candidates, of whom each with `needed` evaluations is fully evaluated, for a project to move
    /// from here to `to`; none when no move leads there.
    pub fn candidates_must(self, to: Self, needed: usize) -> Option<CandidatesMust> {
        match (self, to) {
            (Self::Incomplete | Self::Closed, Self::Running) => Some(CandidatesMust::BeAnything),
            (Self::Incomplete | Self::Running, Self::Closed) => Some(CandidatesMust::BeArchivable { needed }),
            (Self::Running, Self::Incomplete) => Some(CandidatesMust::BeNew),
            _ => None,
        }
    }

    /// The name in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Incomplete => "10-incomplete",
            Self::Running => "40-running",
            Self::Closed => "60-closed",
        }
    }
}

/// How candidates join a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Mode {
    /// At any time.
    Rolling,
}

impl Mode {
    /// The mode with this name.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn parse(name: &str) -> Result<Self, String> {
        if name == Self::Rolling.as_str() {
            Ok(Self::Rolling)
        } else {
            Err(format!("\"{name}\" is not a valid choice."))
        }
    }

    /// The name in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rolling => "rolling",
        }
    }
}

/// What a customer may be in one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(inline, rename_all = "snake_case")]
pub enum Role {
    /// Runs the project; the contract's Project Manager.
    InterviewManager,
    /// Evaluates interviewed candidates.
    Evaluator,
    /// Looks on.
    Reviewer,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::InterviewManager, Self::Evaluator, Self::Reviewer];

    /// The role with this name.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == name);
        found.ok_or_else(|| format!("\"{name}\" is not a valid choice."))
    }

    /// The name in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InterviewManager => "interview_manager",
            Self::Evaluator => "evaluator",
            Self::Reviewer => "reviewer",
        }
    }
}

/// A role that a customer has in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldRole {
    /// Who has it.
    pub customer: CustomerId,
    /// Which it is.
    pub role: Role,
}

impl HeldRole {
    /// Its identifier: made of both, since that is all there is to it, and sorted by the customer's.
    pub fn id(self) -> RoleId {
        let mut id = self.customer.to_bytes();
        let hash = Sha256::new().chain_update(id).chain_update(self.role.as_str()).finalize();
        // The first bytes are the moment that the customer was created.
        id[6..].copy_from_slice(&hash[..10]);
        Id::from_bytes(id)
    }
}

/// A welcome video's place in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PlacedVideo {
    /// The company's video.
    #[schemars(rename = "uri")]
    pub video: VideoId,
    /// Where it stands among the project's videos, ascending.
    pub position: u32,
}

/// What a client decides about a project; everything but its status and who holds roles in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What it is called.
    pub name: Name,
    /// Link to the public job listing.
    pub job_url: WebLink,
    /// Sender address of mails to candidates.
    pub email_alias: Option<Email>,
    /// How candidates join.
    pub mode: Mode,
    /// The highest score of an evaluation.
    pub maximum_score: u32,
    /// Language of mails to candidates; none means the company's default.
    pub support_lang: Option<Language>,
    /// The client's own identifier.
    pub internal_id: Line<100>,
    /// Whether candidates may take part without setting a password.
    pub allow_hash_login: bool,
    /// Minutes an interview may take.
    pub max_interview_time: Option<u32>,
    /// Whether the web application may invite candidates.
    pub invite_candidates: bool,
    /// Days that a candidate gets when it has no deadline of its own.
    pub default_interview_period: Option<u32>,
    /// When the project was archived, or is meant to be.
    pub closedate: Option<NaiveDate>,
    /// When the project first ran, or is meant to.
    pub activationdate: Option<NaiveDate>,
    /// When it was created.
    pub creationdate: NaiveDate,
    /// Who answers questions about it.
    pub contact_person: Line<150>,
    /// Whether an evaluator may veto.
    pub veto_enabled: bool,
    /// How many completed evaluations make a candidate fully evaluated; 0 means all evaluators.
    pub team_evaluation: u8,
    /// A partner's own data.
    pub partner_data: PartnerData,
    /// Labels of the company that it bears.
    pub labels: BTreeSet<LabelId>,
    /// Welcome videos of the company that it shows, ascending by position.
    pub videos: Vec<PlacedVideo>,
}

impl Settings {
    /// Whether it shows a welcome video.
    pub fn shows(&self, video: VideoId) -> bool {
        self.videos.iter().any(|placed| placed.video == video)
    }

    /// The settings of a project that only has a name, created at `now`.
    pub fn new(name: Name, company: &Company, now: DateTime<Utc>) -> Self {
        Self {
            name,
            job_url: WebLink::default(),
            email_alias: None,
            mode: Mode::Rolling,
            maximum_score: company.default_maximum_score,
            support_lang: None,
            internal_id: Line::default(),
            allow_hash_login: false,
            max_interview_time: None,
            invite_candidates: false,
            default_interview_period: None,
            closedate: None,
            activationdate: None,
            creationdate: now.date_naive(),
            contact_person: Line::default(),
            veto_enabled: false,
            team_evaluation: 0,
            partner_data: PartnerData::default(),
            labels: BTreeSet::new(),
            videos: Vec::new(),
        }
    }
}

/// Who holds which role in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staff {
    /// Those who run it.
    pub interview_managers: BTreeSet<CustomerId>,
    /// Those who evaluate.
    pub evaluators: BTreeSet<CustomerId>,
    /// Those who look on; none of them evaluates.
    pub reviewers: BTreeSet<CustomerId>,
}

impl Staff {
    /// Those who have a role.
    fn holders(&self, role: Role) -> &BTreeSet<CustomerId> {
        match role {
            Role::InterviewManager => &self.interview_managers,
            Role::Evaluator => &self.evaluators,
            Role::Reviewer => &self.reviewers,
        }
    }

    fn holders_mut(&mut self, role: Role) -> &mut BTreeSet<CustomerId> {
        match role {
            Role::InterviewManager => &mut self.interview_managers,
            Role::Evaluator => &mut self.evaluators,
            Role::Reviewer => &mut self.reviewers,
        }
    }

    /// Every role that somebody has, in the order of the identifiers.
    pub fn roles(&self) -> Vec<HeldRole> {
        let held_by = |role: Role| {
            self.holders(role).iter().map(move |customer| HeldRole { customer: *customer, role })
        };
        let mut roles: Vec<HeldRole> = Role::ALL.into_iter().flat_map(held_by).collect();
        roles.sort_by_key(|held| held.id());
        roles
    }

    /// Whether the customer has the role.
    pub fn has(&self, HeldRole { customer, role }: HeldRole) -> bool {
        self.holders(role).contains(&customer)
    }

    /// Gives a role to a customer.
    pub fn give(&mut self, HeldRole { customer, role }: HeldRole) {
        self.holders_mut(role).insert(customer);
    }

    /// Takes a role from a customer.
    pub fn take(&mut self, HeldRole { customer, role }: HeldRole) {
        self.holders_mut(role).remove(&customer);
    }

    /// The roles of `customer`.
    pub fn roles_of(&self, customer: CustomerId) -> BTreeSet<Role> {
        Role::ALL.into_iter().filter(|role| self.holders(*role).contains(&customer)).collect()
    }

    /// `customer`, if it is one who evaluates.
    pub fn evaluates(&self, customer: Option<CustomerId>) -> Option<CustomerId> {
        customer.filter(|customer| self.evaluators.contains(customer))
    }

    /// Takes every role from `customer`.
    pub fn remove(&mut self, customer: CustomerId) {
        for role in Role::ALL {
            self.holders_mut(role).remove(&customer);
        }
    }

    /// Everybody with a role.
    pub fn everybody(&self) -> BTreeSet<CustomerId> {
        [&self.interview_managers, &self.evaluators, &self.reviewers].into_iter().flatten().copied().collect()
    }

    /// Checks who has which roles together: nobody can evaluate and look on at once.
    ///
    /// # Errors
    /// The message for whoever wants it so.
    pub fn check(&self) -> Result<(), String> {
        if !self.evaluators.is_disjoint(&self.reviewers) {
            return Err("An evaluator may not be a reviewer of the same project.".to_owned());
        }
        if self.everybody().len() > MAX_STAFF {
            return Err(format!("At most {MAX_STAFF} people may have a role in one project."));
        }
        Ok(())
    }
}

/// A project as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// Its identifier.
    pub id: ProjectId,
    /// The company that owns it.
    pub company: CompanyId,
    /// Where it stands.
    pub status: ProjectStatus,
    /// What its managers decide.
    pub settings: Settings,
    /// Who holds which role.
    pub staff: Staff,
}

/// What must hold of a project's candidates, at the moment of the change, for a move of its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidatesMust {
    /// Anything goes.
    BeAnything,
    /// None is invited, confirmed or interviewing, and each interviewed one has this many completed evaluations.
    BeArchivable {
        /// Completed evaluations that make a candidate fully evaluated.
        needed: usize,
    },
    /// All are `new`.
    BeNew,
}

/// No move leads to the status.
pub const NO_MOVE: Refusal =
    Refusal { code: "no_transition", detail: "The project cannot move to this status." };

impl CandidatesMust {
    /// The refusal when it does not hold.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::BeArchivable { .. } => Refusal {
                code: "cannot_archive",
                detail: "The project cannot be closed while candidates are invited, confirmed, interviewing or not fully evaluated.",
            },
            Self::BeNew | Self::BeAnything => Refusal {
                code: "candidates_not_new",
                detail: "The project cannot become a draft again once a candidate is no longer new.",
            },
        }
    }
}

impl Project {
    /// How many completed evaluations make a candidate of this project fully evaluated.
    pub fn evaluations_needed(&self) -> usize {
        evaluation::needed(self.settings.team_evaluation, self.staff.evaluators.len())
    }

    /// This project with status `to`, and what must hold of its candidates for that.
    ///
    /// # Errors
    /// When no move leads there. Moving to the same status is no move; ask before.
    pub fn move_to(
        mut self,
        to: ProjectStatus,
        now: DateTime<Utc>,
    ) -> Result<(Self, CandidatesMust), Refusal> {
        use ProjectStatus::{Closed, Incomplete, Running};
        let must = self.status.candidates_must(to, self.evaluations_needed()).ok_or(NO_MOVE)?;
        let today = Some(now.date_naive());
        match to {
            Running => self.settings.activationdate = self.settings.activationdate.or(today),
            Closed => self.settings.closedate = self.settings.closedate.or(today),
            Incomplete => {}
        }
        self.status = to;
        Ok((self, must))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;

    fn project(status: ProjectStatus) -> Project {
        let company = Company::new("acme".parse().unwrap(), Name::parse("Acme").unwrap());
        let settings = Settings::new(Name::parse("Sales").unwrap(), &company, DateTime::UNIX_EPOCH);
        Project {
            id: Id::from_bytes([1; 16]),
            company: company.id,
            status,
            settings,
            staff: Staff::default(),
        }
    }

    #[test]
    fn the_status_moves_as_decided_and_no_other_way() {
        use ProjectStatus::{Closed, Incomplete, Running};
        let archivable = CandidatesMust::BeArchivable { needed: 0 };
        let allowed = [
            (Incomplete, Running, CandidatesMust::BeAnything),
            (Running, Closed, archivable),
            (Incomplete, Closed, archivable),
            (Closed, Running, CandidatesMust::BeAnything),
            (Running, Incomplete, CandidatesMust::BeNew),
        ];
        for from in ProjectStatus::ALL {
            for to in ProjectStatus::ALL {
                let expected =
                    allowed.iter().find(|(f, t, _)| (*f, *t) == (from, to)).map(|(.., must)| *must);
                let moved = project(from).move_to(to, DateTime::UNIX_EPOCH);
                assert_eq!(moved.as_ref().ok().map(|(_, must)| *must), expected, "{from:?} → {to:?}");
                if let Ok((moved, _)) = moved {
                    assert_eq!(moved.status, to);
                }
            }
        }
    }

    #[test]
    fn the_first_move_dates_the_project_and_later_ones_keep_the_date() {
        let day = |day: i64| DateTime::UNIX_EPOCH + chrono::TimeDelta::days(day);
        let (running, _) =
            project(ProjectStatus::Incomplete).move_to(ProjectStatus::Running, day(1)).unwrap();
        let (closed, _) = running.move_to(ProjectStatus::Closed, day(2)).unwrap();
        let (again, _) = closed.move_to(ProjectStatus::Running, day(3)).unwrap();
        assert_eq!(again.settings.activationdate, Some(day(1).date_naive()));
        assert_eq!(again.settings.closedate, Some(day(2).date_naive()));
    }
}
