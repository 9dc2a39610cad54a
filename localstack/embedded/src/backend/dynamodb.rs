//! DynamoDB: an emulator on SQLite, or an external service. Tables are created from the template.

use std::path::Path;

use dynoxide::Database;
use dynoxide::storage::Storage;
use serde_json::{Map, Value, json};

use super::external::ExternalServices;
use super::server::Server;
use super::stream::StreamReader;
use super::tables::Tables;
use crate::template::TableDefinition;
use crate::{Error, Template};

/// For each write, the emulator looks up the greatest sequence number of the table's stream. Without this index, writes
/// become slower as the stream grows.
const INDEX_STREAMS: &str = "CREATE INDEX IF NOT EXISTS stream_order
    ON _stream_records (table_name, CAST(sequence_number AS INTEGER))";

/// The emulator keeps stream records for ever; DynamoDB keeps them for a day.
const FORGET_OLD_RECORDS: &str = "DELETE FROM _stream_records WHERE created_at < unixepoch() - 86400";

pub(super) struct Dynamodb {
    tables: Tables,
    url: String,
    definition: TableDefinition,
    /// `None` for an external service.
    _server: Option<Server>,
}

impl Dynamodb {
    /// Starts the emulator. Without `file`, the data is in memory; `folder` is for temporary files.
    pub(super) fn start(file: Option<&Path>, folder: &Path, template: &Template) -> Result<Self, Error> {
        let definition = template.table()?;
        let database = match file {
            None => in_memory(folder)?,
            Some(path) => in_file(path)?,
        };
        let served = database.clone();
        // SQLite handles one request at a time; the other threads parse requests in the meantime.
        let server = Server::start("dynamodb", 4, 0, async move |listener, stop| {
            if let Err(error) =
                dynoxide::server::serve_with_shutdown(listener, served, stop.requested()).await
            {
                tracing::error!(%error, "the DynamoDB emulator failed");
            }
        })?;
        Ok(Self { tables: Tables::Embedded(database), url: server.url(), definition, _server: Some(server) })
    }

