//! A run: steps at endpoints, until nothing is left to do or the time is over.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt as _};
use shared::app::App;
use shared::auth::System;
use shared::domain::id::{CompanyId, WebhookId};
use shared::store::Store;
use shared::{Error, Result};

use crate::outgoing::Outgoing;
use crate::step::Stepped;

/// Endpoints that are served at once, so that slow ones do not hold up others.
pub(crate) const ENDPOINTS: usize = 32;
/// How long each of them is served if there are more, so that slow ones do not keep the others out.
const SHARE: Duration = Duration::from_secs(10);
/// How often a run looks again for events whose numbers the index does not show yet. Takes three seconds at most.
const LOOKS: u32 = 10;
/// About a third of a second at most.
const PAUSE: u32 = 6;

/// Sends events for one invocation.
#[derive(Clone, Copy)]
pub(crate) struct Sender<'a> {
    pub(crate) app: &'a App,
    pub(crate) system: &'a System,
    pub(crate) outgoing: &'a Outgoing,
    /// Nothing new is taken up later after the start.
    until: Duration,
}

/// The endpoints that a run could not serve.
#[derive(Debug, Default)]
pub(crate) struct Unserved {
    /// How many there are because the storage failed.
    pub(crate) failed: usize,
    /// The companies of these, and of those that another run has or that there was no time for.
    pub(crate) companies: BTreeSet<CompanyId>,
}

impl<'a> Sender<'a> {
    /// Takes up something new for as long as `time`.
    pub(crate) fn new(app: &'a App, system: &'a System, outgoing: &'a Outgoing, time: Duration) -> Self {
        Self { app, system, outgoing, until: time }
    }

    /// The table.
    pub(crate) fn store(&self) -> &'a Store {
        &self.system.store
    }

    /// The present moment: a run takes a while.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.app.now()
    }

    /// A random byte.
    pub(crate) fn chance(&self) -> u8 {
        let mut chance = [0];
        self.app.entropy().fill(&mut chance);
        chance[0]
    }

    /// Whether nothing new is to be taken up.
    pub(crate) fn is_late(&self) -> bool {
        self.system.usage().elapsed() >= self.until
    }

    /// Serves these endpoints in this order. The schedule takes up later what could not be served.
    pub(crate) async fn serve_all(&self, endpoints: Vec<(CompanyId, WebhookId)>) -> Unserved {
        let has_share = endpoints.len() > ENDPOINTS;
        let runs = endpoints.into_iter().map(|(company, id)| async move {
            let end = self.system.usage().elapsed() + SHARE;
            let until = if has_share { self.until.min(end) } else { self.until };
            let outcome = Sender { until, ..*self }.serve(&company, id).await;
            if let Err(error) = &outcome {
                tracing::error!(target: "webhooks", company = company.as_str(), webhook = %id, %error, "not served");
            }
            (company, outcome)
        });
        let note = async |mut unserved: Unserved, (company, outcome): (CompanyId, Result<bool>)| {
            unserved.failed += usize::from(outcome.is_err());
            if !outcome.unwrap_or(false) {
                unserved.companies.insert(company);
            }
            unserved
        };
        stream::iter(runs).buffer_unordered(ENDPOINTS).fold(Unserved::default(), note).await
    }

    /// Takes steps at an endpoint. Gives whether its position tells now when the next one is due, if any.
    async fn serve(&self, company: &CompanyId, id: WebhookId) -> Result<bool> {
        let (mut looks, mut has_stepped) = (0, false);
        while !self.is_late() {
            let stepped = match self.step(company, id).await {
                Ok(Stepped::NotYet) if looks >= LOOKS => self.leave_to_schedule(company, id).await,
                stepped => stepped,
            };
            match stepped {
                Ok(Stepped::Forward) => (looks, has_stepped) = (0, true),
                Ok(Stepped::NotYet) => {
                    looks += 1;
                    self.store().give_way(PAUSE).await;
                }
                Ok(Stepped::Done) => return Ok(true),
                Ok(Stepped::Busy) | Err(Error::Changed | Error::NotFound) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(has_stepped)
    }
}
