//! The views of receipts of erasures, and of the keys that verify receipts.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::domain::history::HistoryEntry;
use crate::domain::history::erasure::{CopyRetention, ErasedItem, ErasureCounts, ErasureReason};
use crate::domain::privacy::receipt::{ReceiptKey, ReceiptKeys};
use crate::error::{Error, Result};
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Timestamp, Uri};

/// How long S3 may take to delete objects that a lifecycle rule has expired.
const STORAGE_DELAY: TimeDelta = TimeDelta::days(2);

/// A signed statement that a candidate was erased.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Receipt")]
pub struct ReceiptView {
    /// The statement that is signed.
    statement: StatementView,
    /// The statement, signed: a JWS in its compact form (RFC 7515) with the algorithm `EdDSA` (Ed25519). Its payload is the
    /// statement as JSON, and its header names the key by `kid`.
    #[schemars(example = &"eyJhbGciOiJFZERTQSIsImtpZCI6IjJtUEhIOUotRjdqWHpTQVgtM2RKYUVSc3BGRXRyVzBVIn0.eyJpZCI6ImV2dF8wMUpROFoifQ.c2lnbmF0dXJl")]
    jws: String,
}

/// The service's statement about an erasure. Of the candidate, it contains only the identifier: keep your own record of who that was.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ErasureStatement")]
struct StatementView {
    /// The service that makes the statement: the base URL of its API.
    #[schemars(example = &"https://api.example.com/api/v3")]
    iss: String,
    /// The identifier of the event `candidate.erased`.
    #[schemars(example = &"evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_9_1795293767")]
    id: String,
    /// The URL of the company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The URL of the candidate's project.
    #[schemars(example = example_uri::PROJECT)]
    project: Option<Uri>,
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// Why the candidate was erased.
    reason: ErasureReason,
    /// When the candidate was deleted. If the service was restored to an earlier moment since, this is the first deletion.
    deleted_at: Timestamp,
    /// When the last data that the deletion had left was erased.
    #[schemars(example = &"2026-11-08T22:59:01Z")]
    erased_at: Timestamp,
    /// The numbers of erased items.
    erased: ErasureCounts,
    /// The copies that remain, by kind, with the day when the last one is deleted. None can be read through the service.
    copies: Vec<CopyView>,
}

/// One kind of copies of the erased data.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ErasureCopies")]
struct CopyView {
    /// The kind of data that was copied.
    of: CopyKind,
    /// The day when the last copy of this kind is deleted, in UTC.
    #[schemars(example = &"2026-12-06")]
    until: NaiveDate,
}

/// Kinds of copied data.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum CopyKind {
    /// Everything that was stored in the database, in its backups.
    Table,
    /// Photos, CVs and recorded answers, as previous versions in the storage.
    Files,
    /// Identifiers and network addresses, in logs, which contain no names and no email addresses.
    Logs,
}

impl ReceiptView {
    /// The receipt for an event, signed by `keys`; `None` if the event is not about an erasure.
    pub fn of(
        event: &HistoryEntry,
        references: ReferenceUris<'_>,
        config: &Config,
        keys: &ReceiptKeys,
    ) -> Result<Option<Self>> {
        if let Some(jws) = &event.receipt {
            let signed = Self::signed(jws.clone());
            return signed.map(Some).ok_or_else(|| Error::Unreadable("a receipt cannot be read".into()));
        }
        let Some(statement) = StatementView::of(event, references, config) else { return Ok(None) };
        // Receipts need not be stored: the event has all facts, and the secret gives the same key again.
        let jws = keys.sign(&serde_json::to_vec(&statement).map_err(Error::internal)?);
        Ok(Some(Self { statement, jws }))
    }

    /// Reads the receipt in a JWS without verifying its signature; `None` if it contains no receipt.
    pub fn signed(jws: String) -> Option<Self> {
        let payload = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1)?).ok()?;
        Some(Self { statement: serde_json::from_slice(&payload).ok()?, jws })
    }

    /// The identifier of the event that the receipt is about.
    pub fn event(&self) -> &str {
        &self.statement.id
    }

    /// The erased candidate, whatever the service's base URL, and when they were deleted; `None` if the receipt names no candidate.
    pub fn erased(&self) -> Option<(ErasedItem, DateTime<Utc>)> {
        let mut parts = self.statement.candidate.as_str().trim_end_matches('/').rsplit('/');
        let candidate = parts.next()?.parse().ok()?;
        let _candidates = parts.next()?;
        let project = parts.next()?.parse().ok()?;
        Some((ErasedItem::Candidate { project, candidate }, self.statement.deleted_at.0))
    }
}

impl StatementView {
    /// The statement about an event; `None` if the event is not about an erasure.
    fn of(event: &HistoryEntry, references: ReferenceUris<'_>, config: &Config) -> Option<Self> {
        let change = &event.change;
        let erased_at = event.origin.at;
        let erasure = change.details.erasure?;
        let company = &change.company;
        // Events of former releases do not contain how long copies were kept.
        let kept = change.details.copies.unwrap_or(config.copies_kept);
        Some(Self {
            iss: config.base_url.as_str().trim_end_matches('/').to_owned(),
            id: event.id().to_string(),
            company: references.company(company),
            project: change.resource.project().map(|project| references.uri(company, project)),
            candidate: references.resource(company, change.resource),
            reason: erasure.reason,
            deleted_at: Timestamp(change.details.deleted_at.unwrap_or(erased_at)),
            erased_at: Timestamp(erased_at),
            erased: erasure.erased,
            copies: copies(erased_at, kept),
        })
    }
}

/// The copies that outlive an erasure at `erased_at`.
fn copies(erased_at: DateTime<Utc>, kept: CopyRetention) -> Vec<CopyView> {
    // Count from the erasure instead of the deletion: until then, backups still copied remaining data.
    let ends = [
        (CopyKind::Table, TimeDelta::days(kept.recovery_days)),
        (CopyKind::Files, TimeDelta::days(kept.recovery_days) + STORAGE_DELAY),
        (CopyKind::Logs, TimeDelta::days(kept.log_days)),
    ];
    ends.map(|(of, kept)| CopyView { of, until: (erased_at + kept).date_naive() }).into()
}

/// A public key (RFC 8037).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReceiptKey")]
pub struct ReceiptKeyView {
    /// The type of the key.
    #[schemars(extend("const" = "OKP"), example = &"OKP")]
    kty: &'static str,
    /// The elliptic curve of the key.
    #[schemars(extend("const" = "Ed25519"), example = &"Ed25519")]
    crv: &'static str,
    /// The public key in base64url.
    #[schemars(example = &"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")]
    x: String,
    /// The thumbprint of the key (RFC 7638). Receipts name the key by it.
    #[schemars(example = &"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")]
    kid: String,
    /// The purpose of the key.
    #[serde(rename = "use")]
    #[schemars(extend("const" = "sig"), example = &"sig")]
    purpose: &'static str,
    /// The algorithm of the signatures.
    #[schemars(extend("const" = "EdDSA"), example = &"EdDSA")]
    alg: &'static str,
}

impl ReceiptKeyView {
    /// The view of a key.
    pub fn new(key: &ReceiptKey) -> Self {
        let x = key.to_string();
        let kid = key.thumbprint();
        Self { kty: "OKP", crv: "Ed25519", x, kid, purpose: "sig", alg: "EdDSA" }
    }
}
