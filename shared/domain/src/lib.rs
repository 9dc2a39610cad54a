//! The rules of the service as values: nothing here reads a clock, a table or a request.

pub mod account;
pub mod answers;
pub mod archive;
pub mod candidate;
pub mod company;
mod digest;
pub mod effect;
pub mod evaluation;
pub mod export;
pub mod history;
pub mod id;
pub mod issuer;
pub mod language;
pub mod mail;
pub mod media;
mod names;
pub mod outgoing;
pub mod partner_data;
pub mod policy;
pub mod privacy;
pub mod project;
pub mod questionnaire;
pub mod random;
pub mod retention;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
pub mod scale;
pub mod scoring;
pub mod secret;
pub mod staff;
pub mod text;
pub mod time_zone;
pub mod timestamp;
pub mod transition;
pub mod webhook;
pub mod work;

pub use names::{not_a_choice, parse_enum};

/// A request that makes sense but that the current state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The reason for programs, in snake case.
    pub code: &'static str,
    /// The reason for people, a sentence.
    pub detail: &'static str,
}
