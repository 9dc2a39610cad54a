//! The table as it is stored, past all code of the service.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, DeleteRequest, KeySchemaElement, KeyType, PutRequest,
    ScalarAttributeType, Select, WriteRequest,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shared::app::App;
use shared::domain::answers::Answers;
use shared::domain::candidate::Candidate;
use shared::domain::candidate::search_words::WordSource;
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::media::file::FileType;
use shared::domain::media::upload::{Upload, UploadStatus};
use shared::domain::media::video::{Rendition, Video};
use shared::domain::staff::customer::Customer;
use shared::media::{AnswerObjects, object_key, rendition_key};

use crate::caller::last_segment;

/// The attribute of items that tests write past all rules, so that their histories begin later.
pub(crate) const PAST_RULES: &str = "past_rules";

/// An item as DynamoDB has it.
pub type Item = HashMap<String, AttributeValue>;
/// Every item of a table at one moment.
pub type Contents = BTreeMap<Key, Item>;
/// Partition and sort key.
pub type Key = (String, String);

/// How many items one call writes at most.
pub(crate) const BATCH: usize = 25;

/// The table of one test.
pub struct Table<'a> {
    client: &'a Client,
    name: &'a str,
}

impl<'a> Table<'a> {
    pub(crate) fn of(app: &'a App) -> Self {
        Self { client: app.aws().dynamodb(), name: &app.config().table }
    }

    /// Every item but sessions, as JSON by partition and sort key. Sessions come and go with callers.
    pub async fn snapshot(&self) -> BTreeMap<Key, Value> {
        let items = self.items().await.into_iter().filter(|((pk, _), _)| !pk.starts_with("SESSION#"));
        items.map(|(key, item)| (key, serde_dynamo::from_item(item).expect("JSON"))).collect()
    }

    /// How many sessions are stored.
    pub async fn sessions(&self) -> usize {
        self.items().await.keys().filter(|(pk, _)| pk.starts_with("SESSION#")).count()
    }

    /// All items whose partition key begins so, as one text: for what must not be stored in the clear.
    pub async fn text(&self) -> String {
        self.items().await.values().map(|item| format!("{item:?}\n")).collect()
    }

    /// Everything as it is, to be had again.
    pub async fn contents(&self) -> Contents {
        self.items().await
    }

    /// Makes the table what it was, as a restoration does.
    pub async fn restore(&self, contents: &Contents) {
        let present = self.items().await;
        let erased = present.keys().filter(|key| !contents.contains_key(*key)).cloned();
        let put = contents.iter().filter(|(key, item)| present.get(*key) != Some(*item));
        self.write(erased, put.map(|(_, item)| item.clone())).await;
    }

