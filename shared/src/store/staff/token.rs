//! Access patterns of named tokens: requests find a token by the hash of its value, a company lists its tokens.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use chrono::{DateTime, Utc};

use crate::domain::account::Creator;
use crate::domain::effect::Effect;
use crate::domain::history::ResourceChange;
use crate::domain::id::{CompanyId, ProjectId, TokenId};
use crate::domain::staff::named_token::{NamedToken, TokenUses};
use crate::error::{Error, Result};
use crate::store::company::counts::CompanyCount;
use crate::store::due::{DuePages, DueQueue};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, DueEntry, StoredEntity, VersionedItem, number};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::write::condition::WriteCondition;
use crate::store::table::write::transaction::Transaction;

/// Those attributes of [`TokenUses`] that are days.
const LAST_USED_AT: &str = "last_used_at";
const EXCHANGED_AT: &str = "exchanged_at";

impl StoredEntity for NamedToken {
    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::token(&self.company, self.id)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let at = self.due_at()?;
        Some(DueEntry { shard: DueQueue::Tokens.shard_of(self.id), at, company: &self.company })
    }
}

fn no_project(project: ProjectId) -> Error {
    Error::field("projects", format!("Project {project} does not exist."))
}

impl Transaction {
    /// Requires that the named token that creates a resource still exists. Fails with [`Error::Changed`] if it was
    /// deleted, so that the request is repeated and admission refuses it.
    // Without this, a request under way could create a resource after the deletion of the token with what it has created.
    pub(in crate::store) fn require_creator(&mut self, company: &CompanyId, creator: Option<Creator>) {
        if let Some(Creator::NamedToken { token }) = creator {
            self.require(keys::token(company, token), WriteCondition::Present, Error::Changed);
        }
    }

    /// Writes the copy of a named token that requests with the token read. Fails with a message on `value` if a token
    /// with this value exists, in any company.
    pub(in crate::store) fn token_copy(&mut self, token: &NamedToken) {
        // Values are unique across companies, so the message must not reveal that another company has this value.
        let taken = Error::field("value", "This value cannot be used. Send another one.");
        if let Some(item) = self.or_fault(item::bare_of(token)) {
            // With the copy, a request with the token needs one read. Only the token itself is in the index by due date.
            self.put(keys::token_copy(token), item, WriteCondition::Absent, taken);
        }
    }
}

impl Store {
    /// Creates a named token. Fails with a message on `value` if a token with this value exists in any company, with a
    /// message on `projects` if a project does not exist, with `TOO_MANY_TOKENS` or `TOO_MANY_TRUSTS` at these limits,
    /// and with [`Error::NotFound`] if the company is being erased.
    pub fn create_token(&self, token: &NamedToken) -> Transaction {
        let mut transaction = self.transaction();
        // A request that was under way when the company's erasure ended all logins must not leave a new one.
        transaction.require(keys::company(&token.company), WriteCondition::Present, Error::NotFound);
        // Only the copy holds the uses, so that the two items never differ.
        transaction.create(&NamedToken { uses: TokenUses::default(), ..token.clone() });
        transaction.token_copy(token);
        for project in &token.rights.projects {
            let missing = no_project(*project);
            transaction.require(keys::project(&token.company, *project), WriteCondition::Present, missing);
        }
        transaction.change_company_counts(&token.company, &counts(token, 1));
        transaction
    }

    /// Checks that these projects exist. Fails with a message on `projects` if one does not, like
    /// [`create_token`](Self::create_token).
    pub async fn require_projects(&self, company: &CompanyId, projects: &BTreeSet<ProjectId>) -> Result<()> {
        let found = self.get(projects.iter().map(|project| keys::project(company, *project))).await?;
        match projects.iter().find(|project| !found.contains(&keys::project(company, **project))) {
            Some(project) => Err(no_project(*project)),
            None => Ok(()),
        }
    }

