//! Reads the resources that a page refers to, in one round trip.

use std::collections::{BTreeSet, HashMap};

use super::table::handle::Store;
use super::table::item::VersionedItem;
use super::table::keys;
use crate::domain::company::label::Label;
use crate::domain::id::{CompanyId, CustomerId, LabelId, ProjectId};
use crate::domain::questionnaire::Questionnaire;
use crate::domain::staff::customer::Customer;
use crate::error::Result;

/// The identifiers of the resources that a page refers to.
#[derive(Debug, Default)]
pub struct ReferenceIds {
    /// Staff users.
    pub customers: BTreeSet<CustomerId>,
    pub labels: BTreeSet<LabelId>,
    /// Projects whose questions and criteria are shown.
    pub questionnaires: BTreeSet<ProjectId>,
}

/// Those of the referenced resources that exist.
#[derive(Debug, Default)]
pub struct ReferencedResources {
    pub customers: HashMap<CustomerId, VersionedItem<Customer>>,
    pub labels: HashMap<LabelId, VersionedItem<Label>>,
    /// Questions and criteria by project. Projects that never had any are missing.
    pub questionnaires: HashMap<ProjectId, VersionedItem<Questionnaire>>,
}

impl Store {
    /// Reads all resources that a page refers to, in one round trip.
    pub async fn referred(&self, company: &CompanyId, ids: &ReferenceIds) -> Result<ReferencedResources> {
        let customers = ids.customers.iter().map(|id| keys::customer(company, *id));
        let labels = ids.labels.iter().map(|id| keys::label(company, *id));
        let questionnaires = ids.questionnaires.iter().map(|id| keys::questionnaire(company, *id));
        let mut batch = self.get(customers.chain(labels).chain(questionnaires)).await?;
        let mut referred = ReferencedResources::default();
        for id in &ids.customers {
            referred
                .customers
                .extend(batch.take_listed(&keys::customer(company, *id))?.map(|found| (*id, found)));
        }
        for id in &ids.labels {
            referred.labels.extend(batch.take_listed(&keys::label(company, *id))?.map(|found| (*id, found)));
        }
        for id in &ids.questionnaires {
            referred
                .questionnaires
                .extend(batch.take_listed(&keys::questionnaire(company, *id))?.map(|found| (*id, found)));
        }
        Ok(referred)
    }
}
