//! What requests are about: for each kind of target, how it is loaded and who may see it.

pub(super) mod answers;
pub(super) mod candidate;
pub(super) mod company;
pub(super) mod customer;
pub(super) mod evaluation;
pub(super) mod file;
pub(super) mod guest;
pub(super) mod project;
pub(super) mod questionnaire;
pub(super) mod resource;
pub(super) mod retention;
pub(super) mod video;
pub(super) mod webhook;
