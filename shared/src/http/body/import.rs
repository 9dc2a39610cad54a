//! Limits of requests that import many entries: their function has 29 seconds.

use chrono::TimeDelta;

use crate::domain::id::IdBlock;

/// The maximum number of entries in one request.
// Each entry gets an identifier from the request's block, so that a retry finds what an earlier attempt created.
pub const MAX_ENTRIES: usize = IdBlock::SIZE;

/// After this time since the request's start, no further entry is begun.
// The entries in progress still need some seconds, and a response after the function's time limit is lost.
pub const TIME_LIMIT: TimeDelta = TimeDelta::seconds(22);
