//! The metadata of issuers (OpenID Connect Discovery): their keys, and their endpoints for sign-in.
//!
//! Callers name only issuers that a company trusts: no stranger decides what is fetched. An environment keeps the metadata of an issuer for
//! [`KEPT`]. It looks again once in [`LOOK_AGAIN`] for a key that it does not know, and as often while an issuer does not answer;
//! until then it goes on with the former metadata, for [`KEPT_ON_FAILURE`]. All of this goes by the service's clock.

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

/// How long fetched keys are used. A key that its issuer has withdrawn verifies for so long, and for [`KEPT_ON_FAILURE`] while the issuer
/// fails.
const KEPT: TimeDelta = TimeDelta::minutes(10);
/// How long keys are used while newer ones cannot be fetched.
const KEPT_ON_FAILURE: TimeDelta = TimeDelta::hours(1);
/// The time between two looks at an issuer whose keys are known but lack one, or that has failed.
const LOOK_AGAIN: TimeDelta = TimeDelta::minutes(1);
/// How long both answers of an issuer may take together.
// The function has ten seconds to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most issuers that an environment remembers.
// Owners name issuers, which may have any number of addresses, and the memory is that of the function that logs everybody in.
const MAX_KNOWN: usize = 200;
/// The most bytes of an answer.
const MAX_ANSWER: usize = 256 * 1024;

/// The keys and endpoints of an issuer, as its configuration names them.
pub(crate) struct IssuerMetadata {
    pub(crate) keys: IssuerKeys,
    /// The endpoints by which people sign in; the fault if they cannot.
    pub(crate) endpoints: Result<ProviderEndpoints, ProviderFault>,
}

/// The issuers that one environment has asked.
#[derive(Default)]
pub(crate) struct KnownIssuers(RwLock<HashMap<IssuerUrl, Arc<KnownIssuer>>>);

/// An issuer that was asked, or is being asked.
#[derive(Default)]
struct KnownIssuer {
    last: RwLock<LastLook>,
    /// Held by the request that asks the issuer. Other requests wait for it, unless known keys suffice for them.
    asking: Mutex<()>,
}

#[derive(Clone, Default)]
struct LastLook {
    /// The metadata, and when it was fetched.
    answered: Option<(Arc<IssuerMetadata>, DateTime<Utc>)>,
    /// When the issuer was asked last, and what was wrong then.
    asked: Option<(DateTime<Utc>, Option<IssuerFault>)>,
}

impl KnownIssuers {
    fn find(&self, issuer: &IssuerUrl) -> Option<Arc<KnownIssuer>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(issuer).cloned()
    }

    /// The entry of `issuer` at `now`. Forgets issuers whose keys are of no use any more, and those that were asked first if there are
    /// too many.
    fn of(&self, issuer: &IssuerUrl, now: DateTime<Utc>) -> Arc<KnownIssuer> {
        if let Some(known) = self.find(issuer) {
            return known;
        }
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, known| known.last().asked.is_none_or(|(at, _)| now - at < KEPT_ON_FAILURE));
        while all.len() >= MAX_KNOWN {
            // One that is being asked for the first time has the latest place.
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
    /// The answer to a request for the key `id` at `now` without asking the issuer; `None` if it has to be asked.
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
    /// Whether [`issuer_metadata`](Self::issuer_metadata) would answer for any key of the issuer without asking it.
    pub(crate) fn knows_issuer(&self, issuer: &IssuerUrl) -> bool {
        let known = self.known_issuers().find(issuer);
        known.is_some_and(|known| known.last().answer(None, self.now()).is_some())
    }

    /// The metadata of an issuer, with the key of this identifier if the issuer has one. Asks the issuer at most once a minute.
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
        // Another request may have asked meanwhile.
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
    // An issuer that signs for workloads alone has no endpoints.
    Ok(IssuerMetadata { keys, endpoints: ProviderEndpoints::read(&configuration, targets) })
}

/// The body of the answer at `url`; `wrong` if the server answers with something else.
async fn fetch_body(
    outgoing: &Outgoing,
    url: &Url,
    deadline: Instant,
    wrong: IssuerFault,
) -> Result<Vec<u8>, IssuerFault> {
    match outgoing.get(url, MAX_ANSWER, deadline).await {
        Ok(answer) if answer.status == 200 => Ok(answer.body),
        // Failures of its own, which pass. A redirect is none: it would lead to an address that was not checked.
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
