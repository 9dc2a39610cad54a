//! Limits of requests that import many entries, in functions that have 29 seconds.

use chrono::TimeDelta;

use crate::domain::id::IdBlock;

/// The most entries of one request.
// Each gets an identifier of the request's block, so that a retry finds what was created before.
pub const MAX_ENTRIES: usize = IdBlock::SIZE;

/// How long after the request's start entries are begun.
// The last ones still need some seconds, and a response that comes late is lost.
pub const TIME_LIMIT: TimeDelta = TimeDelta::seconds(22);
