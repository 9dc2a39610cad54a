//! S3: objects in a folder, with verified signatures, or in an external service. Buckets are addressed by path. New
//! objects are recorded as events for EventBridge.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use super::external::{ExternalServices, Failure, Forward};
use super::server::Server;
use super::{ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY};
use crate::cors::{self, Cors};
use crate::{Error, random};

/// The bucket's logical id in the template.
const MEDIA_BUCKET: &str = "MediaBucket";
/// The maximum size of a body whose checksum is verified before it is stored, in bytes. Larger bodies must not be held
/// in memory.
const MAX_CHECKED_BYTES: usize = 64 << 20;

pub(super) struct S3 {
    place: Place,
    created: Created,
    shared: Shared,
    server: Server,
}

/// CORS rules by bucket.
type Shared = Arc<Mutex<HashMap<String, Cors>>>;

/// Where the objects are stored.
#[derive(Clone)]
enum Place {
    /// A folder with a subfolder per bucket.
    Folder(PathBuf),
    External(ExternalServices),
}

#[derive(Clone)]
enum Service {
    Here(LocalService),
    There(Arc<Forward>),
}

/// The emulator, with guarantees of S3 that it lacks.
#[derive(Clone)]
struct LocalService {
    s3: S3Service,
    /// Held by each PUT with `If-None-Match`, so that these run one at a time.
    conditional_puts: Arc<tokio::sync::Mutex<()>>,
}

