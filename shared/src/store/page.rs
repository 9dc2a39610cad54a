//! Pages of a collection: any page by number, the next and the previous one by a cursor at the price of one page.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity, Select};

use super::Store;
use super::item::{self, Entity, Item, Versioned, string};
use super::keys::{self, BY_STATUS, BY_STATUS_PK, BY_STATUS_SK, Collection, Key};
use super::retry::Failure;
use crate::domain::id::Id;
use crate::error::{Error, Result};

/// How many rows of a whole collection are held at once.
const AT_ONCE: u32 = 1_000;

/// How many rows one read skips at most: DynamoDB ends a read at 1 MB anyway.
pub(super) const SKIPPED_AT_ONCE: u64 = 10_000;

/// Which page of a list is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// Its number, from 1.
    pub number: u64,
    /// How many rows it has at most.
    pub size: u32,
    /// Where it begins, if a link said so; the number is then only for show.
    pub cursor: Option<Cursor>,
}

impl PageRequest {
    /// The one page that has all rows.
    pub(super) fn everything() -> Self {
        Self { number: 1, size: u32::MAX - 1, cursor: None }
    }
}

/// A place between two rows of a list, which stays where it is while rows come and go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cursor {
    /// Right after the row with this identifier.
    After(String),
    /// Right before the row with this identifier.
    Before(String),
}

impl Cursor {
    /// The same place looked at from the other side, with the row that names it: where a page without rows leads back.
    pub fn turned(&self) -> Option<Self> {
        let id = |text: &str| text.parse::<Id<()>>().ok();
        Some(match self {
            Self::After(last) => Self::Before(id(last)?.next().to_string()),
            Self::Before(first) => Self::After(id(first)?.previous().to_string()),
        })
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// Its rows, in list order.
    pub rows: Vec<T>,
    /// Where the next page begins; none on the last.
    pub next: Option<Cursor>,
    /// Where the previous page ends; none on the first.
    pub previous: Option<Cursor>,
}

impl<T> Page<T> {
    /// The same page with other rows.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { rows: self.rows.into_iter().map(change).collect(), next: self.next, previous: self.previous }
    }
}

/// What a list is read from: all of a collection, or those of its items that an index names.
#[derive(Debug, Clone)]
pub(super) enum Listing {
    /// Every item of the collection.
    All(Collection),
    /// Every item of the collection, each of which stands in one of these partitions of the index by status as well.
    AllIndexed(Collection, Vec<String>),
    /// The items in this partition of the index by status, whose sort keys are the identifiers.
    WithStatus(Collection, String),
}

impl Listing {
    fn collection(&self) -> &Collection {
        match self {
            Self::All(collection) | Self::AllIndexed(collection, _) | Self::WithStatus(collection, _) => {
                collection
            }
        }
    }

    /// The full key, index attributes included, of the row with this identifier.
    fn start_key(&self, id: &str) -> Item {
        let mut key = self.collection().key(id).into_attributes();
        if let Self::WithStatus(_, partition) = self {
            key.insert(BY_STATUS_PK.to_owned(), string(partition));
            key.insert(BY_STATUS_SK.to_owned(), string(id));
        }
        key
    }

    /// The identifier in a row's key.
    pub(super) fn id_in(&self, row: &Item) -> Result<String> {
        let key = item::key_of(row)?;
        let id = key.sk.strip_prefix(self.collection().prefix);
        id.map(str::to_owned).ok_or_else(|| Error::internal("a row outside its collection"))
    }
}

/// One read of a listing: from where, in which direction, how much.
pub(super) struct Read {
    pub(super) start: Option<Item>,
    pub(super) backwards: bool,
    pub(super) limit: u32,
    pub(super) select: Select,
}

/// What one read gave.
pub(super) struct Found {
    pub(super) rows: Vec<Item>,
    pub(super) count: u32,
    pub(super) last: Option<Item>,
}

impl Store {
    /// One page of the entities in `listing`, without those that cannot be read.
    pub(super) async fn page<T: Entity>(
        &self,
        listing: &Listing,
        request: &PageRequest,
    ) -> Result<Page<Versioned<T>>> {
        let page = self.page_of_items(listing, request).await?;
        let mut rows = Vec::with_capacity(page.rows.len());
        match listing {
            Listing::All(_) | Listing::AllIndexed(..) => {
                for row in page.rows {
                    rows.extend(item::or_skipped(item::read(row))?);
                }
            }
            Listing::WithStatus(_, partition) => {
                let keys: Vec<Key> = page.rows.iter().map(item::key_of).collect::<Result<_>>()?;
                let mut batch = self.get(keys.clone()).await?;
                for key in keys {
                    // The index lags behind the table: what has moved on since is no longer of this status.
                    let row = batch.take_listed::<T>(&key)?;
                    rows.extend(row.filter(|row| row.by_status().is_some_and(|(now, _)| now == *partition)));
                }
            }
        }
        Ok(Page { rows, next: page.next, previous: page.previous })
    }

    /// Hands every entity of a collection to `take`, the oldest first, without holding them all at once; of one that cannot
    /// be read, its key.
    pub(super) async fn for_each<T: Entity>(
        &self,
        collection: Collection,
        mut take: impl FnMut(Result<Versioned<T>, Key>),
    ) -> Result<()> {
        let listing = Listing::All(collection);
        let mut request = PageRequest { number: 1, size: AT_ONCE, cursor: None };
        loop {
            let page = self.page_of_items(&listing, &request).await?;
            for row in page.rows {
                let key = item::key_of(&row)?;
                take(item::or_skipped(item::read(row))?.ok_or(key));
            }
            if page.next.is_none() {
                return Ok(());
            }
            request.cursor = page.next;
        }
    }

