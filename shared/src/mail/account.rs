//! Mails about somebody's account. What they say stands in one file for each language; HTML and plain text take it from
//! there.

use askama::Template;
use url::Url;

use super::{Rendered, page};
use crate::domain::language::Language;
use crate::domain::text::{Email, Name};

/// What a mail about an account tells.
#[derive(Clone, Copy)]
pub enum AccountMail<'a> {
    /// Choose your first password.
    Invitation {
        /// Where to. A secret: it holds a one-time key.
        link: &'a str,
        /// How long the key is good.
        days: i64,
    },
    /// Choose another password, for one account or several.
    PasswordReset {
        /// The accounts of the address, at least one.
        accounts: &'a [AccountLink],
        /// How long the keys are good.
        hours: i64,
    },
    /// Your account was deleted.
    Deleted {
        /// The name of who did it.
        by: &'a str,
        /// Where they answer questions; without one, the company does.
        contact: Option<&'a Email>,
    },
}

/// Where to choose a password for one of several accounts.
pub struct AccountLink {
    /// What tells the account from the others of its reader: a user name, or what a candidate takes part in.
    pub name: String,
    /// Where to. A secret: it holds a one-time key.
    pub link: String,
}

/// A mail about an account, and to whom.
pub struct AccountLetter<'a> {
    /// The reader's first name.
    pub first_name: &'a Name,
    /// The reader's last name.
    pub last_name: &'a Name,
    /// Whose account it is, or was, at.
    pub company: &'a Name,
    /// The language to write in.
    pub language: Language,
    /// What it tells.
    pub mail: AccountMail<'a>,
}

/// The page on which an invited customer chooses its first password.
pub fn activation_link(suite: &Url, key: &str) -> String {
    page(suite, &["activate", key])
}

/// The page on which to choose another password.
pub fn reset_link(suite: &Url, key: &str) -> String {
    page(suite, &["reset-password", key])
}

/// One piece of a mail's text, of one line.
#[derive(Clone, Copy)]
enum Part {
    Subject,
    /// Above the HTML.
    Heading,
    Greeting,
    /// What happened, and what to do.
    Body,
    /// What to do otherwise.
    Otherwise,
    /// What the button that leads to the link says.
    Button,
    /// What the plain text says above the link.
    Lead,
    CopyLink,
    Personal,
    Closing,
}

/// One row for each language: the compiler asks for those that are missing, and in each for every part of every mail.
macro_rules! languages {
    ($($language:ident $path:literal)+) => {
        fn written(letter: &AccountLetter<'_>, part: Part) -> askama::Result<String> {
            match letter.language {
                $(Language::$language => {
                    #[derive(Template)]
                    #[template(path = $path)]
                    struct Texts<'a> {
                        letter: &'a AccountLetter<'a>,
                        part: Part,
                    }
                    Texts { letter, part }.render()
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
    /// A part in the reader's language. It is one line, whatever a name holds.
    fn say(&self, part: Part) -> askama::Result<String> {
        let written = written(self, part)?;
        let line: String = written.chars().filter(|character| !character.is_control()).collect();
        Ok(line.trim().to_owned())
    }

    /// The one link of a mail about one account.
    fn link(&self) -> Option<&str> {
        match self.mail {
            AccountMail::Invitation { link, .. } => Some(link),
            AccountMail::PasswordReset { accounts: [account], .. } => Some(&account.link),
            AccountMail::PasswordReset { .. } | AccountMail::Deleted { .. } => None,
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
struct Text<'a> {
    letter: &'a AccountLetter<'a>,
}

#[derive(Template)]
#[template(path = "account/letter.html")]
struct Html<'a> {
    letter: &'a AccountLetter<'a>,
    lang: &'static str,
    subject: &'a str,
}

/// The mail that tells `letter`.
///
/// # Errors
/// When a template cannot be filled in; none of ours can fail.
pub fn render_account(letter: &AccountLetter<'_>) -> askama::Result<Rendered> {
    let subject = letter.say(Part::Subject)?;
    let html = Html { letter, lang: letter.language.as_str(), subject: &subject }.render()?;
    let text = Text { letter }.render()?;
    Ok(Rendered { subject, html, text })
}

#[cfg(test)]
mod tests;
