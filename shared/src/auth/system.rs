//! Access for the service itself, which has no credential: IAM decides that schedules, the stream and the event bus may
//! invoke these functions.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::app::App;
use crate::auth::authentication::{keys_of_identity, may_act_for, take_identity};
use crate::auth::caller::CallerIdentity;
use crate::auth::credential::new_one_time_key;
use crate::aws::AwsClients;
use crate::clock::Pace;
use crate::config::Config;
use crate::domain::account::{Account, CredentialClaim, Principal};
use crate::domain::answers::Answers;
use crate::domain::history::{ChangeAuthor, ChangeOrigin};
use crate::domain::id::{CompanyId, CustomerId};
use crate::domain::media::upload::{Upload, UploadAuthor};
use crate::domain::media::video::Video;
use crate::domain::policy::Action;
use crate::domain::privacy::receipt::ReceiptKeys;
use crate::domain::secret::OneTimeKey;
use crate::domain::staff::named_token::NamedToken;
use crate::error::Result;
use crate::media::ObjectStore;
use crate::store::{EVENT_PATIENCE, FinalAnswers, RequestUsage, Store, Transaction, VersionedItem, keys};

/// Access for a function that no HTTP request invokes.
pub struct SystemAccess {
    /// The time of the invocation.
    pub now: DateTime<Utc>,
    pub store: Store,
    usage: Arc<RequestUsage>,
    pub(super) app: App,
}

impl SystemAccess {
    /// Acts as the service itself: IAM has decided who may invoke this function.
    pub fn of(app: &App) -> Self {
        Self::by(ChangeAuthor::System, app)
    }

    pub(super) fn by(author: ChangeAuthor, app: &App) -> Self {
        let usage = Arc::new(RequestUsage::new(app.start_stopwatch()));
        let store = Store::new(app.clone(), usage.clone());
        let now = app.now();
        let store = store.with_patience(EVENT_PATIENCE).with_origin(ChangeOrigin::new(author, now));
        Self { now, store, usage, app: app.clone() }
    }

    /// The same access with a longer `patience`, for functions with more time.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { store: self.store.with_patience(patience), ..self }
    }

    /// The same access, with a platform event as the origin of changes; `id` is the event's identifier.
    pub fn in_event(self, id: &str) -> Self {
        let origin = ChangeOrigin::new(ChangeAuthor::System, self.now);
        let store = self.store.with_origin(ChangeOrigin { request: Some(id.to_owned()), ..origin });
        Self { store, ..self }
    }

    /// The store for the change that attaches an uploaded file. The change's author is the author of the upload.
    // The service writes the change, but the history must name the person or token that has uploaded the file, and on whose behalf.
    pub fn store_of(&self, upload: &Upload) -> Store {
        let origin = match &upload.author {
            UploadAuthor::Account { claim, .. } => {
                let origin = ChangeOrigin::new(Principal::Account(claim.account), self.now);
                ChangeOrigin { on_behalf_by: claim.on_behalf_by, ..origin }
            }
            UploadAuthor::NamedToken { token } => ChangeOrigin::new(Principal::NamedToken(*token), self.now),
        };
        self.store.clone().with_origin(origin)
    }

    /// The store for changes that follow from an action of this customer, who is their author.
    pub fn store_in_place_of(&self, customer: CustomerId) -> Store {
        let author = Principal::Account(Account::Customer { customer });
        self.store.clone().with_origin(ChangeOrigin::new(author, self.now))
    }

    pub async fn commit(&self, transaction: Transaction) -> Result<()> {
        self.store.commit(transaction).await
    }

    /// A new one-time key for an account. Returns the key, which only its owner may get, and its stored form.
    pub fn new_one_time_key(&self, claim: &CredentialClaim, lifetime: TimeDelta) -> (String, OneTimeKey) {
        new_one_time_key(claim, self.now, lifetime, self.app.entropy())
    }

    pub fn config(&self) -> &Config {
        self.app.config()
    }

    pub fn aws(&self) -> &AwsClients {
        self.app.aws()
    }

    /// The keys that sign receipts and archives, from [`App::receipt_keys`].
    pub async fn receipt_keys(&self) -> Result<Arc<ReceiptKeys>> {
        self.app.receipt_keys().await
    }

    /// Pauses between two steps.
    pub async fn pause(&self, time: Duration) {
        self.app.pause(time).await;
    }

    /// Starts a [`Pace`] with the interval `between` steps.
    pub fn start_pace(&self, between: Duration) -> Pace {
        self.app.start_pace(between)
    }

    pub fn objects(&self) -> Result<ObjectStore<'_>> {
        ObjectStore::of(&self.app)
    }

    /// The DynamoDB units consumed so far, and the time since the start.
    pub fn usage(&self) -> &RequestUsage {
        &self.usage
    }
}

