//! Mails about somebody's account.

use url::Url;

use super::Rendered;
use crate::domain::language::Language;
use crate::domain::text::Name;

/// A mail about somebody's account.
pub enum AccountMail<'a> {
    /// Choose your first password.
    Invitation { link: &'a str, days: i64 },
    /// Choose another password.
    PasswordReset { link: &'a str, hours: i64 },
    /// Your account was deleted.
    Deleted { by: &'a str },
}

/// What a mail about an account tells.
pub struct AccountLetter<'a> {
    pub first_name: &'a Name,
    pub last_name: &'a Name,
    pub company: &'a Name,
    pub language: Language,
    pub mail: AccountMail<'a>,
}

/// The mail.
pub fn render_account(letter: &AccountLetter<'_>) -> askama::Result<Rendered> {
    let text = match &letter.mail {
        AccountMail::Invitation { link, .. } | AccountMail::PasswordReset { link, .. } => (*link).to_owned(),
        AccountMail::Deleted { by } => (*by).to_owned(),
    };
    Ok(Rendered { subject: letter.company.to_string(), html: text.clone(), text })
}

/// Activation.
pub fn activation_link(suite: &Url, key: &str) -> String {
    format!("{}activate/{key}", suite)
}

/// Reset.
pub fn reset_link(suite: &Url, key: &str) -> String {
    format!("{}reset-password/{key}", suite)
}
