//! Mails to the holder of an account, about the account or about a webhook of the company. Each language has one file of texts, which HTML and plain text share.

use askama::Template;
use url::Url;

use super::{RenderedMail, page};
use crate::domain::id::WebhookId;
use crate::domain::language::Language;
use crate::domain::text::{Email, ShortName};

/// The content of a mail to the holder of an account.
#[derive(Clone, Copy)]
pub enum AccountMail<'a> {
    /// Asks the reader to choose a first password.
    Invitation {
        /// Secret: holds a one-time key.
        link: &'a str,
        /// Validity of the key.
        days: i64,
    },
    /// Lets the reader choose a new password for one account or several.
    PasswordReset {
        /// The accounts with the reader's address, at least one.
        accounts: &'a [AccountLink],
        /// Validity of the keys.
        hours: i64,
    },
    /// Tells the reader that their account was deleted.
    Deleted {
        /// The name of the user, or of the company, that deleted it.
        by: &'a str,
        /// The address for questions; the company's name stands in if there is none.
        contact: Option<&'a Email>,
    },
    /// Tells an owner that every delivery to a webhook has failed for a day.
    WebhookFailing {
        /// Its identifier.
        id: WebhookId,
        /// Tells the reader which one it is.
        name: &'a str,
    },
    /// Tells an owner that a webhook was disabled.
    WebhookDisabled {
        /// Its identifier.
        id: WebhookId,
        /// Tells the reader which one it is.
        name: &'a str,
        /// Whether its server has answered 410, or else every delivery has failed for five days.
        is_gone: bool,
    },
}

/// A link to choose a password for one of several accounts.
pub struct AccountLink {
    /// Distinguishes the reader's accounts: a user name, or the name of a candidate's project.
    pub name: String,
    /// Secret: holds a one-time key.
    pub link: String,
}

/// A mail to the holder of an account, with its reader.
pub struct AccountLetter<'a> {
    /// Of the reader.
    pub first_name: &'a ShortName,
    /// Of the reader.
    pub last_name: &'a ShortName,
    /// The company of the account.
    pub company: &'a ShortName,
    /// The reader's language.
    pub language: Language,
    /// The content.
    pub mail: AccountMail<'a>,
}

/// The page where an invited customer chooses a first password.
pub fn activation_link(suite: &Url, key: &str) -> String {
    page(suite, &["activate", key])
}

/// The page where a user chooses a new password.
pub fn reset_link(suite: &Url, key: &str) -> String {
    page(suite, &["reset-password", key])
}

/// One line of a mail's text.
#[derive(Clone, Copy)]
enum MailLine {
    Subject,
    /// Above the HTML.
    Heading,
    Greeting,
    /// What happened and what to do.
    Body,
    /// What to do otherwise, for example ignore the mail.
    Otherwise,
    /// These names contain template marks.
    Button,
    /// Precedes the link in plain text.
    Lead,
    CopyLink,
    Personal,
    Closing,
}

/// One row per language. The compiler reports missing languages, and missing parts of any mail.
macro_rules! languages {
    ($($language:ident $path:literal)+) => {
        fn written(letter: &AccountLetter<'_>, part: MailLine) -> askama::Result<String> {
            match letter.language {
                $(Language::$language => {
                    #[derive(Template)]
                    #[template(path = $path)]
                    struct AccountTexts<'a> {
                        letter: &'a AccountLetter<'a>,
                        part: MailLine,
                    }
                    AccountTexts { letter, part }.render()
                })+
            }
        }
    };
}

languages! {
    En "account/en.txt"
    De "account/de.txt"
    Fr "account/fr.txt"
    Es "account/es.txt"
    It "account/it.txt"
    Nl "account/nl.txt"
}

impl AccountLetter<'_> {
    /// A part in the reader's language, always a single line.
    fn say(&self, part: MailLine) -> askama::Result<String> {
        let written = written(self, part)?;
        // A template ends with a line break, which a subject must not have.
        let line: String = written.chars().filter(|character| !character.is_control()).collect();
        Ok(line.trim().to_owned())
    }

    /// The link of a mail about one account.
    fn link(&self) -> Option<&str> {
        match self.mail {
            AccountMail::Invitation { link, .. } => Some(link),
            AccountMail::PasswordReset { accounts: [account], .. } => Some(&account.link),
            AccountMail::PasswordReset { .. }
            | AccountMail::Deleted { .. }
            | AccountMail::WebhookFailing { .. }
            | AccountMail::WebhookDisabled { .. } => None,
        }
    }

    /// The links of a mail about several accounts.
    fn links(&self) -> &[AccountLink] {
        match self.mail {
            AccountMail::PasswordReset { accounts, .. } if accounts.len() > 1 => accounts,
            _ => &[],
        }
    }
}

#[derive(Template)]
#[template(path = "account/letter.txt")]
struct TextTemplate<'a> {
    letter: &'a AccountLetter<'a>,
}

#[derive(Template)]
#[template(path = "account/letter.html")]
struct HtmlTemplate<'a> {
    letter: &'a AccountLetter<'a>,
    lang: &'static str,
    subject: &'a str,
}

/// Renders a letter in its reader's language.
pub fn render_account(letter: &AccountLetter<'_>) -> askama::Result<RenderedMail> {
    let subject = letter.say(MailLine::Subject)?;
    let html = HtmlTemplate { letter, lang: letter.language.as_str(), subject: &subject }.render()?;
    let text = TextTemplate { letter }.render()?;
    Ok(RenderedMail { subject, html, text })
}

#[cfg(test)]
mod tests;
