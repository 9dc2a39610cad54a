//! Whether the author of an upload still has the right to it when the file arrives.

use super::{System, may_act_for, take_identity};
use crate::auth::caller::Identity;
use crate::auth::policy::Action;
use crate::domain::customer::AccountType;
use crate::domain::file::Owner;
use crate::domain::id::CompanyId;
use crate::domain::named_token::NamedToken;
use crate::domain::upload::{Author, Upload};
use crate::domain::video::Video;
use crate::error::Result;
use crate::store::{Versioned, keys};

impl System {
    /// Whether whoever announced an upload may still change its owner: they are there, may log in, have had no sessions
    /// ended since, and have the right by which the upload was announced. An owner who is gone is left to the change.
    ///
    /// # Errors
    /// [`Error::Busy`](crate::Error::Busy) or [`Error::Internal`](crate::Error::Internal).
    pub async fn may_still_upload(&self, upload: &Upload) -> Result<bool> {
        match self.identity_of(&upload.company, upload.author.as_ref()).await? {
            Some(identity) => self.may_change(&identity, upload).await,
            None => Ok(false),
        }
    }

    /// Whether whoever announced a video may still upload videos.
    ///
    /// # Errors
    /// As [`System::may_still_upload`].
    pub async fn may_still_upload_video(&self, video: &Video) -> Result<bool> {
        let author = self.identity_of(&video.company, video.author.as_ref()).await?;
        Ok(author.is_some_and(|author| Action::ManageVideos.is_allowed(&author.in_company())))
    }

    /// The author, if they may still act.
    async fn identity_of(&self, company: &CompanyId, author: Option<&Author>) -> Result<Option<Identity>> {
        let Some(author) = author else { return Ok(None) };
        match author {
            Author::Account { claim, epoch, actor_epoch } => {
                let actor = claim.on_behalf_by.map(|by| keys::customer(&claim.company, by));
                let account = keys::account(&claim.company, claim.account);
                let mut batch = self.store.get([account].into_iter().chain(actor)).await?;
                let Some(identity) = take_identity(claim, &mut batch)? else { return Ok(None) };
                let present = identity.user().and_then(|(_, user)| user.epoch);
                let is_known = present.is_some_and(|present| epoch.is_none_or(|epoch| epoch == present));
                let may_act = is_known && may_act_for(claim, *actor_epoch, &identity, &mut batch)?;
                Ok(may_act.then_some(identity))
            }
            Author::NamedToken { token } => {
                let key = keys::token(company, *token);
                let token: Option<Versioned<NamedToken>> = self.store.get([key.clone()]).await?.take(&key)?;
                Ok(token.map(|token| Identity::NamedToken(NamedToken::clone(&token))))
            }
        }
    }

    async fn may_change(&self, author: &Identity, upload: &Upload) -> Result<bool> {
        let company = &upload.company;
        match upload.owner {
            Owner::Candidate { project, candidate } => {
                let subject = self.store.candidate_subject(company, project, candidate).await?;
                let (Some(candidate), Some(project)) = (&subject.candidate, &subject.project) else {
                    return Ok(true);
                };
                Ok(Action::ChangeCandidate.is_allowed(&author.towards(candidate, project)))
            }
            Owner::Customer { customer } => {
                let Some(customer) = self.store.customer(company, customer).await? else { return Ok(true) };
                Ok(match author {
                    Identity::Customer(own) => {
                        own.id == customer.id || own.account_type.manages(customer.account_type)
                    }
                    Identity::NamedToken(_) => AccountType::Owner.manages(customer.account_type),
                    Identity::Candidate(_) => false,
                })
            }
        }
    }
}
