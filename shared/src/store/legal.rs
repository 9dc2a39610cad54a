//! Access patterns of legal texts. Each version has an item that never changes; the company names the latest of each kind.

use std::collections::HashMap;

use super::Store;
use super::table::item::{StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::transaction::Transaction;
use crate::domain::company::Company;
use crate::domain::id::CompanyId;
use crate::domain::privacy::legal::{LegalText, LegalTextId};
use crate::error::{Error, Result};

impl StoredEntity for LegalText {
    fn key(&self) -> ItemKey {
        keys::legal_text(&self.company, self.id)
    }
}

impl Store {
    /// Stores a new version of a legal text, which `after` names as the latest.
    pub fn publish_legal_text(
        &self,
        before: &VersionedItem<Company>,
        after: &Company,
        text: &LegalText,
    ) -> Transaction {
        let mut transaction = self.replacing(before, after);
        // A concurrent publication may have taken the version.
        transaction.create_unless(text, || Error::Changed);
        transaction
    }

    /// Reads legal texts of a company by their identifiers.
    pub async fn legal_texts(
        &self,
        company: &CompanyId,
        ids: &[LegalTextId],
    ) -> Result<HashMap<LegalTextId, LegalText>> {
        let keys = ids.iter().map(|id| keys::legal_text(company, *id)).collect();
        let found: Vec<VersionedItem<LegalText>> = self.listed(keys).await?;
        Ok(found.into_iter().map(|text| (text.id, LegalText::clone(&text))).collect())
    }
}
