//! The targets of requests: each kind says which items it loads and who may see them.

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
