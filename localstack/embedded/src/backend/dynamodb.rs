//! DynamoDB: an emulator over SQLite, with tables made from the template.

use std::path::Path;

use dynoxide::Database;
use serde_json::{Map, Value, json};

use super::server::Server;
use crate::template::TableDefinition;
use crate::{Error, Template};

pub(super) struct Dynamodb {
    database: Database,
    server: Server,
    definition: TableDefinition,
}

impl Dynamodb {
    /// `None` keeps everything in memory.
    pub(super) fn start(file: Option<&Path>, template: &Template) -> Result<Self, Error> {
        let definition = template.table()?;
        let database = match file {
            None => Database::memory(),
            Some(path) => Database::new(&path.to_string_lossy()),
        };
        let database = database.map_err(Error::because("cannot open the database"))?;
        let served = database.clone();
        let server = Server::start("dynamodb", 2, async move |listener, stop| {
            if let Err(error) =
                dynoxide::server::serve_with_shutdown(listener, served, stop.requested()).await
            {
                tracing::error!(%error, "the DynamoDB emulator failed");
            }
        })?;
        Ok(Self { database, server, definition })
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
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
        let request = serde_json::from_value(Value::Object(parameters)).map_err(Error::because(failed()))?;
        self.database.create_table(request).map_err(Error::because(failed()))?;
        if let Some(attribute) = &self.definition.ttl_attribute {
            let specification = json!({ "AttributeName": attribute, "Enabled": true });
            let request = json!({ "TableName": name, "TimeToLiveSpecification": specification });
            let request = serde_json::from_value(request).map_err(Error::because(failed()))?;
            self.database.update_time_to_live(request).map_err(Error::because(failed()))?;
        }
        Ok(())
    }

    fn describe(&self, name: &str) -> Result<Option<Value>, Error> {
        let failed = || format!("cannot describe table {name}");
        if self.database.get_table_metadata(name).map_err(Error::because(failed()))?.is_none() {
            return Ok(None);
        }
        let request =
            serde_json::from_value(json!({ "TableName": name })).map_err(Error::because(failed()))?;
        let description = self.database.describe_table(request).map_err(Error::because(failed()))?;
        let mut description = serde_json::to_value(description).map_err(Error::because(failed()))?;
        Ok(Some(description["Table"].take()))
    }
}

/// What makes two tables hold the same items and answer the same queries, whatever the order it is written in.
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

    #[test]
    fn a_table_of_another_definition_is_refused() {
        let mut dynamodb = Dynamodb::start(None, &Template::of_workspace().unwrap()).unwrap();
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
}
