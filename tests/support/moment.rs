//! The state of table and bucket at a moment, and the restoration to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::Value;
use shared::clock::Clock;

use crate::app::{BACKEND, TestApp};
use crate::chaos::Chaos;
use crate::table::{Contents, Item, Key, key_of};

/// The program that restores a deployed stack.
const RESTORE: &str = include_str!("../../functions/admin/deploy/restore.py");

/// What table and bucket held at a moment. Only the local back end in this process shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// When it was.
    pub at: DateTime<Utc>,
    items: Contents,
    /// Objects by key.
    objects: BTreeMap<String, Vec<u8>>,
}

/// The moments that have been noted so far.
pub struct Moments(Arc<Mutex<Vec<Moment>>>);

impl Moments {
    /// Those at which something had changed since the one before.
    pub fn take(&self) -> Vec<Moment> {
        let mut moments = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        moments.dedup_by(|after, before| {
            (&after.items, &after.objects) == (&before.items, &before.objects)
        });
        moments
    }
}

impl Moment {
    fn of(table: &str, bucket: &str, at: DateTime<Utc>) -> Self {
        let item = |json: Value| Item::from(serde_json::from_value::<serde_dynamo::Item>(json).expect("an item"));
        let items = BACKEND.items(table).expect("a scan").into_iter().map(item);
        let folder = BACKEND.folder().join("s3").join(bucket);
        let keys = BACKEND.object_keys(bucket).expect("a list").into_iter();
        // One may be deleted between the list and the read.
        let objects = keys.filter_map(|key| Some((key.clone(), std::fs::read(folder.join(&key)).ok()?)));
        Self { at, items: items.map(|item| (key_of(&item), item)).collect(), objects: objects.collect() }
    }

    /// Every item as text by key, and every object as text by its key in the bucket.
    pub fn texts(&self) -> impl Iterator<Item = (String, String)> {
        let text = |((pk, sk), item): (&Key, &Item)| {
            let item: Value = serde_dynamo::from_item(item.clone()).expect("JSON");
            (format!("{pk} {sk}"), item.to_string())
        };
        let object = |(key, bytes): (&String, &Vec<u8>)| (key.clone(), String::from_utf8_lossy(bytes).into_owned());
        self.items.iter().map(text).chain(self.objects.iter().map(object))
    }
}

impl TestApp {
    /// The present moment.
    pub fn moment(&self) -> Moment {
        let config = self.app().config();
        Moment::of(&config.table, config.bucket.as_deref().expect("a bucket"), self.clock().now())
    }

    /// Notes the moment after each request that comes through one of these proxies from now on.
    pub fn note_moments(&self, proxies: &[Chaos]) -> Moments {
        let moments = Arc::new(Mutex::new(vec![self.moment()]));
        for proxy in proxies {
            let (app, moments) = (self.app().clone(), moments.clone());
            proxy.observe(move || {
                let config = app.config();
                let now = Moment::of(&config.table, config.bucket.as_deref().expect("a bucket"), app.now());
                moments.lock().unwrap_or_else(PoisonError::into_inner).push(now);
            });
        }
        Moments(moments)
    }

    /// Takes table and bucket back to a moment as the program for it does, until deletions are repeated.
    pub async fn take_back_to(&self, moment: &Moment) {
        let now = self.moment();
        let is_taken_back = |(pk, sk): &Key| untouched().all(|start| !pk.starts_with(start) && !sk.starts_with(start));
        for key in now.items.keys().filter(|key| is_taken_back(key) && !moment.items.contains_key(*key)) {
            self.table().erase(key).await;
        }
        for (_, item) in moment.items.iter().filter(|(key, item)| is_taken_back(key) && now.items.get(*key) != Some(*item)) {
            self.table().put(item.clone()).await;
        }
        let is_file = |key: &String| key.starts_with("media/");
        let (s3, bucket) = (self.app().aws().s3(), self.app().config().bucket.clone().expect("a bucket"));
        for key in now.objects.keys().filter(|key| is_file(key) && !moment.objects.contains_key(*key)) {
            s3.delete_object().bucket(&bucket).key(key).send().await.expect("a deletion");
        }
        for (key, bytes) in moment.objects.iter().filter(|(key, _)| is_file(key) && !now.objects.contains_key(*key)) {
            s3.put_object().bucket(&bucket).key(key).body(bytes.clone().into()).send().await.expect("a write");
        }
    }
}

/// What the keys of items begin with that a restoration leaves as they are.
fn untouched() -> impl Iterator<Item = &'static str> {
    let line = RESTORE.lines().find_map(|line| line.strip_prefix("UNTOUCHED = (")).expect("a list");
    line.split('"').skip(1).step_by(2)
}
