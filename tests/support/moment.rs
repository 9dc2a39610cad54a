//! Snapshots of table and bucket, and restores to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use embedded::Backend;
use serde_json::Value;
use shared::app::App;
use shared::store::{RestoreRule, take_back};

use crate::app::TestApp;
use crate::chaos::Chaos;
use crate::table::{Contents, Item, Key, key_of};

/// The contents of table and bucket at a moment. Only the local back end in this process supports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    pub at: DateTime<Utc>,
    items: Contents,
    /// Objects by key.
    objects: BTreeMap<String, Vec<u8>>,
}

/// Snapshots that are being recorded.
pub struct Moments(Arc<Mutex<Vec<Moment>>>);

impl Moments {
    /// Stops recording, which reads everything at every request. Of consecutive snapshots with equal restorable
    /// contents, returns only the last.
    pub fn take(self) -> Vec<Moment> {
        let mut moments = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        moments.dedup_by(|after, before| {
            let is_same = after.items().eq(before.items()) && after.files().eq(before.files());
            if is_same {
                std::mem::swap(after, before);
            }
            is_same
        });
        moments
    }
}

impl Moment {
    fn of(backend: &Backend, app: &App) -> Self {
        let (table, bucket) = (&app.config().table, app.config().bucket.as_deref().expect("a bucket"));
        let item =
            |json: Value| Item::from(serde_json::from_value::<serde_dynamo::Item>(json).expect("an item"));
        let items = backend.items(table).expect("a scan").into_iter().map(item);
        let folder = backend.folder().join("s3").join(bucket);
        let keys = backend.object_keys(bucket).expect("a list").into_iter();
        // An object may be deleted between the listing and the read.
        let objects = keys.filter_map(|key| Some((key.clone(), std::fs::read(folder.join(&key)).ok()?)));
        Self {
            at: app.now(),
            items: items.map(|item| (key_of(&item), item)).collect(),
            objects: objects.collect(),
        }
    }

    /// The items that a restore replaces.
    fn items(&self) -> impl Iterator<Item = (&Key, &Item)> {
        // A restore changes only some attributes of event counters, so they are excluded.
        self.items.iter().filter(|((pk, sk), _)| RestoreRule::of(pk, sk) == RestoreRule::Replace)
    }

    /// The objects that a restore replaces.
    pub fn files(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        self.objects.iter().filter(|(key, _)| key.starts_with("media/"))
    }

    /// Every item as text by its key, and every object as text by its key in the bucket.
    pub fn texts(&self) -> impl Iterator<Item = (String, String)> {
        let text = |((pk, sk), item): (&Key, &Item)| {
            let item: Value = serde_dynamo::from_item(item.clone()).expect("JSON");
            (format!("{pk} {sk}"), item.to_string())
        };
        let object =
            |(key, bytes): (&String, &Vec<u8>)| (key.clone(), String::from_utf8_lossy(bytes).into_owned());
        self.items.iter().map(text).chain(self.objects.iter().map(object))
    }
}

impl TestApp {
    /// A snapshot of the present contents.
    pub fn moment(&self) -> Moment {
        Moment::of(self.backend(), self.app())
    }

    /// Records a snapshot after each request through one of these proxies.
    pub fn note_moments(&self, proxies: &[Chaos]) -> Moments {
        let moments = Arc::new(Mutex::new(vec![self.moment()]));
        for proxy in proxies {
            let (backend, app, moments) = (self.backend(), self.app().clone(), Arc::downgrade(&moments));
            proxy.observe(move || {
                let Some(moments) = moments.upgrade() else { return };
                let now = Moment::of(backend, &app);
                moments.lock().unwrap_or_else(PoisonError::into_inner).push(now);
            });
        }
        Moments(moments)
    }

    /// Deletes expired items, as DynamoDB does within days.
    pub async fn delete_expired(&self) {
        let now = self.moment();
        let end = |item: &Item| item.get("expires_at").and_then(|end| end.as_n().ok()?.parse::<i64>().ok());
        let has_ended = |item: &Item| end(item).is_some_and(|end| end <= now.at.timestamp());
        let ended = now.items.iter().filter(|(_, item)| has_ended(item)).map(|(key, _)| key.clone());
        self.table().write(ended, []).await;
    }

    /// Restores table and bucket to a snapshot, as the restore program does. Does not repeat deletions.
    pub async fn take_back_to(&self, moment: &Moment) {
        let now = self.moment();
        let erased =
            now.items().filter(|(key, _)| !moment.items.contains_key(*key)).map(|(key, _)| key.clone());
        let changed = moment.items().filter(|(key, item)| now.items.get(*key) != Some(*item));
        // Counters of companies that were erased since the snapshot.
        let lost = moment.items.iter().filter(|(key, _)| is_counter(key) && !now.items.contains_key(*key));
        let counters =
            now.items.iter().filter(|(key, _)| is_counter(key)).map(|(key, counter)| {
                take_back(moment.items.get(key).unwrap_or(&Item::new()), counter.clone())
            });
        let put = changed.chain(lost).map(|(_, item)| item.clone()).chain(counters);
        self.table().write(erased, put).await;
        let (s3, bucket) = (self.app().aws().s3(), self.app().config().bucket.clone().expect("a bucket"));
        for (key, _) in now.files().filter(|(key, _)| !moment.objects.contains_key(*key)) {
            s3.delete_object().bucket(&bucket).key(key).send().await.expect("a deletion");
        }
        for (key, bytes) in moment.files().filter(|(key, _)| !now.objects.contains_key(*key)) {
            s3.put_object()
                .bucket(&bucket)
                .key(key)
                .body(bytes.clone().into())
                .send()
                .await
                .expect("a write");
        }
    }
}

fn is_counter((pk, sk): &Key) -> bool {
    RestoreRule::of(pk, sk) == RestoreRule::TakeBackAttributes
}
