//! Files that programs expect at fixed paths.

use axum::extract::State;
use axum::response::Response;
use chrono::{Days, NaiveTime, SecondsFormat};
use shared::app::App;
use shared::http::{CACHE_SHORTLY, FileReader, PackedFile};
use shared::{Error, Result};

const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// How many days a copy of the contact remains valid. RFC 9116 recommends less than a year.
const CONTACT_DAYS: Days = Days::new(90);

/// GET /.well-known/security.txt, in the format of RFC 9116: where to report a vulnerability. 404 if the deployment names no contact.
pub(crate) async fn show_security_contact(State(app): State<App>, reader: FileReader) -> Result<Response> {
    let contact = app.config().security_contact.as_ref().ok_or(Error::NotFound)?;
    let canonical = reader.base_url.join("/.well-known/security.txt").map_err(Error::internal)?;
    // Expire at midnight, so that the text, and with it the `ETag`, changes only once a day.
    let expires = (app.now() + CONTACT_DAYS).date_naive().and_time(NaiveTime::MIN).and_utc();
    let expires = expires.to_rfc3339_opts(SecondsFormat::Secs, true);
    let text = format!("Contact: {contact}\nExpires: {expires}\nCanonical: {canonical}\n");
    send(&reader, &text)
}

/// GET /llms.txt, in the format of llmstxt.org: tells language models where the API is described.
pub(crate) async fn show_guide_to_documents(reader: FileReader) -> Result<Response> {
    send(&reader, &include_str!("llms.txt").replace("{base}", reader.base_url.as_str()))
}

fn send(reader: &FileReader, text: &str) -> Result<Response> {
    let file = PackedFile::pack(PLAIN_TEXT, text.as_bytes()).map_err(Error::internal)?;
    file.send(reader, CACHE_SHORTLY)
}
