//! The metadata of issuers (OpenID Connect Discovery): their keys, and their endpoints for sign-in.
//!
//! Only issuers that a company trusts are queried, so no stranger decides what is fetched. An environment caches the metadata of
//! an issuer for [`KEPT`]. For an unknown key, and while an issuer fails, it queries the issuer at most once per [`LOOK_AGAIN`].
//! While the issuer fails, it uses the cached metadata for up to [`KEPT_ON_FAILURE`]. All times are those of the service's clock.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use crate::app::App;
use crate::domain::issuer::{IssuerFault, IssuerKeys, IssuerUrl, ProviderEndpoints, ProviderFault};
use crate::domain::outgoing::{AllowedTargets, OutgoingError};
use crate::outgoing::{Outgoing, SystemResolver};

/// How long fetched keys are used. So a key still verifies for this time after its issuer has withdrawn it, and for
/// [`KEPT_ON_FAILURE`] if the issuer then fails.
const KEPT: TimeDelta = TimeDelta::minutes(10);
/// How long fetched keys are used while the issuer fails.
const KEPT_ON_FAILURE: TimeDelta = TimeDelta::hours(1);
/// The minimum time between two queries to an issuer that has failed or whose cached keys lack the requested one.
const LOOK_AGAIN: TimeDelta = TimeDelta::minutes(1);
/// How long an issuer's two responses, configuration and keys, may take together.
// The function has ten seconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum number of issuers that an environment caches.
// Owners choose issuer URLs freely, and the cache is in the function that serves all logins, so it must be bounded.
const MAX_KNOWN: usize = 200;
/// The maximum size of a response in bytes.
const MAX_ANSWER: usize = 256 * 1024;

/// The keys and endpoints of an issuer, from its configuration.
pub(crate) struct IssuerMetadata {
    pub(crate) keys: IssuerKeys,
    /// The endpoints for signing in; the fault if people cannot sign in by this issuer.
    pub(crate) endpoints: Result<ProviderEndpoints, ProviderFault>,
}

/// The issuers whose metadata one environment caches.
#[derive(Default)]
pub(crate) struct KnownIssuers(RwLock<HashMap<IssuerUrl, Arc<KnownIssuer>>>);

/// The cache entry of an issuer.
#[derive(Default)]
struct KnownIssuer {
    last: RwLock<LastLook>,
    /// Held by the request that queries the issuer. Other requests wait for it, unless the cached keys suffice.
    asking: Mutex<()>,
}

#[derive(Clone, Default)]
struct LastLook {
    /// The latest metadata, and when it was fetched.
    answered: Option<(Arc<IssuerMetadata>, DateTime<Utc>)>,
    /// When the issuer was last queried, and the fault if that query failed.
    asked: Option<(DateTime<Utc>, Option<IssuerFault>)>,
}

impl KnownIssuers {
    fn find(&self, issuer: &IssuerUrl) -> Option<Arc<KnownIssuer>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(issuer).cloned()
    }

    /// The entry of `issuer`, created if needed. Evicts entries whose keys have expired, and the least recently queried ones if
    /// there are too many.
    fn of(&self, issuer: &IssuerUrl, now: DateTime<Utc>) -> Arc<KnownIssuer> {
        if let Some(known) = self.find(issuer) {
            return known;
        }
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, known| known.last().asked.is_none_or(|(at, _)| now - at < KEPT_ON_FAILURE));
        while all.len() >= MAX_KNOWN {
            // An issuer that is being queried for the first time counts as the most recent.
            let first = all.iter().min_by_key(|(_, known)| known.last().asked.map_or(now, |(at, _)| at));
            let Some(first) = first.map(|(issuer, _)| issuer.clone()) else { break };
            all.remove(&first);
        }
        all.entry(issuer.clone()).or_default().clone()
    }
}

impl fmt::Debug for KnownIssuers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownIssuers(…)")
    }
}

