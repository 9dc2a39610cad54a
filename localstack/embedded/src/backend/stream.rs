//! The stream of a table, as Lambda's event source mapping reads it.

use dynoxide::Database;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::REGION;
use crate::Error;

/// Reads the stream of one table in order. The emulator gives each table a single shard.
pub struct StreamReader {
    database: Database,
    table: String,
    arn: String,
    shard: Value,
    /// The sequence number of the last record that is done with.
    position: Option<String>,
}

impl StreamReader {
    pub(super) fn new(database: Database, table: &str, description: &Value) -> Result<Self, Error> {
        let arn = description["LatestStreamArn"].as_str();
        let arn =
            arn.ok_or_else(|| Error::new(format!("there is no table {table} with a stream")))?.to_owned();
        let mut reader = Self { database, table: table.to_owned(), arn, shard: Value::Null, position: None };
        let description = request(json!({ "StreamArn": reader.arn })).map_err(reader.failed())?;
        let description = reader.database.describe_stream(description).map_err(reader.failed())?;
        let mut description = serde_json::to_value(description).map_err(reader.failed())?;
        reader.shard = description["StreamDescription"]["Shards"][0]["ShardId"].take();
        Ok(reader)
    }

    /// The next records after the position, oldest first and `limit` of them at most, each as it stands in the `Records`
    /// of a Lambda event. The same ones again until [`advance_to`](Self::advance_to) says that they are done with.
    ///
    /// # Errors
    /// When the database fails.
    pub fn read(&self, limit: usize) -> Result<Vec<Value>, Error> {
        let mut place = json!({ "StreamArn": self.arn, "ShardId": self.shard });
        match &self.position {
            None => place["ShardIteratorType"] = json!("TRIM_HORIZON"),
            Some(position) => {
                place["ShardIteratorType"] = json!("AFTER_SEQUENCE_NUMBER");
                place["SequenceNumber"] = json!(position);
            }
        }
        let place = request(place).map_err(self.failed())?;
        let iterator = self.database.get_shard_iterator(place).map_err(self.failed())?.shard_iterator;
        let page = request(json!({ "ShardIterator": iterator, "Limit": limit })).map_err(self.failed())?;
        let records = self.database.get_records(page).map_err(self.failed())?.records;
        let source = json!(self.arn.replacen(dynoxide::streams::LOCAL_REGION, REGION, 1));
        let records = records.iter().map(|record| {
            let mut record = serde_json::to_value(record)?;
            record["awsRegion"] = json!(REGION);
            record["eventSourceARN"] = source.clone();
            Ok(record)
        });
        records.collect::<Result<_, serde_json::Error>>().map_err(self.failed())
    }

    /// Goes on after the record of this sequence number, which need not exist any more.
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

fn request<T: DeserializeOwned>(parameters: Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(parameters)
}
