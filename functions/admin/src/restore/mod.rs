//! Gives the items of a live table the contents that they have in another table, which DynamoDB has restored from it.
//!
//! [`prepare`](TableRestore::prepare) reads the restored table while the service is still running. Then, while nothing
//! else writes to the live table, [`apply`](TableRestore::apply) reads that table and puts and deletes what differs. So
//! each item is read once from each table, and once more if it must be put. Tables are read in concurrent segments. A
//! folder records the completed segments, so that a stopped run can continue; repeating a segment is harmless.

mod hash;
mod index;
mod progress;
mod segments;
mod table;
mod work;

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use aws_sdk_dynamodb::types::TableDescription;
use serde::{Deserialize, Serialize};
use shared::config::AwsConfig;
use shared::store::{RestoreRule, TAKEN_BACK, company_in, take_back};
use tokio::runtime::Builder;

use hash::ItemHash;
use index::ItemIndex;
use progress::Progress;
use segments::SegmentPool;
use table::{ItemWrite, TableClient, TableItem};
use work::WorkFolder;

const HAS_CHANGED: &str = "the restored table has changed while it was read";

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub struct TableRestore {
    aws: AwsConfig,
    /// The name of the service's table.
    live: String,
    /// The name of the table that DynamoDB has restored.
    restored: String,
    folder: WorkFolder,
    report: fn(&str),
}

/// The result of `prepare`, summed over all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreparedItems {
    /// The number of items that the restore compares.
    pub prepared: u64,
    /// The identifiers of the companies in the restored table.
    // The caller runs commands for each company; another scan of a large table would exceed a function's timeout.
    pub companies: Vec<String>,
}

/// The result of `apply`, summed over all runs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreCounts {
    /// The number of items of the live table that were compared.
    pub compared: u64,
    /// The number of items that were put with their restored contents.
    pub put: u64,
    /// The number of newer items that were deleted.
    pub deleted: u64,
}

impl TableRestore {
    /// Creates a restore of the table `live` from `restored`. It writes each item's key and a hash of 24 bytes into
    /// `folder`, and calls `report` with the progress every ten seconds.
    ///
    /// # Errors
    /// If the folder cannot be created or belongs to another restore.
    pub fn new(aws: AwsConfig, live: &str, restored: &str, folder: &Path, report: fn(&str)) -> Result<Self> {
        if live == restored {
            return Err("the live table cannot be restored from itself".into());
        }
        let folder = WorkFolder::open(folder, &format!("{live} {restored}"))?;
        Ok(Self { aws, live: live.to_owned(), restored: restored.to_owned(), folder, report })
    }

    /// Reads the restored table.
    ///
    /// # Errors
    /// If DynamoDB keeps failing. Repeat it to continue.
    pub fn prepare(&self) -> Result<PreparedItems> {
        let pool = self.pool()?;
        let progress = Progress::new("read", &self.restored, pool.total, self.report);
        pool.run(
            &progress,
            &self.restored,
            |segment| self.folder.is_prepared(segment),
            async |table, segment| {
                let mut noted = self.folder.note_prepared(segment)?;
                let mut pages = table.pages(segment, pool.total);
                while let Some(page) = pages.next().await? {
                    progress.count(page.len());
                    for item in &page {
                        let (pk, sk) = table::key_of(item)?;
                        let rule = RestoreRule::of(pk, sk);
                        if rule != RestoreRule::Keep {
                            noted.add(ItemHash::of(pk, sk, item, rule)?, pk, sk)?;
                        }
                        if let Some(company) = company_in(pk, sk) {
                            noted.add_company(company.as_str())?;
                        }
                    }
                }
                noted.finish()
            },
        )?;
        Ok(PreparedItems {
            prepared: self.folder.count_prepared(pool.total)?,
            companies: self.folder.companies(pool.total)?,
        })
    }

    /// Reads the live table, puts and deletes what differs, and puts what is missing. Requires `prepare`.
    ///
    /// # Errors
    /// If a segment is not prepared, or if DynamoDB keeps failing. Repeat it to continue, before anything else writes
    /// to the table.
    pub fn apply(&self) -> Result<RestoreCounts> {
        // The comparison runs only once: the operator's later commands may change items.
        let counts =
            self.folder.noted("applied", || Ok(serde_json::to_string(&self.compare_and_write()?)?))?;
        Ok(serde_json::from_str(&counts)?)
    }

