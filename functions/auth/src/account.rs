//! Chooses passwords, and confirms or restores email addresses, with keys sent by mail.

use axum::Json;
use shared::auth::login::PublicAccess;
use shared::auth::password::Password;
use shared::http::BodyFields;
use shared::http::exchange::respond::{AcceptedResponse, NoContent};
use shared::http::view::CustomerView;
use shared::{Error, Result};

use crate::view::{KeyHolderView, name};

/// The message for any invalid key: it does not say what is wrong.
const BAD_KEY: &str = "This key is invalid or has expired.";

/// POST /api-activate/
pub(crate) async fn activate(access: PublicAccess, body: BodyFields) -> Result<Json<CustomerView>> {
    let (key, password) = read_activation(body)?;
    let activated = access.activate(&key, password).await?;
    let customer = activated.ok_or_else(|| Error::field("activation_key", BAD_KEY))?;
    Ok(Json(CustomerView::new(&customer, access.references())))
}

/// POST /whoami/key/
pub(crate) async fn show_holder(access: PublicAccess, body: BodyFields) -> Result<Json<KeyHolderView>> {
    let key = read_key(body)?;
    let holder = access.holder(&key).await?;
    match holder.and_then(|holder| KeyHolderView::new(holder, access.references())) {
        Some(view) => Ok(Json(view)),
        None => Err(access.end_of(&key).await?.unwrap_or_else(|| Error::field("key", BAD_KEY))),
    }
}

/// Reads a key that was sent by mail.
pub(crate) fn read_key(mut body: BodyFields) -> Result<String> {
    let key = body.required("key", trimmed);
    body.finish(|| key)
}

/// POST /api-password-reset/
pub(crate) async fn forget_password(access: PublicAccess, body: BodyFields) -> Result<AcceptedResponse> {
    let (username, company) = read_forgotten(body)?;
    // Always 202: the response must not reveal whether the company or account exists.
    if let Ok(company) = company.parse() {
        access.forget_password(company, username).await?;
    }
    Ok(AcceptedResponse)
}

/// Reads the user name and the company of an account whose password is forgotten.
pub(crate) fn read_forgotten(mut body: BodyFields) -> Result<(String, String)> {
    let username = body.required("username", name);
    let company = body.required("company", name);
    body.finish(|| username.zip(company))
}

/// POST /candidate-links/
pub(crate) async fn send_link(access: PublicAccess, body: BodyFields) -> Result<AcceptedResponse> {
    access.send_latest_link(&read_key(body)?).await?;
    Ok(AcceptedResponse)
}

/// POST /api-password-reset/confirm/
pub(crate) async fn reset_password(access: PublicAccess, body: BodyFields) -> Result<NoContent> {
    let (key, password) = read_reset(body)?;
    match access.reset_password(&key, password).await? {
        true => Ok(NoContent),
        false => Err(Error::field("key", BAD_KEY)),
    }
}

/// POST /api-email-confirm/
pub(crate) async fn confirm_email(access: PublicAccess, body: BodyFields) -> Result<NoContent> {
    let (key, password) = read_confirmation(body)?;
    let is_sent = password.is_some();
    match access.confirm_email(&key, password).await? {
        Some(true) => Ok(NoContent),
        Some(false) if is_sent => Err(Error::field("password", "This is not the password of the account.")),
        Some(false) => Err(Error::field("password", "Send the password of the account, or log in to it.")),
        None => Err(Error::field("key", BAD_KEY)),
    }
}

/// Reads the key that was mailed to a new address, and the account's password, which callers with a session may omit.
pub(crate) fn read_confirmation(mut body: BodyFields) -> Result<(String, Option<Password>)> {
    let key = body.required("key", trimmed);
    let password = body.text("password", Password::attempt);
    body.finish(|| Some((key?, password)))
}

/// POST /api-email-restore/
pub(crate) async fn restore_email(access: PublicAccess, body: BodyFields) -> Result<NoContent> {
    match access.restore_email(&read_key(body)?).await? {
        true => Ok(NoContent),
        false => Err(Error::field("key", BAD_KEY)),
    }
}

/// Reads the key of an invitation and the chosen password.
pub(crate) fn read_activation(body: BodyFields) -> Result<(String, Password)> {
    read_choice(body, "activation_key")
}

/// Reads the key of a password reset and the chosen password.
pub(crate) fn read_reset(body: BodyFields) -> Result<(String, Password)> {
    read_choice(body, "key")
}

fn read_choice(mut body: BodyFields, key_field: &'static str) -> Result<(String, Password)> {
    let key = body.required(key_field, trimmed);
    let password = body.required("password", Password::choose);
    body.finish(|| key.zip(password))
}

fn trimmed(key: &str) -> Result<String, String> {
    Ok(key.trim().to_owned())
}
