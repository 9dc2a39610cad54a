//! Authentication: identifies the caller from a credential and the items whose keys it contains.

use chrono::{DateTime, Utc};

use super::caller::{AuthMethod, Caller, CallerIdentity, LiveExchangedToken, LiveSession};
use super::credential::{Credential, CredentialKind, invalid_credential};
use crate::domain::account::{Account, CredentialClaim};
use crate::domain::candidate::{Candidate, KeyEnd};
use crate::domain::secret::{MediaKey, SecretHash};
use crate::domain::staff::customer::Customer;
use crate::domain::staff::named_token::{NamedToken, TokenProof};
use crate::domain::staff::sign_in::SignInSettings;
use crate::error::{Error, Result};
use crate::store::{ExchangedToken, ItemBatch, ItemKey, Session, SessionKind, Store, VersionedItem, keys};

/// The keys of the items that prove a credential: session and user, or the named token.
pub(super) fn keys_of(credential: &Credential) -> Vec<ItemKey> {
    match &credential.kind {
        CredentialKind::Session(_, claim) => {
            // The secret also contains the user who acts on behalf of the account. So one read finds both, and the
            // session ends when either loses their rights.
            let actor = claim.on_behalf_by.map(|by| keys::customer(&claim.company, by));
            let settings = depends_on_sign_in_settings(claim).then(|| keys::sign_in_settings(&claim.company));
            keys_of_identity(claim)
                .chain([keys::session(&credential.hash)])
                .chain(actor)
                .chain(settings)
                .collect()
        }
        CredentialKind::AccessKey(claim) => keys_of_identity(claim).collect(),
        CredentialKind::NamedToken => vec![keys::token_by_hash(&credential.hash)],
        CredentialKind::ExchangedToken(company, token) => {
            vec![keys::exchanged_token(&credential.hash), keys::trusting_token(company, *token)]
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct SessionRules {
    pub(super) idle_minutes: i64,
    /// Whether the request counts as a use, which extends the session.
    pub(super) is_use: bool,
    pub(super) now: DateTime<Utc>,
}

/// Why a credential is refused.
pub(super) enum AuthFailure {
    /// The credential is an ended key of this candidate, or a session of a withdrawn candidate.
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
            AuthFailure::EndedKey(..) => invalid_credential(),
            AuthFailure::Other(error) => error,
        }
    }
}

/// Authenticates `credential` with the items of [`keys_of`], which it takes from `batch`.
pub(super) fn authenticate(
    credential: &Credential,
    batch: &mut ItemBatch,
    rules: &SessionRules,
) -> Result<Caller, AuthFailure> {
    let (identity, auth_method) = match &credential.kind {
        CredentialKind::Session(kind, claim) => {
            let identity = take_identity(claim, batch)?.ok_or_else(invalid_credential)?;
            let stored = stored_session(*kind, &credential.hash, claim, batch, rules)?;
            let stored = stored.ok_or_else(invalid_credential)?;
            match identity {
                CallerIdentity::Candidate(candidate) if candidate.has_withdrawn_session(stored.epoch) => {
                    return Err(AuthFailure::EndedKey(Box::new(candidate), KeyEnd::Withdrawn));
                }
                identity => {
                    let live =
                        live_session(stored, keys::session(&credential.hash), batch, &identity, rules)?;
                    (identity, AuthMethod::Session(Box::new(live.ok_or_else(invalid_credential)?)))
                }
            }
        }
        CredentialKind::AccessKey(claim) => {
            let identity = take_identity(claim, batch)?.ok_or_else(invalid_credential)?;
            let CallerIdentity::Candidate(candidate) = identity else {
                return Err(invalid_credential().into());
            };
            let is_key = candidate.access_key.as_ref().is_some_and(|key| key.hash == credential.hash);
            if !is_key || !candidate.may_use_key(rules.now) {
                return Err(match candidate.key_end(&credential.hash, rules.now) {
                    Some(end) => AuthFailure::EndedKey(Box::new(candidate), end),
                    None => invalid_credential().into(),
                });
            }
            (CallerIdentity::Candidate(candidate), AuthMethod::AccessKey)
        }
        CredentialKind::NamedToken => {
            let key = keys::token_by_hash(&credential.hash);
            let token = batch.take_value::<NamedToken>(&key)?;
            // Expired tokens are deleted only later, so that owners still see them.
            let token = token.filter(|token| token.is_alive_at(rules.now)).ok_or_else(invalid_credential)?;
            (CallerIdentity::NamedToken(Box::new(token)), AuthMethod::NamedToken)
        }
        CredentialKind::ExchangedToken(company, named) => {
            let key = keys::exchanged_token(&credential.hash);
            let exchanged = batch.take_value::<ExchangedToken>(&key)?;
            let is_alive = |own: &ExchangedToken| {
                // DynamoDB may delete an expired item some days late.
                own.company == *company && own.token == *named && rules.now < own.ends_at
            };
            let exchanged = exchanged.filter(is_alive).ok_or_else(invalid_credential)?;
            let token = batch.take_value::<NamedToken>(&keys::trusting_token(company, *named))?;
            let token = token.filter(|token| token.is_alive_at(rules.now)).ok_or_else(invalid_credential)?;
            let live = LiveExchangedToken { ends_at: exchanged.ends_at, media_key: exchanged.media_key, key };
            (CallerIdentity::NamedToken(Box::new(token)), AuthMethod::ExchangedToken(Box::new(live)))
        }
    };
    Ok(Caller { identity, auth_method })
}

/// The key that verifies the caller's file URLs; `None` if the caller cannot have any.
// Only requests by a file URL need this: from a presented secret, the key is derived without opening a seal (see `MediaKey`).
pub(super) async fn media_key(caller: &Caller, store: &Store) -> Result<Option<MediaKey>> {
    match (&caller.auth_method, &caller.identity) {
        (AuthMethod::Session(live), _) => store.open_media_key(&live.key, &live.session.media_key).await,
        (AuthMethod::NamedToken, CallerIdentity::NamedToken(token)) => match &token.proof {
            TokenProof::Value { media_key, .. } => {
                store.open_media_key(&keys::token(&token.company, token.id), media_key).await
            }
            TokenProof::Trust(_) | TokenProof::ImportedTrust(_) => Ok(None),
        },
        (AuthMethod::ExchangedToken(live), _) => store.open_media_key(&live.key, &live.media_key).await,
        (AuthMethod::AccessKey, CallerIdentity::Candidate(candidate)) => {
            let key = store.open_access_key(candidate).await?;
            Ok(key.map(|key| MediaKey::of(&key)))
        }
        _ => Ok(None),
    }
}

/// The stored session; `None` if it does not exist or has expired. Does not check whether it is revoked.
fn stored_session(
    kind: SessionKind,
    hash: &SecretHash,
    claim: &CredentialClaim,
    batch: &mut ItemBatch,
    rules: &SessionRules,
) -> Result<Option<Session>> {
    let stored = batch.take_value::<Session>(&keys::session(hash))?;
    // DynamoDB may delete an expired item some days late.
    let is_alive = |session: &Session| rules.now < session.expires_at(rules.idle_minutes);
    Ok(stored.filter(|session| session.kind == kind && session.claim == *claim && is_alive(session)))
}

fn live_session(
    mut session: Session,
    key: ItemKey,
    batch: &mut ItemBatch,
    identity: &CallerIdentity,
    rules: &SessionRules,
) -> Result<Option<LiveSession>> {
    // Incrementing the account's epoch revokes all its earlier sessions with one write, without finding them.
    let is_current = identity.user().is_some_and(|(_, user)| user.epoch == Some(session.epoch));
    let holder = holder_of(&session.claim, identity, batch)?;
    if !is_current || !may_act_for(&session.claim, session.actor_epoch, identity, batch)? {
        return Ok(None);
    }
    if let (CallerIdentity::Customer(_), Some(holder)) = (identity, holder) {
        // Peek, because the request's target may take these settings. Every request reads them, so that one write revokes all
        // sessions that began with a password or a former provider, including those that begin concurrently.
        let settings = batch.peek::<SignInSettings>(&keys::sign_in_settings(&session.claim.company))?;
        let is_let_in = match (session.signed_in_under, settings) {
            (None, settings) => settings.is_none_or(|settings| settings.allows_password_of(&holder)),
            (Some(since), settings) => settings.is_some_and(|settings| settings.has_links_since(since)),
        };
        if !is_let_in {
            return Ok(None);
        }
    }
    let is_extended = rules.is_use && session.is_due_to_extend(rules.idle_minutes, rules.now);
    if is_extended {
        session.used_at = rules.now;
    }
    Ok(Some(LiveSession { ends: session.expires_at(rules.idle_minutes), session, key, is_extended }))
}

/// The customer who has begun the session, perhaps on behalf of `identity`; `None` for candidates and for a deleted customer.
fn holder_of(
    claim: &CredentialClaim,
    identity: &CallerIdentity,
    batch: &ItemBatch,
) -> Result<Option<VersionedItem<Customer>>> {
    match (claim.on_behalf_by, identity) {
        (Some(by), CallerIdentity::Customer(own)) if by != own.id => {
            batch.peek(&keys::customer(&claim.company, by))
        }
        (_, CallerIdentity::Customer(own)) => Ok(Some(own.clone())),
        _ => Ok(None),
    }
}

/// Whether the company's sign-in settings can revoke a session of this claim: only sessions of staff.
fn depends_on_sign_in_settings(claim: &CredentialClaim) -> bool {
    matches!(claim.account, Account::Customer { .. })
}

/// The keys of the items that [`take_identity`] takes.
pub(super) fn keys_of_identity(claim: &CredentialClaim) -> impl Iterator<Item = ItemKey> {
    // Candidates depend on the company's item: its removal at the end of a contract ends the logins of perhaps a million
    // candidates with one write. Staff are few, so each gets a write of their own, and their requests need not read the company.
    let company = matches!(claim.account, Account::Candidate { .. }).then(|| keys::company(&claim.company));
    [keys::account(&claim.company, claim.account)].into_iter().chain(company)
}

/// Takes the account; `None` if it does not exist or, for a candidate, the company does not.
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

/// Whether the customer who acts on behalf of `identity`, if any, may still do so. Revoking that customer's own
/// sessions revokes this one too.
pub(super) fn may_act_for(
    claim: &CredentialClaim,
    actor_epoch: Option<u32>,
    identity: &CallerIdentity,
    batch: &mut ItemBatch,
) -> Result<bool> {
    let Some(by) = claim.on_behalf_by else { return Ok(true) };
    let actor = match identity {
        // Already taken out of the batch as the account.
        CallerIdentity::Customer(own) if own.id == by => Some(own.clone()),
        _ => batch.take::<Customer>(&keys::customer(&claim.company, by))?,
    };
    // Check for each request, because the permission may have been revoked since the login.
    Ok(matches!((actor, identity), (Some(actor), CallerIdentity::Customer(target))
        if actor.may_act_for(target) && actor_epoch == Some(actor.session_epoch)))
}
