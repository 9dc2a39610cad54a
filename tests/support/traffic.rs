//! Concurrent transactions and their items.

use std::collections::HashSet;

use serde_json::Value;

/// Tracks transactions in progress by their items.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    under_way: Vec<HashSet<String>>,
    pub(crate) most: usize,
    pub(crate) meetings: usize,
}

impl Traffic {
    pub(crate) fn enter(&mut self, items: &HashSet<String>) {
        self.meetings += self.under_way.iter().filter(|others| !others.is_disjoint(items)).count();
        self.under_way.push(items.clone());
        self.most = self.most.max(self.under_way.len());
    }

    pub(crate) fn leave(&mut self, items: &HashSet<String>) {
        let place = self.under_way.iter().position(|others| others == items);
        place.map(|place| self.under_way.swap_remove(place));
    }
}

/// The keys of the items in a transaction; empty for other requests.
pub(crate) fn items_of(operation: &str, body: &[u8]) -> HashSet<String> {
    if operation != "TransactWriteItems" {
        return HashSet::new();
    }
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let parts = request["TransactItems"].as_array().into_iter().flatten().filter_map(Value::as_object);
    let keys = parts.flat_map(|part| part.values()).map(|write| {
        let key = if write["Key"].is_object() { &write["Key"] } else { &write["Item"] };
        format!("{} {}", key["pk"], key["sk"])
    });
    keys.collect()
}
