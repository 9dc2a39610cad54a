//! Renders letters to mails (subject, HTML and plain text) from the templates in `shared/templates`.

use askama::Template;

use super::{CandidateLetter, LetterLink, moment};
use crate::domain::language::Language;
use crate::domain::mail::CandidateMail;

/// A rendered mail.
pub struct RenderedMail {
    /// One line without control characters.
    pub subject: String,
    /// A complete HTML page.
    pub html: String,
    /// The plain text.
    pub text: String,
}

/// The fields that templates use.
struct TemplateFields<'a> {
    first_name: &'a str,
    last_name: &'a str,
    company: &'a str,
    project: &'a str,
    contact: Option<String>,
    deadline: Option<String>,
    link: &'a LetterLink,
}

impl<'a> TemplateFields<'a> {
    fn new(letter: &'a CandidateLetter<'_>) -> Self {
        let deadline = letter.deadline;
        Self {
            first_name: letter.first_name.as_str(),
            last_name: letter.last_name.as_str(),
            company: letter.company.as_str(),
            project: letter.project.as_str(),
            contact: contact(letter.contact_person.as_str(), letter.contact_address.as_str()),
            deadline: deadline.map(|at| moment::in_words(at, letter.timezone, letter.language)),
            link: &letter.link,
        }
    }
}

fn contact(person: &str, address: &str) -> Option<String> {
    match (person, address) {
        ("", "") => None,
        ("", one) | (one, "") => Some(one.to_owned()),
        (person, address) => Some(format!("{person} ({address})")),
    }
}

/// One row per mail and language. The compiler reports missing ones, and missing files.
macro_rules! templates {
    ($($mail:ident $language:ident $html:literal $text:literal)+) => {
        /// The plain text; its first line is the subject.
        fn text(mail: CandidateMail, letter: &TemplateFields<'_>, language: Language) -> askama::Result<String> {
            match (mail, language) {
                $((CandidateMail::$mail, Language::$language) => {
                    #[derive(Template)]
                    #[template(path = $text)]
                    struct TextBody<'a> {
                        letter: &'a TemplateFields<'a>,
                    }
                    TextBody { letter }.render()
                })+
            }
        }

        fn html(
            mail: CandidateMail,
            letter: &TemplateFields<'_>,
            language: Language,
            subject: &str,
        ) -> askama::Result<String> {
            match (mail, language) {
                $((CandidateMail::$mail, Language::$language) => {
                    #[derive(Template)]
                    #[template(path = $html)]
                    struct HtmlBody<'a> {
                        letter: &'a TemplateFields<'a>,
                        lang: &'static str,
                        subject: &'a str,
                    }
                    HtmlBody { letter, lang: language.as_str(), subject }.render()
                })+
            }
        }
    };
}

templates! {
    Invitation En "candidate/invitation/en.html" "candidate/invitation/en.txt"
    Invitation De "candidate/invitation/de.html" "candidate/invitation/de.txt"
    Invitation Fr "candidate/invitation/fr.html" "candidate/invitation/fr.txt"
    Invitation Es "candidate/invitation/es.html" "candidate/invitation/es.txt"
    Invitation It "candidate/invitation/it.html" "candidate/invitation/it.txt"
    Invitation Nl "candidate/invitation/nl.html" "candidate/invitation/nl.txt"
    Reminder En "candidate/reminder/en.html" "candidate/reminder/en.txt"
    Reminder De "candidate/reminder/de.html" "candidate/reminder/de.txt"
    Reminder Fr "candidate/reminder/fr.html" "candidate/reminder/fr.txt"
    Reminder Es "candidate/reminder/es.html" "candidate/reminder/es.txt"
    Reminder It "candidate/reminder/it.html" "candidate/reminder/it.txt"
    Reminder Nl "candidate/reminder/nl.html" "candidate/reminder/nl.txt"
    DeadlineChanged En "candidate/deadline-changed/en.html" "candidate/deadline-changed/en.txt"
    DeadlineChanged De "candidate/deadline-changed/de.html" "candidate/deadline-changed/de.txt"
    DeadlineChanged Fr "candidate/deadline-changed/fr.html" "candidate/deadline-changed/fr.txt"
    DeadlineChanged Es "candidate/deadline-changed/es.html" "candidate/deadline-changed/es.txt"
    DeadlineChanged It "candidate/deadline-changed/it.html" "candidate/deadline-changed/it.txt"
    DeadlineChanged Nl "candidate/deadline-changed/nl.html" "candidate/deadline-changed/nl.txt"
}

/// Renders a letter in its language.
pub fn render(mail: CandidateMail, letter: &CandidateLetter<'_>) -> askama::Result<RenderedMail> {
    let shown = TemplateFields::new(letter);
    let text = text(mail, &shown, letter.language)?;
    // A line break in a name ends the subject; the rest can only become text.
    let (subject, text) = text.trim_start().split_once('\n').unwrap_or((&text, ""));
    let subject: String = subject.trim().chars().filter(|character| !character.is_control()).collect();
    let html = html(mail, &shown, letter.language, &subject)?;
    Ok(RenderedMail { html, text: without_gaps(text), subject })
}

/// Reduces consecutive empty lines to one.
fn without_gaps(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut is_gap = true;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            is_gap = true;
            continue;
        }
        if is_gap && !tidy.is_empty() {
            tidy.push('\n');
        }
        is_gap = false;
        tidy.push_str(line);
        tidy.push('\n');
    }
    tidy
}

#[cfg(test)]
mod tests;
