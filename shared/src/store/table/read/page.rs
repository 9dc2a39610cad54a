//! Pages of a list: any page by its number; the next and previous page by a cursor, which skips no rows and so costs less.

use crate::domain::id::Id;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, StoredEntity, VersionedItem, string};
use crate::store::table::keys::{BY_STATUS, ItemCollection, ItemKey};
use crate::store::table::read::query::{Query, RowFilter};

/// The most rows that one call skips.
pub(in crate::store) const SKIPPED_AT_ONCE: u64 = 10_000;

/// The page of a list that a client requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// The number of the page, from 1.
    pub number: u64,
    /// The maximum number of rows.
    pub size: u32,
    /// The position of the page, from a link to it; `number` is then only informational.
    pub cursor: Option<PageCursor>,
}

/// A position between two rows of a list, stable while rows are added and deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageCursor {
    /// Right after the row with this identifier.
    After(String),
    /// Right before the row with this identifier.
    Before(String),
}

impl PageCursor {
    /// The cursor that leads back from a page without rows. The page it leads to includes the row that `self` names.
    pub fn turned(&self) -> Option<Self> {
        let (Self::After(text) | Self::Before(text)) = self;
        let id: Id<()> = text.parse().ok()?;
        Some(match self {
            Self::After(_) => Self::Before(id.next().to_string()),
            Self::Before(_) => Self::After(id.previous().to_string()),
        })
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// The rows of the page, in list order.
    pub rows: Vec<T>,
    /// The start of the next page; `None` on the last page.
    pub next: Option<PageCursor>,
    /// The end of the previous page; `None` on the first page.
    pub previous: Option<PageCursor>,
}

impl<T> Page<T> {
    /// Maps the rows of the page. Drops rows for which `change` returns `None`.
    pub fn filter_map<U>(self, change: impl FnMut(T) -> Option<U>) -> Page<U> {
        let rows = self.rows.into_iter().filter_map(change).collect();
        Page { rows, next: self.next, previous: self.previous }
    }

    /// Maps the rows of the page.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { rows: self.rows.into_iter().map(change).collect(), next: self.next, previous: self.previous }
    }
}

#[derive(Debug, Clone)]
pub(in crate::store) enum ListSource {
    All(ItemCollection),
    /// Every item of the collection. The items' keys are also in these partitions of the index by status.
    AllIndexed(ItemCollection, Vec<String>),
    /// The items of the collection that the filter selects.
    Having(ItemCollection, RowFilter),
    /// The items of the collection that are in this partition of the index by status. The index's sort keys are the identifiers.
    WithStatus(ItemCollection, String),
}

impl ListSource {
    fn collection(&self) -> &ItemCollection {
        let (Self::All(collection)
        | Self::AllIndexed(collection, _)
        | Self::Having(collection, _)
        | Self::WithStatus(collection, _)) = self;
        collection
    }

    pub(in crate::store) fn query(&self) -> Query {
        match self {
            Self::All(collection) | Self::AllIndexed(collection, _) => Query::of(collection),
            Self::Having(collection, filter) => Query::of(collection).filtered(filter.clone()),
            Self::WithStatus(_, partition) => Query::new(BY_STATUS, string(partition)),
        }
    }

    /// The full key, index attributes included, of the row with this identifier.
    fn start_key(&self, id: &str) -> Item {
        let mut key = self.collection().key(id).into_attributes();
        if let Self::WithStatus(_, partition) = self {
            key.insert(BY_STATUS.pk.to_owned(), string(partition));
            key.insert(BY_STATUS.sk.to_owned(), string(id));
        }
        key
    }
}

impl ItemCollection {
    pub(in crate::store) fn id_in(&self, row: &Item) -> Result<String> {
        let key = item::key_of(row)?;
        let id = key.sk.strip_prefix(self.prefix);
        id.map(str::to_owned).ok_or_else(|| Error::internal("a row outside its collection"))
    }
}

impl Store {
    /// One page of the entities in `listing`, without those that cannot be read.
    pub(in crate::store) async fn page<T: StoredEntity>(
        &self,
        listing: &ListSource,
        request: &PageRequest,
    ) -> Result<Page<VersionedItem<T>>> {
        let Page { rows, next, previous } = self.page_of_items(listing, request).await?;
        let rows = match listing {
            ListSource::All(_) | ListSource::AllIndexed(..) | ListSource::Having(..) => item::readable(rows)?,
            ListSource::WithStatus(_, partition) => {
                let mut rows: Vec<VersionedItem<T>> = self.listed(item::keys_of(&rows)?).await?;
                // The index lags behind the table: the status may have changed since.
                rows.retain(|row| row.by_status().is_some_and(|(now, _)| now == *partition));
                rows
            }
        };
        Ok(Page { rows, next, previous })
    }

