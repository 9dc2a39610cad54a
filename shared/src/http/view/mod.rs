//! Views that more than one group shows.

mod candidate;
mod customer;
mod video;

pub use candidate::{CandidateFields, CandidateView, Viewer};
pub use customer::CustomerView;
pub use video::PlacedVideoView;
