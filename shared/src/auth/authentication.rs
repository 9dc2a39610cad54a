//! Authentication: the caller, from a credential and the items that it leads to.

use chrono::{DateTime, Utc};

use super::caller::{AuthMethod, Caller, CallerIdentity, LiveSession};
use super::credential::{Credential, CredentialKind, rejected};
use crate::domain::account::{Account, CredentialClaim};
use crate::domain::candidate::{Candidate, KeyEnd};
use crate::domain::secret::{MediaKey, SecretHash};
use crate::domain::staff::customer::Customer;
use crate::domain::staff::named_token::NamedToken;
use crate::error::{Error, Result};
use crate::store::{ItemBatch, ItemKey, Session, SessionKind, Store, VersionedItem, keys};

/// The keys of the items that prove a credential: its session and its user, or the named token.
pub(super) fn keys_of(credential: &Credential) -> Vec<ItemKey> {
    match &credential.kind {
        CredentialKind::Session(_, claim) => {
            // The secret names the user who acts for another, so one read finds both, and the session ends with
            // either one's rights.
            let actor = claim.on_behalf_by.map(|by| keys::customer(&claim.company, by));
            keys_of_identity(claim).chain([keys::session(&credential.hash)]).chain(actor).collect()
        }
        CredentialKind::AccessKey(claim) => keys_of_identity(claim).collect(),
        CredentialKind::NamedToken => vec![keys::token_by_hash(&credential.hash)],
    }
}

#[derive(Clone, Copy)]
pub(super) struct SessionRules {
    pub(super) idle_minutes: i64,
    /// Whether the request counts as a use.
    pub(super) is_use: bool,
    pub(super) now: DateTime<Utc>,
}

/// Why a credential opens nothing.
pub(super) enum AuthFailure {
    /// The key of this candidate has ended.
    EndedKey(Box<VersionedItem<Candidate>>, KeyEnd),
    /// Any other reason.
    Other(Error),
}

impl From<Error> for AuthFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<AuthFailure> for Error {
    fn from(failure: AuthFailure) -> Self {
        match failure {
            AuthFailure::EndedKey(..) => rejected(),
            AuthFailure::Other(error) => error,
        }
    }
}

/// The caller.
pub(super) fn authenticate(
    credential: &Credential,
    batch: &mut ItemBatch,
    rules: &SessionRules,
) -> Result<Caller, AuthFailure> {
    let (identity, auth_method) = match &credential.kind {
        CredentialKind::Session(kind, claim) => {
            let identity = take_identity(claim, batch)?.ok_or_else(rejected)?;
            let live = live_session(*kind, &credential.hash, claim, batch, &identity, rules)?;
            let live = live.ok_or_else(rejected)?;
            (identity, AuthMethod::Session(Box::new(live)))
        }
        CredentialKind::AccessKey(claim) => {
            let identity = take_identity(claim, batch)?.ok_or_else(rejected)?;
            let CallerIdentity::Candidate(candidate) = identity else { return Err(rejected().into()) };
            let is_key = candidate.access_key.as_ref().is_some_and(|key| key.hash == credential.hash);
            if !is_key || !candidate.may_use_key(rules.now) {
                return Err(match candidate.key_end(&credential.hash, rules.now) {
                    Some(end) => AuthFailure::EndedKey(Box::new(candidate), end),
                    None => rejected().into(),
                });
            }
            (CallerIdentity::Candidate(candidate), AuthMethod::AccessKey)
        }
        CredentialKind::NamedToken => {
            let key = keys::token_by_hash(&credential.hash);
            let token = batch.take_value::<NamedToken>(&key)?;
            // The schedule deletes it only later, so that owners still see what has ended.
            let token = token.filter(|token| token.is_alive_at(rules.now)).ok_or_else(rejected)?;
            (CallerIdentity::NamedToken(token), AuthMethod::NamedToken)
        }
    };
    Ok(Caller { identity, auth_method })
}

