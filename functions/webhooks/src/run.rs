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
const ENDPOINTS: usize = 32;
/// How long the storage may be busy: the function has a minute.
const PATIENCE: Duration = Duration::from_secs(55);
/// How often a run looks again for events whose numbers the index does not show yet. Takes three seconds at most.
const LOOKS: u32 = 10;
/// About a third of a second at most.
const PAUSE: u32 = 6;

/// Sends events for one invocation.
pub(crate) struct Sender<'a> {
    pub(crate) app: &'a App,
    pub(crate) system: System,
    pub(crate) outgoing: &'a Outgoing,
    pub(crate) store: Store,
    time: Duration,
}

impl<'a> Sender<'a> {
    /// Takes up something new for as long as `time`.
    pub(crate) fn new(app: &'a App, outgoing: &'a Outgoing, time: Duration) -> Self {
        let system = System::of(app);
        let store = system.store.clone().with_patience(PATIENCE);
        Self { app, system, outgoing, store, time }
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
        self.system.usage().elapsed() >= self.time
    }

    /// Serves these endpoints, and gives how many could not be served: the schedule takes them up later.
    pub(crate) async fn serve_all(&self, endpoints: BTreeSet<(CompanyId, WebhookId)>) -> usize {
        let runs = endpoints.into_iter().map(|(company, id)| async move {
            let outcome = self.serve(&company, id).await;
            if let Err(error) = &outcome {
                tracing::error!(target: "webhooks", company = company.as_str(), webhook = %id, %error, "not served");
            }
            usize::from(outcome.is_err())
        });
        stream::iter(runs).buffer_unordered(ENDPOINTS).fold(0, async |failed, one| failed + one).await
    }

    async fn serve(&self, company: &CompanyId, id: WebhookId) -> Result<()> {
        let mut looks = 0;
        while !self.is_late() {
            match self.step(company, id).await {
                Ok(Stepped::Forward) => looks = 0,
                Ok(Stepped::NotYet) if looks < LOOKS => {
                    looks += 1;
                    self.store.give_way(PAUSE).await;
                }
                Ok(Stepped::NotYet) => return self.leave_to_schedule(company, id).await,
                // Another run has the endpoint, or the API has changed it and wakes another run.
                Ok(Stepped::Done) | Err(Error::Changed | Error::NotFound) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
