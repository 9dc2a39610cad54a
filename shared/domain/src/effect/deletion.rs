//! Deletions in several transactions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{CustomerId, LabelId, VideoId};
use crate::text::Email;

/// The person or named token that deletes a customer, as the mail to the customer names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionAuthor {
    /// The display name.
    pub name: String,
    /// The address for questions; `None` for a named token.
    pub email: Option<Email>,
}

/// An item that is being deleted. It is inactive: no new references to it can be made, and existing references are removed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum ItemDeletion {
    Customer {
        customer: CustomerId,
        /// The user or token that the mail names.
        by: DeletionAuthor,
    },
    Label {
        label: LabelId,
    },
    /// A welcome video.
    Video {
        video: VideoId,
    },
}

/// The identifier of the deleted item.
impl fmt::Display for ItemDeletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Customer { customer, .. } => customer.fmt(f),
            Self::Label { label } => label.fmt(f),
            Self::Video { video } => video.fmt(f),
        }
    }
}
