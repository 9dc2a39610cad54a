//! Queries: the items of one partition, of the table or of an index, in the order of their sort keys.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, Select};

use futures_util::stream::{self, Stream};

use crate::domain::id::Id;
use crate::error::Result;
use crate::store::table::handle::Store;
use crate::store::table::item::{Item, string};
use crate::store::table::keys::{ItemCollection, KeySchema, TABLE};
use crate::store::table::read::projection::ProjectionExpression;
use crate::store::table::retry::CallFailure;

/// A query of one partition. Queries of the table are consistent unless they may lag; queries of an index lag behind the table.
#[derive(Clone)]
pub(in crate::store) struct Query {
    schema: KeySchema,
    condition: String,
    values: Item,
    /// The attributes of the rows.
    pub(in crate::store) attributes: ProjectionExpression,
    /// The exclusive start key: that of the row before the first row.
    pub(in crate::store) start: Option<Item>,
    pub(in crate::store) backwards: bool,
    /// The most rows of one call. DynamoDB ends a call at 1 MB anyway.
    pub(in crate::store) limit: Option<usize>,
    pub(in crate::store) counts: bool,
    may_lag: bool,
    filter: Option<RowFilter>,
}

/// Selects rows by the attributes that they have. DynamoDB also reads, and charges for, the rows that it drops.
#[derive(Debug, Clone)]
pub(in crate::store) struct RowFilter {
    expression: String,
    names: HashMap<String, String>,
}

impl RowFilter {
    /// Selects rows that have at least one of the attributes at these paths.
    pub(in crate::store) fn any(paths: impl IntoIterator<Item = Vec<String>>) -> Self {
        let mut names = HashMap::new();
        let mut alternatives = Vec::new();
        for path in paths {
            let path = path.into_iter().map(|name| {
                let alias = format!("#f{}", names.len());
                names.insert(alias.clone(), name);
                alias
            });
            alternatives.push(format!("attribute_exists({})", path.collect::<Vec<_>>().join(".")));
        }
        Self { expression: alternatives.join(" OR "), names }
    }
}

pub(in crate::store) struct QueryPage {
    pub(in crate::store) rows: Vec<Item>,
    pub(in crate::store) count: usize,
    /// The key of the last row; `None` at the end of the partition.
    pub(in crate::store) last: Option<Item>,
}

impl Query {
    pub(in crate::store) fn new(schema: KeySchema, partition: AttributeValue) -> Self {
        Self {
            schema,
            condition: format!("{} = :pk", schema.pk),
            values: Item::from([(":pk".to_owned(), partition)]),
            attributes: ProjectionExpression::ALL,
            start: None,
            backwards: false,
            limit: None,
            counts: false,
            may_lag: false,
            filter: None,
        }
    }

    pub(in crate::store) fn of(collection: &ItemCollection) -> Self {
        let whole = Self::new(TABLE, string(&collection.pk));
        // DynamoDB refuses an empty text in a condition on a key.
        if collection.prefix.is_empty() { whole } else { whole.starting_with(collection.prefix) }
    }

    pub(in crate::store) fn starting_with(self, prefix: impl Into<String>) -> Self {
        let condition = format!("begins_with({}, :sk)", self.schema.sk);
        self.and(&condition, string(prefix))
    }

    pub(in crate::store) fn up_to(self, last: impl Into<String>) -> Self {
        let condition = format!("{} <= :sk", self.schema.sk);
        self.and(&condition, string(last))
    }

    pub(in crate::store) fn after(self, first: impl Into<String>) -> Self {
        let condition = format!("{} > :sk", self.schema.sk);
        self.and(&condition, string(first))
    }

    pub(in crate::store) fn before(self, end: impl Into<String>) -> Self {
        let condition = format!("{} < :sk", self.schema.sk);
        self.and(&condition, string(end))
    }

    /// The rows of a collection with these identifiers.
    pub(in crate::store) fn between<T>(collection: &ItemCollection, ids: RangeInclusive<Id<T>>) -> Self {
        let first = collection.key(ids.start()).sk;
        let last = collection.key(ids.end()).sk;
        Self::new(TABLE, string(&collection.pk)).ranging(first, last)
    }

