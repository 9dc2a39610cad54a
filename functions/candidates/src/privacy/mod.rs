//! What candidates may ask for, and what protects them from erasure.

pub(crate) mod consents;
pub(crate) mod erasure_request;
pub(crate) mod hold;
