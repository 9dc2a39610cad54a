//! Sends events for one invocation, to as many endpoints at once as it makes sense.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::{Either, select};
use futures_util::stream::{self, FuturesUnordered, StreamExt as _};
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, WebhookId};
use shared::domain::outgoing::AllowedTargets;
use shared::store::Store;
use shared::{Error, Result, log_failure};
use tokio::sync::OnceCell;

use super::{EndpointTurn, EventTransport as _};
use shared::outgoing::Outgoing;

/// Endpoints that are served at once.
// Slow ones must not hold up others.
pub(crate) const ENDPOINTS: usize = 32;
/// How long each of them is served if there are more.
// Slow ones must not keep the others out.
const SHARE: TimeDelta = TimeDelta::seconds(10);
/// How often a turn looks for new events while one of the company's endpoints is under way.
const NEW_EVENTS_POLL: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvocationKind {
    /// The table's stream has started it; others wait behind it.
    Stream,
    /// The schedule has started it.
    Schedule,
}

impl InvocationKind {
    /// How long something new is sent. A request that takes 15 seconds may follow.
    pub(crate) fn time(self) -> TimeDelta {
        match self {
            Self::Stream => TimeDelta::seconds(10),
            Self::Schedule => TimeDelta::seconds(40),
        }
    }

    /// How long the turn has an endpoint to itself after each write: until it has ended.
    fn lease(self) -> TimeDelta {
        match self {
            Self::Stream => TimeDelta::seconds(30),
            Self::Schedule => TimeDelta::seconds(60),
        }
    }
}

/// Sends events for one invocation.
pub(crate) struct EventSender<'a> {
    pub(crate) app: &'a App,
    pub(crate) system: &'a SystemAccess,
    pub(crate) outgoing: &'a Outgoing,
    pub(crate) kind: InvocationKind,
    /// The moment from which on nothing new is sent.
    pub(crate) until: DateTime<Utc>,
    /// Shared by the turns at all endpoints.
    can_reach_out: Arc<OnceCell<bool>>,
}

impl<'a> EventSender<'a> {
    pub(crate) fn new(
        app: &'a App,
        system: &'a SystemAccess,
        outgoing: &'a Outgoing,
        kind: InvocationKind,
    ) -> Self {
        Self { app, system, outgoing, kind, until: app.now() + kind.time(), can_reach_out: Arc::default() }
    }

    pub(crate) fn store(&self) -> &'a Store {
        &self.system.store
    }

    /// Until when a lease that begins now lasts.
    pub(crate) fn lease_until(&self) -> DateTime<Utc> {
        self.now() + self.kind.lease()
    }

    /// Whether requests of this process reach the public internet at all.
    pub(crate) async fn can_reach_out(&self) -> bool {
        let config = self.app.config();
        let reaches = async {
            // If the network or the certificate authorities of this process fail, all endpoints seem to be
            // down.
            let can_reach = config.outgoing_targets == AllowedTargets::Loopback
                || self.outgoing.reaches(&config.base_url).await;
            if !can_reach {
                tracing::error!(target: "webhooks", "cannot reach the service's own host, so no endpoint is judged");
            }
            can_reach
        };
        *self.can_reach_out.get_or_init(|| reaches).await
    }

    /// Serves these endpoints in this order. Returns their companies with whether the turn had the endpoint, which the schedule
    /// serves later otherwise.
    pub(crate) async fn serve_all(
        &self,
        endpoints: Vec<(CompanyId, WebhookId)>,
    ) -> Vec<(CompanyId, Result<bool>)> {
        let has_share = endpoints.len() > ENDPOINTS;
        let turns = endpoints.into_iter().map(|(company, id)| async move {
            let until = if has_share { self.until.min(self.now() + SHARE) } else { self.until };
            let sender = Self { until, can_reach_out: self.can_reach_out.clone(), ..*self };
            let served = sender.serve_endpoint(&company, id).await;
            (company, served)
        });
        stream::iter(turns).buffer_unordered(ENDPOINTS).collect().await
    }

    /// Serves webhooks of a company, and returns how many failed because of the storage.
    pub(crate) async fn serve_company(
        &self,
        company: &CompanyId,
        webhooks: BTreeSet<WebhookId>,
    ) -> Result<usize> {
        let mut idle = Vec::new();
        let mut failed = 0;
        let mut latest = self.latest_number(company).await?;
        let mut under_way: FuturesUnordered<_> =
            webhooks.into_iter().map(|id| self.serve_one(company, id)).collect();
        // The others are looked at again for new events while some are under way: the stream would otherwise keep
        // these waiting until all have ended.
        while !under_way.is_empty() {
            match select(under_way.next(), Box::pin(self.wait(NEW_EVENTS_POLL))).await {
                Either::Left((ended, _)) => match ended {
                    Some((id, Ok(true))) => idle.push(id),
                    Some((_, Err(_))) => failed += 1,
                    Some((_, Ok(false))) | None => {}
                },
                Either::Right(_) if self.is_over() || idle.is_empty() => {}
                Either::Right(_) => match self.latest_number(company).await {
                    Ok(now) if now > latest => {
                        latest = now;
                        under_way.extend(idle.drain(..).map(|id| self.serve_one(company, id)));
                    }
                    Ok(_) => {}
                    // Endpoints under way go on; the schedule serves the others.
                    Err(error) => {
                        let company = company.as_str();
                        log_failure!(target: "webhooks", &error, company, "could not look for new events");
                        idle.clear();
                        failed += 1;
                    }
                },
            }
        }
        Ok(failed)
    }

    async fn serve_one(&self, company: &CompanyId, id: WebhookId) -> (WebhookId, Result<bool>) {
        (id, self.serve_endpoint(company, id).await)
    }

    async fn latest_number(&self, company: &CompanyId) -> Result<u64> {
        Ok(self.store().sequence(company).await?.map_or(0, |sequence| sequence.last))
    }

    /// Serves one endpoint. Returns false if the turn did not have it.
    async fn serve_endpoint(&self, company: &CompanyId, id: WebhookId) -> Result<bool> {
        let served = EndpointTurn::new(self, company, id).run().await;
        match &served {
            // The turn keeps losing against writes of the API, or the webhook was deleted.
            Err(Error::Changed | Error::NotFound) => return Ok(false),
            Err(error) => {
                let company = company.as_str();
                log_failure!(target: "webhooks", error, company, webhook = %id, "delivery run failed");
            }
            Ok(_) => {}
        }
        served
    }
}
