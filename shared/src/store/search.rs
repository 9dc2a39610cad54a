//! The entries by which a candidate is found, written and erased along with it.

use std::collections::BTreeSet;

use super::item::Item;
use super::keys;
use super::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::search::tokens;
use crate::error::Result;

impl Transaction {
    /// Makes the search entries those of `after` where they were those of `before`.
    pub(super) fn search_entries(
        &mut self,
        before: Option<&Candidate>,
        after: Option<&Candidate>,
    ) -> Result<()> {
        let entries = |candidate: Option<&Candidate>| -> BTreeSet<String> {
            candidate.map(|candidate| tokens(&candidate.profile)).unwrap_or_default()
        };
        let (old, new) = (entries(before), entries(after));
        let key = |candidate: &Candidate, token: &str| {
            keys::search_entry(&candidate.company, token, candidate.project, candidate.id)
        };
        for (candidate, token) in
            before.into_iter().flat_map(|before| old.difference(&new).map(move |token| (before, token)))
        {
            self.delete_derived(key(candidate, token))?;
        }
        for (candidate, token) in
            after.into_iter().flat_map(|after| new.difference(&old).map(move |token| (after, token)))
        {
            self.put_derived(key(candidate, token), Item::new())?;
        }
        Ok(())
    }
}
