//! Every mail in every language, with names that contain markup.

use super::*;

mod account;
mod interview;

/// The text that a reader of this HTML sees, approximately.
fn unescaped(html: &str) -> String {
    let entities = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    entities.iter().fold(html.to_owned(), |text, (entity, character)| text.replace(entity, character))
}
