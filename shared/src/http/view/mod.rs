//! Views that several groups of routes show.

#![warn(missing_docs, reason = "the reference prints the docs of views")]

mod cancellation;
mod candidate;
mod captions;
mod contact;
mod customer;
mod event;
mod guest_link;
mod help_request;
mod label;
mod nested;
mod questionnaire;
mod receipt;
mod token;
mod upload;
mod video;

pub use cancellation::CancellationView;
pub use candidate::{
    AdjustmentsView, CandidateFieldsView, CandidateView, CandidateViewer, ReopeningView, ShareView,
};
pub use captions::CaptionsView;
pub use contact::ContactView;
pub(crate) use contact::{EndedGuestLinkView, EndedKeyView};
pub use customer::CustomerView;
pub(crate) use event::ChangeView;
pub use event::{AuthorView, EventView, FeedEvent};
pub use guest_link::GuestLinkView;
pub use help_request::HelpRequestView;
pub use label::LabelView;
pub use nested::ExpandedReference;
pub use questionnaire::{CriterionView, QuestionView};
pub use receipt::{ReceiptKeyView, ReceiptView};
pub use token::TokenRightsView;
pub use upload::{SignedUploadView, UploadView};
pub use video::PlacedVideoView;
