//! Receipts of erasures, and the keys that verify them.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::Serialize;
use shared::app::App;
use shared::auth::access::Admitted;
use shared::domain::history::HistoryEntry;
use shared::domain::policy::ReadEvents;
use shared::http::RequestConditions;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::{ReceiptKeyView, ReceiptView};
use shared::openapi::{DescribeArgument, OperationDoc};
use shared::{Error, Result};

/// The `Cache-Control` of the public keys. Verifiers may learn of a new key only after this time.
const CACHING: &str = "public, max-age=300";

/// GET …/events/{eventId}/receipt/
pub(crate) async fn read(
    access: Admitted<HistoryEntry, ReadEvents>,
) -> Result<CommittedResponse<Json<ReceiptView>>> {
    let keys = access.receipt_keys().await?;
    let receipt = ReceiptView::of(&access.target, access.references(), access.config(), &keys)?;
    access.show(receipt.ok_or(Error::NotFound)?)
}

/// The public keys of receipts, as a JWK set (RFC 7517).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReceiptKeys")]
pub(crate) struct KeySetView {
    /// The keys, starting with the current one.
    keys: Vec<ReceiptKeyView>,
}

/// A request for the public keys. Needs no credentials.
pub(crate) struct KeysReader {
    app: App,
    conditions: RequestConditions,
}

impl FromRequestParts<App> for KeysReader {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        Ok(Self { app: app.clone(), conditions: RequestConditions::of(parts)? })
    }
}

impl DescribeArgument for KeysReader {
    fn describe(_: &mut OperationDoc) {}
}

/// GET /receipt-keys/
pub(crate) async fn list_keys(reader: KeysReader) -> Result<CommittedResponse<Json<KeySetView>>> {
    let keys = reader.app.receipt_keys().await?;
    let keys = keys.public().iter().map(ReceiptKeyView::new).collect();
    reader.conditions.show_to_all(&KeySetView { keys }, CACHING)
}
