//! Counts of a company's resources, all in one item.

use std::collections::BTreeMap;

use crate::domain::id::CompanyId;
use crate::domain::project::ProjectStatus;
use crate::domain::staff::customer::LAST_OWNER;
use crate::domain::staff::named_token::{MAX_TOKENS, TOO_MANY_TOKENS};
use crate::domain::staff::trust::{MAX_TRUSTS, TOO_MANY_TRUSTS};
use crate::domain::webhook::{MAX_WEBHOOKS, TOO_MANY_WEBHOOKS};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem, number, number_in};
use crate::store::table::keys;
use crate::store::table::read::page::{ListSource, Page, PageRequest};
use crate::store::table::write::condition::AttributeUpdate;
use crate::store::table::write::transaction::Transaction;

/// A count of a company's resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store) enum CompanyCount {
    Customers,
    /// Owners who can log in; at least one.
    Owners,
    Projects(ProjectStatus),
    Labels,
    Videos,
    /// Named tokens; never more than [`MAX_TOKENS`].
    NamedTokens,
    /// Named tokens that trust a workload; never more than [`MAX_TRUSTS`].
    Trusts,
    /// Webhooks; never more than [`MAX_WEBHOOKS`].
    Webhooks,
}

impl CompanyCount {
    pub(in crate::store) fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Customers,
            Self::Owners,
            Self::Labels,
            Self::Videos,
            Self::NamedTokens,
            Self::Trusts,
            Self::Webhooks,
        ];
        others.into_iter().chain(ProjectStatus::ALL.into_iter().map(Self::Projects))
    }

    pub(in crate::store) fn attribute(self) -> String {
        match self {
            Self::Customers => "customers".to_owned(),
            Self::Owners => "owners".to_owned(),
            Self::Projects(status) => format!("projects:{}", status.as_str()),
            Self::Labels => "labels".to_owned(),
            Self::Videos => "videos".to_owned(),
            Self::NamedTokens => "named_tokens".to_owned(),
            Self::Trusts => "trusts".to_owned(),
            Self::Webhooks => "webhooks".to_owned(),
        }
    }
}

/// The placeholder for the limit in the condition of a count.
const LIMIT: &str = ":limit";

impl Store {
    /// Checks that the company may have another named token that trusts a workload. Fails with `TOO_MANY_TOKENS` or
    /// `TOO_MANY_TRUSTS` if a limit is reached.
    pub async fn require_room_for_trust(&self, company: &CompanyId) -> Result<()> {
        let counts = self.item(&keys::company_counts(company)).await?.unwrap_or_default();
        for (count, limit, refusal) in [
            (CompanyCount::NamedTokens, MAX_TOKENS, TOO_MANY_TOKENS),
            (CompanyCount::Trusts, MAX_TRUSTS, TOO_MANY_TRUSTS),
        ] {
            if number_in::<u32>(&counts, &count.attribute()).unwrap_or_default() >= limit {
                return Err(refusal.into());
            }
        }
        Ok(())
    }

    /// A page of a company's resources, and the sum of the counts `counted`.
    pub(in crate::store) async fn list_owned<T: StoredEntity>(
        &self,
        company: &CompanyId,
        listing: &ListSource,
        counted: &[CompanyCount],
        request: &PageRequest,
    ) -> Result<(Page<VersionedItem<T>>, u64)> {
        let count = async {
            let counts = self.item(&keys::company_counts(company)).await?.unwrap_or_default();
            Ok(counted.iter().filter_map(|count| number_in::<u64>(&counts, &count.attribute())).sum())
        };
        tokio::try_join!(self.page(listing, request), count)
    }
}

impl Transaction {
    /// Adds to the counts of a company. Fails with `LAST_OWNER` if no owner would be left, and with `TOO_MANY_TOKENS`,
    /// `TOO_MANY_TRUSTS` or `TOO_MANY_WEBHOOKS` if that limit is reached. If the changes have several limits, fails
    /// with [`Error::Changed`] instead, since DynamoDB does not tell which was reached;
    /// [`Store::require_room_for_trust`] tells.
    pub(in crate::store) fn change_company_counts(
        &mut self,
        company: &CompanyId,
        changes: &[(CompanyCount, i64)],
    ) {
        let counts = sums(changes);
        if counts.is_empty() {
            return;
        }
        let mut update = addition(&counts);
        let mut conditions = Vec::new();
        let mut refusal = Error::internal("a counter refused to count");
        // Conditions in the write: after a check of a count that was read before, concurrent requests could exceed the
        // limit, and each token is a credential that never expires.
        for (count, change) in counts {
            let name = count.attribute();
            let (condition, limit, refused) = match count {
                CompanyCount::Owners if change < 0 => {
                    (format!("{name} > {LIMIT}"), number(-change), LAST_OWNER)
                }
                CompanyCount::NamedTokens if change > 0 => {
                    (below_limit(&name), number(MAX_TOKENS), TOO_MANY_TOKENS)
                }
                CompanyCount::Trusts if change > 0 => {
                    (below_limit(&name), number(MAX_TRUSTS), TOO_MANY_TRUSTS)
                }
                CompanyCount::Webhooks if change > 0 => {
                    (below_limit(&name), number(MAX_WEBHOOKS), TOO_MANY_WEBHOOKS)
                }
                _ => continue,
            };
            refusal = if conditions.is_empty() { refused.into() } else { Error::Changed };
            let placeholder = format!(":limit{}", conditions.len());
            conditions.push(format!("({})", condition.replace(LIMIT, &placeholder)));
            update = update.with(&placeholder, limit);
        }
        if !conditions.is_empty() {
            update = update.when(conditions.join(" AND "));
        }
        self.update(keys::company_counts(company), update, refusal);
    }

    /// Adds to the counts of a company that is being erased, without limits: it needs no owner.
    pub(in crate::store) fn change_counts_of_erased_company(
        &mut self,
        company: &CompanyId,
        changes: &[(CompanyCount, i64)],
    ) {
        let counts = sums(changes);
        if !counts.is_empty() {
            let refusal = Error::internal("an unconditional write failed");
            self.update(keys::company_counts(company), addition(&counts), refusal);
        }
    }
}

/// The total change of each count, without zeros.
fn sums(changes: &[(CompanyCount, i64)]) -> BTreeMap<CompanyCount, i64> {
    let mut counts = BTreeMap::<CompanyCount, i64>::new();
    for (count, change) in changes {
        *counts.entry(*count).or_default() += change;
    }
    counts.retain(|_, change| *change != 0);
    counts
}

fn addition(counts: &BTreeMap<CompanyCount, i64>) -> AttributeUpdate {
    AttributeUpdate::add(counts.iter().map(|(count, change)| (count.attribute(), *change)))
}

fn below_limit(name: &str) -> String {
    format!("attribute_not_exists({name}) OR {name} < {LIMIT}")
}
