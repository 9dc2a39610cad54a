//! Renders mails. Each language has one file of lines in `shared/templates` for both HTML and plain text.

use askama::Template;

use super::{AskedHelpEntry, InterviewLink, MailOccasion, PersonalMail, WaitingDays};
use crate::domain::candidate::{EndedByTime, HelpKind};
use crate::domain::language::Language;
use crate::domain::transition::CandidateMail;

pub struct RenderedMail {
    /// A single line without control characters.
    pub subject: String,
    /// A complete HTML page.
    pub html: String,
    /// The plain text.
    pub text: String,
}

/// A line of a mail's text. If a mail's template has no text for a line, the mail omits the line.
#[derive(Clone, Copy)]
enum MailLine {
    Subject,
    /// Precedes the greeting, only in HTML.
    Heading,
    Greeting,
    /// What has happened, and what the reader can do about it.
    Body,
    /// How long the interview takes, and what the candidate needs for it.
    Length,
    /// The step with this number, counted from 1.
    Step(usize),
    /// Introduces the company's message to the candidate.
    Message,
    /// The number of answers in an interview whose time has ended.
    EndedByTime {
        answered: usize,
        questions: usize,
    },
    /// For how long an interview has waited for an evaluation.
    Waiting {
        days: i64,
    },
    /// The help that a candidate asks for.
    Help(HelpKind),
    /// Introduces the link to the accessibility statement.
    Accessibility,
    /// How many further candidates the mail does not list.
    More,
    /// Introduces the deadline.
    Deadline,
    /// The label of the link in HTML.
    Button,
    /// Introduces the link in plain text.
    Lead,
    CopyLink,
    Personal,
    /// What else the reader can do, for example ignore the mail or ask somebody.
    Otherwise,
    Closing,
}

impl From<&EndedByTime> for MailLine {
    fn from(ended: &EndedByTime) -> Self {
        Self::EndedByTime { answered: ended.answered, questions: ended.questions }
    }
}

impl From<&WaitingDays> for MailLine {
    fn from(WaitingDays(days): &WaitingDays) -> Self {
        Self::Waiting { days: *days }
    }
}

impl From<&AskedHelpEntry> for MailLine {
    fn from(asked: &AskedHelpEntry) -> Self {
        Self::Help(asked.kind)
    }
}

/// One row per language. The compiler reports missing languages, and missing lines in their templates.
macro_rules! languages {
    ($($language:ident $path:literal)+) => {
        fn write_line(mail: &PersonalMail<'_>, line: MailLine) -> askama::Result<String> {
            match mail.language {
                $(Language::$language => {
                    #[derive(Template)]
                    #[template(path = $path)]
                    struct LineTemplate<'a> {
                        mail: &'a PersonalMail<'a>,
                        line: MailLine,
                    }
                    LineTemplate { mail, line }.render()
                })+
            }
        }
    };
}

languages! {
    En "en.txt"
    De "de.txt"
    Fr "fr.txt"
    Es "es.txt"
    It "it.txt"
    Nl "nl.txt"
}

#[derive(Template)]
#[template(path = "mail.txt")]
struct TextTemplate<'a> {
    mail: &'a PersonalMail<'a>,
}

#[derive(Template)]
#[template(path = "mail.html")]
struct HtmlTemplate<'a> {
    mail: &'a PersonalMail<'a>,
    subject: &'a str,
}

impl PersonalMail<'_> {
    /// Renders the mail in its reader's language.
    pub fn render(&self) -> askama::Result<RenderedMail> {
        let subject = self.say(MailLine::Subject)?;
        let html = HtmlTemplate { mail: self, subject: &subject }.render()?;
        let text = TextTemplate { mail: self }.render()?;
        Ok(RenderedMail { subject, html, text })
    }

    /// A line in the reader's language; empty if this mail has no such line.
    fn say(&self, line: MailLine) -> askama::Result<String> {
        let written = write_line(self, line)?;
        // Remove line breaks: a name must not begin a header, or a paragraph that looks like ours.
        let line: String = written.chars().filter(|character| !character.is_control()).collect();
        Ok(line.trim().to_owned())
    }

    /// Splits a line into the text before the address to write to, the address, and the text after it; `None` if the
    /// line has no address.
    fn around_address<'a>(&'a self, line: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let address = self.asked_address()?;
        // Find the last occurrence: a person's name comes before the address, and may contain it.
        let (before, after) = line.rsplit_once(address)?;
        Some((before, address, after))
    }

    /// The reader's next steps. The templates number them if there are several.
    fn steps(&self) -> askama::Result<Vec<String>> {
        let mut steps = Vec::new();
        loop {
            match self.say(MailLine::Step(steps.len() + 1))? {
                step if step.is_empty() => return Ok(steps),
                step => steps.push(step),
            }
        }
    }
}

/// The `mailto:` URL of an address.
fn mailto(address: &str) -> String {
    let escaped = address.bytes().map(|byte| match byte {
        b'@' | b'.' | b'-' | b'_' | b'+' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    format!("mailto:{}", escaped.collect::<String>())
}

#[cfg(test)]
mod tests;