impl KnownIssuer {
    fn last(&self) -> LastLook {
        self.last.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl LastLook {
    /// The cached result for key `id` at `now`; `None` if the issuer must be queried.
    fn answer(
        &self,
        id: Option<&str>,
        now: DateTime<Utc>,
    ) -> Option<Result<Arc<IssuerMetadata>, IssuerFault>> {
        let was_asked = self.asked.filter(|(at, _)| now - *at < LOOK_AGAIN);
        if let Some((metadata, at)) = &self.answered {
            let is_known = id.is_none_or(|id| metadata.keys.has(id));
            let age = now - *at;
            let suffices = age < KEPT && (is_known || was_asked.is_some());
            if suffices || age < KEPT_ON_FAILURE && was_asked.is_some_and(|(_, fault)| fault.is_some()) {
                return Some(Ok(metadata.clone()));
            }
        }
        was_asked.and_then(|(_, fault)| fault).map(Err)
    }
}

impl App {
    /// Whether [`issuer_metadata`](Self::issuer_metadata), called without a key, would answer from the cache.
    pub(crate) fn knows_issuer(&self, issuer: &IssuerUrl) -> bool {
        let known = self.known_issuers().find(issuer);
        known.is_some_and(|known| known.last().answer(None, self.now()).is_some())
    }

    /// The metadata of an issuer, from the cache if possible. With the key `id`, if the issuer has it. Queries the issuer at
    /// most once a minute.
    pub(crate) async fn issuer_metadata(
        &self,
        issuer: &IssuerUrl,
        id: Option<&str>,
    ) -> Result<Arc<IssuerMetadata>, IssuerFault> {
        let known = self.known_issuers().of(issuer, self.now());
        if let Some(answer) = known.last().answer(id, self.now()) {
            return answer;
        }
        let _turn = known.asking.lock().await;
        // Another request may have queried the issuer in the meantime.
        if let Some(answer) = known.last().answer(id, self.now()) {
            return answer;
        }
        let fetched =
            fetch(issuer, &Outgoing::of(self, SystemResolver), self.config().outgoing_targets).await;
        let now = self.now();
        let mut next = LastLook { asked: Some((now, fetched.as_ref().err().copied())), ..known.last() };
        if let Ok(answered) = fetched {
            next.answered = Some((Arc::new(answered), now));
        }
        let answer = next.answer(id, now);
        *known.last.write().unwrap_or_else(PoisonError::into_inner) = next;
        answer.unwrap_or(Err(IssuerFault::Unreachable))
    }
}

async fn fetch(
    issuer: &IssuerUrl,
    outgoing: &Outgoing,
    targets: AllowedTargets,
) -> Result<IssuerMetadata, IssuerFault> {
    let deadline = Instant::now() + PATIENCE;
    let url = issuer.configuration_url()?;
    let configuration = fetch_body(outgoing, &url, deadline, IssuerFault::NoDiscovery).await?;
    let url = issuer.keys_url(&configuration)?;
    let keys = IssuerKeys::parse(&fetch_body(outgoing, &url, deadline, IssuerFault::NoKeys).await?)?;
    // Missing endpoints are no error here: an issuer for workloads has none.
    Ok(IssuerMetadata { keys, endpoints: ProviderEndpoints::read(&configuration, targets) })
}

/// The body of a 200 response from `url`; the error `wrong` if the server answers otherwise.
async fn fetch_body(
    outgoing: &Outgoing,
    url: &Url,
    deadline: Instant,
    wrong: IssuerFault,
) -> Result<Vec<u8>, IssuerFault> {
    match outgoing.get(url, MAX_ANSWER, deadline).await {
        Ok(answer) if answer.status == 200 => Ok(answer.body),
        // Temporary failures of the server. Redirects are `wrong` instead, because their targets are not checked.
        Ok(answer) if answer.status == 429 || answer.status >= 500 => Err(IssuerFault::Unreachable),
        Ok(_) | Err(OutgoingError::InvalidAnswer) => Err(wrong),
        Err(OutgoingError::ForbiddenAddress) => Err(IssuerFault::NotPublic),
        Err(
            OutgoingError::UnknownHost
            | OutgoingError::Connection
            | OutgoingError::Tls
            | OutgoingError::Timeout,
        ) => Err(IssuerFault::Unreachable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outgoing::is_public;

    #[tokio::test]
    async fn an_issuer_outside_of_the_public_internet_is_not_asked_and_called_so() {
        let issuer = IssuerUrl::parse("http://127.0.0.1:9", AllowedTargets::Loopback).unwrap();
        let fault = fetch(&issuer, &Outgoing::new(SystemResolver, is_public), AllowedTargets::Loopback)
            .await
            .map(drop);
        assert_eq!(fault, Err(IssuerFault::NotPublic));
        let fault = fetch(&issuer, &Outgoing::new(SystemResolver, |_| true), AllowedTargets::Loopback)
            .await
            .map(drop);
        assert_eq!(fault, Err(IssuerFault::Unreachable), "nothing listens there");
    }

    #[test]
    fn an_environment_remembers_the_last_issuers_that_it_asked() {
        let known = KnownIssuers::default();
        let issuer = |number: usize| {
            IssuerUrl::parse(&format!("https://evil.example/{number}"), AllowedTargets::Public).unwrap()
        };
        let at = |number: usize| DateTime::UNIX_EPOCH + TimeDelta::seconds(number.try_into().unwrap());
        for number in 0..MAX_KNOWN + 10 {
            let entry = known.of(&issuer(number), at(number));
            entry.last.write().unwrap().asked = Some((at(number), None));
        }
        assert_eq!(known.0.read().unwrap().len(), MAX_KNOWN);
        let is_known = |number: usize| known.find(&issuer(number)).is_some();
        assert_eq!((is_known(9), is_known(10), is_known(MAX_KNOWN + 9)), (false, true, true));
    }
}