    pub(super) fn external(services: &ExternalServices, template: &Template) -> Result<Self, Error> {
        let tables = Tables::External(services.clone());
        Ok(Self { tables, url: services.url(), definition: template.table()?, _server: None })
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    pub(super) fn create_table(&self, name: &str) -> Result<(), Error> {
        let mut parameters = self.definition.parameters.clone();
        parameters.insert("TableName".to_owned(), json!(name));
        if let Some(existing) = self.describe(name)? {
            return if shape(&existing) == shape(&Value::Object(parameters)) {
                Ok(())
            } else {
                Err(Error::new(format!("table {name} was made from another definition than the template's")))
            };
        }
        let failed = || format!("cannot create table {name} as the template defines it");
        self.tables.create(parameters).map_err(Error::because(failed()))?;
        if let Some(attribute) = &self.definition.ttl_attribute {
            let specification = json!({ "AttributeName": attribute, "Enabled": true });
            let request = json!({ "TableName": name, "TimeToLiveSpecification": specification });
            self.tables.call("UpdateTimeToLive", request).map_err(Error::because(failed()))?;
        }
        Ok(())
    }

    pub(super) fn has_table(&self, name: &str) -> Result<bool, Error> {
        Ok(self.describe(name)?.is_some())
    }

    pub(super) fn stream(&self, table: &str) -> Result<StreamReader, Error> {
        let description = self.describe(table)?.unwrap_or_default();
        StreamReader::new(self.tables.clone(), table, &description)
    }

    pub(super) fn items(&self, table: &str) -> Result<Vec<Value>, Error> {
        self.tables.items(table).map_err(Error::because(format!("cannot scan table {table}")))
    }

    fn describe(&self, name: &str) -> Result<Option<Value>, Error> {
        self.tables.describe(name).map_err(Error::because(format!("cannot describe table {name}")))
    }
}

fn in_file(path: &Path) -> Result<Database, Error> {
    let path = path.to_string_lossy();
    let storage = Storage::new(&path).map_err(Error::because(UNUSABLE))?;
    for statement in [INDEX_STREAMS, FORGET_OLD_RECORDS] {
        storage.conn().execute_batch(statement).map_err(Error::because(UNUSABLE))?;
    }
    drop(storage);
    let database = Database::new(&path).map_err(Error::because(UNUSABLE))?;
    // SQLite's synchronous=NORMAL: otherwise every transaction waits for the disk, and all others wait for it. 16
    // connections got 387 and 402 requests a second instead of 572 and 556 (`tests/bench throughput`). A crash of the
    // process loses nothing; a crash of the computer loses the last transactions.
    database.disable_bulk_loading().map_err(Error::because(UNUSABLE))?;
    Ok(database)
}

/// Copies the database through a file, because the emulator offers no direct access to a database in memory.
fn in_memory(folder: &Path) -> Result<Database, Error> {
    let path = folder.join("empty.sqlite");
    let path = path.to_string_lossy();
    let storage = Storage::memory().map_err(Error::because(UNUSABLE))?;
    storage.conn().execute_batch(INDEX_STREAMS).map_err(Error::because(UNUSABLE))?;
    storage.vacuum_into(&path).map_err(Error::because(UNUSABLE))?;
    let database = Database::memory().map_err(Error::because(UNUSABLE))?;
    database.restore_from(&path).map_err(Error::because(UNUSABLE))?;
    Ok(database)
}

const UNUSABLE: &str = "cannot open the database";

/// The parts of a definition that affect items and queries, in a form that does not depend on their order.
fn shape(table: &Value) -> Value {
    let indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
    let indexes: Map<_, _> = indexes
        .map(|index| {
            let name = index["IndexName"].as_str().unwrap_or_default().to_owned();
            (name, json!([by_attribute(&index["KeySchema"]), index["Projection"]["ProjectionType"]]))
        })
        .collect();
    json!({
        "keys": by_attribute(&table["KeySchema"]),
        "types": by_attribute(&table["AttributeDefinitions"]),
        "indexes": indexes,
        "stream": table["StreamSpecification"]["StreamViewType"],
    })
}

fn by_attribute(list: &Value) -> Map<String, Value> {
    let items = list.as_array().into_iter().flatten();
    items
        .map(|item| {
            let name = item["AttributeName"].as_str().unwrap_or_default();
            let what = item.get("KeyType").or_else(|| item.get("AttributeType"));
            (name.to_owned(), what.cloned().unwrap_or_default())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Folder;

    #[test]
    fn a_table_of_another_definition_is_refused() {
        let folder = Folder::temporary().unwrap();
        let template = Template::of_workspace().unwrap();
        let mut dynamodb = Dynamodb::start(None, folder.path(), template).unwrap();
        dynamodb.create_table("interviews-test").unwrap();
        if let Some(Value::Array(attributes)) = dynamodb.definition.parameters.get_mut("AttributeDefinitions")
        {
            attributes.reverse();
        }
        dynamodb.create_table("interviews-test").unwrap();
        dynamodb.definition.parameters.remove("GlobalSecondaryIndexes");
        let refusal = dynamodb.create_table("interviews-test").err().unwrap().to_string();
        assert!(refusal.contains("made from another definition"), "{refusal}");
    }

    #[test]
    fn old_stream_records_go_at_the_next_start() {
        let folder = Folder::temporary().unwrap();
        let path = folder.path().join("dynamodb.sqlite");
        let template = Template::of_workspace().unwrap();
        let table = "interviews-test";
        {
            let dynamodb = Dynamodb::start(Some(&path), folder.path(), template).unwrap();
            dynamodb.create_table(table).unwrap();
            put(database(&dynamodb), table, 0..3);
        }
        let storage = Storage::new(&path.to_string_lossy()).unwrap();
        let age = "UPDATE _stream_records SET created_at = created_at - 90000 WHERE id < 3";
        storage.conn().execute_batch(age).unwrap();
        drop(storage);
        let dynamodb = Dynamodb::start(Some(&path), folder.path(), template).unwrap();
        let records = dynamodb.stream(table).unwrap().read(10).unwrap();
        let keys: Vec<_> = records.iter().map(|record| &record["dynamodb"]["Keys"]["pk"]["S"]).collect();
        assert_eq!(keys, ["2"]);
    }

    /// Prints figures: `cargo test -p embedded --lib -- --ignored --nocapture as_quick`.
    #[test]
    #[ignore = "measures, which says nothing while other tests run"]
    #[expect(clippy::print_stdout, reason = "the figures are what it is for")]
    fn a_write_stays_as_quick_when_there_are_many_stream_records() {
        let folder = Folder::temporary().unwrap();
        let template = Template::of_workspace().unwrap();
        let dynamodb = Dynamodb::start(None, folder.path(), template).unwrap();
        dynamodb.create_table("interviews-test").unwrap();
        let plain = Database::memory().unwrap();
        let mut parameters = Value::Object(dynamodb.definition.parameters.clone());
        parameters["TableName"] = json!("interviews-test");
        plain.create_table(serde_json::from_value(parameters).unwrap()).unwrap();
        let mut slowest = Vec::new();
        for (name, database) in [("with the index", database(&dynamodb)), ("without", &plain)] {
            let mut times = Vec::new();
            for thousand in 0..20 {
                let time = shared::clock::Stopwatch::start();
                put(database, "interviews-test", thousand * 1000..(thousand + 1) * 1000);
                times.push(time.elapsed() / 1000);
            }
            println!("{name}: a write took {:?} at first, {:?} after 20,000", times[0], times[19]);
            slowest.push(times[19]);
        }
        assert!(slowest[0] * 5 < slowest[1]);
    }

    fn database(dynamodb: &Dynamodb) -> &Database {
        match &dynamodb.tables {
            Tables::Embedded(database) => database,
            Tables::External(_) => panic!("somebody else's"),
        }
    }

    fn put(database: &Database, table: &str, keys: std::ops::Range<usize>) {
        for key in keys {
            let item = json!({ "pk": { "S": key.to_string() }, "sk": { "S": "x" } });
            let request = json!({ "TableName": table, "Item": item });
            database.put_item(serde_json::from_value(request).unwrap()).unwrap();
        }
    }
}
