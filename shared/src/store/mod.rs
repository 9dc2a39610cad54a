//! The table: every read and write of the service, by access pattern.
//!
//! Only admission hands out a [`Store`], so nothing is read or written for a caller who was not admitted.

mod archive;
mod bulk_slot;
mod candidate;
mod company;
mod deletion;
mod due;
mod effect;
mod erasure;
mod export;
mod external_id;
mod history;
mod idempotency;
mod login;
mod media;
mod project;
mod referred;
mod retention;
mod run_record;
mod staff;
mod table;
mod upkeep;
mod webhook;

pub use archive::{ArchivePage, ArchiveReader, ArchiveRecord, ArchivedCounts, ImportedRecord};
pub use bulk_slot::BulkSlot;
pub use candidate::CandidateWithProject;
pub use candidate::evaluation::{CandidateResult, EvaluationKey};
pub use candidate::matches::CandidateMatch;
pub use candidate::report::ReportSubject;
pub use candidate::search::SearchHit;
pub use candidate::share::SharedCandidate;
pub use deletion::StepwiseDeletion;
pub use due::DuePages;
pub use effect::MailSubject;
pub use erasure::FoundErasures;
pub use export::CompanyExports;
pub use history::feed::FeedPage;
pub use history::{EntryKey, EventSequence, StrippedHistory, history_place};
pub use idempotency::StoredResponse;
pub(crate) use idempotency::{EarlierRequest, KeyedAttempt, KeyedRequest, LeaseResult, RequestIntent};
pub(crate) use login::LoginPartition;
pub use login::reset::ResetMail;
pub use login::session::{Session, SessionKind};
pub use login::{FoundAccounts, taken_username};
pub use project::CountedProject;
pub use project::copy::{CopiedAttachments, CopySource};
pub use project::counts::CountShards;
pub(crate) use project::counts::shards;
pub use referred::{ReferenceIds, ReferencedResources};
pub use retention::company_erasure::CompanyRemains;
pub(crate) use retention::retention_keys;
pub use retention::{CompanyRetention, DueList, ReviewPage, ReviewPages};
pub(crate) use run_record::RunRecord;
pub use staff::customer::CustomerChange;
pub use staff::notice::NoticeSubject;
pub use table::capacity::RequestUsage;
pub use table::handle::{
    COMMAND_PATIENCE, EVENT_PATIENCE, IMPORT_PATIENCE, REQUEST_PATIENCE, SENDER_PATIENCE, Store,
};
pub(crate) use table::item::StoredEntity;
pub use table::item::VersionedItem;
pub(crate) use table::keys;
pub(crate) use table::keys::ItemKey;
pub use table::keys::effect_in;
pub(crate) use table::read::batch::ItemBatch;
pub use table::read::page;
pub use table::retry::RetryPolicy;
pub use table::write::transaction::Transaction;
pub use upkeep::recount::{RecountResult, WrongCount};
pub use upkeep::reindex::ReindexResult;
pub use upkeep::restore::{LAST_EVENT, RestoreRule, company_in};
pub use upkeep::sample::check;
pub use webhook::delivery::{DeliveryEndpoint, DeliveryProgress};
pub use webhook::{DeliveryAttempts, StreamTrigger};
