//! Direct access to the stored table, without the service's code.

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

/// The attribute that marks items that tests have written directly, so their histories may begin later.
pub(crate) const PAST_RULES: &str = "past_rules";

/// An item in DynamoDB's form.
pub type Item = HashMap<String, AttributeValue>;
/// Every item of a table at one moment.
pub type Contents = BTreeMap<Key, Item>;
/// The partition key and sort key.
pub type Key = (String, String);

/// The maximum number of items that one call writes.
pub(crate) const BATCH: usize = 25;

pub struct Table<'a> {
    app: &'a App,
    name: &'a str,
}

impl<'a> Table<'a> {
    pub(crate) fn of(app: &'a App) -> Self {
        Self { app, name: &app.config().table }
    }

    /// Every item except sessions, as JSON by its key. Sessions come and go with callers.
    pub async fn snapshot(&self) -> BTreeMap<Key, Value> {
        let items = self.items().await.into_iter().filter(|((pk, _), _)| !pk.starts_with("SESSION#"));
        items.map(|(key, item)| (key, serde_dynamo::from_item(item).expect("JSON"))).collect()
    }

    /// The number of stored sessions.
    pub async fn sessions(&self) -> usize {
        self.items().await.keys().filter(|(pk, _)| pk.starts_with("SESSION#")).count()
    }

    /// All items as one text, for checks that something is not stored in the clear.
    pub async fn text(&self) -> String {
        self.items().await.values().map(|item| format!("{item:?}\n")).collect()
    }

    /// Every item, for a later restore.
    pub async fn contents(&self) -> Contents {
        self.items().await
    }

    /// Makes the table's contents equal to `contents`, as a restore does.
    pub async fn restore(&self, contents: &Contents) {
        let present = self.items().await;
        let erased = present.keys().filter(|key| !contents.contains_key(*key)).cloned();
        let put = contents.iter().filter(|(key, item)| present.get(*key) != Some(*item));
        self.write(erased, put.map(|(_, item)| item.clone())).await;
    }