/// The key that verifies the URLs of files which the caller was shown; `None` if the caller cannot have been shown any.
// Those who present a secret need no seal: see `MediaKey`.
pub(super) async fn media_key(caller: &Caller, store: &Store) -> Result<Option<MediaKey>> {
    match (&caller.auth_method, &caller.identity) {
        (AuthMethod::Session(live), _) => store.open_media_key(&live.key, &live.session.media_key).await,
        (AuthMethod::NamedToken, CallerIdentity::NamedToken(token)) => {
            store.open_media_key(&keys::token(&token.company, token.id), &token.media_key).await
        }
        (AuthMethod::AccessKey, CallerIdentity::Candidate(candidate)) => {
            let key = store.open_access_key(candidate).await?;
            Ok(key.map(|key| MediaKey::of(&key)))
        }
        _ => Ok(None),
    }
}

fn live_session(
    kind: SessionKind,
    hash: &SecretHash,
    claim: &CredentialClaim,
    batch: &mut ItemBatch,
    identity: &CallerIdentity,
    rules: &SessionRules,
) -> Result<Option<LiveSession>> {
    let key = keys::session(hash);
    let Some(mut session) = batch.take_value::<Session>(&key)? else { return Ok(None) };
    let is_alive = session.kind == kind
        && session.claim == *claim
        // A later epoch revokes all sessions that began in an earlier one, with one write and without finding them.
        && identity.user().is_some_and(|(_, user)| user.epoch == Some(session.epoch))
        // DynamoDB deletes an expired item up to some days later.
        && rules.now < session.expires_at(rules.idle_minutes);
    if !is_alive || !may_act_for(&session.claim, session.actor_epoch, identity, batch)? {
        return Ok(None);
    }
    let is_extended = rules.is_use && session.is_due_to_extend(rules.idle_minutes, rules.now);
    if is_extended {
        session.used_at = rules.now;
    }
    Ok(Some(LiveSession { ends: session.expires_at(rules.idle_minutes), session, key, is_extended }))
}

/// The keys of the items that [`take_identity`] takes.
pub(super) fn keys_of_identity(claim: &CredentialClaim) -> impl Iterator<Item = ItemKey> {
    // At the end of a contract, the first write ends the logins of all candidates, perhaps a million. Staff
    // are few, so that write is followed by one for each of them, and their requests need not read the
    // company.
    let company = matches!(claim.account, Account::Candidate { .. }).then(|| keys::company(&claim.company));
    [keys::account(&claim.company, claim.account)].into_iter().chain(company)
}

/// Takes the account, if it exists; that of a candidate if the company exists as well.
pub(super) fn take_identity(
    claim: &CredentialClaim,
    batch: &mut ItemBatch,
) -> Result<Option<CallerIdentity>> {
    let key = keys::account(&claim.company, claim.account);
    Ok(match claim.account {
        Account::Customer { .. } => batch.take(&key)?.map(CallerIdentity::Customer),
        Account::Candidate { .. } if !batch.contains(&keys::company(&claim.company)) => None,
        Account::Candidate { .. } => batch.take(&key)?.map(CallerIdentity::Candidate),
    })
}

/// Whether the customer who acts for `identity`, if any, still may; revoking their own sessions revokes this one too.
pub(super) fn may_act_for(
    claim: &CredentialClaim,
    actor_epoch: Option<u32>,
    identity: &CallerIdentity,
    batch: &mut ItemBatch,
) -> Result<bool> {
    let Some(by) = claim.on_behalf_by else { return Ok(true) };
    let actor = match identity {
        // Taken out of the batch as the user already.
        CallerIdentity::Customer(own) if own.id == by => Some(own.clone()),
        _ => batch.take::<Customer>(&keys::customer(&claim.company, by))?,
    };
    // Checked with each request: the permission may have been revoked since the login.
    Ok(matches!((actor, identity), (Some(actor), CallerIdentity::Customer(target))
        if actor.may_act_for(target) && actor_epoch == Some(actor.session_epoch)))
}
