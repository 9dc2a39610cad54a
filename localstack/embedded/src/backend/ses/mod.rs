//! SES: the two sending actions of the Query API (2010-12-01), into a mailbox instead of the world.

mod answer;
mod message;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use chrono::SecondsFormat;
use shared::clock::Clock;

use super::ACCESS_KEY_ID;
use super::server::Server;
use crate::mailbox::Mailbox;
use crate::{Error, OffsetClock, random};
use answer::{Refusal, Sent, xml};
use message::{Form, check, raw_mail, simple_mail};

/// SES takes messages of 40 MB at most; a form carries them in base64 with its signs escaped.
const MAX_BODY: usize = 80 * 1024 * 1024;

pub(super) struct Ses {
    server: Server,
}

impl Ses {
    pub(super) fn start(mailbox: Mailbox, clock: OffsetClock) -> Result<Self, Error> {
        let router = router(mailbox, clock);
        let server =
            Server::start("ses", 1, |listener, stop| super::serve(listener, router, stop.requested()))?;
        Ok(Self { server })
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }
}

fn router(mailbox: Mailbox, clock: OffsetClock) -> Router {
    Router::new().fallback(async move |request: Request<Body>| {
        match handle(&mailbox, &clock, request).await {
            Ok(sent) => xml(StatusCode::OK, &sent),
            Err(refusal) => xml(refusal.status, &refusal),
        }
    })
}

async fn handle(mailbox: &Mailbox, clock: &OffsetClock, request: Request<Body>) -> Result<Sent, Refusal> {
    authenticate(request.headers())?;
    let body = to_bytes(request.into_body(), MAX_BODY)
        .await
        .map_err(|_| Refusal::bad("InvalidParameterValue", "Message length is more than allowed"))?;
    let form = Form::parse(&body);
    let (action, mut mail) = match form.get("Action") {
        Some("SendEmail") => ("SendEmail", simple_mail(&form)?),
        Some("SendRawEmail") => ("SendRawEmail", raw_mail(&form)?),
        Some(other) => {
            let message = format!("Could not find operation {other} for version 2010-12-01");
            return Err(Refusal::bad("InvalidAction", message));
        }
        None => return Err(Refusal::bad("MissingAction", "The request must contain the parameter Action")),
    };
    check(&mail)?;
    mail.time = clock.now().to_rfc3339_opts(SecondsFormat::Millis, true);
    let message_id = mail.id.clone();
    mailbox.add(mail).map_err(Refusal::failed)?;
    Ok(Sent { action, message_id, request_id: random::uuid() })
}

/// Asks for the right key; the signature itself is not checked.
fn authenticate(headers: &HeaderMap) -> Result<(), Refusal> {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let forbidden = |code, message| Err(Refusal::new(StatusCode::FORBIDDEN, code, message));
    match authorization {
        None => forbidden("MissingAuthenticationToken", "Request is missing Authentication Token"),
        Some(value) if value.contains(&format!("Credential={ACCESS_KEY_ID}/")) => Ok(()),
        Some(_) => {
            forbidden("InvalidClientTokenId", "The security token included in the request is invalid.")
        }
    }
}

#[cfg(test)]
mod tests;
