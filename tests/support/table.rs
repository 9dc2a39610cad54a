//! The table as it lies there, past all code of the service: what is stored, and whether it fits together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, Select};
use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shared::app::App;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::customer::{AccountType, Customer};
use shared::domain::effect::Effect;
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::label::Label;
use shared::domain::named_token::NamedToken;
use shared::domain::project::Project;
use shared::domain::roster::Roster;
use shared::domain::search::{Source, words_of};
use shared::domain::secret::SecretHash;
use shared::domain::tally::{SHARDS, shard_of};
use shared::domain::text::fold_case;
use shared::domain::upload::{Upload, UploadStatus};
use shared::domain::video::{Rendition, Video};
use shared::media::{object_key, rendition_key};

use crate::caller::last_segment;

type Item = HashMap<String, AttributeValue>;
/// Every item of a table at one moment.
pub type Contents = BTreeMap<Key, Item>;
/// Partition and sort key.
pub type Key = (String, String);

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
        for key in self.items().await.keys().filter(|key| !contents.contains_key(*key)) {
            self.erase(key).await;
        }
        for item in contents.values() {
            self.put(item.clone()).await;
        }
    }

    /// Puts back what was there once and is not now.
    pub async fn put_back(&self, contents: &Contents) {
        let present = self.items().await;
        for (_, item) in contents.iter().filter(|(key, _)| !present.contains_key(*key)) {
            self.put(item.clone()).await;
        }
    }

    /// Puts items there that another release has written.
    pub async fn load(&self, items: &[Value]) {
        for item in items {
            self.put(serde_dynamo::to_item(item).expect("an item")).await;
        }
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

    /// Makes sure that everything which follows from companies and what they own is there, and nothing else: counts
    /// shard by shard, logins, search entries, memberships, shares, label texts, token values, places in the index.
    ///
    /// # Panics
    /// With everything that is wrong.
    pub async fn assert_sound(&self) {
        let items = self.items().await;
        let mut expected = Expected::default();
        for (key, item) in &items {
            expected.add(key, item);
        }
        let mut wrong = Vec::new();
        for (key, item) in &items {
            match expected.items.remove(key) {
                Some(attributes) => {
                    let (stored, attributes) = (derived(key, item), not_zero(attributes));
                    if stored != attributes {
                        wrong.push(format!("{key:?} says {stored:?}, recounted {attributes:?}"));
                    }
                }
                None if !is_primary(key) => wrong.push(format!("{key:?} follows from nothing")),
                None => {}
            }
        }
        let is_empty = |attributes: &Attributes| attributes.is_empty();
        // A tally that never counted anything need not exist.
        expected.items.retain(|(_, sk), attributes| !(sk == "TALLY" && is_empty(attributes)));
        wrong.extend(expected.items.keys().map(|key| format!("{key:?} is missing")));
        wrong.extend(expected.wrong);
        assert!(wrong.is_empty(), "the table does not fit together:\n{}", wrong.join("\n"));
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
                (customer.company.clone(), customer.owner(), vec![customer.photo])
            } else if sk.starts_with("CANDIDATE#") && pk.starts_with("COMPANY#") {
                let candidate: Candidate = read(item);
                (candidate.company.clone(), candidate.owner(), vec![candidate.photo, candidate.cv])
            } else if sk.starts_with("VIDEO#") {
                let video: Video = read(item);
                let all = Rendition::ALL.map(|one| rendition_key(&video.company, video.id, one));
                keys.extend(all.into_iter().filter(|_| video.converted.is_some()));
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
        let (pk, sk) = (format!("COMPANY#{company}"), format!("{kind}#{id}"));
        let item = json!({ "pk": pk, "sk": sk, "version": 1, "is_active": true });
        self.put(serde_dynamo::to_item(item).expect("an item")).await;
    }

    /// Sets one attribute of the customer at `uri`, past all rules.
    pub async fn set_customer(&self, uri: &str, attribute: &str, value: AttributeValue) {
        let company = uri.split('/').rev().nth(3).expect("a company");
        let key = (format!("COMPANY#{company}"), format!("CUSTOMER#{}", last_segment(uri)));
        self.set(&key, attribute, value).await;
    }

    /// Adds to a counter of one shard of a project's tally.
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

    async fn put(&self, item: Item) {
        let put = self.client.put_item().table_name(self.name).set_item(Some(item));
        put.send().await.expect("a write");
    }
}

