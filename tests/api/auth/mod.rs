//! Logins, sessions and passwords.

pub(crate) mod address_change;
mod csrf;
mod ended_keys;
pub(crate) mod exchange;
mod hash_login;
mod key_holders;
mod latest_link;
mod login;
mod normal_form;
mod on_behalf;
mod passwords;
mod required;
mod sessions;
pub(crate) mod sign_in;
mod throttling;
