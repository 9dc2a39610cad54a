//! The DynamoDB operations that the back end needs, with parameters and responses in JSON.

use std::time::Duration;

use dynoxide::Database;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::external::{ExternalServices, Failure};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How often to check whether a new table is active, and the pause between checks.
const LOOKS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(50);

/// The tables of one DynamoDB. Clones share them.
#[derive(Clone)]
pub(super) enum Tables {
    /// The emulator in this process.
    Embedded(Database),
    /// In an external service.
    External(ExternalServices),
}

impl Tables {
    /// Calls CreateTable, UpdateTimeToLive, DescribeTable, Scan, or an operation of the stream.
    pub(super) fn call(&self, operation: &str, parameters: Value) -> Result<Value> {
        let database = match self {
            Self::Embedded(database) => database,
            Self::External(services) => return Ok(call_external(services, operation, &parameters)?),
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

    /// Creates a table and waits until it is active.
    pub(super) fn create(&self, parameters: Map<String, Value>) -> Result<()> {
        let name = parameters["TableName"].as_str().unwrap_or_default().to_owned();
        let mut table = self.call("CreateTable", Value::Object(parameters))?["TableDescription"].take();
        for _ in 0..LOOKS {
            if table["TableStatus"] == "ACTIVE" {
                return Ok(());
            }
            #[expect(clippy::disallowed_methods, reason = "the emulator works in real time")]
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

    /// The description of a table; `None` if it does not exist.
    pub(super) fn describe(&self, name: &str) -> Result<Option<Value>> {
        let request = json!({ "TableName": name });
        let mut description = match self {
            Self::Embedded(database) if database.get_table_metadata(name)?.is_none() => return Ok(None),
            Self::Embedded(_) => self.call("DescribeTable", request)?,
            Self::External(services) => match call_external(services, "DescribeTable", &request) {
                Err(Failure::Refused(refused)) if refused.is("ResourceNotFoundException") => return Ok(None),
                answer => answer?,
            },
        };
        Ok(Some(description["Table"].take()))
    }
}

fn call_external(
    services: &ExternalServices,
    operation: &str,
    parameters: &Value,
) -> std::result::Result<Value, Failure> {
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