/// The item of a candidate as the service writes it first.
pub(crate) fn candidate_item(candidate: &Candidate) -> Item {
    let mut item: Item = serde_dynamo::to_item(candidate).expect("an item");
    let Candidate { company, project, id, .. } = candidate;
    item.insert("pk".to_owned(), string(format!("COMPANY#{company}#PROJECT#{project}")));
    item.insert("sk".to_owned(), string(format!("CANDIDATE#{id}")));
    item.insert("version".to_owned(), AttributeValue::N("1".to_owned()));
    item.insert("by_status_pk".to_owned(), string(index_partition(candidate)));
    item.insert("by_status_sk".to_owned(), string(id.to_string()));
    if let Some(at) = candidate.expires_at() {
        let shard = id.to_bytes()[15] % 16;
        item.insert("due_shard".to_owned(), AttributeValue::N(shard.to_string()));
        item.insert("due_at".to_owned(), string(at.format("%Y-%m-%dT%H:%M:%SZ").to_string()));
    }
    item
}

type Attributes = BTreeMap<String, Value>;

/// What must be in a table, given its companies and what they own.
#[derive(Default)]
struct Expected {
    items: BTreeMap<Key, Attributes>,
    rosters: BTreeMap<ProjectId, Roster>,
    wrong: Vec<String>,
}

impl Expected {
    fn add(&mut self, key: &Key, item: &Item) {
        let (pk, sk) = key;
        if sk == "COMPANY" {
            self.count((pk.clone(), "TALLY".to_owned()), []);
        } else if sk.starts_with("CUSTOMER#") {
            self.add_customer(&read(item));
        } else if sk.starts_with("LABEL#") {
            self.add_label(&read(item));
        } else if sk.starts_with("TOKEN#") && pk.starts_with("COMPANY#") {
            self.add_token(&read(item));
        } else if sk.starts_with("PROJECT#") && !pk.contains("#CUSTOMER#") {
            let project: Project = read(item);
            let partition = format!("COMPANY#{}#PROJECTS#{}", project.company, project.status.as_str());
            self.check_index(key, item, partition);
            self.add_project(&project);
        } else if sk.starts_with("CANDIDATE#") && pk.starts_with("COMPANY#") {
            let candidate: Candidate = read(item);
            self.check_index(key, item, index_partition(&candidate));
            self.check_due(key, item, candidate.id.to_bytes()[15] % 16, candidate.expires_at());
            self.add_candidate(&candidate);
        } else if sk == "EFFECT" {
            let effect: Effect = read(item);
            let shard = item.get("due_shard").and_then(|shard| shard.as_n().ok()?.parse().ok());
            let at = effect.next_try_at.or(effect.given_up_at);
            self.check_due(key, item, shard.unwrap_or_default(), at);
        } else if sk.starts_with("VIDEO#") && item.contains_key("submitted_at") {
            let video: Video = read(item);
            self.count(company_tally(&video.company), [("videos".to_owned(), 1)]);
            self.check_due(key, item, 22 + video.id.to_bytes()[15] % 2, video.given_up_at);
        } else if sk == "UPLOAD" {
            let upload: Upload = read(item);
            let is_awaited = upload.status == UploadStatus::AwaitingUpload;
            let shard = 20 + upload.id.to_bytes()[15] % 2;
            self.check_due(key, item, shard, is_awaited.then(|| upload.given_up_at()));
        }
    }

    fn add_customer(&mut self, customer: &Customer) {
        let company = &customer.company;
        let owners = customer.account_type == AccountType::Owner && customer.is_at_work();
        let counters = [("customers".to_owned(), 1), ("owners".to_owned(), owners.into())];
        self.count(company_tally(company), counters);
        let leads_there = |name: &str, sk: &str| ((login(company.as_str(), name), sk.to_owned()), Vec::new());
        let logins = [
            leads_there(customer.username.as_str(), "USERNAME"),
            leads_there(customer.email.as_str(), "EMAIL"),
        ];
        for (key, nothing) in logins {
            self.count(key, nothing);
        }
    }

