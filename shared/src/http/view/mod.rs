//! Views that more than one group shows.

mod candidate;
mod customer;
mod share;
mod upload;
mod video;

pub use candidate::{CandidateFields, CandidateView, Viewer};
pub use customer::CustomerView;
pub use share::ShareView;
pub use upload::{UploadView, read_announcement};
pub use video::PlacedVideoView;
