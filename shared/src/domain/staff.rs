//! The staff of a project: which customer has which role in it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::id::{CustomerId, Id, RoleId};
use super::names::named;

/// The most people that may hold a role in one project.
pub const MAX_STAFF: usize = 40;

named! {
    /// What a customer may be in one project.
    pub enum Role {
        /// Runs the project; the contract's Project Manager.
        InterviewManager = "interview_manager",
        /// Evaluates interviewed candidates.
        Evaluator = "evaluator",
        /// Looks on.
        Reviewer = "reviewer",
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
