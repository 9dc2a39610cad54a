//! Deletions that take more than one transaction. The first notes the deletion as an effect, the last ends that; the
//! outbox finishes those that break off in between.

use chrono::{DateTime, Utc};

use super::Store;
use super::item::{self, Entity, Versioned};
use super::keys;
use super::transaction::Transaction;
use crate::domain::deletion::Deletion;
use crate::domain::effect::Effect;
use crate::domain::id::CompanyId;
use crate::domain::label::Label;
use crate::error::{Error, Result};

impl Transaction {
    /// Notes that a deletion begins at `now`. Another try at the same one takes the place of the first.
    pub(super) fn begin_deletion(&mut self, company: &CompanyId, deletion: Deletion, now: DateTime<Utc>) {
        let effect = Effect::of_deletion(company.clone(), deletion, now);
        if let Some(item) = self.or_fault(item::write(&effect, 1)) {
            self.put_derived(effect.key(), item);
        }
    }

    /// Ends the effect of a deletion, which goes with this transaction.
    pub(super) fn end_deletion(&mut self, deletion: &Deletion) {
        self.delete_derived(keys::effect(&Effect::id_of_deletion(deletion)));
    }
}

impl Store {
    /// Finishes a deletion that broke off. False when there is nothing left to delete, or when the thing was activated
    /// again, and so is not to be deleted any more.
    ///
    /// # Errors
    /// [`Error::Changed`] when other requests keep changing the thing or what refers to it.
    pub async fn finish_deletion(
        &self,
        company: &CompanyId,
        deletion: &Deletion,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let finished = match deletion {
            Deletion::Customer { customer, by } => {
                let found = self.customer(company, *customer).await?;
                let Some(found) = found.filter(|customer| !customer.is_active) else { return Ok(false) };
                self.finish_customer(&found, by.clone(), now).await
            }
            Deletion::Label { label } => {
                let key = keys::label(company, *label);
                let found: Option<Versioned<Label>> = self.get([key.clone()]).await?.take(&key)?;
                let Some(found) = found.filter(|label| !label.is_active) else { return Ok(false) };
                self.finish_label(&found).await
            }
            Deletion::Video { video } => {
                let found = self.video(company, *video).await?;
                let Some(found) = found.filter(|video| !video.is_active) else { return Ok(false) };
                self.finish_video(&found, now).await
            }
        };
        match finished {
            Err(Error::NotFound) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}
