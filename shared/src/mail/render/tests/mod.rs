//! Every mail in every language, with names that contain markup.

use super::*;
use crate::domain::text::ShortName;

mod account;
mod interview;
mod reminder;

/// Replaces the entities in `html`, to approximate what a reader sees.
fn unescaped(html: &str) -> String {
    let entities = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    entities.iter().fold(html.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

fn render_to(names: &[ShortName; 3], mail: &MailOccasion<'_>, language: Language) -> RenderedMail {
    let [first_name, last_name, company] = names;
    PersonalMail { first_name, last_name, company, language, occasion: mail.clone() }.render().unwrap()
}
