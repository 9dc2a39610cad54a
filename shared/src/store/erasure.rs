//! Access patterns of erasures: each is noted with the deletion itself, and done again in a table that was restored.

use chrono::{DateTime, Utc};

use super::Store;
use super::item;
use super::keys::{self, Key};
use super::transaction::Transaction;
use crate::domain::account::Account;
use crate::domain::effect::Effect;
use crate::domain::erasure::{Erased, Erasure};
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

/// How often something is tried again that others change at the same time.
const TRIES: usize = 5;

impl Transaction {
    /// Notes that what goes with this transaction may not come back, and that its objects go, too.
    pub(super) fn erased(
        &mut self,
        (company, erased): (&CompanyId, Erased),
        objects: Vec<String>,
        now: DateTime<Utc>,
    ) {
        let erasure = Erasure { company: company.clone(), erased, at: now };
        self.effect(Some(Effect::of_erasure(erasure, objects)));
    }
}

impl Store {
    /// Those of `erasures` whose subject stands in the table all the same.
    pub(crate) async fn undone(&self, erasures: Vec<Erasure>) -> Result<Vec<Erasure>> {
        let mut batch = self.get(erasures.iter().map(key)).await?;
        // What stands in the ledger twice is taken once.
        Ok(erasures.into_iter().filter(|erasure| batch.take_item(&key(erasure)).is_some()).collect())
    }

    /// Deletes at `now` what was erased before, with everything that follows from it; whether it was there. Nobody is
    /// told, and names that lead to somebody else by now go on to do so.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody keeps changing it; [`LAST_OWNER`] when no owner would be left.
    ///
    /// [`LAST_OWNER`]: crate::domain::customer::LAST_OWNER
    pub(crate) async fn erase_again(&self, erasure: &Erasure, now: DateTime<Utc>) -> Result<bool> {
        let mut tries = TRIES;
        loop {
            match self.erase_once(erasure, now).await {
                Err(Error::Changed) if tries > 0 => tries -= 1,
                Err(Error::NotFound) => return Ok(false),
                outcome => return outcome,
            }
        }
    }

    async fn erase_once(
        &self,
        Erasure { company, erased, .. }: &Erasure,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        match *erased {
            Erased::Candidate { project, candidate } => {
                let Some(candidate) = self.candidate(company, project, candidate).await? else {
                    return Ok(false);
                };
                self.erase_candidate(&candidate, now).await?;
            }
            Erased::Customer { customer } => {
                let Some(customer) = self.customer(company, customer).await? else { return Ok(false) };
                self.erase_customer(&customer, now).await?;
            }
            Erased::Video { video } => {
                let Some(video) = self.video(company, video).await? else { return Ok(false) };
                self.delete_video(&video, now).await?;
            }
        }
        Ok(true)
    }

    /// Those of these logins that lead to somebody else than `account`.
    pub(super) async fn logins_of_others(
        &self,
        logins: impl IntoIterator<Item = Key>,
        account: Account,
    ) -> Result<Vec<Key>> {
        let logins: Vec<Key> = logins.into_iter().collect();
        let mut batch = self.get(logins.iter().cloned()).await?;
        let mut others = Vec::new();
        for key in logins {
            let Some(login) = batch.take_item(&key) else { continue };
            let leads_to: Account = item::value_in(&login)?;
            others.extend(Some(key).filter(|_| leads_to != account));
        }
        Ok(others)
    }
}

fn key(Erasure { company, erased, .. }: &Erasure) -> Key {
    match *erased {
        Erased::Candidate { project, candidate } => keys::candidate(company, project, candidate),
        Erased::Customer { customer } => keys::customer(company, customer),
        Erased::Video { video } => keys::video(company, video),
    }
}
