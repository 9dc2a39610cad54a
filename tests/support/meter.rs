//! Computes the units that requests consume, by partition key.
//!
//! The units are computed from requests and stored items by DynamoDB's documented rules, because responses report only
//! sums: one unit per KB written and per 4 KB read, twice that for transactional writes, half for eventually consistent
//! reads, and one unit per KB of each index entry that is added, removed or changed. For queries, which use one
//! partition, the response's units are used.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The table's indexes: name, partition key and sort key.
const INDEXES: [(&str, &str, &str); 3] = [
    ("due", "due_shard", "due_at"),
    ("by_status", "by_status_pk", "by_status_sk"),
    ("search", "search_pk", "search_sk"),
];

/// The only non-key attribute in an index.
const PROJECTED: &str = "words";

/// The bytes that DynamoDB adds to each item and index entry.
const OVERHEAD: usize = 100;

/// A partition key of the table or an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// `table`, or the name of the index.
    pub schema: &'static str,
    /// The value of the partition key.
    pub key: String,
}

/// The units that a request consumes under one partition key.
#[derive(Debug, Clone)]
pub struct Load {
    /// The partition key in the table or an index.
    pub place: Place,
    /// Read capacity units.
    pub reads: f64,
    /// Write capacity units.
    pub writes: f64,
    /// Whether the write changes an item, so that the table's stream gets a record.
    pub changes: bool,
}

impl Load {
    fn reading(schema: &'static str, key: String, reads: f64) -> Self {
        Self { place: Place { schema, key }, reads, writes: 0.0, changes: false }
    }

    fn writing(schema: &'static str, key: String, writes: f64) -> Self {
        Self { place: Place { schema, key }, reads: 0.0, writes, changes: false }
    }
}

/// The properties of an item that determine units.
#[derive(Debug, Clone, Default)]
struct Stored {
    bytes: usize,
    entries: [Option<Entry>; INDEXES.len()],
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    pk: String,
    sk: String,
    projected: String,
}

/// Tracks the items of a table, to compute what requests consume.
#[derive(Debug, Default)]
pub struct Meter {
    items: HashMap<(String, String), Stored>,
}

/// A write of one item, and the factor that multiplies its units.
struct Write<'a> {
    key: (String, String),
    after: After<'a>,
    factor: f64,
}

#[derive(PartialEq)]
enum After<'a> {
    Item(&'a Map<String, Value>),
    /// An update of counters or marks, which changes neither size nor index entries.
    Updated,
    /// A condition check without a write.
    Checked,
    Nothing,
}

impl Meter {
    /// Starts with a table of these items, in DynamoDB's JSON.
    pub fn new(items: &[Value]) -> Self {
        let stored = |item: &Value| {
            let item = item.as_object()?;
            Some((key_of(item), Stored::of(item)))
        };
        Self { items: items.iter().filter_map(stored).collect() }
    }

    /// The units that follow from a request alone. For a query, only its partition is known, with 0 units.
    pub fn demand(&self, operation: &str, request: &Value) -> Vec<Load> {
        match operation {
            "BatchGetItem" => tables(request).flat_map(|(keys, of)| self.reads(keys, of)).collect(),
            "GetItem" => self.reads(std::slice::from_ref(&request["Key"]), request),
            "Query" => vec![queried(request, 0.0)],
            _ => writes(operation, request).iter().flat_map(|write| self.writes(write)).collect(),
        }
    }

    /// The units of a request with this response. Updates the tracked items.
    pub fn take(&mut self, operation: &str, request: &Value, response: &Value) -> Vec<Load> {
        if operation == "Query" {
            let units = response["ConsumedCapacity"]["CapacityUnits"].as_f64();
            return vec![queried(request, units.unwrap_or_default())];
        }
        let loads = self.demand(operation, request);
        for Write { key, after, .. } in writes(operation, request) {
            match after {
                After::Item(item) => drop(self.items.insert(key, Stored::of(item))),
                After::Updated => drop(self.items.entry(key).or_default()),
                After::Checked => {}
                After::Nothing => drop(self.items.remove(&key)),
            }
        }
        loads
    }

    fn reads(&self, keys: &[Value], of: &Value) -> Vec<Load> {
        let unit = if of["ConsistentRead"] == true { 1.0 } else { 0.5 };
        let keys = keys.iter().filter_map(Value::as_object).map(key_of);
        keys.map(|key| {
            let units = units(self.items.get(&key).map_or(0, |item| item.bytes), 4096) * unit;
            Load::reading("table", key.0, units)
        })
        .collect()
    }

    fn writes(&self, Write { key, after, factor }: &Write) -> Vec<Load> {
        let before = self.items.get(key).cloned().unwrap_or_default();
        let changes = *after != After::Checked;
        let after = match after {
            After::Item(item) => Stored::of(item),
            After::Updated | After::Checked => before.clone(),
            After::Nothing => Stored::default(),
        };
        let table = units(before.bytes.max(after.bytes), 1024) * factor;
        let mut loads = vec![Load { changes, ..Load::writing("table", key.0.clone(), table) }];
        for ((index, ..), (old, new)) in INDEXES.iter().zip(before.entries.iter().zip(&after.entries)) {
            if old == new {
                continue;
            }
            let is_moved = old.as_ref().zip(new.as_ref()).is_none_or(|(old, new)| !old.is_at(new));
            for entry in new.iter().chain(old.iter().filter(|_| is_moved)) {
                let bytes = key.0.len() + key.1.len() + entry.bytes();
                loads.push(Load::writing(index, entry.pk.clone(), units(bytes, 1024)));
            }
        }
        loads
    }
}

