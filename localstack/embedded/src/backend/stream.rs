//! A table's stream, as Lambda's event source mapping reads it.

use serde_json::{Value, json};

use super::REGION;
use super::tables::Tables;
use crate::Error;

/// Reads a table's stream in order. The emulator has one shard per table.
pub struct StreamReader {
    tables: Tables,
    table: String,
    arn: String,
    shard: Value,
    /// The sequence number of the last completed record.
    position: Option<String>,
}

impl StreamReader {
    pub(super) fn new(tables: Tables, table: &str, description: &Value) -> Result<Self, Error> {
        let arn = description["LatestStreamArn"].as_str();
        let arn =
            arn.ok_or_else(|| Error::new(format!("there is no table {table} with a stream")))?.to_owned();
        let mut reader = Self { tables, table: table.to_owned(), arn, shard: Value::Null, position: None };
        let request = json!({ "StreamArn": reader.arn });
        let mut description = reader.tables.call("DescribeStream", request).map_err(reader.failed())?;
        reader.shard = description["StreamDescription"]["Shards"][0]["ShardId"].take();
        Ok(reader)
    }

    /// The next records after the position, oldest first, at most `limit`, in the form of a Lambda event's `Records`.
    /// Returns the same records until [`advance_to`](Self::advance_to) completes them.
    ///
    /// # Errors
    /// If the database fails.
    pub fn read(&self, limit: usize) -> Result<Vec<Value>, Error> {
        let mut place = json!({ "StreamArn": self.arn, "ShardId": self.shard });
        match &self.position {
            None => place["ShardIteratorType"] = json!("TRIM_HORIZON"),
            Some(position) => {
                place["ShardIteratorType"] = json!("AFTER_SEQUENCE_NUMBER");
                place["SequenceNumber"] = json!(position);
            }
        }
        let iterator = self.tables.call("GetShardIterator", place).map_err(self.failed())?;
        let page = json!({ "ShardIterator": iterator["ShardIterator"], "Limit": limit });
        let mut page = self.tables.call("GetRecords", page).map_err(self.failed())?;
        let Value::Array(mut records) = page["Records"].take() else { return Ok(Vec::new()) };
        let source = json!(self.arn.replacen(dynoxide::streams::LOCAL_REGION, REGION, 1));
        for record in &mut records {
            record["awsRegion"] = json!(REGION);
            record["eventSourceARN"] = source.clone();
        }
        Ok(records)
    }

    /// Continues after the record with this sequence number, even if the record no longer exists.
    pub fn advance_to(&mut self, sequence_number: &str) {
        self.position = Some(sequence_number.to_owned());
    }

    fn failed<E>(&self) -> impl FnOnce(E) -> Error + use<E>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Error::because(format!("cannot read the stream of table {}", self.table))
    }
}
