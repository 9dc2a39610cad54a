//! Sends events in one invocation, to several endpoints concurrently.

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

/// The number of endpoints that are served concurrently.
// High enough that slow endpoints do not hold up others.
pub(crate) const ENDPOINTS: usize = 32;
/// The time limit of each endpoint if there are more than [`ENDPOINTS`].
// Otherwise slow endpoints would use up the whole invocation.
const SHARE: TimeDelta = TimeDelta::seconds(10);
/// How often an endpoint looks for new events while another endpoint of the company is being served.
const NEW_EVENTS_POLL: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvocationKind {
    /// Started by the table's stream; other records wait for it.
    Stream,
    /// Started by the schedule.
    Schedule,
}

impl InvocationKind {
    /// For how long new requests are sent. The last one may take another 15 seconds.
    pub(crate) fn time(self) -> TimeDelta {
        match self {
            Self::Stream => TimeDelta::seconds(10),
            Self::Schedule => TimeDelta::seconds(40),
        }
    }

    /// The duration of the lease after each write: until the turn has surely ended.
    fn lease(self) -> TimeDelta {
        match self {
            Self::Stream => TimeDelta::seconds(30),
            Self::Schedule => TimeDelta::seconds(60),
        }
    }
}

pub(crate) struct SenderInvocation<'a> {
    pub(crate) app: &'a App,
    pub(crate) system: &'a SystemAccess,
    pub(crate) outgoing: &'a Outgoing,
    pub(crate) kind: InvocationKind,
    /// When the invocation stops sending new requests.
    pub(crate) until: DateTime<Utc>,
    /// Shared by the turns of all endpoints.
    can_reach_out: Arc<OnceCell<bool>>,
}

impl<'a> SenderInvocation<'a> {
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

    /// When a lease ends that is taken now.
    pub(crate) fn lease_until(&self) -> DateTime<Utc> {
        self.now() + self.kind.lease()
    }

    /// Whether this process can reach the public internet.
    pub(crate) async fn can_reach_out(&self) -> bool {
        let config = self.app.config();
        let reaches = async {
            // If the network or the certificate authorities of this process fail, all endpoints would seem to be down.
            let can_reach = config.outgoing_targets == AllowedTargets::Loopback
                || self.outgoing.reaches(&config.base_url).await;
            if !can_reach {
                tracing::error!(target: "webhooks", "cannot reach the service's own host, so no endpoint is judged");
            }
            can_reach
        };
        *self.can_reach_out.get_or_init(|| reaches).await
    }

    /// Serves these endpoints in this order. Returns for each its company, and whether the turn got the lease; if not,
    /// the schedule serves the endpoint later.
    pub(crate) async fn serve_all(
        &self,
        endpoints: Vec<(CompanyId, WebhookId)>,
    ) -> Vec<(CompanyId, Result<bool>)> {
        let has_share = endpoints.len() > ENDPOINTS;
        let turns = endpoints.into_iter().map(|(company, id)| async move {
            let until = if has_share { self.until.min(self.now() + SHARE) } else { self.until };
            let invocation = Self { until, can_reach_out: self.can_reach_out.clone(), ..*self };
            let served = invocation.serve_endpoint(&company, id).await;
            (company, served)
        });
        stream::iter(turns).buffer_unordered(ENDPOINTS).collect().await
    }

    /// Serves webhooks of a company. Returns how many failed because of the storage.
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
        // While some endpoints are being served, look for new events for the idle ones: otherwise the stream would
        // deliver these events only after all endpoints have ended.
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
                    // The endpoints being served continue; the schedule serves the others.
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

    /// Serves one endpoint. Returns false if the turn did not get the lease.
    async fn serve_endpoint(&self, company: &CompanyId, id: WebhookId) -> Result<bool> {
        let served = EndpointTurn::new(self, company, id).run().await;
        match &served {
            // The turn keeps losing to writes of the API, or the webhook was deleted.
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
