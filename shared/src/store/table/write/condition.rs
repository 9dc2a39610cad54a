//! The conditions and the update expressions of writes.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, Utc};

use crate::store::table::item::{self, Item, StoredEntity, VERSION, number};

#[derive(Clone, Copy)]
pub(in crate::store) enum WriteCondition {
    None,
    Absent,
    /// No item exists, or it has expired by this time.
    AbsentOrExpired(DateTime<Utc>),
    Present,
    /// The item has this version.
    Version(u64),
    /// The item has this attribute, and it is true.
    True(&'static str),
    /// No item exists, or it lacks this attribute.
    Without(&'static str),
}

/// The condition that a customer, label or video exists and is not being deleted.
pub(in crate::store) const IS_ACTIVE: WriteCondition = WriteCondition::True("is_active");

impl WriteCondition {
    pub(in crate::store) fn expression(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Absent => Some("attribute_not_exists(pk)".to_owned()),
            // DynamoDB may leave an expired item in place for days.
            Self::AbsentOrExpired(_) => Some("attribute_not_exists(pk) OR expires_at <= :now".to_owned()),
            Self::Present => Some("attribute_exists(pk)".to_owned()),
            Self::Version(_) => Some("version = :version".to_owned()),
            Self::True(flag) => Some(format!("{flag} = :yes")),
            Self::Without(attribute) => Some(format!("attribute_not_exists({attribute})")),
        }
    }

    pub(in crate::store) fn values(self) -> Option<Item> {
        let (name, value) = match self {
            Self::None | Self::Absent | Self::Present | Self::Without(_) => return None,
            Self::AbsentOrExpired(now) => (":now", number(now.timestamp())),
            Self::Version(version) => (":version", number(version)),
            Self::True(_) => (":yes", AttributeValue::Bool(true)),
        };
        Some(Item::from([(name.to_owned(), value)]))
    }
}

/// An update of single attributes. Also increments the version.
pub(in crate::store) struct AttributeUpdate {
    pub(in crate::store) expression: String,
    pub(in crate::store) condition: Option<String>,
    pub(in crate::store) names: Vec<(String, String)>,
    pub(in crate::store) values: Item,
}

impl AttributeUpdate {
    /// An update by an expression without `ADD`. `values` are those that the expression and its condition refer to.
    pub(in crate::store) fn set<const N: usize>(
        expression: &str,
        values: [(&str, AttributeValue); N],
    ) -> Self {
        values
            .into_iter()
            .fold(Self::of(format!("{expression} ADD")), |change, (name, value)| change.with(name, value))
    }

    fn of(expression: String) -> Self {
        Self {
            // Every write increments the version, so that concurrent writes based on the former version fail.
            expression: format!("{expression} {VERSION} :one"),
            condition: None,
            names: Vec::new(),
            values: Item::from([(":one".to_owned(), number(1))]),
        }
    }

    /// Creates an entity; if it exists, only increments its version.
    pub(in crate::store) fn unless_there(entity: &impl StoredEntity) -> crate::error::Result<Self> {
        let mut item = item::write(entity, 1)?;
        let key = entity.key().into_attributes();
        item.retain(|name, _| !key.contains_key(name) && name != VERSION);
        let mut change =
            Self { expression: String::new(), condition: None, names: Vec::new(), values: Item::new() };
        for (index, (name, value)) in item.into_iter().enumerate() {
            let separator = if index == 0 { "SET" } else { "," };
            change
                .expression
                .push_str(&format!("{separator} #n{index} = if_not_exists(#n{index}, :n{index})"));
            change.names.push((format!("#n{index}"), name));
            change.values.insert(format!(":n{index}"), value);
        }
        change.expression.push_str(&format!(" ADD {VERSION} :one"));
        Ok(change.with(":one", number(1)))
    }

    /// Adds to counters, which start at zero.
    pub(in crate::store) fn add(counters: impl IntoIterator<Item = (String, i64)>) -> Self {
        let mut change = Self::of("ADD".to_owned());
        for (index, (name, count)) in counters.into_iter().enumerate() {
            change.expression.push_str(&format!(", #n{index} :n{index}"));
            change.names.push((format!("#n{index}"), name));
            change.values.insert(format!(":n{index}"), number(count));
        }
        change
    }

    /// Sets this attribute to true as well.
    pub(in crate::store) fn marking(mut self, attribute: &str) -> Self {
        self.expression = format!("SET {attribute} = :yes {}", self.expression);
        self.with(":yes", AttributeValue::Bool(true))
    }

    pub(in crate::store) fn when(self, condition: impl Into<String>) -> Self {
        Self { condition: Some(condition.into()), ..self }
    }

    /// Adds a value that the condition refers to.
    pub(in crate::store) fn with(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }
}
