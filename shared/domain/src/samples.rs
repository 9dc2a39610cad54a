//! Values for tests.

#![allow(
    clippy::unwrap_used,
    reason = "they are valid, which the tests of other crates see as soon as they use them"
)]

use chrono::DateTime;

use crate::candidate::{Candidate, CandidateProfile, FormerKey};
use crate::company::Company;
use crate::evaluation::evaluator_index::EvaluatorIndex;
use crate::id::{CustomerId, Id};
use crate::privacy::retention_rule::ProjectRetention;
use crate::project::{Project, ProjectSettings, ProjectStatus};
use crate::random::RandomSource;
use crate::secret::{AccessKey, Sealed, SecretHash};
use crate::staff::ProjectStaff;
use crate::text::ShortName;

/// A random source whose bytes are all 7.
pub struct Sevens;

impl RandomSource for Sevens {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

pub fn company() -> Company {
    Company::new("acme".parse().unwrap(), ShortName::parse("Acme").unwrap())
}

/// A running project of [`company`] without staff.
pub fn project() -> Project {
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
pub fn candidate() -> Candidate {
    let profile = CandidateProfile::new(ShortName::parse("Ada").unwrap(), ShortName::parse("Byron").unwrap());
    Candidate::new(Id::from_bytes([9; 16]), company().id, project().id, profile, Some(customer(1)))
}

/// An access key with this text, whose sealed form is the text itself.
pub fn access_key(text: &str) -> AccessKey {
    AccessKey { hash: SecretHash::of(text), sealed: Sealed::new(text.to_owned()) }
}

/// The former keys once the present key has ended, of a candidate who had none before.
pub fn former_keys(candidate: &Candidate, is_misdirected: bool) -> Vec<FormerKey> {
    let ended = candidate.access_key.iter();
    ended.map(|key| FormerKey { hash: key.hash.clone(), is_misdirected }).collect()
}

pub fn customer(byte: u8) -> CustomerId {
    Id::from_bytes([byte; 16])
}

/// The evaluators of a project where customers 1 to 3 have evaluated.
pub fn evaluator_index() -> EvaluatorIndex {
    let mut index = EvaluatorIndex::default();
    for byte in 1..=3 {
        index.assign_bit(customer(byte)).unwrap();
    }
    index
}