    fn add_label(&mut self, label: &Label) {
        let company = &label.company;
        self.count(company_tally(company), [("labels".to_owned(), 1)]);
        let text = SecretHash::of(&fold_case(label.text.as_str()));
        self.count((format!("LABEL#{company}#{}", text.as_str()), "TEXT".to_owned()), []);
    }

    fn add_token(&mut self, token: &NamedToken) {
        self.count(company_tally(&token.company), [("named_tokens".to_owned(), 1)]);
        let by_hash = format!("TOKEN#{}", token.hash.as_str());
        self.count((by_hash.clone(), by_hash), []);
    }

    fn add_project(&mut self, project: &Project) {
        let (c, p) = (&project.company, project.id);
        self.rosters.insert(p, project.roster.clone());
        let counter = (format!("projects:{}", project.status.as_str()), 1);
        self.count(company_tally(c), [counter]);
        for shard in 0..SHARDS {
            let shard = (format!("COMPANY#{c}#PROJECT#{p}"), format!("TALLY#{shard}"));
            let attributes = self.items.entry(shard).or_default();
            attributes.insert("project_status".to_owned(), project.status.as_str().into());
        }
        for customer in project.staff.everybody() {
            self.count((format!("COMPANY#{c}#CUSTOMER#{customer}"), format!("PROJECT#{p}")), []);
        }
    }

    fn add_candidate(&mut self, candidate: &Candidate) {
        let Candidate { company, project, id, profile, shares, .. } = candidate;
        self.count(shard_key(candidate), counted(candidate));
        // A project's item comes before those of its candidates.
        for (customer, evaluation) in &candidate.evaluations {
            let roster = &self.rosters[project];
            let mut with_them = roster.clone();
            if with_them.take_seat(*customer) != Ok(evaluation.seat) || with_them != *roster {
                self.wrong.push(format!("{customer} has another seat than in the evaluation of {id}"));
            }
        }
        if let Some(username) = &profile.username {
            self.count((login(company.as_str(), username.as_str()), "USERNAME".to_owned()), []);
        }
        if let Some(email) = &profile.email {
            self.count((login(company.as_str(), email.as_str()), format!("CANDIDATE#{id}")), []);
        }
        for (share, customer) in shares {
            let note = self
                .items
                .entry((format!("COMPANY#{company}#CUSTOMER#{customer}"), format!("SHARE#{share}")));
            let candidate = [("project", project.to_string()), ("candidate", id.to_string())];
            note.or_default().extend(candidate.map(|(name, id)| (name.to_owned(), id.into())));
        }
        for (key, attributes) in search_entries(candidate) {
            let attributes = attributes.map(|(name, value)| (name.to_owned(), value.into()));
            self.items.entry(key).or_default().extend(attributes);
        }
    }

    /// Expects an item, and adds to its counters.
    fn count(&mut self, key: Key, counters: impl IntoIterator<Item = (String, i64)>) {
        let attributes = self.items.entry(key).or_default();
        for (counter, by) in counters {
            let count = attributes.get(&counter).and_then(Value::as_i64).unwrap_or(0) + by;
            attributes.insert(counter, count.into());
        }
    }

    fn check_due(&mut self, key: &Key, item: &Item, shard: u8, at: Option<DateTime<Utc>>) {
        let place = [item.get("due_shard"), item.get("due_at")];
        let (shard, at) = at
            .map(|at| {
                (AttributeValue::N(shard.to_string()), string(at.format("%Y-%m-%dT%H:%M:%SZ").to_string()))
            })
            .unzip();
        if place != [shard.as_ref(), at.as_ref()] {
            self.wrong.push(format!("{key:?} becomes due at {place:?}, not {at:?}"));
        }
    }

