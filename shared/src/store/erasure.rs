//! Access patterns of erasures: noted with the deletion itself, and repeated in a restored table.

use chrono::{DateTime, Utc};

use super::Store;
use super::item::{self, Versioned};
use super::keys::{self, Key};
use super::transaction::Transaction;
use super::{candidate, customer};
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::effect::Effect;
use crate::domain::erasure::{Erased, Erasure};
use crate::domain::id::CompanyId;
use crate::error::Result;

impl Transaction {
    /// Notes an erasure, which the ledger keeps, and has the objects deleted.
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
    /// Those of `erasures` whose subject exists.
    pub(crate) async fn undone(&self, erasures: Vec<Erasure>) -> Result<Vec<Erasure>> {
        let mut batch = self.get(erasures.iter().map(key)).await?;
        // An erasure may be in the ledger twice.
        Ok(erasures.into_iter().filter(|erasure| batch.take_item(&key(erasure)).is_some()).collect())
    }

    /// Deletes again what was erased before the table was restored. Returns whether it existed. Sends no mails, and
    /// keeps names that belong to other accounts by now. Fails with [`Error::Changed`], and with `LAST_OWNER` if no
    /// owner would be left.
    pub(crate) async fn erase_again(&self, erasure: &Erasure, now: DateTime<Utc>) -> Result<bool> {
        self.retry(|| self.erase_once(erasure, now)).await
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

    async fn erase_candidate(&self, candidate: &Versioned<Candidate>, now: DateTime<Utc>) -> Result<()> {
        let account = Account::Candidate { project: candidate.project, candidate: candidate.id };
        let others = self.logins_of_others(candidate::username_of(candidate), account).await?;
        let mut transaction = self.transaction().sparing(others);
        transaction.candidate_gone(candidate, now);
        self.commit(transaction).await
    }

    async fn erase_customer(&self, customer: &Versioned<Customer>, now: DateTime<Utc>) -> Result<()> {
        let after = Customer::clone(customer).with_access(false);
        let count = |transaction: &mut Transaction, after: &Customer| {
            transaction.company_tally(&after.company, &customer::counts(Some(customer), Some(after)));
        };
        let customer = self.replace_with(customer, after, count).await?;
        self.detach_customer(&customer, now).await?;
        // Roles and shares of which the restored projects and candidates know nothing.
        for notes in [keys::memberships, keys::shares] {
            for row in self.all_items(&notes(&customer.company, customer.id)).await? {
                self.delete_alone(&item::key_of(&row)?).await?;
            }
        }
        let names = [customer::username_of(&customer), customer::email_of(&customer)];
        let others = self.logins_of_others(names, Account::Customer { customer: customer.id }).await?;
        let mut transaction = self.transaction().sparing(others);
        transaction.customer_gone(&customer, now);
        self.commit(transaction).await
    }

    /// Those of these unique markers that belong to other accounts than `account`.
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
