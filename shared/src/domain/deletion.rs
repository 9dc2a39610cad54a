//! Deletions that take more than one transaction.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::{CustomerId, LabelId, VideoId};
use super::text::Email;

/// The person or named token that deletes a customer, as the mail to the customer names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deleter {
    /// Their name.
    pub name: String,
    /// Where they answer questions; none for a named token.
    pub email: Option<Email>,
}

/// Something that is being deleted: it is inactive, so that nothing new refers to it, and what refers to it is changed
/// before it goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum Deletion {
    /// A customer.
    Customer {
        /// The customer.
        customer: CustomerId,
        /// Who deletes it, for the mail to the customer.
        by: Deleter,
    },
    /// A label.
    Label {
        /// The label.
        label: LabelId,
    },
    /// A welcome video.
    Video {
        /// The video.
        video: VideoId,
    },
}

/// The identifier of the thing that is being deleted.
impl fmt::Display for Deletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Customer { customer, .. } => customer.fmt(f),
            Self::Label { label } => label.fmt(f),
            Self::Video { video } => video.fmt(f),
        }
    }
}