    fn compare_and_write(&self) -> Result<RestoreCounts> {
        let pool = self.pool()?;
        let mut index = ItemIndex::new(self.folder.read_prepared(pool.total)?);
        let progress = Progress::new("compared", &self.live, pool.total, self.report);
        pool.run(
            &progress,
            &self.live,
            |segment| self.folder.is_applied(segment),
            async |table, segment| {
                let restored = table.of(&self.restored);
                let mut pages = table.pages(segment, pool.total);
                let mut counts = RestoreCounts::default();
                let mut existing = Vec::new();
                while let Some(page) = pages.next().await? {
                    progress.count(page.len());
                    let comparison = Comparison::of(page, &index)?;
                    existing.extend(comparison.existing);
                    counts.compared += comparison.compared;
                    let mut writes = comparison.newer;
                    writes.extend(old_contents(&restored, comparison.differing).await?);
                    let deleted =
                        writes.iter().filter(|write| matches!(write, ItemWrite::Delete(_))).count() as u64;
                    counts.deleted += deleted;
                    counts.put += writes.len() as u64 - deleted;
                    table.write(writes).await?;
                }
                self.folder.note_applied(segment, counts, &existing)
            },
        )?;
        let mut counts = self.folder.read_applied(pool.total, |position| index.cross_out(position))?;
        counts.put += self.put_missing(&pool, &index)?;
        Ok(counts)
    }

    /// Puts the items that the live table lacks, and returns their number.
    fn put_missing(&self, pool: &SegmentPool, index: &ItemIndex) -> Result<u64> {
        let missing = index.missing();
        let progress = Progress::new("put", &self.live, pool.total, self.report);
        if missing > 0 {
            pool.run(
                &progress,
                &self.live,
                |_| false,
                async |table, segment| {
                    let restored = table.of(&self.restored);
                    let mut keys = self.folder.prepared_keys(segment)?;
                    while let Some(some) =
                        keys.next_where(table::KEYS_PER_CALL, |hash| index.is_missing(hash))?
                    {
                        let wanted = some.len();
                        let items = restored.get(some).await?;
                        if items.len() != wanted {
                            return Err(HAS_CHANGED.into());
                        }
                        progress.count(items.len());
                        table.write(items.into_values().map(ItemWrite::Put).collect()).await?;
                    }
                    Ok(())
                },
            )?;
        }
        Ok(missing)
    }

    fn pool(&self) -> Result<SegmentPool> {
        let restored = self.describe(&self.restored)?;
        // Progress for a former table of the same name would delete items that only the present table has.
        let identity = format!("{:?} {:?}", restored.table_id, restored.creation_date_time);
        if self.folder.noted("identity", || Ok(identity.clone()))? != identity {
            return Err(
                format!("the folder belongs to another restore: of a former {}", self.restored).into()
            );
        }
        let total = self.folder.segments(|| SegmentPool::segments_for(&self.describe(&self.live)?))?;
        Ok(SegmentPool::new(self.aws.clone(), total))
    }

    fn describe(&self, table: &str) -> Result<TableDescription> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(TableClient::new(&self.aws, table).describe())
    }
}

/// A page of the live table, compared with the restored table.
#[derive(Default)]
struct Comparison {
    compared: u64,
    /// The positions in the index of items that the restored table has.
    existing: Vec<u64>,
    /// Items whose content differs in the restored table.
    differing: Vec<TableItem>,
    /// Writes that undo the creation of items that the restored table lacks.
    newer: Vec<ItemWrite>,
}

impl Comparison {
    fn of(page: Vec<TableItem>, index: &ItemIndex) -> Result<Self> {
        let mut comparison = Self::default();
        for item in page {
            let (pk, sk) = table::key_of(&item)?;
            let rule = RestoreRule::of(pk, sk);
            if rule == RestoreRule::Keep {
                continue;
            }
            comparison.compared += 1;
            let hash = ItemHash::of(pk, sk, &item, rule)?;
            match index.find(hash) {
                Some(found) => {
                    comparison.existing.push(found.position);
                    if !found.is_equal {
                        comparison.differing.push(item);
                    }
                }
                None if rule == RestoreRule::Replace => comparison.newer.push(ItemWrite::delete(item)),
                None if TAKEN_BACK.iter().any(|name| item.contains_key(*name)) => {
                    comparison.newer.push(ItemWrite::Put(take_back(&TableItem::new(), item)));
                }
                None => {}
            }
        }
        Ok(comparison)
    }
}

/// Writes that give items their restored contents.
async fn old_contents(restored: &TableClient, differing: Vec<TableItem>) -> Result<Vec<ItemWrite>> {
    let mut writes = Vec::with_capacity(differing.len());
    for some in differing.chunks(table::KEYS_PER_CALL) {
        let keys = some.iter().map(table::owned_key_of).collect::<Result<Vec<_>>>()?;
        let mut old: HashMap<_, _> = restored.get(keys.clone()).await?;
        for (item, key) in some.iter().zip(keys) {
            let then = old.remove(&key).ok_or(HAS_CHANGED)?;
            writes.push(ItemWrite::Put(match RestoreRule::of(&key.pk, &key.sk) {
                RestoreRule::TakeBackAttributes => take_back(&then, item.clone()),
                RestoreRule::Replace | RestoreRule::Keep => then,
            }));
        }
    }
    Ok(writes)
}
