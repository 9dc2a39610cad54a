//! Deletes what a named token has created, after the token is deleted.

use std::collections::BTreeSet;

use shared::auth::SystemAccess;
use shared::domain::account::Creator;
use shared::domain::id::{CompanyId, CustomerId, TokenId};
use shared::domain::staff::named_token::MadeByToken;
use shared::{Error, Result};

use crate::outcome::EffectResult;

/// The maximum number of guest links that an attempt deletes, each in its own transaction.
const AT_ONCE: usize = 500;

/// Deletes what `token` has created, on behalf of the owner `by`, who has deleted the token.
pub(crate) async fn delete_made_by(
    system: &SystemAccess,
    company: &CompanyId,
    token: TokenId,
    made: &BTreeSet<MadeByToken>,
    by: CustomerId,
) -> Result<(EffectResult, String)> {
    let store = system.store_in_place_of(by);
    if made.contains(&MadeByToken::Webhooks) {
        let creator = Some(Creator::NamedToken { token });
        for webhook in store.webhooks(company).await?.iter().filter(|webhook| webhook.created_by == creator) {
            system.commit(store.delete_webhook(webhook)).await?;
        }
    }
    if !made.contains(&MadeByToken::GuestLinks) {
        return Ok((EffectResult::Deleted, String::new()));
    }
    let links = store.guest_links_of_token(company, token).await?;
    let mut deleted = 0;
    for link in &links {
        if deleted == AT_ONCE {
            return Ok((EffectResult::Continued, String::new()));
        }
        // If the candidate is gone, their deletion deletes the links.
        let Some(candidate) = store.candidate(company, link.project, link.candidate).await? else { continue };
        deleted += 1;
        match system.commit(store.delete_guest_link(&candidate, link, system.now)).await {
            // A manager or guest has changed the candidate: the next attempt deletes the rest.
            Err(Error::Changed) => return Ok((EffectResult::Continued, String::new())),
            committed => committed?,
        }
    }
    Ok((EffectResult::Deleted, String::new()))
}