impl SystemAccess {
    /// Closes the answers at the end of the interview: open takes keep the parts that have arrived, and drafts end.
    // A candidate whose connection broke cannot finish the take, but its parts may be a whole answer.
    pub async fn end_answers(&self, answers: &Answers) -> Result<FinalAnswers> {
        let closed = self.objects()?.close_takes(answers, self.now).await?;
        self.store.end_drafts(closed).await
    }

    /// Whether the author of an upload may still change its owner: the author exists, may log in, has had no sessions
    /// revoked since, and still has the permission. True if the owner is deleted, which the change itself handles.
    // Check again, because S3 accepts the signed URL until it expires, even if its author has lost the permission.
    pub async fn may_still_upload(&self, upload: &Upload) -> Result<bool> {
        match self.identity_of(&upload.company, &upload.author).await? {
            Some(identity) => self.may_change(&identity, upload).await,
            None => Ok(false),
        }
    }

    /// Whether the author of a video may still upload videos.
    pub async fn may_still_upload_video(&self, video: &Video) -> Result<bool> {
        let Some(author) = &video.author else { return Ok(false) };
        let author = self.identity_of(&video.company, author).await?;
        Ok(author.is_some_and(|author| Action::ManageVideos.is_allowed(&author.in_company())))
    }

    /// The author; `None` if they may no longer act.
    async fn identity_of(
        &self,
        company: &CompanyId,
        author: &UploadAuthor,
    ) -> Result<Option<CallerIdentity>> {
        match author {
            UploadAuthor::Account { claim, epoch, actor_epoch } => {
                let actor = claim.on_behalf_by.map(|by| keys::customer(&claim.company, by));
                let mut batch = self.store.get(keys_of_identity(claim).chain(actor)).await?;
                let Some(identity) = take_identity(claim, &mut batch)? else { return Ok(None) };
                let present = identity.user().and_then(|(_, user)| user.epoch);
                // Revoking an account's sessions, for example after a new password, increments the epoch. An upload that a
                // thief has begun with such a session must be refused too.
                let is_known = present.is_some_and(|present| epoch.is_none_or(|epoch| epoch == present));
                let may_act = is_known && may_act_for(claim, *actor_epoch, &identity, &mut batch)?;
                Ok(may_act.then_some(identity))
            }
            UploadAuthor::NamedToken { token } => {
                let key = keys::token(company, *token);
                let token: Option<VersionedItem<NamedToken>> =
                    self.store.get([key.clone()]).await?.take(&key)?;
                let alive = token.filter(|token| token.is_alive_at(self.now));
                Ok(alive.map(|token| CallerIdentity::NamedToken(Box::new(NamedToken::clone(&token)))))
            }
        }
    }

    async fn may_change(&self, author: &CallerIdentity, upload: &Upload) -> Result<bool> {
        let company = &upload.company;
        match upload.owner {
            Account::Candidate { project, candidate } => {
                let subject = self.store.candidate_subject(company, project, candidate).await?;
                let (Some(candidate), Some(project)) = (&subject.candidate, &subject.project) else {
                    return Ok(true);
                };
                Ok(Action::ChangeCandidate.is_allowed(&author.towards(candidate, project)))
            }
            Account::Customer { customer } => {
                let Some(customer) = self.store.customer(company, customer).await? else { return Ok(true) };
                let is_own = matches!(author, CallerIdentity::Customer(own) if own.id == customer.id);
                Ok(is_own || author.manages(customer.account_type))
            }
        }
    }
}
