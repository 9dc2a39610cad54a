//! S3: objects in a folder, every request's signature checked. Buckets are addressed by path. What is put is noted, as S3
//! tells EventBridge of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::server::Server;
use super::{ACCESS_KEY_ID, SECRET_ACCESS_KEY};
use crate::Error;
use crate::cors::{self, Cors};

/// What the bucket is called in the template.
const MEDIA_BUCKET: &str = "MediaBucket";

pub(super) struct S3 {
    folder: PathBuf,
    created: Created,
    shared: Shared,
    server: Server,
}

/// Who may read answers, by bucket.
type Shared = Arc<Mutex<HashMap<String, Cors>>>;

/// The keys of objects that were put and that nobody has been told of, by bucket.
type Created = Arc<Mutex<HashMap<String, Vec<String>>>>;

/// What S3 tells EventBridge of the objects that are put into one bucket.
pub(crate) struct CreatedObjects {
    bucket: String,
    folder: PathBuf,
    created: Created,
}

impl CreatedObjects {
    /// The details of the events since this was last asked. The bucket is called by its name in the template.
    pub(crate) fn take(&self) -> Vec<Value> {
        let created = self.created.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.bucket);
        let detail = |key: String| {
            let size = std::fs::metadata(self.folder.join(&key)).map_or(0, |file| file.len());
            json!({ "bucket": { "name": MEDIA_BUCKET }, "object": { "key": key, "size": size } })
        };
        created.into_iter().flatten().map(detail).collect()
    }
}

impl S3 {
    pub(super) fn start(folder: &Path) -> Result<Self, Error> {
        let failed = || format!("cannot keep objects in {}", folder.display());
        std::fs::create_dir_all(folder).map_err(Error::because(failed()))?;
        let files =
            FileSystem::new(folder).map_err(|error| Error::new(format!("{}: {error:?}", failed())))?;
        let mut builder = S3ServiceBuilder::new(files);
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY_ID, SECRET_ACCESS_KEY));
        let service = builder.build();
        let created = Created::default();
        let shared = Shared::default();
        let (noted, allowed) = (created.clone(), shared.clone());
        let router = Router::new().fallback(move |request| {
            let cors = cors_of(&allowed, &request);
            answer(service.clone(), noted.clone(), cors, request)
        });
        let server =
            Server::start("s3", 1, |listener, stop| super::serve(listener, router, stop.requested()))?;
        Ok(Self { folder: folder.to_owned(), created, shared, server })
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    pub(super) fn created_objects(&self, bucket: &str) -> CreatedObjects {
        let folder = self.folder.join(bucket);
        CreatedObjects { bucket: bucket.to_owned(), folder, created: self.created.clone() }
    }

    /// The keys of all objects in a bucket.
    pub(super) fn keys(&self, bucket: &str) -> Vec<String> {
        let root = self.folder.join(bucket);
        let (mut keys, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let key = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
                if path.is_dir() { folders.push(path) } else { keys.push(key) }
            }
        }
        keys.sort_unstable();
        keys
    }

    pub(super) fn share(&self, bucket: &str, cors: Cors) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).insert(bucket.to_owned(), cors);
    }

    pub(super) fn create_bucket(&self, name: &str) -> Result<(), Error> {
        std::fs::create_dir_all(self.folder.join(name))
            .map_err(Error::because(format!("cannot create bucket {name}")))
    }
}

/// The rules of the bucket that a request is about.
fn cors_of(shared: &Shared, request: &Request) -> Cors {
    let bucket = request.uri().path().split('/').nth(1).unwrap_or_default();
    shared.lock().unwrap_or_else(PoisonError::into_inner).get(bucket).cloned().unwrap_or_default()
}

async fn answer(service: S3Service, created: Created, cors: Cors, request: Request) -> Response {
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

async fn answer_signed(service: S3Service, created: Created, request: Request) -> Response {
    let put = put_object(&request);
    match service.call(request.map(s3s::Body::http_body_unsync)).await {
        Ok(response) => {
            if let Some((bucket, key)) = put.filter(|_| response.status().is_success()) {
                let mut created = created.lock().unwrap_or_else(PoisonError::into_inner);
                created.entry(bucket).or_default().push(key);
            }
            response.map(Body::new)
        }
        Err(error) => {
            tracing::error!(?error, "the S3 emulator failed");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Bucket and key of the object that is there once the request is done; none when it puts no object, or only part of one.
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
    // Keys are made of characters that stand in paths as they are.
    Some((bucket.to_owned(), key.to_owned()))
}