    fn check_index(&mut self, key: &Key, item: &Item, partition: String) {
        let id = key.1.split_once('#').map(|(_, id)| id.to_owned()).unwrap_or_default();
        let place = [item.get("by_status_pk"), item.get("by_status_sk")];
        if place != [Some(&string(partition)), Some(&string(id))] {
            self.wrong.push(format!("{key:?} stands in the index at {place:?}"));
        }
    }
}

/// What is not derived from anything else.
fn is_primary((pk, sk): &Key) -> bool {
    let kinds = ["COMPANY", "CUSTOMER#", "PROJECT#", "CANDIDATE#", "LABEL#", "VIDEO#", "TOKEN#"];
    let own = pk.starts_with("COMPANY#") && kinds.iter().any(|kind| sk.starts_with(kind));
    let by_itself = ["SESSION#", "EFFECT#", "EVENT#", "IDEMPOTENCY#", "RESET#", "UPLOAD#"]
        .iter()
        .any(|kind| pk.starts_with(kind));
    by_itself || sk == "FAILURES" || (own && !pk.contains("#CUSTOMER#"))
}

/// What follows from other items: the counters of a tally that are not zero, the status that a shard repeats, where a
/// share leads, and where a search entry stands in its index.
fn derived((_, sk): &Key, item: &Item) -> Attributes {
    let attributes: Attributes = serde_dynamo::from_item(item.clone()).expect("JSON");
    let is_derived = |name: &str| match name {
        "customers" | "owners" | "labels" | "named_tokens" | "project_status" => true,
        "videos" => sk == "TALLY",
        "project" | "candidate" => sk.starts_with("SHARE#"),
        "search_pk" | "search_sk" | "words" => true,
        _ => name.contains(':'),
    };
    not_zero(attributes.into_iter().filter(|(name, _)| is_derived(name)).collect())
}

fn not_zero(mut attributes: Attributes) -> Attributes {
    attributes.retain(|_, value| *value != 0);
    attributes
}

/// What one candidate adds to its shard.
fn counted(candidate: &Candidate) -> Vec<(String, i64)> {
    let mut counters = BTreeSet::from([format!("status:{}", candidate.status.as_str())]);
    if candidate.status == CandidateStatus::Interviewed {
        counters.insert(format!("evaluated_by:{}", candidate.completed_seats()));
    }
    counters.into_iter().map(|counter| (counter, 1)).collect()
}

fn shard_key(candidate: &Candidate) -> Key {
    let partition = format!("COMPANY#{}#PROJECT#{}", candidate.company, candidate.project);
    (partition, format!("TALLY#{}", shard_of(candidate.id)))
}

fn index_partition(candidate: &Candidate) -> String {
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
fn search_entries(candidate: &Candidate) -> Vec<(Key, [(&'static str, String); 3])> {
    let Candidate { company, project, id, profile, .. } = candidate;
    let words = words_of(profile);
    let all =
        words.keys().map(String::as_str).filter(|word| !word.contains(' ')).collect::<Vec<_>>().join(" ");
    let entry = |(word, source): (&String, &Source)| {
        let source = match source {
            Source::FullName => "FULL",
            Source::Name => "NAME",
            Source::Email => "EMAIL",
        };
        let first = word.chars().next().unwrap_or_default();
        let sk = format!("{source}#{word} {}", id.reversed());
        let place = [
            ("search_pk", format!("SEARCH#{company}#LETTER#{first}")),
            ("search_sk", sk.clone()),
            ("words", all.clone()),
        ];
        ((format!("SEARCH#{company}#PROJECT#{project}"), sk), place)
    };
    words.iter().map(entry).collect()
}

fn company_tally(company: &CompanyId) -> Key {
    (format!("COMPANY#{company}"), "TALLY".to_owned())
}

fn login(company: &str, name: &str) -> String {
    format!("LOGIN#{company}#{}", fold_case(name))
}

fn key_of(item: &Item) -> Key {
    let part = |name: &str| item[name].as_s().expect("a text").clone();
    (part("pk"), part("sk"))
}

fn read<T: DeserializeOwned>(item: &Item) -> T {
    serde_dynamo::from_item(item.clone()).expect("an entity")
}

fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}
