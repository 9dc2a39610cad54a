//! Seals secrets again that the former seal key has sealed, under the current key. Keys of candidates, named tokens and
//! webhooks, and client secrets at providers, may be in use for longer than the former key opens seals.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::operation::scan::ScanOutput;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use futures_util::future::try_join_all;
use serde::Serialize;

use crate::domain::secret::Sealed;
use crate::domain::staff::named_token::NamedToken;
use crate::error::Result;
use crate::seals::SealPlace;
use crate::store::seal::{ACCESS_KEY, CLIENT_SECRET, MEDIA_KEY, SIGNING_SECRET, place};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, string};
use crate::store::table::keys::{self, ItemKey, PK, SK};
use crate::store::table::retry::CallFailure;

/// The attribute with the rights, the end and the media key of a limited named token.
const LIMITS: &str = "limits";
/// The attribute with a webhook's former signing secret and the end of its use.
const FORMER_SECRET: &str = "former_secret";
/// The attribute with the provider in a company's sign-in settings.
const PROVIDER: &str = "provider";
/// How many items are resealed concurrently.
const AT_ONCE: usize = 32;

#[derive(Debug, Default, Serialize)]
pub struct ResealResult {
    /// The number of seals.
    pub seals: usize,
    /// How many seals were replaced by seals of the current key.
    pub resealed: usize,
    /// How many seals no key opens. They stay as they are.
    pub unopened: usize,
}

/// A seal in an item, with its path as expressions write it.
struct SealPath {
    path: &'static str,
    sealed: Sealed,
    place: SealPlace,
}

impl Store {
    /// Replaces every long-lived seal of the former key by one of the current key. If repeated, handles only those that are left.
    // Other seals end before the former key does: those of responses within a day, those of sessions and guest links with their items.
    pub(crate) async fn reseal(&self) -> Result<ResealResult> {
        let mut result = ResealResult::default();
        let mut start = None;
        loop {
            let page = self.with_retries(|| self.scan_sealed(start.clone())).await?;
            for items in page.items.unwrap_or_default().chunks(AT_ONCE) {
                for resealed in try_join_all(items.iter().map(|item| self.reseal_item(item))).await? {
                    result.seals += resealed.seals;
                    result.resealed += resealed.resealed;
                    result.unopened += resealed.unopened;
                }
            }
            start = page.last_evaluated_key;
            if start.is_none() {
                return Ok(result);
            }
        }
    }

    async fn reseal_item(&self, item: &Item) -> Result<ResealResult> {
        let key = item::key_of(item)?;
        let mut result = ResealResult::default();
        for SealPath { path, sealed, place } in sealed_in(&key, item)? {
            result.seals += 1;
            let keys = self.app.seal_keys_for([&sealed]).await?;
            if keys.is_current(&sealed) {
                continue;
            }
            match keys.open(&place, &sealed, self.app.now()) {
                Ok(secret) => {
                    let next = keys.seal(&place, &secret, self.app.entropy())?;
                    result.resealed += usize::from(self.replace_seal(&key, path, &sealed, &next).await?);
                }
                Err(error) => {
                    tracing::error!(target: "unreadable", unreadable_items = 1, sk = key.sk, %error, "a seal is left as it is");
                    result.unopened += 1;
                }
            }
        }
        Ok(result)
    }

    /// Replaces a seal unless it was replaced or deleted in the meantime, and returns whether it did. The item keeps
    /// its version, because the sealed text does not change.
    async fn replace_seal(&self, key: &ItemKey, path: &str, before: &Sealed, after: &Sealed) -> Result<bool> {
        self.with_retries(|| async {
            let response = self
                .client()
                .update_item()
                .table_name(self.table())
                .set_key(Some(key.clone().into_attributes()))
                .update_expression(format!("SET {path} = :after"))
                .condition_expression(format!("{path} = :before"))
                .expression_attribute_values(":before", string(before.as_str()))
                .expression_attribute_values(":after", string(after.as_str()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            match response {
                Ok(response) => {
                    self.usage.count_writes(response.consumed_capacity());
                    Ok(true)
                }
                Err(error) if error.code() == Some("ConditionalCheckFailedException") => Ok(false),
                Err(error) => Err(CallFailure::of(error)),
            }
        })
        .await
    }

    async fn scan_sealed(&self, start: Option<Item>) -> Result<ScanOutput, CallFailure> {
        let response = self
            .client()
            .scan()
            .table_name(self.table())
            .filter_expression(format!(
                "attribute_exists({ACCESS_KEY}) OR ((attribute_exists({MEDIA_KEY}) OR attribute_exists({LIMITS})) AND (begins_with({PK}, :token) OR begins_with({SK}, :token))) OR (attribute_exists({SIGNING_SECRET}) AND begins_with({SK}, :webhook)) OR attribute_exists({PROVIDER}.{CLIENT_SECRET})"
            ))
            .expression_attribute_values(":webhook", string(keys::WEBHOOK))
            .expression_attribute_values(":token", string(keys::TOKEN))
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(CallFailure::of)?;
        self.usage.count_reads(response.consumed_capacity());
        Ok(response)
    }
}

/// The seals of a candidate, a named token, a webhook or a provider.
fn sealed_in(key: &ItemKey, item: &Item) -> Result<Vec<SealPath>> {
    let text = |value: Option<&AttributeValue>| Some(Sealed::new(value?.as_s().ok()?.clone()));
    let map = |name| item.get(name).and_then(|value| value.as_m().ok());
    let mut found = Vec::new();
    if let Some(sealed) = map(ACCESS_KEY).and_then(|access_key| text(access_key.get("sealed"))) {
        found.push(SealPath { path: "access_key.sealed", sealed, place: place(key, ACCESS_KEY) });
    }
    if key.sk.starts_with(keys::WEBHOOK) {
        let current = text(item.get(SIGNING_SECRET)).map(|sealed| ("secret", sealed));
        let former = map(FORMER_SECRET).and_then(|former| text(former.get(SIGNING_SECRET)));
        let former = former.map(|sealed| ("former_secret.secret", sealed));
        let place = place(key, SIGNING_SECRET);
        let both = current.into_iter().chain(former);
        found.extend(both.map(|(path, sealed)| SealPath { path, sealed, place: place.clone() }));
    }
    if let Some(sealed) = map(PROVIDER).and_then(|provider| text(provider.get(CLIENT_SECRET))) {
        found.push(SealPath { path: "provider.client_secret", sealed, place: place(key, CLIENT_SECRET) });
    }
    let whole = text(item.get(MEDIA_KEY)).map(|sealed| ("media_key", sealed));
    let limited = map(LIMITS).and_then(|limits| text(limits.get(MEDIA_KEY)));
    let limited = limited.map(|sealed| ("limits.media_key", sealed));
    for (path, sealed) in [whole, limited].into_iter().flatten().filter(|(_, sealed)| !sealed.is_of_nothing())
    {
        // Both items of a token hold the same seal, for the place of the item that its company lists.
        let token: NamedToken = item::value_in(item)?;
        found.push(SealPath {
            path,
            sealed,
            place: place(&keys::token(&token.company, token.id), MEDIA_KEY),
        });
    }
    Ok(found)
}
