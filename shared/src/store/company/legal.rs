//! Access patterns of legal texts. Each version is an item that never changes; the company's item names the latest version of each kind.

use std::collections::HashMap;

use crate::domain::company::Company;
use crate::domain::id::CompanyId;
use crate::domain::privacy::legal::{LegalRegister, LegalText, LegalTextId};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for LegalText {
    fn key(&self) -> ItemKey {
        keys::legal_text(&self.company, self.id)
    }
}

impl Store {
    /// Stores a new version of a legal text. `after` names it as the latest.
    pub fn publish_legal_text(
        &self,
        before: &VersionedItem<Company>,
        after: &Company,
        text: &LegalText,
    ) -> Transaction {
        let mut transaction = self.replacing(before, after);
        // A concurrent request may have published a text under this version.
        transaction.create_unless(text, || Error::Changed);
        transaction
    }

    /// Reads which legal texts a company has published, with eventual consistency: those of the last seconds may be missing.
    pub async fn legal_register(&self, company: &CompanyId) -> Result<LegalRegister> {
        let company = self.company_that_may_lag(company).await?;
        Ok(company.map(|company| Company::clone(&company).legal).unwrap_or_default())
    }

    /// Reads legal texts of a company by their identifiers.
    pub async fn legal_texts(
        &self,
        company: &CompanyId,
        ids: &[LegalTextId],
    ) -> Result<HashMap<LegalTextId, LegalText>> {
        let keys: Vec<ItemKey> = ids.iter().map(|id| keys::legal_text(company, *id)).collect();
        // A version never changes, so an eventually consistent read is enough for each that it finds. It may miss one
        // that was just published.
        let mut batch = self.get_that_may_lag(keys.iter().cloned()).await?;
        let missing: Vec<ItemKey> = keys.iter().filter(|key| !batch.contains(key)).cloned().collect();
        if !missing.is_empty() {
            batch.add(self.get(missing).await?);
        }
        let found = keys.iter().map(|key| batch.take_listed::<LegalText>(key)).collect::<Result<Vec<_>>>()?;
        Ok(found.into_iter().flatten().map(|text| (text.id, LegalText::clone(&text))).collect())
    }
}
