//! Access patterns of sign-in by a company's provider: the settings of the company.

use chrono::{DateTime, Utc};

use crate::domain::company::Company;
use crate::domain::effect::Effect;
use crate::domain::history::{ChangeAuthor, ResourceChange};
use crate::domain::id::CompanyId;
use crate::domain::secret::SecretHash;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::sign_in::{SignInProblem, SignInSettings};
use crate::error::{Error, Result};
use crate::store::login::failures::RecentFailures;
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::batch::ItemBatch;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for SignInSettings {
    const INTERNAL_FIELDS: &'static [&'static str] = &["links_since"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::sign_in_settings(&self.company)
    }
}

fn or_none(
    found: Option<VersionedItem<SignInSettings>>,
    company: &CompanyId,
) -> VersionedItem<SignInSettings> {
    found.unwrap_or_else(|| VersionedItem::not_stored(SignInSettings::none(company.clone())))
}

impl ItemBatch {
    /// Takes the settings of a company; [`SignInSettings::none`] if it has never had a provider.
    pub(crate) fn take_sign_in_settings(
        &mut self,
        company: &CompanyId,
    ) -> Result<VersionedItem<SignInSettings>> {
        Ok(or_none(self.take(&keys::sign_in_settings(company))?, company))
    }
}

impl Store {
    /// Reads how the staff of a company sign in; [`SignInSettings::none`] if it has never had a provider.
    pub async fn sign_in_settings(&self, company: &CompanyId) -> Result<VersionedItem<SignInSettings>> {
        Ok(or_none(self.one(keys::sign_in_settings(company)).await?, company))
    }

    /// Reads a company and how its staff sign in, with eventual consistency: at half the price, up to seconds old.
    /// Returns `None` if the company does not exist.
    pub(crate) async fn company_login(
        &self,
        company: &CompanyId,
    ) -> Result<Option<(VersionedItem<Company>, VersionedItem<SignInSettings>)>> {
        let key = keys::company(company);
        let mut batch = self.get_that_may_lag([key.clone(), keys::sign_in_settings(company)]).await?;
        let settings = batch.take_sign_in_settings(company)?;
        Ok(batch.take(&key)?.map(|company| (company, settings)))
    }

    /// Reads the recent failed sign-ins by the company's provider.
    pub(crate) async fn failed_sign_ins(&self, company: &CompanyId) -> Result<RecentFailures> {
        self.recent_failures(SecretHash::of(&format!("SIGN_IN#{company}"))).await
    }

    /// Notes on the settings a problem that sign-ins have met and that owners can fix, at most once an hour. Does
    /// nothing if the settings have changed in the meantime.
    pub(crate) async fn note_sign_in_problem(
        &self,
        settings: &VersionedItem<SignInSettings>,
        problem: SignInProblem,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let Some(after) = settings.with_problem(problem, now) else { return Ok(()) };
        let mut transaction = self.transaction();
        transaction.replace(settings, &after);
        match self.commit(transaction).await {
            Err(Error::Changed) => Ok(()),
            noted => noted,
        }
    }

    /// Replaces a customer by `after`, whose link to the provider has changed. Records the effect of a mail to them
    /// unless they made the change themselves (`by`). Fails with [`Error::Changed`] also after a concurrent write of
    /// the settings.
    pub fn link_customer(
        &self,
        settings: &VersionedItem<SignInSettings>,
        before: &VersionedItem<Customer>,
        after: &Customer,
        by: ChangeAuthor,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.update_customer(before, after, now);
        transaction.require_unchanged(settings);
        if by != (ChangeAuthor::Customer { customer: after.id }) && **before != *after {
            transaction.effect(Some(Effect::of_sign_in_link(after, by, before.version() + 1, now)));
        }
        transaction
    }

    /// Replaces the settings of a company by `after`, set by `by`. Records the effects of mails to the owners among
    /// `customers`. Does nothing if the settings are equal.
    pub fn set_sign_in_settings(
        &self,
        before: &VersionedItem<SignInSettings>,
        after: &SignInSettings,
        by: ChangeAuthor,
        customers: &[VersionedItem<Customer>],
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        if **before == *after {
            return transaction;
        }
        if before.is_stored() {
            transaction.replace(before, after);
        } else {
            // Responses have shown the empty settings as revision 0. The `ETag` of this one must have revision 1.
            transaction.show();
            transaction.create_unless(after, || Error::Changed);
        }
        let customers = customers.iter().map(|customer| &**customer);
        for mail in Effect::of_sign_in(&after.company, by, customers, before.version() + 1, now) {
            transaction.effect(Some(mail));
        }
        transaction
    }
}
