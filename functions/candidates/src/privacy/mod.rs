//! Consents, requests for erasure, and holds, which prevent erasure.

pub(crate) mod consents;
pub(crate) mod document;
pub(crate) mod erasure_request;
pub(crate) mod hold;
