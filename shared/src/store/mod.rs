//! The table: every read and write of the service, by access pattern.
//!
//! Only admission hands out a [`Store`], so nothing is read or written for a caller who was not admitted.

mod answers;
mod candidate;
mod company;
mod company_counts;
mod company_erasure;
mod conversion_queue;
mod customer;
mod deletion;
mod delivery;
mod due;
mod effect;
mod erasure;
mod evaluation;
mod failures;
mod feed;
mod history;
mod idempotency;
mod interview;
mod label;
mod legal;
mod login;
mod matches;
mod numbering;
mod project;
mod project_counts;
mod recount;
mod referred;
mod reindex;
mod report;
mod reset;
mod restore;
mod retention;
mod retention_run;
mod sample;
mod search;
mod session;
mod share;
mod table;
mod token;
mod upload;
mod video;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

pub use candidate::CandidateWithProject;
pub use company_erasure::CompanyRemains;
pub use customer::CustomerChange;
pub use deletion::StepwiseDeletion;
pub use delivery::{DeliveryEndpoint, DeliveryProgress};
pub use due::DuePages;
pub use effect::MailSubject;
pub use erasure::FoundErasures;
pub use evaluation::{CandidateResult, EvaluationKey};
pub use feed::FeedPage;
pub use history::{EntryKey, EventSequence, StrippedHistory, history_place};
pub use idempotency::StoredResponse;
pub(crate) use idempotency::{EarlierRequest, KeyedAttempt, KeyedRequest, LeaseResult, RequestIntent};
pub(crate) use login::LoginPartition;
pub use login::{FoundAccounts, taken_username};
pub use matches::CandidateMatch;
pub use project::CountedProject;
pub use project_counts::CountShards;
pub(crate) use project_counts::shards;
pub use recount::{RecountResult, WrongCount};
pub use referred::{ReferenceIds, ReferencedResources};
pub use reindex::ReindexResult;
pub use report::ReportSubject;
pub use reset::ResetMail;
pub use restore::{LAST_EVENT, RestoreRule, company_in};
pub(crate) use retention::retention_keys;
pub use retention::{CompanyRetention, DueList, ReviewPage, ReviewPages};
pub use sample::check;
pub use search::SearchHit;
pub use session::{Session, SessionKind};
pub use share::SharedCandidate;
pub(crate) use table::batch::ItemBatch;
pub use table::capacity::RequestUsage;
pub(crate) use table::item::StoredEntity;
pub use table::item::VersionedItem;
pub(crate) use table::keys;
pub(crate) use table::keys::ItemKey;
pub use table::keys::effect_in;
pub use table::page;
pub use table::retry::{
    COMMAND_PATIENCE, EVENT_PATIENCE, IMPORT_PATIENCE, REQUEST_PATIENCE, RetryPolicy, SENDER_PATIENCE,
};
pub use table::transaction::Transaction;
pub use webhook::{DeliveryAttempts, StreamTrigger};

use crate::app::App;
use crate::domain::history::ChangeOrigin;
use crate::domain::id::{Id, IdBlock};

/// Access to the table on behalf of one request, whose [`RequestUsage`] it counts.
#[derive(Clone)]
pub struct Store {
    app: App,
    usage: Arc<RequestUsage>,
    patience: Duration,
    /// `None` before the author is known.
    origin: Option<Arc<ChangeOrigin>>,
}

impl Store {
    pub(crate) fn new(app: App, usage: Arc<RequestUsage>) -> Self {
        Self { app, usage, patience: REQUEST_PATIENCE, origin: None }
    }

    /// Access for changes of this origin. Without one, no resource with a history can be changed.
    pub(crate) fn with_origin(self, origin: ChangeOrigin) -> Self {
        Self { origin: Some(Arc::new(origin)), ..self }
    }

    /// Access for work that may take longer than a request.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// A new identifier, made at `now`.
    pub fn next_id<T>(&self, now: DateTime<Utc>) -> Id<T> {
        self.app.ids().next(now)
    }

    pub(crate) fn next_ids(&self, now: DateTime<Utc>) -> IdBlock {
        self.app.ids().next_block(now)
    }

    /// Opens the connection to DynamoDB by one cheap read.
    ///
    /// A failure is left to that request, which can answer it.
    // The first request must not wait for it.
    pub(crate) async fn warm_up(app: &App) {
        let nowhere = keys::absent_key().into_attributes();
        let _ = app
            .aws()
            .dynamodb()
            .get_item()
            .table_name(&app.config().table)
            .set_key(Some(nowhere))
            .send()
            .await;
    }

    fn client(&self) -> &aws_sdk_dynamodb::Client {
        self.app.aws().dynamodb()
    }

    fn table(&self) -> &str {
        &self.app.config().table
    }
}