    /// Every entity of a collection, the oldest first, without those that cannot be read.
    pub(in crate::store) async fn all<T: StoredEntity>(
        &self,
        collection: &ItemCollection,
    ) -> Result<Vec<VersionedItem<T>>> {
        item::readable(self.all_items(collection).await?)
    }

    /// Calls `take` with every entity of a collection, oldest first; for one that cannot be read, with an error that
    /// holds its key. Holds the rows of one call to DynamoDB at a time.
    pub(in crate::store) async fn for_each<T: StoredEntity>(
        &self,
        collection: ItemCollection,
        mut take: impl FnMut(Result<VersionedItem<T>, ItemKey>),
    ) -> Result<()> {
        let mut query = Query::of(&collection);
        loop {
            let found = self.query(&query).await?;
            for row in found.rows {
                let key = item::key_of(&row)?;
                take(item::or_skipped(item::read(row))?.ok_or(key));
            }
            query.start = found.last;
            if query.start.is_none() {
                return Ok(());
            }
        }
    }

    /// Every entity of a collection that is `wanted`. For changes that must not miss an entity: fails with
    /// [`Error::Unreadable`] if any cannot be read.
    pub(in crate::store) async fn all_wanted<T: StoredEntity>(
        &self,
        collection: ItemCollection,
        wanted: impl Fn(&T) -> bool,
    ) -> Result<Vec<VersionedItem<T>>> {
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

    /// One page of items. Those from the index by status hold only their keys.
    pub(in crate::store) async fn page_of_items(
        &self,
        listing: &ListSource,
        request: &PageRequest,
    ) -> Result<Page<Item>> {
        let backwards = matches!(request.cursor, Some(PageCursor::Before(_)));
        let before = (request.number - 1).saturating_mul(u64::from(request.size));
        let start = match &request.cursor {
            Some(PageCursor::After(id) | PageCursor::Before(id)) => Some(listing.start_key(id)),
            None if before == 0 => None,
            None => match self.skip(listing, before).await? {
                Some(start) => Some(start),
                None => return Ok(Page { rows: Vec::new(), next: None, previous: None }),
            },
        };
        let begins_list = start.is_none();
        let size = request.size as usize;
        // One more row than requested tells whether another page follows.
        let mut query = listing.query();
        query.start = start;
        query.backwards = backwards;
        let mut rows = self.query_rows(query, size + 1).await?;
        let more = rows.len() > size;
        rows.truncate(size);
        if backwards {
            rows.reverse();
        }
        // The link to the previous page always holds a cursor, even to page 1: rows may have been deleted since, and
        // page 1 by its number would repeat rows of this one.
        let (has_previous, has_next) = if backwards { (more, true) } else { (!begins_list, more) };
        let cursor = |row: Option<&Item>, place: fn(String) -> PageCursor| match row {
            Some(row) => listing.collection().id_in(row).map(place).map(Some),
            None => Ok(request.cursor.as_ref().and_then(PageCursor::turned)),
        };
        Ok(Page {
            next: if has_next { cursor(rows.last(), PageCursor::After)? } else { None },
            previous: if has_previous { cursor(rows.first(), PageCursor::Before)? } else { None },
            rows,
        })
    }

    /// The key of the `count`th row; `None` if there are fewer.
    ///
    /// DynamoDB charges for skipped rows; skipping by an index of keys costs less.
    async fn skip(&self, listing: &ListSource, count: u64) -> Result<Option<Item>> {
        if let ListSource::AllIndexed(collection, partitions) = listing {
            return self.skip_indexed(collection, partitions, count).await;
        }
        if let ListSource::Having(collection, _) = listing {
            // DynamoDB's limit also counts rows that the filter drops, so the matching rows must be read and counted here.
            let rows = self.query_rows(listing.query(), usize::try_from(count).unwrap_or(usize::MAX)).await?;
            let last = rows.last().filter(|_| rows.len() as u64 == count);
            return last.map(|row| Ok(listing.start_key(&collection.id_in(row)?))).transpose();
        }
        let mut query = listing.query();
        query.counts = true;
        let mut left = count;
        while left > 0 {
            query.limit = Some(left.min(SKIPPED_AT_ONCE) as usize);
            let found = self.query(&query).await?;
            left = left.saturating_sub(found.count as u64);
            query.start = found.last;
            if query.start.is_none() {
                break;
            }
        }
        Ok(query.start)
    }
}
