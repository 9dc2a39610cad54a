//! Pings, and events that clients have sent once more. Neither changes how far the deliveries have come.

use shared::Result;
use shared::domain::history::{Entry, EventId};
use shared::domain::id::CompanyId;
use shared::domain::webhook::{Attempt, Order, Position};
use shared::store::{Endpoint, Versioned};

use crate::run::Sender;
use crate::step::Outcome;

impl Sender<'_> {
    /// Sends what was ordered, in the order of the orders.
    pub(crate) async fn send_orders(&self, endpoint: &Endpoint) -> Result<Outcome> {
        let mut orders = endpoint.position.orders.clone();
        let mut attempts = Vec::new();
        while !orders.is_empty() && !self.is_late() {
            attempts.push(self.fulfil(endpoint, &orders.remove(0)).await?);
        }
        let position = Position { orders, ..Position::clone(&endpoint.position) };
        Ok(Outcome { position, lanes: endpoint.lanes.clone(), attempts, is_gone: false })
    }

    async fn fulfil(&self, endpoint: &Endpoint, order: &Order) -> Result<Attempt> {
        let (webhook, company) = (&endpoint.webhook, &endpoint.webhook.company);
        let attempt = match order {
            Order::Ping { at } => {
                self.attempt(webhook, &Entry::ping(company.clone(), webhook.id, *at), 1).await?.1
            }
            Order::Event { event: id } => match self.event(company, id).await? {
                Some(event) => self.attempt(webhook, &event, 1).await?.1,
                None => self.expired(webhook.id, Some(id.clone())),
            },
        };
        Ok(attempt.given_up())
    }

    async fn event(&self, company: &CompanyId, id: &str) -> Result<Option<Versioned<Entry>>> {
        let Ok(id) = id.parse::<EventId>() else { return Ok(None) };
        self.store().event(company, &id, self.now()).await
    }
}
