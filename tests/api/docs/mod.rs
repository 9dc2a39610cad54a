//! The OpenAPI document and the reference page.

mod document;
mod guide;
mod ignored;
mod reference;
