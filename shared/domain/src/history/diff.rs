//! How a write changes the fields of a resource, as its history keeps it.
//!
//! The history keeps the values of facts, because clients branch on them and they identify no person. Of all other fields, it
//! keeps only the names.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::history::erasure::{CopyRetention, ErasureDetails};
use crate::id::{CustomerId, QuestionId};

/// The value of a field. The variant says what the history keeps of its changes.
#[derive(Clone, PartialEq)]
pub enum FieldValue {
    /// The history keeps the former and the new value.
    Fact(Value),
    /// The history keeps which customers were added and removed.
    Customers(BTreeSet<CustomerId>),
    /// The history keeps only the field's name.
    Private(Value),
}

pub(crate) fn fact(value: &impl Serialize) -> FieldValue {
    FieldValue::Fact(json(value))
}

pub(crate) fn customers<'a>(all: impl IntoIterator<Item = &'a CustomerId>) -> FieldValue {
    FieldValue::Customers(all.into_iter().copied().collect())
}

pub(crate) fn private(value: &impl Serialize) -> FieldValue {
    FieldValue::Private(json(value))
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The fields that a write changed, without personal data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldChanges {
    /// The names of the changed fields in the API; empty for a new resource.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<String>,
    /// The values of the facts after the change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Value>,
    /// The former values of those facts that the write changed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub previous: BTreeMap<String, Value>,
    /// The customers who were added, by field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub added: BTreeMap<String, BTreeSet<CustomerId>>,
    /// The customers who were removed, by field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<String, BTreeSet<CustomerId>>,
    /// The question whose answer the change is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
    /// The counts of everything that was erased after the deletion of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureDetails>,
    /// When the resource was first deleted; only in the entry of an erasure. Receipts show it, events do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<DateTime<Utc>>,
    /// How long copies were kept at the time; only in the entry of an erasure. Receipts show it, events do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<CopyRetention>,
}

impl FieldChanges {
    /// The difference between two lists of fields; `before` is `None` for a new resource.
    pub(crate) fn between(
        before: Option<Vec<(&'static str, FieldValue)>>,
        after: Vec<(&'static str, FieldValue)>,
    ) -> Self {
        let is_new = before.is_none();
        let mut before: BTreeMap<&str, FieldValue> = before.into_iter().flatten().collect();
        let mut changes = Self::default();
        for (name, now) in after {
            let was = before.remove(name);
            let has_changed = !is_new && was.as_ref() != Some(&now);
            if has_changed {
                changes.changed.insert(name.to_owned());
            }
            changes.add(name, was, now, has_changed);
        }
        changes
    }

    fn add(&mut self, name: &str, was: Option<FieldValue>, now: FieldValue, has_changed: bool) {
        match now {
            FieldValue::Fact(now) => {
                if let Some(FieldValue::Fact(was)) = was.filter(|_| has_changed) {
                    self.previous.insert(name.to_owned(), was);
                }
                // Every change carries all facts, so that receivers need not fetch them. A null that has not changed carries no
                // information.
                if has_changed || !now.is_null() {
                    self.facts.insert(name.to_owned(), now);
                }
            }
            FieldValue::Customers(now) => {
                let was = if let Some(FieldValue::Customers(was)) = was { was } else { BTreeSet::new() };
                let differences = [(&mut self.added, &now - &was), (&mut self.removed, &was - &now)];
                for (differences, customers) in differences.into_iter().filter(|(_, all)| !all.is_empty()) {
                    differences.insert(name.to_owned(), customers);
                }
            }
            // Keep only the name, so that logs, receivers and backups of events hold no personal data.
            FieldValue::Private(_) => {}
        }
    }

    /// Adds facts that are not fields of the resource.
    pub(crate) fn tell<const N: usize>(&mut self, facts: [(&'static str, FieldValue); N]) {
        for (name, value) in facts {
            if let FieldValue::Fact(value) = value {
                self.facts.insert(name.to_owned(), value);
            }
        }
    }

    /// Whether this field has changed.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.changed.contains(field)
    }

    /// Whether any field other than `fields` has changed.
    pub(crate) fn has_other_than(&self, fields: &[&str]) -> bool {
        self.changed.iter().any(|field| !fields.contains(&field.as_str()))
    }
}
