//! A client of one DynamoDB table: scans, batch reads and batch writes, with retries.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::{RetryConfig, RetryPartition, TokenBucket};
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_sdk_dynamodb::types::{
    AttributeValue, DeleteRequest, KeysAndAttributes, PutRequest, TableDescription, WriteRequest,
};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use shared::aws::AwsClients;
use shared::config::AwsConfig;

use super::Result;

pub(super) type TableItem = HashMap<String, AttributeValue>;

/// DynamoDB's maximum number of keys in one BatchGetItem call.
pub(super) const KEYS_PER_CALL: usize = 100;
/// DynamoDB's maximum number of writes in one BatchWriteItem call.
const WRITES_PER_CALL: usize = 25;
/// Concurrent BatchWriteItem calls per segment.
const CALLS_AT_ONCE: usize = 4;
/// Longer than for the service's requests, because a call may read a page of 1 MB.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// The attempts per call, which take about five minutes.
const ATTEMPTS: u32 = 20;
/// The pause after a call that DynamoDB left unprocessed completely.
const PAUSE: Duration = Duration::from_millis(500);

pub(super) struct TableClient {
    client: Client,
    name: String,
}

/// An item's key, kept without the item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct OwnedKey {
    pub(super) pk: String,
    pub(super) sk: String,
}

pub(super) enum ItemWrite {
    Put(TableItem),
    Delete(TableItem),
}

impl ItemWrite {
    /// The deletion of an item that was read from the table.
    pub(super) fn delete(mut item: TableItem) -> Self {
        item.retain(|name, _| name == "pk" || name == "sk");
        Self::Delete(item)
    }

    fn into_request(self) -> Result<WriteRequest> {
        let request = WriteRequest::builder();
        Ok(match self {
            Self::Put(item) => request.put_request(PutRequest::builder().set_item(Some(item)).build()?),
            Self::Delete(key) => request.delete_request(DeleteRequest::builder().set_key(Some(key)).build()?),
        }
        .build())
    }
}

/// The partition key and sort key of an item.
pub(super) fn key_of(item: &TableItem) -> Result<(&str, &str)> {
    match ["pk", "sk"].map(|name| item.get(name).and_then(|value| value.as_s().ok())) {
        [Some(pk), Some(sk)] => Ok((pk, sk)),
        _ => Err("an item has no key".into()),
    }
}

pub(super) fn owned_key_of(item: &TableItem) -> Result<OwnedKey> {
    let (pk, sk) = key_of(item)?;
    Ok(OwnedKey { pk: pk.to_owned(), sk: sk.to_owned() })
}

impl TableClient {
    pub(super) fn new(aws: &AwsConfig, table: &str) -> Self {
        let settings = AwsClients::new(aws).dynamodb().config().to_builder();
        let settings = settings
            .timeout_config(TimeoutConfig::builder().operation_attempt_timeout(CALL_TIMEOUT).build())
            // Adaptive retries: the client sends fewer calls when DynamoDB throttles.
            .retry_config(RetryConfig::adaptive().with_max_attempts(ATTEMPTS))
            // The SDK's token bucket would end retries after some hundred of them, which bulk calls soon reach.
            .retry_partition(
                RetryPartition::custom("restore").token_bucket(TokenBucket::unlimited()).build(),
            );
        Self { client: Client::from_conf(settings.build()), name: table.to_owned() }
    }

    /// A client of another table that shares the connections.
    pub(super) fn of(&self, table: &str) -> Self {
        Self { client: self.client.clone(), name: table.to_owned() }
    }

    /// Calls `DescribeTable`.
    pub(super) async fn describe(&self) -> Result<TableDescription> {
        let answer = self.client.describe_table().table_name(&self.name).send().await.map_err(described)?;
        answer.table.ok_or_else(|| "DynamoDB does not describe the table".into())
    }

    /// Scans a segment with consistent reads.
    pub(super) fn pages(&self, segment: u32, total: u32) -> TablePages<'_> {
        TablePages { table: self, segment, total, start: None, is_read: false }
    }

    /// Reads items by their keys. The result lacks keys that have no item.
    pub(super) async fn get(&self, keys: Vec<OwnedKey>) -> Result<HashMap<OwnedKey, TableItem>> {
        let mut found = HashMap::with_capacity(keys.len());
        let mut keys: Vec<_> = keys.into_iter().map(attributes).collect();
        while !keys.is_empty() {
            let asked = keys.len();
            let request = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build()?;
            let call = self.client.batch_get_item().request_items(&self.name, request);
            let answer = call.send().await.map_err(described)?;
            for item in answer.responses.unwrap_or_default().remove(&self.name).unwrap_or_default() {
                found.insert(owned_key_of(&item)?, item);
            }
            let left = answer.unprocessed_keys.unwrap_or_default().remove(&self.name);
            keys = left.map(|left| left.keys).unwrap_or_default();
            pause_after(asked, keys.len()).await;
        }
        Ok(found)
    }

    pub(super) async fn write(&self, writes: Vec<ItemWrite>) -> Result<()> {
        let mut requests = writes.into_iter().map(ItemWrite::into_request).collect::<Result<Vec<_>>>()?;
        let mut calls = Vec::with_capacity(requests.len().div_ceil(WRITES_PER_CALL));
        while !requests.is_empty() {
            calls.push(requests.split_off(requests.len().saturating_sub(WRITES_PER_CALL)));
        }
        let calls = stream::iter(calls.into_iter().map(|call| self.write_together(call)));
        calls.buffer_unordered(CALLS_AT_ONCE).try_collect().await
    }

    async fn write_together(&self, mut requests: Vec<WriteRequest>) -> Result<()> {
        while !requests.is_empty() {
            let asked = requests.len();
            let call = self.client.batch_write_item().request_items(&self.name, requests);
            let answer = call.send().await.map_err(described)?;
            requests = answer.unprocessed_items.unwrap_or_default().remove(&self.name).unwrap_or_default();
            pause_after(asked, requests.len()).await;
        }
        Ok(())
    }
}

/// The pages of one segment.
pub(super) struct TablePages<'a> {
    table: &'a TableClient,
    segment: u32,
    total: u32,
    start: Option<TableItem>,
    is_read: bool,
}

impl TablePages<'_> {
    /// Returns the next page; `None` after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<TableItem>>> {
        if self.is_read {
            return Ok(None);
        }
        let call = self.table.client.scan().table_name(&self.table.name).consistent_read(true);
        let call = call.segment(i32::try_from(self.segment)?).total_segments(i32::try_from(self.total)?);
        let page = call.set_exclusive_start_key(self.start.take()).send().await.map_err(described)?;
        self.is_read = page.last_evaluated_key.is_none();
        self.start = page.last_evaluated_key;
        Ok(Some(page.items.unwrap_or_default()))
    }
}

fn attributes(key: OwnedKey) -> TableItem {
    let OwnedKey { pk, sk } = key;
    TableItem::from([("pk".to_owned(), AttributeValue::S(pk)), ("sk".to_owned(), AttributeValue::S(sk))])
}

/// Pauses if DynamoDB processed nothing: when throttled, it returns unprocessed work instead of an error that the SDK
/// would retry.
async fn pause_after(asked: usize, left: usize) {
    if left == asked {
        #[expect(clippy::disallowed_methods, reason = "a program of its own, without a clock")]
        tokio::time::sleep(PAUSE).await;
    }
}

/// The error with all its causes: its own message only says that the service has failed.
fn described<E: std::error::Error>(error: E) -> String {
    DisplayErrorContext(error).to_string()
}
