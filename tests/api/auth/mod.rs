//! Logins, sessions and passwords.

mod csrf;
mod hash_login;
mod login;
mod normal_form;
mod on_behalf;
mod passwords;
mod sessions;
mod throttling;