    /// Deletes a named token, which revokes it at once. `effect` deletes the resources that the token has created.
    pub fn delete_token(&self, token: &VersionedItem<NamedToken>, effect: Option<Effect>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.delete(token);
        // Tokens of exchanges for this token need the copy, so this revokes them as well.
        transaction.delete_derived(keys::token_copy(token));
        transaction.change_company_counts(&token.company, &counts(token, -1));
        transaction.effect(effect);
        transaction
    }

    /// All named tokens of a company, oldest first.
    pub async fn tokens(&self, company: &CompanyId) -> Result<Vec<VersionedItem<NamedToken>>> {
        self.all(&keys::tokens(company)).await
    }

    /// Named tokens that expired long enough ago to be deleted.
    pub fn due_tokens(&self, now: DateTime<Utc>) -> DuePages<'_, NamedToken> {
        self.due(DueQueue::Tokens, now)
    }

    /// Reads the last uses of these tokens, by token.
    pub async fn last_token_uses(
        &self,
        tokens: impl Iterator<Item = &NamedToken>,
    ) -> Result<HashMap<TokenId, TokenUses>> {
        let keys: Vec<ItemKey> = tokens.map(keys::token_copy).collect();
        let mut batch = self.get(keys.iter().cloned()).await?;
        let mut uses = HashMap::new();
        for key in &keys {
            // A token that was deleted between the two reads is missing.
            if let Some(token) = batch.take_listed_value::<NamedToken>(key)? {
                uses.insert(token.id, token.uses);
            }
        }
        Ok(uses)
    }

    /// Notes in the background that the named token was used on `day`. The request neither waits for the write nor fails with it.
    // Unlike the use of a session, the note is not written during the request: the response would wait for it, and many
    // requests make no other call after admission. Lambda freezes a function only once it has sent its response and
    // asked for the next event. By then the write has been sent, and DynamoDB carries it out even if the function never
    // reads the answer. If the write is lost, the next request of the day repeats it.
    pub(crate) fn note_token_use_in_background(&self, token: &NamedToken, day: DateTime<Utc>) {
        self.note_token_day_in_background(token, LAST_USED_AT, day);
    }

    /// Notes in the background that a JWT was exchanged on `day` for a token that acts as this named token. The request
    /// neither waits for the write nor fails with it.
    pub(crate) fn note_exchange_in_background(&self, token: &NamedToken, day: DateTime<Utc>) {
        self.note_token_day_in_background(token, EXCHANGED_AT, day);
    }

    fn note_token_day_in_background(&self, token: &NamedToken, attribute: &'static str, day: DateTime<Utc>) {
        // Count the call here, so that the request's log line includes it. The write's capacity is known too late for the line.
        self.usage.count_call();
        let store = self.clone();
        let key = keys::token_copy(token);
        self.app.run_in_background(async move {
            if let Err(error) = store.note_token_day(key, attribute, day).await {
                tracing::warn!(target: "request", %error, "could not note the use of a named token");
            }
        });
    }

    async fn note_token_day(&self, key: ItemKey, attribute: &str, day: DateTime<Utc>) -> Result<()> {
        let day = serde_dynamo::to_attribute_value(day).map_err(Error::internal)?;
        let written = self
            .client()
            .update_item()
            .table_name(self.table())
            .set_key(Some(key.into_attributes()))
            .update_expression(format!("SET {attribute} = :day ADD version :one"))
            // The condition lets concurrent requests write only once, and `attribute_exists` keeps the update from
            // recreating a token that was just deleted.
            .condition_expression(format!(
                "attribute_exists(pk) AND (attribute_not_exists({attribute}) OR {attribute} < :day)"
            ))
            .expression_attribute_values(":day", day)
            .expression_attribute_values(":one", number(1))
            .send()
            .await;
        match written {
            Err(error) if error.code() != Some("ConditionalCheckFailedException") => {
                Err(Error::internal(error))
            }
            _ => Ok(()),
        }
    }
}

/// How the company's counts change with `change` tokens like this one.
fn counts(token: &NamedToken, change: i64) -> Vec<(CompanyCount, i64)> {
    let of_trust = token.proof.takes_exchanges().then_some((CompanyCount::Trusts, change));
    [(CompanyCount::NamedTokens, change)].into_iter().chain(of_trust).collect()
}