    /// Every entity of a collection that is `wanted`, for changes that must not leave one out.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when one cannot be read.
    pub(super) async fn all_wanted<T: Entity>(
        &self,
        collection: Collection,
        wanted: impl Fn(&T) -> bool,
    ) -> Result<Vec<Versioned<T>>> {
        let mut found = Vec::new();
        let mut unread = None;
        self.for_each(collection, |row| match row {
            Ok(entity) => found.extend(Some(entity).filter(|entity| wanted(entity))),
            Err(key) => unread = Some(key),
        })
        .await?;
        match unread {
            None => Ok(found),
            Some(key) => Err(Error::Unreadable(format!("the item {} cannot be read", key.sk).into())),
        }
    }

    /// One page of bare items; of an index, only their keys.
    pub(super) async fn page_of_items(&self, listing: &Listing, request: &PageRequest) -> Result<Page<Item>> {
        let backwards = matches!(request.cursor, Some(Cursor::Before(_)));
        let before = (request.number - 1).saturating_mul(u64::from(request.size));
        let start = match &request.cursor {
            Some(Cursor::After(id) | Cursor::Before(id)) => Some(listing.start_key(id)),
            None if before == 0 => None,
            None => match self.skip(listing, before).await? {
                Some(start) => Some(start),
                None => return Ok(Page { rows: Vec::new(), next: None, previous: None }),
            },
        };
        let begins_list = start.is_none();
        let size = request.size as usize;
        // One row more than asked tells whether another page follows.
        let mut rows = self.collect(listing, start, backwards, request.size + 1).await?;
        let more = rows.len() > size;
        rows.truncate(size);
        if backwards {
            rows.reverse();
        }
        let (has_previous, has_next) = if backwards { (more, true) } else { (!begins_list, more) };
        let cursor = |row: Option<&Item>, place: fn(String) -> Cursor| match row {
            Some(row) => listing.id_in(row).map(place).map(Some),
            None => Ok(request.cursor.as_ref().and_then(Cursor::turned)),
        };
        Ok(Page {
            next: if has_next { cursor(rows.last(), Cursor::After)? } else { None },
            previous: if has_previous { cursor(rows.first(), Cursor::Before)? } else { None },
            rows,
        })
    }

    /// The key of the `count`th row, or none when there are fewer.
    ///
    /// DynamoDB charges for the rows skipped: where there is an index of keys, for these alone.
    async fn skip(&self, listing: &Listing, count: u64) -> Result<Option<Item>> {
        if let Listing::AllIndexed(collection, partitions) = listing {
            return self.skip_indexed(collection, partitions, count).await;
        }
        let mut start = None;
        let mut left = count;
        while left > 0 {
            let limit = u32::try_from(left.min(SKIPPED_AT_ONCE)).unwrap_or(u32::MAX);
            let read = Read { start, backwards: false, limit, select: Select::Count };
            let found = self.read(listing, &read).await?;
            left = left.saturating_sub(u64::from(found.count));
            match found.last {
                Some(last) => start = Some(last),
                None => return Ok(None),
            }
        }
        Ok(start)
    }

    /// Up to `limit` rows from `start` on: DynamoDB ends a read at 1 MB, a page goes on.
    async fn collect(
        &self,
        listing: &Listing,
        start: Option<Item>,
        backwards: bool,
        limit: u32,
    ) -> Result<Vec<Item>> {
        let select = match listing {
            Listing::All(_) | Listing::AllIndexed(..) => Select::AllAttributes,
            Listing::WithStatus(..) => Select::AllProjectedAttributes,
        };
        let mut rows = Vec::new();
        let mut read = Read { start, backwards, limit, select };
        loop {
            let found = self.read(listing, &read).await?;
            rows.extend(found.rows);
            read.limit = limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
            if read.limit == 0 || found.last.is_none() {
                return Ok(rows);
            }
            read.start = found.last;
        }
    }

    pub(super) async fn read(&self, listing: &Listing, read: &Read) -> Result<Found> {
        self.with_retries(|| async {
            let query = self
                .client()
                .query()
                .table_name(self.table())
                .set_exclusive_start_key(read.start.clone())
                .scan_index_forward(!read.backwards)
                .limit(i32::try_from(read.limit).unwrap_or(i32::MAX))
                .select(read.select.clone())
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let value = |text: &str| AttributeValue::S(text.to_owned());
            let query = match listing {
                Listing::All(collection) | Listing::AllIndexed(collection, _) => query
                    .key_condition_expression(format!(
                        "{} = :pk AND begins_with({}, :prefix)",
                        keys::PK,
                        keys::SK
                    ))
                    .expression_attribute_values(":pk", value(&collection.pk))
                    .expression_attribute_values(":prefix", value(collection.prefix))
                    .consistent_read(true),
                Listing::WithStatus(_, partition) => query
                    .index_name(BY_STATUS)
                    .key_condition_expression(format!("{BY_STATUS_PK} = :pk"))
                    .expression_attribute_values(":pk", value(partition)),
            };
            let response = query.send().await.map_err(Failure::of)?;
            self.usage.count_reads(response.consumed_capacity());
            Ok(Found {
                count: u32::try_from(response.count).unwrap_or(0),
                rows: response.items.unwrap_or_default(),
                last: response.last_evaluated_key,
            })
        })
        .await
    }
}
