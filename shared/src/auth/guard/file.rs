//! Files: what a caller's token shows of them, and what a caller may store.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{OnCandidate, OnCustomer, Request, Scope};
use crate::app::App;
use crate::auth::credential::REJECTED;
use crate::auth::policy::Grant;
use crate::domain::file::{FileKind, FileType, Owner, StoredFile};
use crate::domain::upload::{Announced, Upload};
use crate::error::{Error, Result};
use crate::http::FileChange;
use crate::media::{Checked, MediaToken, Objects, SignedUpload, object_key, upload_key};
use crate::store::{Batch, Key, Versioned, keys};

/// A guard that goes by the token in the path: by the session that was shown the address, whose user must still be
/// allowed to read what the file belongs to.
pub struct ByAddress<G> {
    guard: G,
    address: Address,
}

/// An address that a file is asked for by.
pub(super) struct Address {
    pub(super) token: MediaToken,
    pub(super) method: Method,
}

impl<G> Deref for ByAddress<G> {
    type Target = G;

    fn deref(&self) -> &G {
        &self.guard
    }
}

/// The way to a file: 302 to where it can be fetched for a short time.
pub struct Redirect(String);

impl IntoResponse for Redirect {
    fn into_response(self) -> Response {
        let mut response = StatusCode::FOUND.into_response();
        // A signed URL is visible ASCII.
        let location = HeaderValue::from_str(&self.0).ok();
        response.headers_mut().extend(location.map(|location| (header::LOCATION, location)));
        response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        response
    }
}

impl Address {
    /// The way to the object with this key, to be shown, or saved under `name`; the token must be for this very object.
    pub(super) async fn way_to(
        &self,
        scope: &Scope,
        key: &str,
        file_type: FileType,
        name: Option<&str>,
    ) -> Result<Redirect> {
        if !self.token.is_for(&scope.media_key, key) {
            return Err(Error::Unauthenticated(REJECTED));
        }
        let objects = scope.objects()?;
        Ok(Redirect(objects.url_of(key, file_type, name, &self.method).await?))
    }
}

impl<G> ByAddress<G> {
    async fn way_to(
        &self,
        scope: &Scope,
        owner: Owner,
        file: Option<StoredFile>,
        name: Option<&str>,
    ) -> Result<Redirect> {
        let file = file.ok_or(Error::NotFound)?;
        let key = object_key(scope.company(), owner, file.id);
        self.address.way_to(scope, &key, file.file_type, name).await
    }
}

impl<G> ByAddress<OnCandidate<G>> {
    /// The way to one of the candidate's files, to be shown, or saved under `name`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, [`Error::Unauthenticated`] when the token is for another.
    pub async fn open(&self, file: Option<StoredFile>, name: Option<&str>) -> Result<Redirect> {
        self.way_to(&self.guard, self.guard.candidate.owner(), file, name).await
    }
}

impl<G> ByAddress<OnCustomer<G>> {
    /// The way to one of the customer's files, to be shown, or saved under `name`.
    ///
    /// # Errors
    /// As [`ByAddress::<OnCandidate<G>>::open`].
    pub async fn open(&self, file: Option<StoredFile>, name: Option<&str>) -> Result<Redirect> {
        self.way_to(&self.guard, self.guard.customer.owner(), file, name).await
    }
}

impl<G: Grant> FromRequestParts<App> for ByAddress<OnCandidate<G>> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let method = parts.method.clone();
        let (request, token) = Request::by_address(parts, app).await?;
        let (guard, _) = OnCandidate::admit(&request, |_| Vec::new()).await?;
        Ok(Self { guard, address: Address { token, method } })
    }
}

impl<G: Grant> FromRequestParts<App> for ByAddress<OnCustomer<G>> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let method = parts.method.clone();
        let (request, token) = Request::by_address(parts, app).await?;
        let (guard, _) = OnCustomer::admit(&request, |_| Vec::new()).await?;
        Ok(Self { guard, address: Address { token, method } })
    }
}