    /// The table with another name.
    pub fn named<'b>(&self, name: &'b str) -> Table<'b>
    where
        'a: 'b,
    {
        Table { client: self.client, name }
    }

    /// Puts these contents into a new table, without indexes, as DynamoDB restores it for a restore. Returns its name.
    /// Replaces a former one.
    pub async fn restored(&self, contents: &Contents) -> String {
        let name = format!("{}-restored", self.name);
        if self.client.describe_table().table_name(&name).send().await.is_ok() {
            self.client.delete_table().table_name(&name).send().await.expect("a deletion");
        }
        let mut create =
            self.client.create_table().table_name(&name).billing_mode(BillingMode::PayPerRequest);
        for (attribute, role) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
            let key = KeySchemaElement::builder().attribute_name(attribute).key_type(role);
            let definition = AttributeDefinition::builder();
            let definition = definition.attribute_name(attribute).attribute_type(ScalarAttributeType::S);
            create = create
                .key_schema(key.build().expect("a key"))
                .attribute_definitions(definition.build().expect("a definition"));
        }
        create.send().await.expect("a table");
        self.named(&name).write([], contents.values().cloned()).await;
        name
    }

    /// Puts back what was there once and is not now, as the handbook says.
    pub async fn put_back(&self, contents: &Contents) {
        let present = self.items().await;
        let missing = contents.iter().filter(|(key, _)| !present.contains_key(*key));
        let later = missing.map(|(_, item)| {
            let mut item = item.clone();
            if let Some(AttributeValue::N(version)) = item.get_mut("version") {
                *version = (version.parse::<u64>().expect("a version") + 1_000_000).to_string();
            }
            item
        });
        self.write([], later).await;
    }

    /// Puts items there that another release has written.
    pub async fn load(&self, items: &[Value]) {
        let past_rules = |item: &Value| past_rules(serde_dynamo::to_item(item).expect("an item"));
        self.write([], items.iter().map(past_rules)).await;
    }

    async fn items(&self) -> Contents {
        let mut items = BTreeMap::new();
        let mut start = None;
        loop {
            let scan = self.client.scan().table_name(self.name).consistent_read(true);
            let scan = scan.select(Select::AllAttributes).set_exclusive_start_key(start);
            let page = scan.send().await.expect("a scan");
            items.extend(page.items.unwrap_or_default().into_iter().map(|item| (key_of(&item), item)));
            start = page.last_evaluated_key;
            if start.is_none() {
                return items;
            }
        }
    }

    /// The keys of the objects that hold the files of everybody.
    ///
    /// # Panics
    /// When one has a file whose upload did not succeed.
    pub async fn object_keys(&self) -> Vec<String> {
        let items = self.items().await;
        let mut keys = Vec::new();
        for ((pk, sk), item) in &items {
            let (company, owner, files) = if sk.starts_with("CUSTOMER#") {
                let customer: Customer = read(item);
                (customer.company.clone(), customer.account(), vec![customer.photo])
            } else if sk.starts_with("CANDIDATE#") && pk.starts_with("COMPANY#") {
                let candidate: Candidate = read(item);
                (candidate.company.clone(), candidate.account(), vec![candidate.photo, candidate.cv])
            } else if pk.starts_with("VIDEOS#") {
                let video: Video = read(item);
                let all = Rendition::ALL.map(|one| rendition_key(&video.company, video.id, one));
                keys.extend(all.into_iter().filter(|_| video.conversion.converted.is_some()));
                continue;
            } else if pk.starts_with("ANSWERS#") {
                keys.extend(answer_keys(&read(item)));
                continue;
            } else {
                continue;
            };
            for file in files.into_iter().flatten() {
                let upload = items.get(&(format!("UPLOAD#{}", file.id), "UPLOAD".to_owned()));
                let upload: Upload = read(upload.expect("the upload of a file"));
                assert_eq!(upload.status, UploadStatus::Successful, "{upload:?}");
                keys.push(object_key(&company, owner, file.id));
            }
        }
        keys.sort_unstable();
        keys
    }

    /// Puts something there that a project may refer to, past all rules. `kind` is `CUSTOMER`, `LABEL` or `VIDEO`.
    pub async fn put_attachment(&self, company: &str, kind: &str, id: &str) {
        let (pk, sk) = match kind {
            "VIDEO" => (format!("VIDEOS#{company}"), id.to_owned()),
            _ => (format!("COMPANY#{company}"), format!("{kind}#{id}")),
        };
        let item = json!({ "pk": pk, "sk": sk, "version": 1, "is_active": true });
        self.put(past_rules(serde_dynamo::to_item(item).expect("an item"))).await;
    }

    /// Sets one attribute of the customer at `uri`, past all rules.
    pub async fn set_customer(&self, uri: &str, attribute: &str, value: AttributeValue) {
        let company = uri.split('/').rev().nth(3).expect("a company");
        let key = (format!("COMPANY#{company}"), format!("CUSTOMER#{}", last_segment(uri)));
        self.set(&key, attribute, value).await;
    }

    /// Adds to a counter of one shard of a project's counts.
    pub(crate) async fn count(
        &self,
        (company, project, shard): (&CompanyId, ProjectId, u8),
        counter: &str,
        by: i64,
    ) {
        self.client
            .update_item()
            .table_name(self.name)
            .key("pk", string(format!("COMPANY#{company}#PROJECT#{project}")))
            .key("sk", string(format!("TALLY#{shard}")))
            .update_expression("ADD #counter :by")
            .expression_attribute_names("#counter", counter)
            .expression_attribute_values(":by", AttributeValue::N(by.to_string()))
            .send()
            .await
            .expect("an update");
    }

    /// Sets one attribute of the item under a key, past all rules.
    pub async fn set(&self, key: &Key, attribute: &str, value: AttributeValue) {
        let mut item = self.item(key).await;
        item.insert(attribute.to_owned(), value);
        self.put(item).await;
    }

    /// Puts an item there that is nothing but its key, past all rules.
    pub async fn put_bare(&self, (pk, sk): &Key) {
        self.put(Item::from([("pk".to_owned(), string(pk)), ("sk".to_owned(), string(sk))])).await;
    }

    /// Erases items and puts others there, past all rules, as many in one call as DynamoDB takes.
    pub(crate) async fn write(
        &self,
        erased: impl IntoIterator<Item = Key>,
        put: impl IntoIterator<Item = Item>,
    ) {
        let erasure = |(pk, sk): Key| {
            let delete = DeleteRequest::builder().key("pk", string(pk)).key("sk", string(sk));
            WriteRequest::builder().delete_request(delete.build().expect("a key")).build()
        };
        let put = put.into_iter().map(|item| {
            let put = PutRequest::builder().set_item(Some(item)).build().expect("an item");
            WriteRequest::builder().put_request(put).build()
        });
        let writes: Vec<WriteRequest> = erased.into_iter().map(erasure).chain(put).collect();
        for writes in writes.chunks(BATCH) {
            let batch = self.client.batch_write_item().request_items(self.name, writes.to_vec());
            let unprocessed = batch.send().await.expect("writes").unprocessed_items;
            assert!(unprocessed.unwrap_or_default().is_empty(), "DynamoDB wrote only a part");
        }
    }

    /// Erases an item, past all rules.
    pub async fn erase(&self, (pk, sk): &Key) {
        let delete = self.client.delete_item().table_name(self.name);
        delete.key("pk", string(pk)).key("sk", string(sk)).send().await.expect("a write");
    }

    async fn item(&self, (pk, sk): &Key) -> Item {
        let get = self.client.get_item().table_name(self.name).consistent_read(true);
        let found = get.key("pk", string(pk)).key("sk", string(sk)).send().await.expect("a read");
        found.item.unwrap_or_else(|| panic!("nothing under {pk} {sk}"))
    }

    /// Puts an item there, past all rules.
    pub async fn put(&self, item: Item) {
        let put = self.client.put_item().table_name(self.name).set_item(Some(item));
        put.send().await.expect("a write");
    }
}

