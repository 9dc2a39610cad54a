//! The feed of a company's events, and webhooks.

mod authors;
mod external_ids;
pub(crate) mod feed;
mod feed_holes;
mod project_tokens;
mod receipts;
pub(crate) mod webhooks;
