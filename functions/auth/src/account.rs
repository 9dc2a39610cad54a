//! Choosing a password by a key that came by mail.

use axum::Json;
use shared::auth::login::PublicAccess;
use shared::auth::password::Password;
use shared::http::Fields;
use shared::http::respond::{Accepted, Done};
use shared::http::view::CustomerView;
use shared::{Error, Result};

/// The most characters of a user name; a longer one leads nowhere.
const MAX_NAME: usize = 254;
/// The one message about every key that is not good.
const BAD_KEY: &str = "This key is invalid or has expired.";

/// POST /api-activate/
pub(crate) async fn activate(access: PublicAccess, body: Fields) -> Result<Json<CustomerView>> {
    let (key, password) = read_activation(body)?;
    let activated = access.activate(&key, password).await?;
    let customer = activated.ok_or_else(|| Error::field("activation_key", BAD_KEY))?;
    Ok(Json(CustomerView::new(&customer, access.references())))
}

/// POST /api-password-reset/
pub(crate) async fn forget_password(access: PublicAccess, body: Fields) -> Result<Accepted> {
    let (username, company) = read_forgotten(body)?;
    if let Ok(company) = company.parse() {
        access.forget_password(company, username).await?;
    }
    Ok(Accepted)
}

/// Reads who has forgotten a password: the user name, and the company.
pub(crate) fn read_forgotten(mut body: Fields) -> Result<(String, String)> {
    let short = |text: &str| match text.trim() {
        "" => Err("This field may not be blank.".to_owned()),
        name if name.chars().count() > MAX_NAME => {
            Err(format!("Ensure this field has no more than {MAX_NAME} characters."))
        }
        name => Ok(name.to_owned()),
    };
    let username = body.required("username", short);
    let company = body.required("company", short);
    body.finish()?;
    username.zip(company).ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}

/// POST /api-password-reset/confirm/
pub(crate) async fn reset_password(access: PublicAccess, body: Fields) -> Result<Done> {
    let (key, password) = read_reset(body)?;
    match access.reset_password(&key, password).await? {
        true => Ok(Done),
        false => Err(Error::field("key", BAD_KEY)),
    }
}

/// Reads the key of an invitation, and the password that is chosen.
pub(crate) fn read_activation(body: Fields) -> Result<(String, Password)> {
    read_choice(body, "activation_key")
}

/// Reads the key of a mail about a forgotten password, and the password that is chosen.
pub(crate) fn read_reset(body: Fields) -> Result<(String, Password)> {
    read_choice(body, "key")
}

fn read_choice(mut body: Fields, key_field: &str) -> Result<(String, Password)> {
    let key = body.required(key_field, |key| Ok(key.trim().to_owned()));
    let password = body.required("password", Password::choose);
    body.finish()?;
    key.zip(password).ok_or_else(|| Error::internal("a required field was neither read nor refused"))
}
