//! Access patterns of candidates.

use super::Store;
use super::item::{Entity, Versioned};
use super::keys::{self, Key};
use super::login::{Account, TAKEN_USERNAME};
use super::page::{Listing, Page, PageRequest};
use super::transaction::Transaction;
use crate::domain::candidate::{Candidate, CandidateStatus};
use crate::domain::id::{CompanyId, ProjectId};
use crate::error::{Error, Result};

impl Entity for Candidate {
    fn key(&self) -> Key {
        keys::candidate(&self.company, self.project, self.id)
    }

    fn by_status(&self) -> Option<(String, String)> {
        Some((keys::candidates_by_status(&self.company, self.project, self.status), self.id.to_string()))
    }
}

impl Store {
    /// Creates a candidate.
    ///
    /// # Errors
    /// A message on `username` when it is taken.
    pub async fn create_candidate(&self, candidate: &Candidate) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.create(candidate, Error::internal("a new identifier is taken"))?;
        transaction.follow(None, Some(candidate))?;
        self.commit(transaction).await
    }

    /// Puts `after` in place of `before`.
    ///
    /// # Errors
    /// [`Error::Changed`]; a message on `username` when the new one is taken.
    pub async fn update_candidate(&self, before: &Versioned<Candidate>, after: &Candidate) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.replace(before, after)?;
        transaction.follow(Some(before), Some(after))?;
        self.commit(transaction).await
    }

    /// Deletes a candidate.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub async fn delete_candidate(&self, candidate: &Versioned<Candidate>) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.delete(candidate)?;
        transaction.follow(Some(candidate), None)?;
        self.commit(transaction).await
    }

    /// A page of a project's candidates, those with one status only if asked for.
    pub(crate) async fn list_candidates(
        &self,
        company: &CompanyId,
        project: ProjectId,
        status: Option<CandidateStatus>,
        request: &PageRequest,
    ) -> Result<Page<Versioned<Candidate>>> {
        let collection = keys::candidates(company, project);
        let listing = match status {
            None => Listing::All(collection),
            Some(status) => {
                Listing::WithStatus(collection, keys::candidates_by_status(company, project, status))
            }
        };
        self.page(&listing, request).await
    }
}

impl Transaction {
    /// Writes what follows from a candidate `before` becoming `after`: counts, names to log in with, search entries.
    fn follow(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) -> Result<()> {
        if let Some(one) = after.or(before) {
            self.tally((&one.company, one.project, one.id), before, after)?;
        }
        self.candidate_logins(before, after)?;
        self.search_entries(before, after)
    }

    fn candidate_logins(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) -> Result<()> {
        let username = |candidate: &Candidate| {
            let name = candidate.profile.username.as_ref()?;
            Some(keys::login_username(&candidate.company, name.as_str()))
        };
        let email = |candidate: &Candidate| {
            let email = candidate.profile.email.as_ref()?;
            Some(keys::login_candidate(&candidate.company, email.as_str(), candidate.id))
        };
        let taken_username = || Error::field("username", TAKEN_USERNAME);
        let taken_email = || Error::internal("a candidate's email leads to it already");
        self.move_login(before, after, username, taken_username)?;
        let name = |candidate: Option<&Candidate>| candidate?.profile.username.clone();
        if let (Some(after), Some(new)) =
            (after, name(after).filter(|new| name(before).as_ref() != Some(new)))
        {
            // Nor may it be the address that a customer logs in with.
            self.require_absent(keys::login_email(&after.company, new.as_str()), taken_username())?;
        }
        self.move_login(before, after, email, taken_email)
    }

    fn move_login(
        &mut self,
        before: Option<&Candidate>,
        after: Option<&Candidate>,
        key: impl Fn(&Candidate) -> Option<Key>,
        taken: impl FnOnce() -> Error,
    ) -> Result<()> {
        let (old, new) = (before.and_then(&key), after.and_then(&key));
        if old == new {
            return Ok(());
        }
        if let Some(old) = old {
            self.delete_derived(old)?;
        }
        if let (Some(new), Some(after)) = (new, after) {
            let account = Account::Candidate { project: after.project, candidate: after.id };
            self.create_login(new, &account, taken())?;
        }
        Ok(())
    }
}