/// The item with the mark of those that are written past all rules.
fn past_rules(mut item: Item) -> Item {
    item.insert(PAST_RULES.to_owned(), AttributeValue::Bool(true));
    item
}

/// The keys of the objects of answers whose parts have no gap: renditions, and the parts that may still be converted.
fn answer_keys(answers: &Answers) -> Vec<String> {
    let objects = AnswerObjects::of(answers);
    let mut keys = Vec::new();
    for (place, take) in answers.takes() {
        let renditions =
            |number| [FileType::Mp4, FileType::Jpeg].map(|of| objects.rendition(place, number, of));
        assert_eq!(take.played_conversion.is_some(), take.conversion.converted.is_some(), "{take:?}");
        keys.extend(take.played_conversion.into_iter().flat_map(renditions));
        let parts = (1..=take.last_part).filter(|_| take.needs_parts());
        keys.extend(parts.map(|number| objects.part(place, number)));
    }
    keys
}

/// The item of a candidate as the service writes it first.
pub(crate) fn candidate_item(candidate: &Candidate) -> Item {
    let mut item: Item = serde_dynamo::to_item(candidate).expect("an item");
    item.retain(|_, value| !value.is_null());
    let Candidate { company, project, id, .. } = candidate;
    item.insert("pk".to_owned(), string(format!("COMPANY#{company}#PROJECT#{project}")));
    item.insert("sk".to_owned(), string(format!("CANDIDATE#{id}")));
    item.insert("version".to_owned(), AttributeValue::N("1".to_owned()));
    item.insert(PAST_RULES.to_owned(), AttributeValue::Bool(true));
    item.insert("by_status_pk".to_owned(), string(index_partition(candidate)));
    item.insert("by_status_sk".to_owned(), string(id.to_string()));
    if let Some(at) = candidate.due_at() {
        let shard = id.to_bytes()[15] % 16;
        item.insert("due_shard".to_owned(), AttributeValue::N(shard.to_string()));
        item.insert("due_at".to_owned(), string(format!("{}#{company}", at.format("%Y-%m-%dT%H:%M:%SZ"))));
    }
    item
}

/// The shard in which an item is due.
pub(crate) fn shard_in(item: &Item) -> u8 {
    item.get("due_shard").and_then(|shard| shard.as_n().ok()?.parse().ok()).unwrap_or_default()
}

pub(crate) fn index_partition(candidate: &Candidate) -> String {
    let Candidate { company, project, status, .. } = candidate;
    format!("COMPANY#{company}#PROJECT#{project}#CANDIDATES#{}", status.as_str())
}

/// The items of the entries by which a candidate is found.
pub(crate) fn search_entry_items(candidate: &Candidate) -> impl Iterator<Item = Item> {
    search_entries(candidate).into_iter().map(|((pk, sk), attributes)| {
        let keys = [("pk", pk), ("sk", sk)].into_iter();
        keys.chain(attributes).map(|(name, value)| (name.to_owned(), string(value))).collect()
    })
}

/// The entries by which a candidate is found: their keys, and their places in the index with all words.
pub(crate) fn search_entries(candidate: &Candidate) -> Vec<(Key, [(&'static str, String); 3])> {
    let Candidate { company, project, id, .. } = candidate;
    let words = candidate.words();
    let all =
        words.keys().map(String::as_str).filter(|word| !word.contains(' ')).collect::<Vec<_>>().join(" ");
    let entry = |(word, source): (&String, &WordSource)| {
        let source = match source {
            WordSource::FullName => "FULL",
            WordSource::Name => "NAME",
            WordSource::Email => "EMAIL",
        };
        let first = word.chars().next().unwrap_or_default();
        let group = u32::from(first) % 32;
        let sk = format!("{source}#{word} {}", id.reversed());
        let place = [
            ("search_pk", format!("SEARCH#{company}#LETTER#{first}")),
            ("search_sk", sk.clone()),
            ("words", all.clone()),
        ];
        ((format!("SEARCH#{company}#{source}#{group:02}#PROJECT#{project}"), sk), place)
    };
    words.iter().map(entry).collect()
}

pub(crate) fn key_of(item: &Item) -> Key {
    let part = |name: &str| item[name].as_s().expect("a text").clone();
    (part("pk"), part("sk"))
}

pub(crate) fn read<T: DeserializeOwned>(item: &Item) -> T {
    serde_dynamo::from_item(item.clone()).expect("an entity")
}

pub(crate) fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}
