//! Access patterns of labels. A label's text is unique in its company: its hash is the key of a unique marker.

use crate::domain::company::label::Label;
use crate::domain::history::ResourceChange;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};
use crate::store::company::counts::CompanyCount;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::page::{ListSource, Page, PageRequest};
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for Label {
    const INTERNAL_FIELDS: &'static [&'static str] = &["is_active"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::label(&self.company, self.id)
    }
}

impl Store {
    /// Creates a label. Fails with a message on `text` if another label has this text.
    pub fn create_label(&self, label: &Label) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(label);
        transaction.label_text(None, Some(label));
        transaction.change_company_counts(&label.company, &[(CompanyCount::Labels, 1)]);
        transaction
    }

    /// Replaces `before` by `after`. Fails also with a message on `text` if another label has this text.
    pub fn update_label(&self, before: &VersionedItem<Label>, after: &Label) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.label_text(Some(before), Some(after));
        transaction
    }

    /// A page of a company's labels, and their number.
    pub async fn list_labels(
        &self,
        company: &CompanyId,
        request: &PageRequest,
    ) -> Result<(Page<VersionedItem<Label>>, u64)> {
        self.list_owned(company, &ListSource::All(keys::labels(company)), &[CompanyCount::Labels], request)
            .await
    }
}

impl Transaction {
    /// Moves the unique marker of a label's text.
    pub(in crate::store) fn label_text(&mut self, before: Option<&Label>, after: Option<&Label>) {
        // The marker is an item of its own: its condition keeps texts unique under concurrent writes.
        let taken = Error::field("text", "A label with this text already exists.");
        self.move_marker(before.map(text_key), after.map(text_key), item::bare([]), taken);
    }
}

fn text_key(label: &Label) -> ItemKey {
    keys::label_by_text(&label.company, label.text.as_str())
}
