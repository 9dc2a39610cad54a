//! The service as an OpenAPI 3.1 document, made from what answers requests: the routes, what their handlers take and
//! answer, the readers of bodies, the views, and the tables of permissions and moves.
//!
//! Nothing here runs when a request is answered.

mod answer;
mod argument;
mod document;
mod example;
mod failure;
mod operation;
mod prose;
mod tables;

pub use answer::Answer;
pub use argument::Argument;
pub use document::{Group, document};
pub use operation::{Documented, Operation};
