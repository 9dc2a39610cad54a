//! Targets for the files and uploads of candidates and customers. Recorded answers are in [`answers`](super::answers).

use std::ops::Deref;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::access::request::PathIds;
use crate::auth::access::{
    AdmissionRejection, Admitted, AdmittedRequest, AuthenticatedRequest, RequestTarget,
    UnauthenticatedRequest, admit,
};
use crate::auth::credential::invalid_credential;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::account::Account;
use crate::domain::id::{FileId, InvalidId};
use crate::domain::media::file::{FileType, StoredFile};
use crate::domain::media::upload::Upload;
use crate::error::{Error, Result};
use crate::media::{ObjectStore, object_key};
use crate::store::{ItemKey, VersionedItem};

/// A target that has files.
pub(in crate::auth::access) trait FileOwner: RequestTarget {
    fn file_owner_in(path: &PathIds) -> Result<Account, InvalidId>;
}

/// A request by the URL of a file. The caller for whom the URL was made still has the permission `A` for the file's owner `T`.
pub struct FileAccess<T: RequestTarget, A> {
    access: Admitted<T, A>,
    file_owner: Account,
    file: FileRequest,
}

impl<T: RequestTarget, A> HasAdmission for FileAccess<T, A> {
    const ADMISSION: AdmissionRule = AdmissionRule::FileUrl;
}

impl<T: RequestTarget, A> Deref for FileAccess<T, A> {
    type Target = Admitted<T, A>;

    fn deref(&self) -> &Admitted<T, A> {
        &self.access
    }
}

impl<T: RequestTarget, A> FileAccess<T, A> {
    /// Redirects to the owner's `file`; with a `name`, browsers save it under that name instead of showing it. Fails
    /// with [`Error::NotFound`] without a file, and with [`Error::Unauthenticated`] if the token is for another file.
    pub async fn redirect(&self, file: Option<StoredFile>, name: Option<&str>) -> Result<FileRedirect> {
        let file = file.ok_or(Error::NotFound)?;
        let key = object_key(self.access.company_id(), self.file_owner, file.id);
        self.file.redirect(&self.access.objects()?, &key, &key, file.file_type, name, None).await
    }
}

impl<T: FileOwner, A: HasAdmission> FromRequestParts<App> for FileAccess<T, A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let method = parts.method.clone();
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let token = request.path.text("token").unwrap_or_default().to_owned();
        let request = request.by_file_url(&token, |path, token| {
            Ok(object_key(&path.company_id()?, T::file_owner_in(path)?, FileId::from_bytes(token.file())))
        })?;
        let file_owner = T::file_owner_in(&request.path).map_err(|_| Error::NotFound)?;
        let file = FileRequest::of(&request, method)?;
        Ok(Self { access: admit(request).await?, file_owner, file })
    }
}

/// A request for an object by a signed URL of the API.
pub(in crate::auth::access) struct FileRequest {
    /// The object's name, for which the URL is signed.
    signed_name: String,
    method: Method,
}

impl FileRequest {
    pub(in crate::auth::access) fn of(request: &UnauthenticatedRequest<'_>, method: Method) -> Result<Self> {
        let file_url = request.file_url.as_ref().ok_or_else(invalid_credential)?;
        Ok(Self::new(file_url.signed_name.clone(), method))
    }

    pub(in crate::auth::access) fn new(signed_name: String, method: Method) -> Self {
        Self { signed_name, method }
    }

    /// Redirects to the object at `key`; with a `name`, browsers save it under that name. The bucket's URL works for at most
    /// `max_lifetime`. Fails with [`Error::Unauthenticated`] unless the request's URL is signed for `signed_name`.
    pub(in crate::auth::access) async fn redirect(
        &self,
        objects: &ObjectStore<'_>,
        signed_name: &str,
        key: &str,
        file_type: FileType,
        name: Option<&str>,
        max_lifetime: Option<Duration>,
    ) -> Result<FileRedirect> {
        // The owner's file has been replaced, and the token is for the old one.
        if self.signed_name != signed_name {
            return Err(invalid_credential());
        }
        Ok(FileRedirect(objects.url_of(key, file_type, name, &self.method, max_lifetime).await?))
    }
}

/// 302 to a short-lived URL of the bucket.
pub struct FileRedirect(String);

impl IntoResponse for FileRedirect {
    fn into_response(self) -> Response {
        let mut response = StatusCode::FOUND.into_response();
        // Always a valid header value: signed URLs are visible ASCII.
        let location = HeaderValue::from_str(&self.0).ok();
        response.headers_mut().extend(location.map(|location| (header::LOCATION, location)));
        // The referring URL contains the token, which the bucket must not see.
        response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    }
}

/// An upload that a client has announced for the owner `T`.
pub struct UploadTarget<T: RequestTarget> {
    pub file_owner: T::Loaded,
    pub upload: VersionedItem<Upload>,
}

impl<T: FileOwner> RequestTarget for UploadTarget<T> {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        T::keys(request).into_iter().chain([request.path.upload()]).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let upload = request.take::<Upload>(request.path.upload());
        let named_owner = T::file_owner_in(&request.path);
        let (request, file_owner) = T::load(request).await?;
        let upload = upload?;
        // Keys of uploads contain no company, so compare the item's company and owner.
        let is_of_owner = upload.company == *request.company_id() && Ok(upload.owner) == named_owner;
        // Files in requests are stored as uploads too. Clients must not see these, because they have not announced them.
        if is_of_owner && upload.announced.is_some() {
            Ok((request.about(&upload), Self { file_owner, upload }))
        } else {
            Err(Error::NotFound)
        }
    }
}