    /// A table with another name.
    pub fn named<'b>(&self, name: &'b str) -> Table<'b>
    where
        'a: 'b,
    {
        Table { app: self.app, name }
    }

    /// Writes these contents to a new table without indexes, as DynamoDB does for a restore, replacing an earlier one.
    /// Returns its name.
    pub async fn restored(&self, contents: &Contents) -> String {
        let name = format!("{}-restored", self.name);
        if self.client().describe_table().table_name(&name).send().await.is_ok() {
            self.client().delete_table().table_name(&name).send().await.expect("a deletion");
        }
        let mut create =
            self.client().create_table().table_name(&name).billing_mode(BillingMode::PayPerRequest);
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

    /// Puts back items that are missing now, as the handbook describes.
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

    /// Writes the items of another release.
    pub async fn load(&self, items: &[Value]) {
        let past_rules = |item: &Value| past_rules(serde_dynamo::to_item(item).expect("an item"));
        self.write([], items.iter().map(past_rules)).await;
    }

    fn client(&self) -> &Client {
        self.app.aws().dynamodb()
    }

    async fn items(&self) -> Contents {
        // Writes in the background belong to requests that were answered before.
        self.app.finish_background().await;
        let mut items = BTreeMap::new();
        let mut start = None;
        loop {
            let scan = self.client().scan().table_name(self.name).consistent_read(true);
            let scan = scan.select(Select::AllAttributes).set_exclusive_start_key(start);
            let page = scan.send().await.expect("a scan");
            items.extend(page.items.unwrap_or_default().into_iter().map(|item| (key_of(&item), item)));
            start = page.last_evaluated_key;
            if start.is_none() {
                return items;
            }
        }
    }

    /// The keys of the objects with the files of all users.
    ///
    /// # Panics
    /// If a user has a file whose upload did not succeed.
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

    /// Writes a customer, label or video directly, so that a project may refer to it. `kind` is `CUSTOMER`, `LABEL` or
    /// `VIDEO`.
    pub async fn put_attachment(&self, company: &str, kind: &str, id: &str) {
        let (pk, sk) = match kind {
            "VIDEO" => (format!("VIDEOS#{company}"), id.to_owned()),
            _ => (format!("COMPANY#{company}"), format!("{kind}#{id}")),
        };
        let item = json!({ "pk": pk, "sk": sk, "version": 1, "is_active": true });
        self.put(past_rules(serde_dynamo::to_item(item).expect("an item"))).await;
    }

    /// Sets an attribute of the customer at `uri` directly.
    pub async fn set_customer(&self, uri: &str, attribute: &str, value: AttributeValue) {
        let company = uri.split('/').rev().nth(3).expect("a company");
        let key = (format!("COMPANY#{company}"), format!("CUSTOMER#{}", last_segment(uri)));
        self.set(&key, attribute, value).await;
    }

    /// Adds `by` to a counter in a project's counter shard.
    pub(crate) async fn count(
        &self,
        (company, project, shard): (&CompanyId, ProjectId, u8),
        counter: &str,
        by: i64,
    ) {
        self.client()
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

    /// Sets an attribute of the item with this key directly.
    pub async fn set(&self, key: &Key, attribute: &str, value: AttributeValue) {
        let mut item = self.item(key).await;
        item.insert(attribute.to_owned(), value);
        self.put(item).await;
    }

    /// Writes an item that has only its key.
    pub async fn put_bare(&self, (pk, sk): &Key) {
        self.put(Item::from([("pk".to_owned(), string(pk)), ("sk".to_owned(), string(sk))])).await;
    }

    /// Deletes and puts items directly, with as many per call as DynamoDB allows.
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
            let batch = self.client().batch_write_item().request_items(self.name, writes.to_vec());
            let unprocessed = batch.send().await.expect("writes").unprocessed_items;
            assert!(unprocessed.unwrap_or_default().is_empty(), "DynamoDB wrote only a part");
        }
    }

    /// Deletes an item directly.
    pub async fn erase(&self, (pk, sk): &Key) {
        let delete = self.client().delete_item().table_name(self.name);
        delete.key("pk", string(pk)).key("sk", string(sk)).send().await.expect("a write");
    }

    async fn item(&self, (pk, sk): &Key) -> Item {
        let get = self.client().get_item().table_name(self.name).consistent_read(true);
        let found = get.key("pk", string(pk)).key("sk", string(sk)).send().await.expect("a read");
        found.item.unwrap_or_else(|| panic!("nothing under {pk} {sk}"))
    }

    /// Puts an item directly.
    pub async fn put(&self, item: Item) {
        let put = self.client().put_item().table_name(self.name).set_item(Some(item));
        put.send().await.expect("a write");
    }
}

/// Marks an item as written directly.
fn past_rules(mut item: Item) -> Item {
    item.insert(PAST_RULES.to_owned(), AttributeValue::Bool(true));
    item
}

/// The keys of the objects of answers without missing parts: renditions, and parts that may still be converted.
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

/// The item of a new candidate, as the service writes it.
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

/// The shard of the index by due date that contains an item.
pub(crate) fn shard_in(item: &Item) -> u8 {
    item.get("due_shard").and_then(|shard| shard.as_n().ok()?.parse().ok()).unwrap_or_default()
}

pub(crate) fn index_partition(candidate: &Candidate) -> String {
    let Candidate { company, project, status, .. } = candidate;
    format!("COMPANY#{company}#PROJECT#{project}#CANDIDATES#{}", status.as_str())
}

/// The search entries of a candidate, as items.
pub(crate) fn search_entry_items(candidate: &Candidate) -> impl Iterator<Item = Item> {
    search_entries(candidate).into_iter().map(|((pk, sk), attributes)| {
        let keys = [("pk", pk), ("sk", sk)].into_iter();
        keys.chain(attributes).map(|(name, value)| (name.to_owned(), string(value))).collect()
    })
}

/// The search entries of a candidate: their keys, and their attributes in the index with all words.
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
