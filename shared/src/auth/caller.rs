//! Who is calling.

use chrono::{DateTime, Utc};

use crate::domain::customer::Customer;
use crate::domain::id::CompanyId;
use crate::store::{Key, Session, Versioned};

/// An authenticated caller: a staff user, by a session of theirs.
#[derive(Debug)]
pub struct Caller {
    /// The user.
    pub customer: Versioned<Customer>,
    /// The session that the request came with.
    pub session: Session,
    /// When the session ends unless it is used before.
    pub session_ends: DateTime<Utc>,
    pub(crate) session_key: Key,
}

impl Caller {
    /// The company that the caller belongs to.
    pub fn company(&self) -> &CompanyId {
        &self.session.company
    }
}
