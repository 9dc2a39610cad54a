//! Access patterns of labels. That a text is unique in its company is a condition on the item that it leads to.

use chrono::{DateTime, Utc};

use super::Store;
use super::item::{Entity, Item, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::page::{Listing, Page, PageRequest};
use super::tally::Owned;
use super::transaction::Transaction;
use crate::domain::deletion::Deletion;
use crate::domain::id::CompanyId;
use crate::domain::label::Label;
use crate::domain::project::Project;
use crate::error::{Error, Result};

impl Entity for Label {
    const UNSHOWN: &'static [&'static str] = &["is_active"];

    fn key(&self) -> Key {
        keys::label(&self.company, self.id)
    }
}

impl Store {
    /// Creates a label.
    ///
    /// # Errors
    /// A message on `text` when there is a label with that text.
    pub fn create_label(&self, label: &Label) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(label, Error::internal("a new identifier is taken"));
        transaction.label_text(None, Some(label));
        transaction.company_tally(&label.company, &[(Owned::Labels, 1)]);
        transaction
    }

    /// Puts `after` in place of `before`.
    ///
    /// # Errors
    /// [`Error::Changed`]; a message on `text` when there is a label with the new text.
    pub fn update_label(&self, before: &Versioned<Label>, after: &Label) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.label_text(Some(before), Some(after));
        transaction
    }

    /// Takes a label from all projects that carry it and deletes it.
    ///
    /// Not one transaction, since projects may be many: the outbox finishes one that broke off.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody keeps changing the label or one of the projects.
    pub async fn delete_label(&self, label: &Versioned<Label>, now: DateTime<Utc>) -> Result<()> {
        // From here on no project can take it on.
        let after = Label { is_active: false, ..Label::clone(label) };
        let mut transaction = self.transaction();
        transaction.replace(label, &after);
        transaction.begin_deletion(&label.company, Deletion::Label { label: label.id }, now);
        self.commit(transaction).await?;
        self.finish_label(&label.followed_by(after)?).await
    }

    /// Deletes a label that is not active any more.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub(super) async fn finish_label(&self, label: &Versioned<Label>) -> Result<()> {
        let carries = |project: &Project| project.settings.labels.contains(&label.id);
        for project in self.all_wanted(keys::projects(&label.company), carries).await? {
            self.insist_on(project, |project| project.settings.labels.remove(&label.id)).await?;
        }
        let mut transaction = self.transaction();
        transaction.delete(label);
        transaction.label_text(Some(label), None);
        transaction.end_deletion(&Deletion::Label { label: label.id });
        transaction.company_tally(&label.company, &[(Owned::Labels, -1)]);
        self.commit(transaction).await
    }

    /// A page of a company's labels, and how many there are.
    pub async fn list_labels(
        &self,
        company: &CompanyId,
        request: &PageRequest,
    ) -> Result<(Page<Versioned<Label>>, u64)> {
        let listing = Listing::All(keys::labels(company));
        tokio::try_join!(self.page(&listing, request), self.count_owned(company, Owned::Labels))
    }
}

impl Transaction {
    /// Lets the text of `after` lead to the label where that of `before` did.
    fn label_text(&mut self, before: Option<&Label>, after: Option<&Label>) {
        let key = |label: &Label| keys::label_by_text(&label.company, label.text.as_str());
        let (old, new) = (before.map(key), after.map(key));
        if old == new {
            return;
        }
        if let Some(old) = old {
            self.delete_derived(old);
        }
        if let Some(new) = new {
            let taken = Error::field("text", "A label with this text already exists.");
            self.create_item(new, Item::from([(VERSION.to_owned(), number(1))]), taken);
        }
    }
}