impl LocalService {
    async fn call(&self, request: Request) -> Response {
        let request = match verify_checksum(request).await {
            Ok(request) => request,
            Err(refusal) => return refusal,
        };
        // The emulator checks for the object and writes it in two steps, so two concurrent requests would both succeed.
        let _turn = match request.headers().contains_key(header::IF_NONE_MATCH) {
            true => Some(self.conditional_puts.lock().await),
            false => None,
        };
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match self.s3.call(request.map(s3s::Body::http_body_unsync)).await {
            // S3 also answers 403 to callers who may list the bucket only under a condition, or not at all.
            Ok(response) if is_read && response.status() == StatusCode::NOT_FOUND => {
                refuse(StatusCode::FORBIDDEN, "AccessDenied", "Access Denied")
            }
            Ok(response) => response.map(Body::new),
            Err(error) => {
                tracing::error!(?error, "the S3 emulator failed");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// Refuses a body that differs from the SHA-256 in its header. The emulator would refuse it only after overwriting the
/// existing object.
async fn verify_checksum(request: Request) -> Result<Request, Response> {
    let Some(expected) = request.headers().get("x-amz-checksum-sha256").cloned() else { return Ok(request) };
    let length =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > MAX_CHECKED_BYTES) {
        return Ok(request);
    }
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MAX_CHECKED_BYTES).await;
    let body = body.map_err(|_| {
        refuse(
            StatusCode::BAD_REQUEST,
            "MissingContentLength",
            "Send the length of a body of more than 64 MiB.",
        )
    })?;
    let actual = STANDARD.encode(Sha256::digest(&body));
    match expected == actual.as_str() {
        true => Ok(Request::from_parts(head, Body::from(body))),
        false => Err(refuse(
            StatusCode::BAD_REQUEST,
            "BadDigest",
            "The SHA256 you specified did not match the calculated checksum.",
        )),
    }
}

fn refuse(status: StatusCode, code: &str, message: &str) -> Response {
    let body = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
    (status, [(header::CONTENT_TYPE, "application/xml")], body).into_response()
}

/// The keys of new objects by bucket, in order. Objects that existed at the start come first.
type Created = Arc<Mutex<HashMap<String, Vec<String>>>>;

/// The events about new objects in one bucket, for one receiver.
pub(crate) struct CreatedObjects {
    bucket: String,
    place: Place,
    created: Created,
    /// The number of events that the receiver has taken.
    told: usize,
}

impl CreatedObjects {
    /// The next event. Names the bucket by its logical id in the template.
    pub(crate) fn take(&mut self) -> Option<Value> {
        let created = self.created.lock().unwrap_or_else(PoisonError::into_inner);
        let key = created.get(&self.bucket)?.get(self.told)?.clone();
        drop(created);
        self.told += 1;
        let (id, size) = self.place.id_and_size(&self.bucket, &key);
        let detail = json!({ "bucket": { "name": MEDIA_BUCKET }, "object": { "key": key, "size": size } });
        Some(json!({ "id": id, "source": "aws.s3", "detail-type": "Object Created", "detail": detail }))
    }
}

impl S3 {
    /// Stores objects in the data folder.
    pub(super) fn start(data: &Path) -> Result<Self, Error> {
        let folder = data.join("s3");
        let failed = || format!("cannot keep objects in {}", folder.display());
        std::fs::create_dir_all(&folder).map_err(Error::because(failed()))?;
        let files =
            FileSystem::new(&folder).map_err(|error| Error::new(format!("{}: {error:?}", failed())))?;
        let mut builder = S3ServiceBuilder::new(files);
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let left = left_in(&folder);
        let service = Service::Here(LocalService { s3: builder.build(), conditional_puts: Arc::default() });
        // Use the same port after a restart, so that an open page can continue to use its signed URLs.
        let noted = data.join("s3-port");
        let port = std::fs::read_to_string(&noted).ok().and_then(|port| port.parse().ok()).unwrap_or(0);
        let started = Self::serve(Place::Folder(folder.clone()), service, left, port)?;
        std::fs::write(&noted, started.server.port().to_string()).map_err(Error::because(failed()))?;
        Ok(started)
    }

    pub(super) fn external(services: &ExternalServices) -> Result<Self, Error> {
        let service = Service::There(Arc::new(Forward::to(services)));
        Self::serve(Place::External(services.clone()), service, HashMap::new(), 0)
    }

    fn serve(
        place: Place,
        service: Service,
        left: HashMap<String, Vec<String>>,
        port: u16,
    ) -> Result<Self, Error> {
        let created = Created::new(Mutex::new(left));
        let shared = Shared::default();
        let (noted, allowed) = (created.clone(), shared.clone());
        let router = Router::new().fallback(move |request| {
            let cors = cors_of(&allowed, &request);
            answer(service.clone(), noted.clone(), cors, request)
        });
        let server =
            Server::start("s3", 1, port, |listener, stop| super::serve(listener, router, stop.requested()))?;
        Ok(Self { place, created, shared, server })
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    pub(super) fn created_objects(&self, bucket: &str) -> CreatedObjects {
        let (place, created) = (self.place.clone(), self.created.clone());
        CreatedObjects { bucket: bucket.to_owned(), place, created, told: 0 }
    }

    /// The keys of all objects in a bucket, sorted.
    pub(super) fn keys(&self, bucket: &str) -> Result<Vec<String>, Error> {
        match &self.place {
            Place::Folder(folder) => Ok(keys_below(&folder.join(bucket))),
            Place::External(services) => listed_keys(services, bucket)
                .map_err(Error::because(format!("cannot list the objects of bucket {bucket}"))),
        }
    }

    pub(super) fn share(&self, bucket: &str, cors: Cors) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).insert(bucket.to_owned(), cors);
    }

    pub(super) fn create_bucket(&self, name: &str) -> Result<(), Error> {
        let failed = || format!("cannot create bucket {name}");
        match &self.place {
            Place::Folder(folder) => {
                std::fs::create_dir_all(folder.join(name)).map_err(Error::because(failed()))
            }
            Place::External(services) => {
                let body = format!(
                    "<CreateBucketConfiguration><LocationConstraint>{REGION}</LocationConstraint>\
                     </CreateBucketConfiguration>"
                );
                match services.s3("PUT", &format!("/{name}"), body) {
                    Err(Failure::Refused(refused)) if refused.is("BucketAlreadyOwnedByYou") => Ok(()),
                    created => created.map(drop).map_err(Error::because(failed())),
                }
            }
        }
    }
}

impl Place {
    /// An identifier of the event about an object, stable across restarts, and the object's size in bytes (0 if it no
    /// longer exists).
    fn id_and_size(&self, bucket: &str, key: &str) -> (String, u64) {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(bucket).join(key);
                let file = std::fs::metadata(&path).ok();
                let put_at = file.as_ref().and_then(|file| file.modified().ok());
                (event_id(key, put_at), file.map_or(0, |file| file.len()))
            }
            Self::External(services) => {
                (random::uuid(), services.size_in_s3(&format!("/{bucket}/{key}")).unwrap_or(0))
            }
        }
    }
}

