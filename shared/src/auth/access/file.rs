//! Guards of the files and uploads of candidates and customers.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::request::PathIds;
use super::{
    AdmittedRequest, AuthenticatedRequest, GuardRejection, RequestGuard, UnauthenticatedRequest, admit,
};
use crate::app::App;
use crate::auth::credential::REJECTED;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::file::{FileType, Owner, StoredFile};
use crate::domain::id::{FileId, InvalidId};
use crate::domain::upload::Upload;
use crate::error::{Error, Result};
use crate::media::{ObjectStore, object_key};
use crate::store::{ItemKey, VersionedItem};

/// A guard of a resource that has files.
pub(super) trait OwnerAccess: RequestGuard {
    fn owner_in(path: &PathIds) -> Result<Owner, InvalidId>;

    /// This guard of a request about an upload of the owner.
    fn about(self, upload: &VersionedItem<Upload>) -> Self;
}

/// A caller who was shown the address of a file, and may still do what `G` asks for with its owner.
pub struct MediaAccess<G> {
    /// The guard of the owner.
    pub of: G,
    owner: Owner,
    fetch: FileRequest,
}

impl<G> HasAdmission for MediaAccess<G> {
    const ADMISSION: AdmissionRule = AdmissionRule::Link;
}

impl<G: Deref<Target = AdmittedRequest>> MediaAccess<G> {
    /// Redirects to one of the owner's files, to be shown, or saved under `name`. Returns [`Error::NotFound`] without a
    /// file, and [`Error::Unauthenticated`] for a token of another file.
    pub async fn redirect(&self, file: Option<StoredFile>, name: Option<&str>) -> Result<FileRedirect> {
        let file = file.ok_or(Error::NotFound)?;
        let key = object_key(self.of.company_id(), self.owner, file.id);
        self.fetch.redirect(&self.of.objects()?, &key, file.file_type, name).await
    }
}

impl<G: OwnerAccess> FromRequestParts<App> for MediaAccess<G> {
    type Rejection = GuardRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, GuardRejection> {
        let method = parts.method.clone();
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let token = request.path.text("token").unwrap_or_default().to_owned();
        let request = request.by_address(&token, |path, token| {
            Ok(object_key(&path.company_id()?, G::owner_in(path)?, FileId::from_bytes(token.file())))
        })?;
        let owner = G::owner_in(&request.path).map_err(|_| Error::NotFound)?;
        let of = admit(&request).await?;
        Ok(Self { of, owner, fetch: FileRequest::of(request, method)? })
    }
}

/// A request for an object by its address.
pub(super) struct FileRequest {
    object: String,
    method: Method,
}

impl FileRequest {
    pub(super) fn of(request: UnauthenticatedRequest<'_>, method: Method) -> Result<Self> {
        let address = request.address.ok_or(Error::Unauthenticated(REJECTED))?;
        Ok(Self { object: address.object, method })
    }

    /// Redirects to the object with this key, to be shown, or saved under `name`. Fails with [`Error::Unauthenticated`]
    /// for the address of another object.
    pub(super) async fn redirect(
        &self,
        objects: &ObjectStore<'_>,
        key: &str,
        file_type: FileType,
        name: Option<&str>,
    ) -> Result<FileRedirect> {
        // The owner has another file by now, and the token names the one that was shown.
        if self.object != key {
            return Err(Error::Unauthenticated(REJECTED));
        }
        Ok(FileRedirect(objects.url_of(key, file_type, name, &self.method).await?))
    }
}

/// 302 to where a file can be fetched for a short time.
pub struct FileRedirect(String);

impl IntoResponse for FileRedirect {
    fn into_response(self) -> Response {
        let mut response = StatusCode::FOUND.into_response();
        // A signed URL is visible ASCII.
        let location = HeaderValue::from_str(&self.0).ok();
        response.headers_mut().extend(location.map(|location| (header::LOCATION, location)));
        // The address that the browser comes from holds the token.
        response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    }
}

/// A caller who may do what `G` asks for with an owner of files, and the upload of the path, which is for that owner.
pub struct UploadAccess<G> {
    /// The guard of the owner.
    pub of: G,
    /// The upload, which a client announced.
    pub upload: VersionedItem<Upload>,
}

impl<G: HasAdmission> HasAdmission for UploadAccess<G> {
    const ADMISSION: AdmissionRule = G::ADMISSION;
}

impl<G: Deref<Target = AdmittedRequest>> Deref for UploadAccess<G> {
    type Target = AdmittedRequest;

    fn deref(&self) -> &AdmittedRequest {
        &self.of
    }
}

impl<G: OwnerAccess> RequestGuard for UploadAccess<G> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        G::keys(request).into_iter().chain([request.path.upload()]).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let (upload, owner) = (request.take::<Upload>(PathIds::upload), G::owner_in(&request.path));
        let of = G::load(request).await?;
        let upload = upload?;
        // Keys of uploads hold no company, so the item itself tells whose it is.
        let is_of = upload.company == *of.company_id() && Ok(upload.owner) == owner;
        if is_of && upload.announced.is_some() {
            Ok(Self { of: of.about(&upload), upload })
        } else {
            Err(Error::NotFound)
        }
    }
}

impl<G: OwnerAccess> FromRequestParts<App> for UploadAccess<G> {
    type Rejection = GuardRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, GuardRejection> {
        let request = UnauthenticatedRequest::new(parts, app).await?;
        admit(&request).await
    }
}