/// The write units of a transaction that puts an item, in DynamoDB's JSON.
pub fn write_units(item: &Map<String, Value>) -> f64 {
    2.0 * units(Stored::of(item).bytes, 1024)
}

/// The bytes that items take in the table and in each index, including DynamoDB's 100 bytes per item.
pub fn sizes(items: &[Value]) -> Vec<(&'static str, usize)> {
    let stored: Vec<Stored> = items.iter().filter_map(Value::as_object).map(Stored::of).collect();
    let mut sizes = vec![("table", stored.iter().map(|item| item.bytes + OVERHEAD).sum())];
    for (number, (index, ..)) in INDEXES.into_iter().enumerate() {
        let entries = stored.iter().filter_map(|item| item.entries[number].as_ref());
        // An entry also contains its item's key, which is about as long as the entry's own key.
        sizes.push((index, entries.map(|entry| 2 * entry.bytes() + OVERHEAD).sum()));
    }
    sizes
}

impl Stored {
    fn of(item: &Map<String, Value>) -> Self {
        let entry = |(_, pk, sk): (&str, &str, &str)| {
            let projected = item.get(PROJECTED).and_then(text).unwrap_or_default();
            Some(Entry { pk: item.get(pk).and_then(text)?, sk: item.get(sk).and_then(text)?, projected })
        };
        let bytes = item.iter().map(|(name, value)| name.len() + bytes_of(value)).sum();
        Self { bytes, entries: INDEXES.map(entry) }
    }
}

impl Entry {
    fn is_at(&self, other: &Self) -> bool {
        (&self.pk, &self.sk) == (&other.pk, &other.sk)
    }

    fn bytes(&self) -> usize {
        self.pk.len() + self.sk.len() + self.projected.len()
    }
}

fn units(bytes: usize, unit: usize) -> f64 {
    bytes.div_ceil(unit).max(1) as f64
}

fn queried(request: &Value, units: f64) -> Load {
    let name = request["IndexName"].as_str();
    let schema = INDEXES.iter().find(|(index, ..)| Some(*index) == name).map_or("table", |(index, ..)| index);
    let key = text(&request["ExpressionAttributeValues"][":pk"]).unwrap_or_default();
    Load::reading(schema, key, units)
}

/// The keys that a batch reads from each table.
fn tables(request: &Value) -> impl Iterator<Item = (&[Value], &Value)> {
    let tables = request["RequestItems"].as_object().into_iter().flat_map(Map::values);
    tables.map(|of| (of["Keys"].as_array().map_or(&[][..], Vec::as_slice), of))
}

fn writes<'a>(operation: &str, request: &'a Value) -> Vec<Write<'a>> {
    let one = |kind: &str, of: &'a Value, factor: f64| {
        let (key, after) = match (kind, of["Item"].as_object()) {
            ("Put", Some(item)) => (item, After::Item(item)),
            ("Delete", _) => (of["Key"].as_object()?, After::Nothing),
            ("ConditionCheck", _) => (of["Key"].as_object()?, After::Checked),
            _ => (of["Key"].as_object()?, After::Updated),
        };
        Some(Write { key: key_of(key), after, factor })
    };
    match operation {
        "TransactWriteItems" => {
            let parts =
                request["TransactItems"].as_array().into_iter().flatten().filter_map(Value::as_object);
            parts.flatten().filter_map(|(kind, of)| one(kind, of, 2.0)).collect()
        }
        "PutItem" | "UpdateItem" | "DeleteItem" => {
            one(operation.trim_end_matches("Item"), request, 1.0).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn key_of(item: &Map<String, Value>) -> (String, String) {
    let part = |name: &str| item.get(name).and_then(text).unwrap_or_default();
    (part("pk"), part("sk"))
}

/// The text of a string or number attribute.
fn text(value: &Value) -> Option<String> {
    value["S"].as_str().or_else(|| value["N"].as_str()).map(str::to_owned)
}

/// The size of a value by DynamoDB's rules.
fn bytes_of(value: &Value) -> usize {
    let Some((kind, value)) = value.as_object().and_then(|value| value.iter().next()) else { return 0 };
    match (kind.as_str(), value) {
        ("N", Value::String(digits)) => digits.len().div_ceil(2) + 1,
        (_, Value::String(text)) => text.len(),
        (_, Value::Array(all)) => 3 + all.iter().map(|one| 1 + bytes_of(one)).sum::<usize>(),
        (_, Value::Object(all)) => {
            3 + all.iter().map(|(name, one)| 1 + name.len() + bytes_of(one)).sum::<usize>()
        }
        _ => 1,
    }
}
