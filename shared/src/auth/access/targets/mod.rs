//! Targets of requests: for each kind, how it is loaded and who may see it.

pub(super) mod answer_captions;
pub(super) mod answers;
pub(super) mod candidate;
pub(super) mod company;
pub(super) mod customer;
pub(super) mod evaluation;
pub(super) mod file;
pub(super) mod guest;
pub(super) mod own;
pub(super) mod project;
pub(super) mod questionnaire;
pub(super) mod resource;
pub(super) mod retention;
pub(super) mod sign_in;
pub(super) mod usage;
pub(super) mod video;
pub(super) mod webhook;
