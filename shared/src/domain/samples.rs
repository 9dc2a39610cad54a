//! Values for tests.

use chrono::DateTime;

use super::candidate::{Candidate, CandidateProfile, FormerKey};
use super::company::Company;
use super::evaluation::evaluator_index::EvaluatorIndex;
use super::id::{CustomerId, Id};
use super::privacy::retention_rule::ProjectRetention;
use super::project::{Project, ProjectSettings, ProjectStatus};
use super::secret::SecretHash;
use super::staff::ProjectStaff;
use super::text::ShortName;

pub(crate) fn company() -> Company {
    Company::new("acme".parse().unwrap(), ShortName::parse("Acme").unwrap())
}

/// A running project of [`company`] without staff.
pub(crate) fn project() -> Project {
    let company = company();
    let settings = ProjectSettings::new(ShortName::parse("Sales").unwrap(), &company, DateTime::UNIX_EPOCH);
    let id = Id::from_bytes([8; 16]);
    let status = ProjectStatus::Running;
    Project {
        id,
        company: company.id,
        status,
        settings,
        staff: ProjectStaff::default(),
        evaluator_index: EvaluatorIndex::default(),
        closed_at: None,
        retention: ProjectRetention::default(),
    }
}

/// A new candidate of [`project`].
pub(crate) fn candidate() -> Candidate {
    let profile = CandidateProfile::new(ShortName::parse("Ada").unwrap(), ShortName::parse("Byron").unwrap());
    Candidate::new(Id::from_bytes([9; 16]), company().id, project().id, profile, Some(customer(1)))
}

/// The former keys of a candidate without any, once the present key has ended.
pub(crate) fn former_keys(candidate: &Candidate, is_misdirected: bool) -> Vec<FormerKey> {
    let ended = candidate.access_key.iter();
    ended.map(|key| FormerKey { hash: SecretHash::of(key.as_str()), is_misdirected }).collect()
}

pub(crate) fn customer(byte: u8) -> CustomerId {
    Id::from_bytes([byte; 16])
}

/// The evaluators of a project where customers 1 to 3 have evaluated.
pub(crate) fn evaluator_index() -> EvaluatorIndex {
    let mut index = EvaluatorIndex::default();
    for byte in 1..=3 {
        index.assign_bit(customer(byte)).unwrap();
    }
    index
}