    pub(in crate::store) fn ranging(self, first: impl Into<String>, last: impl Into<String>) -> Self {
        let condition = format!("{} BETWEEN :sk AND :last", self.schema.sk);
        let mut query = self.and(&condition, string(first));
        query.values.insert(":last".to_owned(), string(last));
        query
    }

    /// Makes the query eventually consistent: at half the price, with rows up to seconds old.
    pub(in crate::store) fn that_may_lag(self) -> Self {
        Self { may_lag: true, ..self }
    }

    /// The last `most` rows, in reverse order.
    pub(in crate::store) fn latest(self, most: usize) -> Self {
        Self { backwards: true, limit: Some(most), ..self }
    }

    /// The attribute names that the placeholders in the expressions stand for; `None` if there are none.
    fn names(&self) -> Option<HashMap<String, String>> {
        let mut names = self.attributes.names().unwrap_or_default();
        names.extend(self.filter.iter().flat_map(|filter| filter.names.clone()));
        (!names.is_empty()).then_some(names)
    }

    pub(in crate::store) fn filtered(self, filter: RowFilter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    fn and(mut self, condition: &str, value: AttributeValue) -> Self {
        self.condition = format!("{} AND {condition}", self.condition);
        self.values.insert(":sk".to_owned(), value);
        self
    }
}

impl Store {
    /// Makes one call to DynamoDB.
    pub(in crate::store) async fn query(&self, query: &Query) -> Result<QueryPage> {
        self.with_retries(|| async {
            let limit = query.limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX));
            let response = self
                .client()
                .query()
                .table_name(self.table())
                .set_index_name(query.schema.name.map(str::to_owned))
                // DynamoDB has no consistent reads of indexes.
                .consistent_read(query.schema.name.is_none() && !query.may_lag)
                .key_condition_expression(&query.condition)
                .set_filter_expression(query.filter.as_ref().map(|filter| filter.expression.clone()))
                .set_expression_attribute_values(Some(query.values.clone()))
                .set_projection_expression(query.attributes.expression())
                .set_expression_attribute_names(query.names())
                .set_exclusive_start_key(query.start.clone())
                .scan_index_forward(!query.backwards)
                .set_limit(limit)
                .set_select(query.counts.then_some(Select::Count))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(CallFailure::of)?;
            self.usage.count_reads(response.consumed_capacity());
            Ok(QueryPage {
                count: usize::try_from(response.count).unwrap_or(0),
                rows: response.items.unwrap_or_default(),
                last: response.last_evaluated_key,
            })
        })
        .await
    }

    /// Streams the pages of a query, one call to DynamoDB each.
    pub(in crate::store) fn query_pages(
        &self,
        query: Query,
    ) -> impl Stream<Item = Result<QueryPage>> + Send + '_ {
        stream::try_unfold(Some(query), move |query| async move {
            let Some(query) = query else { return Ok(None) };
            let page = self.query(&query).await?;
            let next = page.last.clone().map(|last| Query { start: Some(last), ..query });
            Ok(Some((page, next)))
        })
    }

    /// Calls DynamoDB until there are `most` rows, or no more.
    pub(in crate::store) async fn query_rows(&self, mut query: Query, most: usize) -> Result<Vec<Item>> {
        let mut rows = Vec::new();
        query.limit = Some(most);
        loop {
            let found = self.query(&query).await?;
            rows.extend(found.rows);
            if rows.len() >= most || found.last.is_none() {
                rows.truncate(most);
                return Ok(rows);
            }
            query.start = found.last;
            // No limit with a filter: it would count rows that the filter drops, which are many.
            query.limit = Some(most - rows.len()).filter(|_| query.filter.is_none());
        }
    }

    /// Every item of a collection, the oldest first.
    pub(in crate::store) async fn all_items(&self, collection: &ItemCollection) -> Result<Vec<Item>> {
        self.query_rows(Query::of(collection), usize::MAX).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples;
    use crate::store::table::keys;

    #[test]
    fn no_condition_has_an_empty_text() {
        let id = samples::company().id;
        for collection in [keys::history(&id, "h"), keys::projects(&id)] {
            let query = Query::of(&collection);
            assert!(query.values.values().all(|value| value.as_s().is_ok_and(|text| !text.is_empty())));
            assert_eq!(query.condition.contains(":sk"), query.values.contains_key(":sk"));
        }
    }
}
