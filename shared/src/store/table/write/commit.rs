//! Commits transactions: retries them, and turns failed conditions into errors.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{CancellationReason, ReturnConsumedCapacity, TransactWriteItem};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::error::{Error, FieldErrors, Result};
use crate::store::external_id;
use crate::store::table::handle::Store;
use crate::store::table::retry::CallFailure;
use crate::store::table::write::transaction::Transaction;

/// The most writes that DynamoDB takes in one transaction.
const MAX_WRITES: usize = 100;

impl Store {
    pub(crate) async fn commit(&self, transaction: Transaction) -> Result<()> {
        let Transaction { writes, refusals, fault, .. } = transaction;
        if let Some(fault) = fault {
            return Err(fault);
        }
        // A change that changes nothing is a success.
        if writes.is_empty() {
            return Ok(());
        }
        // Only a change of dozens of a project's people, labels and videos at once gets here.
        if writes.len() > MAX_WRITES {
            return Err(Error::field(
                FieldErrors::ACROSS,
                "Too many changes in one request. Split it into several.",
            ));
        }
        let mut random = [0; 24];
        // DynamoDB remembers the token for ten minutes, longer than any retry.
        self.app.entropy().fill(&mut random);
        // A retry after a lost response carries the same token, so that the transaction happens once.
        let token = URL_SAFE_NO_PAD.encode(random);
        let reasons = self.with_retries(|| self.commit_once(&writes, &token)).await?;
        if reasons.is_empty() {
            self.usage.count_commit();
            return Ok(());
        }
        // Field errors are collected and returned together. Any other error is returned at once, except a taken `external_id`.
        let mut fields = FieldErrors::default();
        let mut taken = None;
        for (refusal, reason) in refusals.into_iter().zip(reasons).filter(|(_, reason)| is_unmet(reason)) {
            match refusal {
                // DynamoDB returns the item that failed the condition; without one, it was deleted in the meantime.
                Error::Changed if reason.item().is_none() => return Err(Error::NotFound),
                Error::Fields(more) => fields.merge(more),
                // Report a taken `external_id` only if there are no field errors: the client may then use the resource that has it.
                Error::ExternalIdTaken { .. } => taken = Some(external_id::taken_by(reason.item())),
                refusal => return Err(refusal),
            }
        }
        Err(taken.filter(|_| fields.is_empty()).unwrap_or(Error::Fields(fields)))
    }

    /// Returns no reasons on success; if conditions have failed, one reason for each write.
    async fn commit_once(
        &self,
        writes: &[TransactWriteItem],
        token: &str,
    ) -> Result<Vec<CancellationReason>, CallFailure> {
        let response = self
            .client()
            .transact_write_items()
            .set_transact_items(Some(writes.to_vec()))
            .client_request_token(token)
            // The log line of each request shows its units.
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match response {
            Ok(response) => {
                self.usage.count_writes(response.consumed_capacity());
                Ok(Vec::new())
            }
            Err(error) => cancelled(error),
        }
    }
}

fn is_unmet(reason: &CancellationReason) -> bool {
    reason.code() == Some("ConditionalCheckFailed")
}

/// The cancellation reasons if a condition has failed; otherwise fails with the failure of the call.
fn cancelled(error: SdkError<TransactWriteItemsError>) -> Result<Vec<CancellationReason>, CallFailure> {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error()
    else {
        return Err(CallFailure::of(error));
    };
    let reasons = cancelled.cancellation_reasons();
    if reasons.iter().any(is_unmet) {
        // An unmet condition explains more than a conflict in the same transaction, and a retry would meet it again.
        Ok(reasons.to_vec())
    } else if has_code(reasons, "TransactionConflict") {
        Err(CallFailure::Conflict(error.into()))
    } else if has_code(reasons, "ThrottlingError") || has_code(reasons, "ProvisionedThroughputExceeded") {
        Err(CallFailure::Overload(error.into()))
    } else {
        Err(CallFailure::Final(Error::internal(error)))
    }
}

fn has_code(reasons: &[CancellationReason], code: &str) -> bool {
    reasons.iter().any(|reason| reason.code() == Some(code))
}
