//! The operations of DynamoDB that the back end itself needs, with their parameters and answers in JSON.

use std::time::Duration;

use dynoxide::Database;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::elsewhere::{Elsewhere, Failure};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How often DynamoDB is asked whether a new table can be used yet, and how long it is waited in between.
const LOOKS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(50);

/// All tables of one DynamoDB. Clones share them.
#[derive(Clone)]
pub(super) enum Tables {
    /// In this process.
    Here(Database),
    /// Run by somebody else.
    There(Elsewhere),
}

impl Tables {
    /// Calls CreateTable, UpdateTimeToLive, DescribeTable, Scan, or an operation of the stream.
    pub(super) fn call(&self, operation: &str, parameters: Value) -> Result<Value> {
        let database = match self {
            Self::Here(database) => database,
            Self::There(services) => return Ok(there(services, operation, &parameters)?),
        };
        match operation {
            "CreateTable" => with(parameters, |request| database.create_table(request)),
            "DescribeTable" => with(parameters, |request| database.describe_table(request)),
            "UpdateTimeToLive" => with(parameters, |request| database.update_time_to_live(request)),
            "DescribeStream" => with(parameters, |request| database.describe_stream(request)),
            "GetShardIterator" => with(parameters, |request| database.get_shard_iterator(request)),
            "GetRecords" => with(parameters, |request| database.get_records(request)),
            "Scan" => with(parameters, |request| database.scan(request)),
            other => Err(format!("the back end does not know {other}").into()),
        }
    }

    /// Creates a table, which can be used once this returns.
    pub(super) fn create(&self, parameters: Map<String, Value>) -> Result<()> {
        let name = parameters["TableName"].as_str().unwrap_or_default().to_owned();
        let mut table = self.call("CreateTable", Value::Object(parameters))?["TableDescription"].take();
        for _ in 0..LOOKS {
            if table["TableStatus"] == "ACTIVE" {
                return Ok(());
            }
            std::thread::sleep(BETWEEN);
            table = self.describe(&name)?.unwrap_or_default();
        }
        Err(format!("the table is still {}", table["TableStatus"]).into())
    }

    /// Every item of a table, in DynamoDB's JSON.
    pub(super) fn items(&self, table: &str) -> Result<Vec<Value>> {
        let mut request = json!({ "TableName": table, "ConsistentRead": true });
        let mut items = Vec::new();
        loop {
            let mut page = self.call("Scan", request.clone())?;
            if let Value::Array(found) = page["Items"].take() {
                items.extend(found);
            }
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"].take();
            if request["ExclusiveStartKey"].is_null() {
                return Ok(items);
            }
        }
    }

    /// What DynamoDB knows of a table; none when there is no such table.
    pub(super) fn describe(&self, name: &str) -> Result<Option<Value>> {
        let request = json!({ "TableName": name });
        let mut description = match self {
            Self::Here(database) if database.get_table_metadata(name)?.is_none() => return Ok(None),
            Self::Here(_) => self.call("DescribeTable", request)?,
            Self::There(services) => match there(services, "DescribeTable", &request) {
                Err(Failure::Refused(refused)) if refused.is("ResourceNotFoundException") => return Ok(None),
                answer => answer?,
            },
        };
        Ok(Some(description["Table"].take()))
    }
}

fn there(services: &Elsewhere, operation: &str, parameters: &Value) -> std::result::Result<Value, Failure> {
    let service = match operation {
        "DescribeStream" | "GetShardIterator" | "GetRecords" => "DynamoDBStreams",
        _ => "DynamoDB",
    };
    services.call("dynamodb", &format!("{service}_20120810.{operation}"), parameters)
}

fn with<P, A, E>(parameters: Value, call: impl FnOnce(P) -> std::result::Result<A, E>) -> Result<Value>
where
    P: DeserializeOwned,
    A: Serialize,
    E: std::error::Error + Send + Sync + 'static,
{
    Ok(serde_json::to_value(call(serde_json::from_value(parameters)?)?)?)
}
