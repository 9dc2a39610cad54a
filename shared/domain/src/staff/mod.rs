//! The staff of a project and their roles.

pub mod customer;
mod email_address;
pub mod ended_interviews;
pub mod exchange;
pub mod help_notice;
pub mod named_token;
pub mod notice;
pub mod reminder;
pub mod sign_in;
pub mod sign_in_link;
pub mod trust;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::id::{CustomerId, Id, RoleId};
use super::names::named;

/// The maximum number of people with a role in one project.
pub const MAX_STAFF: usize = 40;

named! {
    /// A role of a customer in one project.
    #[schemars(extend("x-closed-set" = true))]
    pub enum StaffRole {
        /// Manages the project; called Project Manager in the contract.
        InterviewManager = "interview_manager",
        /// Evaluates interviewed candidates.
        Evaluator = "evaluator",
        /// Reads the project and its results without evaluating.
        Reviewer = "reviewer",
    }
}

/// A customer's role in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldRole {
    /// The customer with the role.
    pub customer: CustomerId,
    pub role: StaffRole,
}

impl HeldRole {
    /// The identifier, derived from customer and role, and sorted by customer.
    pub fn id(self) -> RoleId {
        // Derived, because the project stores nothing but customer and role.
        let mut id = self.customer.to_bytes();
        let hash = Sha256::new().chain_update(id).chain_update(self.role.as_str()).finalize();
        // Keep the first bytes, the customer's creation time, so that roles are listed in the order of their customers.
        id[6..].copy_from_slice(&hash[..10]);
        Id::from_bytes(id)
    }
}

/// The roles in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectStaff {
    /// Customers who run the project.
    pub interview_managers: BTreeSet<CustomerId>,
    /// Customers who evaluate candidates.
    pub evaluators: BTreeSet<CustomerId>,
    /// Customers who only read. None of them is an evaluator.
    pub reviewers: BTreeSet<CustomerId>,
}

impl ProjectStaff {
    /// The customers with this role.
    pub fn holders(&self, role: StaffRole) -> &BTreeSet<CustomerId> {
        match role {
            StaffRole::InterviewManager => &self.interview_managers,
            StaffRole::Evaluator => &self.evaluators,
            StaffRole::Reviewer => &self.reviewers,
        }
    }

    /// The customers with this role, to be changed.
    pub fn holders_mut(&mut self, role: StaffRole) -> &mut BTreeSet<CustomerId> {
        match role {
            StaffRole::InterviewManager => &mut self.interview_managers,
            StaffRole::Evaluator => &mut self.evaluators,
            StaffRole::Reviewer => &mut self.reviewers,
        }
    }

    /// All roles that customers hold, sorted by identifier.
    pub fn roles(&self) -> Vec<HeldRole> {
        let mut roles = Vec::new();
        for role in StaffRole::ALL {
            roles.extend(self.holders(role).iter().map(|customer| HeldRole { customer: *customer, role }));
        }
        roles.sort_by_key(|held| held.id());
        roles
    }

    pub fn roles_of(&self, customer: CustomerId) -> BTreeSet<StaffRole> {
        StaffRole::ALL.into_iter().filter(|role| self.holders(*role).contains(&customer)).collect()
    }

    /// Returns `customer` if they are an evaluator.
    pub fn evaluates(&self, customer: Option<CustomerId>) -> Option<CustomerId> {
        customer.filter(|customer| self.evaluators.contains(customer))
    }

    /// Whether `customer` works with ended interviews, as a manager or an evaluator.
    pub fn awaits_interviews(&self, customer: CustomerId) -> bool {
        self.interview_managers.contains(&customer) || self.evaluators.contains(&customer)
    }

    /// Removes all roles of `customer`.
    pub fn remove(&mut self, customer: CustomerId) {
        for role in StaffRole::ALL {
            self.holders_mut(role).remove(&customer);
        }
    }

    /// All customers with a role.
    pub fn everybody(&self) -> BTreeSet<CustomerId> {
        [&self.interview_managers, &self.evaluators, &self.reviewers].into_iter().flatten().copied().collect()
    }

    /// Checks that no evaluator is a reviewer, and that at most [`MAX_STAFF`] people have a role.
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
