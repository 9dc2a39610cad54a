//! Secrets Manager: secrets in memory, in a file in the data folder, or in an external service.
//!
//! Like the service, it keeps two versions of a secret, by their stages, and does not answer unsigned requests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared::clock::SystemEntropy;
use shared::domain::random::RandomSource;

use super::external::ExternalServices;
use super::server::Server;
use super::{ACCESS_KEY_ID, REGION};
use crate::state::StateFile;
use crate::{Error, random};

const SERVICE: &str = "secretsmanager";
/// The maximum size of a request body in bytes, far more than needed.
const MAX_BODY: usize = 64 << 10;

pub(super) enum Secrets {
    Here { kept: Kept, server: Server },
    There(ExternalServices),
}

/// Clones share the secrets.
#[derive(Clone)]
pub(super) struct Kept(Arc<Inner>);

struct Inner {
    secrets: Mutex<BTreeMap<String, Secret>>,
    file: Option<StateFile>,
}

/// A secret with its current and previous version.
#[derive(Serialize, Deserialize)]
struct Secret {
    current: Version,
    previous: Option<Version>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Version {
    id: String,
    text: String,
    created_at: DateTime<Utc>,
}

impl Version {
    fn new(text: &str, now: DateTime<Utc>) -> Self {
        Self { id: random::uuid(), text: text.to_owned(), created_at: now }
    }
}

/// A random text that cannot be guessed.
pub(super) fn random_text() -> String {
    let mut bytes = [0; 32];
    SystemEntropy.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Secrets {
    /// Stores secrets in a file that only its owner can read, or in memory if there is no file.
    pub(super) fn start(file: Option<&Path>) -> Result<Self, Error> {
        let file = file.map(StateFile::private);
        let secrets = match &file {
            Some(file) => file.load()?.unwrap_or_default(),
            None => BTreeMap::new(),
        };
        let kept = Kept(Arc::new(Inner { secrets: Mutex::new(secrets), file }));
        let answering = kept.clone();
        let router = Router::new().fallback(async move |request: Request| answering.answer(request).await);
        let server = Server::start("secrets", 1, 0, |listener, stop| {
            super::serve(listener, router, stop.requested())
        })?;
        Ok(Self::Here { kept, server })
    }

    pub(super) fn external(services: &ExternalServices) -> Self {
        Self::There(services.clone())
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Here { server, .. } => server.url(),
            Self::There(services) => services.url(),
        }
    }

    /// Creates a secret unless it exists.
    pub(super) fn create(&self, name: &str, text: &str, now: DateTime<Utc>) -> Result<(), Error> {
        match self {
            Self::Here { kept, .. } => {
                let mut secrets = kept.secrets();
                let new = || Secret { current: Version::new(text, now), previous: None };
                secrets.entry(name.to_owned()).or_insert_with(new);
                kept.store(&secrets)
            }
            Self::There(services) => {
                let secret = json!({ "Name": name, "SecretString": text });
                match services.call(SERVICE, "secretsmanager.CreateSecret", &secret) {
                    Err(super::external::Failure::Refused(refused)) if refused.is("ResourceExists") => Ok(()),
                    created => created.map(drop).map_err(Error::because(format!("no secret {name}"))),
                }
            }
        }
    }

    /// Replaces the text of a secret.
    pub(super) fn put(&self, name: &str, text: &str, now: DateTime<Utc>) -> Result<(), Error> {
        match self {
            Self::Here { kept, .. } => {
                let mut secrets = kept.secrets();
                let secret = secrets.get_mut(name);
                let secret = secret.ok_or_else(|| Error::new(format!("there is no secret {name}")))?;
                let version = Version::new(text, now);
                secret.previous = Some(std::mem::replace(&mut secret.current, version));
                kept.store(&secrets)
            }
            Self::There(services) => {
                let version = json!({ "SecretId": name, "SecretString": text });
                let put = services.call(SERVICE, "secretsmanager.PutSecretValue", &version);
                put.map(drop).map_err(Error::because(format!("the secret {name} was not replaced")))
            }
        }
    }
}

impl Kept {
    fn secrets(&self) -> MutexGuard<'_, BTreeMap<String, Secret>> {
        self.0.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self, secrets: &BTreeMap<String, Secret>) -> Result<(), Error> {
        self.0.file.as_ref().map_or(Ok(()), |file| file.store(secrets))
    }

    async fn answer(&self, request: Request<Body>) -> Response {
        let (head, body) = request.into_parts();
        if !is_signed(&head.headers) {
            return refuse("MissingAuthenticationTokenException");
        }
        if head.headers.get("x-amz-target").is_none_or(|target| target != "secretsmanager.GetSecretValue") {
            return refuse("UnknownOperationException");
        }
        let body = to_bytes(body, MAX_BODY).await.unwrap_or_default();
        let wanted: Value = serde_json::from_slice(&body).unwrap_or_default();
        let name = wanted["SecretId"].as_str().unwrap_or_default();
        let stage = wanted["VersionStage"].as_str().unwrap_or("AWSCURRENT");
        let secrets = self.secrets();
        let version = secrets.get(name).and_then(|secret| match stage {
            "AWSCURRENT" => Some(&secret.current),
            "AWSPREVIOUS" => secret.previous.as_ref(),
            _ => None,
        });
        let Some(Version { id, text, created_at }) = version else {
            return refuse("ResourceNotFoundException");
        };
        let created = created_at.timestamp_millis() as f64 / 1000.0;
        Json(json!({
            "ARN": format!("arn:aws:secretsmanager:{REGION}:000000000000:secret:{name}"),
            "Name": name,
            "VersionId": id,
            "SecretString": text,
            "VersionStages": [stage],
            "CreatedDate": created,
        }))
        .into_response()
    }
}

/// Checks the access key and the service's name, but not the signature.
fn is_signed(headers: &HeaderMap) -> bool {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    authorization.is_some_and(|value| {
        value.contains(&format!("Credential={ACCESS_KEY_ID}/"))
            && value.contains(&format!("/{REGION}/{SERVICE}/aws4_request"))
    })
}

fn refuse(code: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({ "__type": code, "Message": code }))).into_response()
}
