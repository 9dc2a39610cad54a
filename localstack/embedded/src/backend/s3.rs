//! S3: objects in a folder, every request's signature checked. Buckets are addressed by path.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;

use super::server::Server;
use super::{ACCESS_KEY_ID, SECRET_ACCESS_KEY};
use crate::Error;

pub(super) struct S3 {
    folder: PathBuf,
    server: Server,
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
        let router = Router::new().fallback(move |request| answer(service.clone(), request));
        let server =
            Server::start("s3", 1, |listener, stop| super::serve(listener, router, stop.requested()))?;
        Ok(Self { folder: folder.to_owned(), server })
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    pub(super) fn create_bucket(&self, name: &str) -> Result<(), Error> {
        std::fs::create_dir_all(self.folder.join(name))
            .map_err(Error::because(format!("cannot create bucket {name}")))
    }
}

async fn answer(service: S3Service, request: Request) -> Response {
    match service.call(request.map(s3s::Body::http_body_unsync)).await {
        Ok(response) => response.map(Body::new),
        Err(error) => {
            tracing::error!(?error, "the S3 emulator failed");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