/// A stable identifier: EventBridge redelivers an event under the same identifier.
fn event_id(key: &str, put_at: Option<SystemTime>) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, key, put_at).hash(&mut hasher);
        hasher.finish()
    };
    random::uuid_of((u128::from(half(0)) << 64) | u128::from(half(1)))
}

/// The keys of the objects in a folder, by bucket. Functions delete uploaded objects after processing them, so these
/// are unprocessed.
fn left_in(folder: &Path) -> HashMap<String, Vec<String>> {
    let buckets =
        std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    buckets
        .map(|bucket| (bucket.file_name().to_string_lossy().into_owned(), keys_below(&bucket.path())))
        .collect()
}

fn keys_below(root: &Path) -> Vec<String> {
    let (mut keys, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let key = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            if path.is_dir() { folders.push(path) } else { keys.push(key) }
        }
    }
    keys.sort_unstable();
    keys
}

fn listed_keys(services: &ExternalServices, bucket: &str) -> Result<Vec<String>, Failure> {
    let mut keys = Vec::<String>::new();
    loop {
        let after = keys.last().map(|key| format!("&start-after={key}")).unwrap_or_default();
        let page = services.s3("GET", &format!("/{bucket}?list-type=2{after}"), String::new())?;
        // Keys contain no characters that XML escapes.
        let found = page.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
        keys.extend(found.map(|(key, _)| key.to_owned()));
        if !page.contains("<IsTruncated>true</IsTruncated>") {
            return Ok(keys);
        }
    }
}

/// The CORS rules of the requested bucket.
fn cors_of(shared: &Shared, request: &Request) -> Cors {
    let bucket = request.uri().path().split('/').nth(1).unwrap_or_default();
    shared.lock().unwrap_or_else(PoisonError::into_inner).get(bucket).cloned().unwrap_or_default()
}

async fn answer(service: Service, created: Created, cors: Cors, request: Request) -> Response {
    let (head, body) = request.into_parts();
    if cors::is_preflight(&head) {
        return match cors.to_preflight(&head.headers) {
            Some(headers) => (StatusCode::OK, headers).into_response(),
            None => StatusCode::FORBIDDEN.into_response(),
        };
    }
    let shared = cors.to_answer(&head.headers);
    let mut response = answer_signed(service, created, Request::from_parts(head, body)).await;
    if cors.is_on() {
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Origin"));
    }
    response.headers_mut().extend(shared.unwrap_or_default());
    response
}

async fn answer_signed(service: Service, created: Created, request: Request) -> Response {
    let put = put_object(&request);
    let response = match service {
        Service::There(forward) => forward.send(request).await,
        Service::Here(service) => service.call(request).await,
    };
    if let Some((bucket, key)) = put.filter(|_| response.status().is_success()) {
        created.lock().unwrap_or_else(PoisonError::into_inner).entry(bucket).or_default().push(key);
    }
    response
}

/// The bucket and key of the object that a request creates; `None` for other requests, including uploads of parts.
fn put_object(request: &Request) -> Option<(String, String)> {
    let query: Vec<_> =
        form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes()).collect();
    let is_part = |wanted: &str| query.iter().any(|(name, _)| name == wanted);
    let puts = match *request.method() {
        Method::PUT => !is_part("partNumber"),
        Method::POST => is_part("uploadId"),
        _ => false,
    };
    let (bucket, key) = request.uri().path().strip_prefix('/')?.split_once('/').filter(|_| puts)?;
    // Keys contain no characters that URLs escape.
    Some((bucket.to_owned(), key.to_owned()))
}
