//! The OpenAPI 3.1 document. Most of it is generated from the code that answers requests: routes, handlers' arguments
//! and responses, body readers, views, and the tables of permissions and moves.
//!
//! Nothing in this module runs while a request is answered.

mod answer;
mod argument;
mod body;
mod document;
mod events;
mod example;
mod failure;
mod identifiers;
mod moments;
mod names;
mod operation;
mod prose;
mod sets;
mod tables;
mod webhooks;

pub use answer::DescribeResponse;
pub use argument::DescribeArgument;
pub use document::ApiDocument;
pub use operation::OperationDoc;
