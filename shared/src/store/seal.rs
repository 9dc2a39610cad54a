//! Seals and opens the secrets in the table: access keys of candidates, media keys, signing secrets of webhooks, and
//! client secrets of providers.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, ProjectId, WebhookId};
use crate::domain::secret::{AccessKey, MediaKey, Sealed, SecretHash};
use crate::domain::staff::sign_in::{ClientSecret, SignInProvider};
use crate::domain::webhook::{SigningSecret, Webhook};
use crate::error::{Error, Result};
use crate::seals::{SealKeys, SealPlace};
use crate::store::table::handle::Store;
use crate::store::table::keys::{self, ItemKey};

/// The attribute with a candidate's access key.
pub(in crate::store) const ACCESS_KEY: &str = "access_key";
/// The attribute with a credential's media key.
pub(in crate::store) const MEDIA_KEY: &str = "media_key";

/// The attribute with a webhook's signing secret. The current and the former secret are both sealed for this place.
pub(in crate::store) const SIGNING_SECRET: &str = "secret";
/// The attribute with the secret that authenticates the service at a company's provider.
pub(in crate::store) const CLIENT_SECRET: &str = "client_secret";

/// Access keys of candidates in plaintext.
#[derive(Default)]
pub struct OpenedKeys(HashMap<CandidateId, String>);

impl OpenedKeys {
    /// The access key of a candidate; `None` if they have none or it could not be opened.
    pub fn of(&self, candidate: &Candidate) -> Option<&str> {
        self.0.get(&candidate.id).map(String::as_str)
    }
}

impl Store {
    /// Seals `secret` as the access key of a candidate.
    pub(crate) async fn seal_access_key(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
        secret: &str,
    ) -> Result<AccessKey> {
        let place = access_key_place(company, project, candidate);
        let sealed = self.app.seal(&place, secret.as_bytes()).await?;
        Ok(AccessKey { hash: SecretHash::of(secret), sealed })
    }

    /// The access key of a candidate in plaintext; `None` if they have none. Fails if no seal key opens it.
    pub async fn open_access_key(&self, candidate: &Candidate) -> Result<Option<String>> {
        let Some(key) = &candidate.access_key else { return Ok(None) };
        let keys = self.app.seal_keys_for([&key.sealed]).await?;
        self.opened_access_key(&keys, candidate, key).map(Some)
    }

    /// The access keys of candidates in plaintext. A key that no seal key opens is logged and left out: its candidate
    /// can still be read, and invited again.
    pub async fn open_access_keys<'a>(
        &self,
        candidates: impl IntoIterator<Item = &'a Candidate>,
    ) -> Result<OpenedKeys> {
        let with_key = |candidate: &'a Candidate| Some((candidate, candidate.access_key.as_ref()?));
        let sealed: Vec<_> = candidates.into_iter().filter_map(with_key).collect();
        if sealed.is_empty() {
            return Ok(OpenedKeys::default());
        }
        let keys = self.app.seal_keys_for(sealed.iter().map(|(_, key)| &key.sealed)).await?;
        let opened = sealed.into_iter().filter_map(|(candidate, key)| {
            let opened = self.opened_access_key(&keys, candidate, key).inspect_err(|error| {
                tracing::error!(target: "unreadable", unreadable_items = 1, candidate = %candidate.id, %error, "a key is left out");
            });
            Some((candidate.id, opened.ok()?))
        });
        Ok(OpenedKeys(opened.collect()))
    }

    fn opened_access_key(&self, keys: &SealKeys, candidate: &Candidate, key: &AccessKey) -> Result<String> {
        let Candidate { company, project, id, .. } = candidate;
        let opened = keys.open(&access_key_place(company, *project, *id), &key.sealed, self.app.now())?;
        String::from_utf8(opened).map_err(Error::internal)
    }

    /// Seals a signing secret of a webhook.
    pub async fn seal_signing_secret(
        &self,
        company: &CompanyId,
        webhook: WebhookId,
        secret: &SigningSecret,
    ) -> Result<Sealed> {
        let place = place(&keys::webhook(company, webhook), SIGNING_SECRET);
        self.app.seal(&place, secret.reveal().as_bytes()).await
    }

    /// The secrets that sign a delivery to a webhook at `now`, the current one first. Fails if no seal key opens one of them.
    pub async fn open_signing_secrets(
        &self,
        webhook: &Webhook,
        now: DateTime<Utc>,
    ) -> Result<Vec<SigningSecret>> {
        let place = place(&keys::webhook(&webhook.company, webhook.id), SIGNING_SECRET);
        let sealed: Vec<&Sealed> = webhook.secrets(now).collect();
        let keys = self.app.seal_keys_for(sealed.iter().copied()).await?;
        let opened = sealed.into_iter().map(|sealed| {
            let opened =
                String::from_utf8(keys.open(&place, sealed, self.app.now())?).map_err(Error::internal)?;
            SigningSecret::try_from(opened).map_err(Error::internal)
        });
        opened.collect()
    }

    /// Seals the secret that authenticates the service at a company's provider.
    pub async fn seal_client_secret(&self, company: &CompanyId, secret: &ClientSecret) -> Result<Sealed> {
        let place = place(&keys::sign_in_settings(company), CLIENT_SECRET);
        self.app.seal(&place, secret.reveal().as_bytes()).await
    }

    /// The secret that authenticates the service at a company's provider, in plaintext. Fails if no seal key opens it.
    pub(crate) async fn open_client_secret(&self, company: &CompanyId, sealed: &Sealed) -> Result<String> {
        let place = place(&keys::sign_in_settings(company), CLIENT_SECRET);
        String::from_utf8(self.app.open(&place, sealed).await?).map_err(Error::internal)
    }

    /// Whether a provider has a client secret that can be opened, as sign-ins need it. Fails if the seal key cannot be
    /// fetched at the moment.
    pub async fn has_client_secret(&self, company: &CompanyId, provider: &SignInProvider) -> Result<bool> {
        let Some(sealed) = &provider.client_secret else { return Ok(false) };
        match self.open_client_secret(company, sealed).await {
            Ok(_) => Ok(true),
            Err(error @ Error::Busy(_)) => Err(error),
            // The seal key is lost, or was replaced more than 90 days ago.
            Err(_) => Ok(false),
        }
    }

    /// Seals the media key of the credential with this secret. `item` is the credential's item, which stores it.
    pub(crate) async fn seal_media_key(&self, item: &ItemKey, secret: &str) -> Result<Sealed> {
        self.app.seal(&media_key_place(item), MediaKey::of(secret).as_str().as_bytes()).await
    }

    /// The media key that was sealed for this item; `None` for an imported credential, whose secret nobody knows. Fails
    /// if no seal key opens it.
    pub(crate) async fn open_media_key(&self, item: &ItemKey, sealed: &Sealed) -> Result<Option<MediaKey>> {
        if sealed.is_of_nothing() {
            return Ok(None);
        }
        let opened = self.app.open(&media_key_place(item), sealed).await?;
        String::from_utf8(opened).map(|key| Some(MediaKey::new(key))).map_err(Error::internal)
    }
}

fn access_key_place(company: &CompanyId, project: ProjectId, candidate: CandidateId) -> SealPlace {
    place(&keys::candidate(company, project, candidate), ACCESS_KEY)
}

fn media_key_place(item: &ItemKey) -> SealPlace {
    place(item, MEDIA_KEY)
}

pub(in crate::store) fn place(item: &ItemKey, attribute: &str) -> SealPlace {
    SealPlace::attribute(&item.pk, &item.sk, attribute)
}
