//! SES: the two sending actions of the Query API (2010-12-01), which deliver to a mailbox. With an external SES, its
//! response is returned, and accepted mails are also recorded.

mod answer;
mod message;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use chrono::SecondsFormat;
use shared::clock::Clock;

use super::ACCESS_KEY_ID;
use super::external::{ExternalServices, Forward};
use super::server::Server;
use crate::mailbox::{Mail, Mailbox};
use crate::{Error, OffsetClock, random};
use answer::{Refusal, Sent, xml};
use message::{Form, check, raw_mail, simple_mail};

/// The maximum size of a request body, in bytes. SES accepts messages of 40 MB, which forms carry as escaped base64.
const MAX_BODY: usize = 80 * 1024 * 1024;

pub(super) struct Ses {
    server: Server,
}

impl Ses {
    pub(super) fn start(mailbox: Mailbox, clock: OffsetClock) -> Result<Self, Error> {
        Self::serve(router(mailbox, clock))
    }

    pub(super) fn external(
        services: &ExternalServices,
        mailbox: Mailbox,
        clock: OffsetClock,
    ) -> Result<Self, Error> {
        let forward = Forward::to(services);
        Self::serve(Router::new().fallback(async move |request| {
            pass_on(&forward, &mailbox, &clock, request)
                .await
                .unwrap_or_else(|refusal| xml(refusal.status, &refusal))
        }))
    }

    fn serve(router: Router) -> Result<Self, Error> {
        let server =
            Server::start("ses", 1, 0, |listener, stop| super::serve(listener, router, stop.requested()))?;
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
    let body = body_of(request.into_body()).await?;
    let (action, mut mail) = mail_of(&body)?;
    mail.time = clock.now().to_rfc3339_opts(SecondsFormat::Millis, true);
    let message_id = mail.id.clone();
    mailbox.add(mail).map_err(Refusal::failed)?;
    Ok(Sent { action, message_id, request_id: random::uuid() })
}

/// Forwards a request to the external SES, and records the mail if it is accepted.
async fn pass_on(
    forward: &Forward,
    mailbox: &Mailbox,
    clock: &OffsetClock,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let (head, body) = request.into_parts();
    let body = body_of(body).await?;
    let (_, mut mail) = mail_of(&body)?;
    let (head, answer) = forward.send(Request::from_parts(head, Body::from(body))).await.into_parts();
    let answer = body_of(answer).await?;
    if head.status.is_success() {
        let text = String::from_utf8_lossy(&answer);
        let id = text.split_once("<MessageId>").and_then(|(_, rest)| rest.split_once("</MessageId>"));
        mail.id = id.ok_or_else(|| Refusal::failed("the answer names no message"))?.0.to_owned();
        mail.time = clock.now().to_rfc3339_opts(SecondsFormat::Millis, true);
        mailbox.add(mail).map_err(Refusal::failed)?;
    }
    Ok(Response::from_parts(head, Body::from(answer)))
}

async fn body_of(body: Body) -> Result<Bytes, Refusal> {
    let too_long = |_| Refusal::bad("InvalidParameterValue", "Message length is more than allowed");
    to_bytes(body, MAX_BODY).await.map_err(too_long)
}

/// The requested action and its mail.
fn mail_of(body: &[u8]) -> Result<(&'static str, Mail), Refusal> {
    let form = Form::parse(body);
    let (action, mail) = match form.get("Action") {
        Some("SendEmail") => ("SendEmail", simple_mail(&form)?),
        Some("SendRawEmail") => ("SendRawEmail", raw_mail(&form)?),
        Some(other) => {
            let message = format!("Could not find operation {other} for version 2010-12-01");
            return Err(Refusal::bad("InvalidAction", message));
        }
        None => return Err(Refusal::bad("MissingAction", "The request must contain the parameter Action")),
    };
    check(&mail)?;
    Ok((action, mail))
}

/// Checks the access key, but not the signature.
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
