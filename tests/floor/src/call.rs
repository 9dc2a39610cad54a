//! Recorded DynamoDB calls as inputs of the SDK.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::batch_get_item::builders::BatchGetItemInputBuilder;
use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::builders::TransactWriteItemsInputBuilder;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, KeysAndAttributes, Put, TransactWriteItem, Update,
};
use lambda_http::Error;
use serde::de::{Deserialize, DeserializeOwned};
use serde_json::{Map, Value};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// A call that the measured requests make.
pub(crate) enum Call {
    BatchGetItem(BatchGetItemInputBuilder),
    Query(Box<QueryInputBuilder>),
    TransactWriteItems(TransactWriteItemsInputBuilder),
}

impl Call {
    /// Reads `{"operation": …, "request": …}`, the request in DynamoDB's JSON. Fields that it does not know are lost, and
    /// the server that answers the floor then refuses the call.
    pub(crate) fn read(call: &Value) -> Result<Self, Error> {
        let request = Fields(&call["request"]);
        match call["operation"].as_str() {
            Some("BatchGetItem") => request.batch_get_item().map(Self::BatchGetItem),
            Some("Query") => Ok(Self::Query(Box::new(request.query()?))),
            Some("TransactWriteItems") => request.transact_write_items().map(Self::TransactWriteItems),
            other => Err(format!("cannot make the call {other:?}").into()),
        }
    }

    /// Returns the items that the call finds or puts, if their sort keys begin with `shown`.
    pub(crate) async fn send(&self, dynamodb: &Client, shown: &str) -> Result<Vec<Item>, Error> {
        // Cloned for the allocations of a function that makes the input of each call from its request.
        let mut items: Vec<Item> = match self {
            Self::BatchGetItem(input) => {
                let found = input.clone().send_with(dynamodb).await?.responses.unwrap_or_default();
                found.into_values().flatten().collect()
            }
            Self::Query(input) => input.as_ref().clone().send_with(dynamodb).await?.items.unwrap_or_default(),
            Self::TransactWriteItems(input) => {
                input.clone().send_with(dynamodb).await?;
                let writes = input.get_transact_items().iter().flatten();
                let items = writes.filter_map(|write| Some(&write.put.as_ref()?.item));
                return Ok(items.filter(|item| is_shown(item, shown)).cloned().collect());
            }
        };
        items.retain(|item| is_shown(item, shown));
        Ok(items)
    }
}

fn is_shown(item: &Item, shown: &str) -> bool {
    item.get("sk").and_then(|key| key.as_s().ok()).is_some_and(|key| key.starts_with(shown))
}

/// The fields of a request, or of a part of one.
struct Fields<'a>(&'a Value);

impl Fields<'_> {
    fn batch_get_item(&self) -> Result<BatchGetItemInputBuilder, Error> {
        let mut input = BatchGetItemInputBuilder::default()
            .set_return_consumed_capacity(self.variant("ReturnConsumedCapacity"));
        for (table, keys) in self.0["RequestItems"].as_object().into_iter().flatten() {
            input = input.request_items(table, Fields(keys).keys_and_attributes()?);
        }
        Ok(input)
    }

    fn keys_and_attributes(&self) -> Result<KeysAndAttributes, Error> {
        let keys = self.get::<Vec<serde_dynamo::Item>>("Keys")?.unwrap_or_default();
        Ok(KeysAndAttributes::builder()
            .set_keys(Some(keys.into_iter().map(Item::from).collect()))
            .set_projection_expression(self.get("ProjectionExpression")?)
            .set_expression_attribute_names(self.get("ExpressionAttributeNames")?)
            .set_consistent_read(self.get("ConsistentRead")?)
            .build()?)
    }

    fn query(&self) -> Result<QueryInputBuilder, Error> {
        Ok(QueryInputBuilder::default()
            .set_table_name(self.get("TableName")?)
            .set_index_name(self.get("IndexName")?)
            .set_consistent_read(self.get("ConsistentRead")?)
            .set_key_condition_expression(self.get("KeyConditionExpression")?)
            .set_filter_expression(self.get("FilterExpression")?)
            .set_expression_attribute_values(self.item("ExpressionAttributeValues")?)
            .set_projection_expression(self.get("ProjectionExpression")?)
            .set_expression_attribute_names(self.get("ExpressionAttributeNames")?)
            .set_exclusive_start_key(self.item("ExclusiveStartKey")?)
            .set_scan_index_forward(self.get("ScanIndexForward")?)
            .set_limit(self.get("Limit")?)
            .set_select(self.variant("Select"))
            .set_return_consumed_capacity(self.variant("ReturnConsumedCapacity")))
    }

    fn transact_write_items(&self) -> Result<TransactWriteItemsInputBuilder, Error> {
        let writes = self.get::<Vec<Map<String, Value>>>("TransactItems")?.unwrap_or_default();
        let writes = writes.iter().flatten().map(|(kind, write)| Fields(write).write(kind));
        Ok(TransactWriteItemsInputBuilder::default()
            .set_transact_items(Some(writes.collect::<Result<_, _>>()?))
            .set_client_request_token(self.get("ClientRequestToken")?)
            .set_return_consumed_capacity(self.variant("ReturnConsumedCapacity")))
    }

    fn write(&self, kind: &str) -> Result<TransactWriteItem, Error> {
        let table = self.get("TableName")?;
        let condition = self.get("ConditionExpression")?;
        let names = self.get("ExpressionAttributeNames")?;
        let values = self.item("ExpressionAttributeValues")?;
        // Sets the members that each kind of write has; the SDK's builders share no trait.
        macro_rules! write {
            ($write:expr) => {
                $write
                    .set_table_name(table)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(
                        self.variant("ReturnValuesOnConditionCheckFailure"),
                    )
                    .build()?
            };
        }
        let write = TransactWriteItem::builder();
        let key = self.item("Key")?;
        Ok(match kind {
            "Put" => write.put(write!(Put::builder().set_item(self.item("Item")?))),
            "Update" => {
                let update = Update::builder().set_update_expression(self.get("UpdateExpression")?);
                write.update(write!(update.set_key(key)))
            }
            "Delete" => write.delete(write!(Delete::builder().set_key(key))),
            "ConditionCheck" => write.condition_check(write!(ConditionCheck::builder().set_key(key))),
            other => return Err(format!("cannot make the write {other}").into()),
        }
        .build())
    }

    /// `None` if there is no such field.
    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        Ok(Option::deserialize(&self.0[name])?)
    }

    fn item(&self, name: &str) -> Result<Option<Item>, Error> {
        Ok(self.get::<serde_dynamo::Item>(name)?.map(Item::from))
    }

    /// A field whose values are those of an enumeration of the SDK.
    fn variant<T: for<'a> From<&'a str>>(&self, name: &str) -> Option<T> {
        self.0[name].as_str().map(T::from)
    }
}
