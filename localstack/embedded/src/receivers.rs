//! Receivers of webhooks, for people and tests: they keep deliveries, verify signatures, and respond as configured.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

/// The maximum number of deliveries that a receiver keeps.
const KEPT: usize = 200;

/// The receivers of one run, by name. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Receivers(Arc<Mutex<BTreeMap<String, Receiver>>>);

#[derive(Clone, Default)]
pub(crate) struct Receiver {
    /// The signing secret; without one, nothing is verified.
    pub(crate) secret: Option<String>,
    pub(crate) answer: Answer,
    /// Newest first.
    pub(crate) deliveries: VecDeque<Arc<Delivery>>,
    /// The number of deliveries so far.
    pub(crate) total: usize,
}

/// A delivery and the receiver's response.
#[derive(Clone)]
pub(crate) struct Delivery {
    /// UTC, RFC 3339.
    pub(crate) received_at: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// `None` if the receiver has no secret.
    pub(crate) signature: Option<Signature>,
    pub(crate) answer: Answer,
}

/// The result of verifying a delivery with the library of Standard Webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signature {
    Holds,
    /// The reason that the library gives.
    Fails(String),
}

/// How a receiver responds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Answer {
    #[default]
    Ok,
    Error,
    Gone,
    /// 200, but after the sender's timeout.
    Slow,
}

impl Answer {
    pub(crate) const ALL: [Self; 4] = [Self::Ok, Self::Error, Self::Gone, Self::Slow];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "200",
            Self::Error => "500",
            Self::Gone => "410",
            Self::Slow => "slow",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == text)
    }

    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Ok | Self::Slow => StatusCode::OK,
            Self::Error => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Gone => StatusCode::GONE,
        }
    }
}

impl Signature {
    fn of(secret: &str, headers: &HeaderMap, body: &[u8]) -> Self {
        match Webhook::new(secret).and_then(|webhook| webhook.verify(body, headers)) {
            Ok(()) => Self::Holds,
            Err(error) => Self::Fails(error.to_string()),
        }
    }

    /// `holds`, or why the signature fails.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Holds => "holds",
            Self::Fails(reason) => reason,
        }
    }
}

impl Delivery {
    /// The delivery as a member of the JSON list.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "received_at": self.received_at,
            "signature": self.signature.as_ref().map(Signature::as_str),
            "answer": self.answer.as_str(),
            "headers": self.headers().collect::<BTreeMap<_, _>>(),
            "body": self.text(),
        })
    }

    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, String)> {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        self.headers.iter().map(move |(name, value)| (name.as_str(), text(value.as_bytes())))
    }

    /// The body; bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Receivers {
    /// Records a delivery. Returns how to respond.
    pub(crate) fn take(&self, name: &str, received_at: String, headers: HeaderMap, body: Bytes) -> Answer {
        let mut receivers = self.lock();
        let receiver = receivers.entry(name.to_owned()).or_default();
        let signature = receiver.secret.as_ref().map(|secret| Signature::of(secret, &headers, &body));
        let answer = receiver.answer;
        receiver.deliveries.push_front(Arc::new(Delivery { received_at, headers, body, signature, answer }));
        receiver.deliveries.truncate(KEPT);
        receiver.total += 1;
        answer
    }

    /// Changes a receiver. A first secret also verifies earlier deliveries.
    pub(crate) fn change(&self, name: &str, secret: Option<String>, answer: Option<Answer>) {
        let mut receivers = self.lock();
        let receiver = receivers.entry(name.to_owned()).or_default();
        receiver.answer = answer.unwrap_or(receiver.answer);
        let Some(secret) = secret else { return };
        // Deliveries with a result were verified with the secret at that time.
        for delivery in receiver.deliveries.iter_mut().filter(|delivery| delivery.signature.is_none()) {
            let signature = Some(Signature::of(&secret, &delivery.headers, &delivery.body));
            *delivery = Arc::new(Delivery { signature, ..Delivery::clone(delivery) });
        }
        receiver.secret = Some(secret);
    }

    /// The receiver's state; the default state if the name is new.
    pub(crate) fn find(&self, name: &str) -> Receiver {
        self.lock().get(name).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Receiver>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