impl Scope {
    /// The bucket.
    ///
    /// # Errors
    /// [`Error::Internal`] when no setting names it.
    pub(super) fn objects(&self) -> Result<Objects<'_>> {
        Objects::of(&self.app)
    }

    /// The file that an owner has after a change: another one is stored at once, and is the owner's as soon as the owner
    /// is written with it. What was stored for nothing is deleted later.
    ///
    /// # Errors
    /// A message on the field of this kind; [`Error::Busy`].
    pub async fn change_file(
        &self,
        owner: Owner,
        kind: FileKind,
        before: Option<StoredFile>,
        change: Option<FileChange>,
    ) -> Result<Option<StoredFile>> {
        match change {
            None => Ok(before),
            Some(FileChange::Remove) => Ok(None),
            Some(FileChange::Put(bytes)) => {
                let file = Checked::new(kind, bytes).await?;
                let upload = self.new_upload(owner, kind, None);
                self.store.note_upload(&upload).await?;
                let key = object_key(self.company(), owner, upload.id);
                self.objects()?.put(&key, upload.id, file).await.map(Some)
            }
        }
    }

    /// Lets the caller put a file for an owner straight into the bucket.
    ///
    /// # Errors
    /// [`Error::Busy`].
    pub async fn begin_upload(
        &self,
        owner: Owner,
        kind: FileKind,
        announced: Announced,
    ) -> Result<(Upload, SignedUpload)> {
        let upload = self.new_upload(owner, kind, Some(announced.clone()));
        let lifetime = (upload.url_expires_at() - self.now).to_std().map_err(Error::internal)?;
        let (key, objects) = (upload_key(upload.id), self.objects()?);
        let signed = objects.upload_to(&key, &announced.content_type, announced.size, lifetime).await?;
        self.store.create_upload(&upload).await?;
        Ok((upload, signed))
    }

    fn new_upload(&self, owner: Owner, kind: FileKind, announced: Option<Announced>) -> Upload {
        let id = self.store.next_id(self.now);
        Upload::new(id, self.company().clone(), (owner, kind), announced, self.now)
    }
}

/// A guard, and the upload of the path, which is for what the guard is about.
pub struct OnUpload<G> {
    /// The upload, one that was announced.
    pub upload: Versioned<Upload>,
    guard: G,
}

impl<G> Deref for OnUpload<G> {
    type Target = G;

    fn deref(&self) -> &G {
        &self.guard
    }
}

impl<G: Grant> FromRequestParts<App> for OnUpload<OnCandidate<G>> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let key = upload_in_path(&request);
        let (guard, batch) = OnCandidate::admit(&request, |_| key.clone().into_iter().collect()).await?;
        let upload = take_upload(batch, key, &guard, guard.candidate.owner())?;
        Ok(Self { upload, guard })
    }
}

impl<G: Grant> FromRequestParts<App> for OnUpload<OnCustomer<G>> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let key = upload_in_path(&request);
        let (guard, batch) = OnCustomer::admit(&request, |_| key.clone().into_iter().collect()).await?;
        let upload = take_upload(batch, key, &guard, guard.customer.owner())?;
        Ok(Self { upload, guard })
    }
}

fn upload_in_path(request: &Request<'_>) -> Option<Key> {
    request.id("uploadId").ok().map(keys::upload)
}

fn take_upload(mut batch: Batch, key: Option<Key>, scope: &Scope, owner: Owner) -> Result<Versioned<Upload>> {
    let upload: Option<Versioned<Upload>> = batch.take(&key.ok_or(Error::NotFound)?)?;
    let fits = |upload: &Versioned<Upload>| {
        upload.company == *scope.company() && upload.owner == owner && upload.announced.is_some()
    };
    upload.filter(fits).ok_or(Error::NotFound)
}
