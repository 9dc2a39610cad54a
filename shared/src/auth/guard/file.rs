//! Files: what a caller's token shows of them, and what a caller may store.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{OnCandidate, OnCustomer, Request, Scope};
use crate::app::App;
use crate::auth::caller::Proof;
use crate::auth::credential::REJECTED;
use crate::auth::policy::Grant;
use crate::domain::account::{Claim, Principal};
use crate::domain::file::{FileKind, FileType, Owner, StoredFile};
use crate::domain::id::{FileId, InvalidId};
use crate::domain::upload::{Announced, Author, Upload};
use crate::error::{Error, Result};
use crate::http::FileChange;
use crate::media::{Checked, MediaToken, Objects, SignedUpload, object_key, upload_key};
use crate::store::{Batch, Key, Session, Versioned, keys};

/// A guard that goes by the token in the path: by the session that was shown the address, whose user must still be
/// allowed to read what the file belongs to.
pub struct ByAddress<G> {
    guard: G,
    asked: Asked,
}

/// What a request asks for by an address that was found good.
pub(super) struct Asked {
    /// The key of the object.
    object: String,
    method: Method,
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

impl Asked {
    /// What a request asks for that goes by an address.
    pub(super) fn of(request: &Request<'_>) -> Result<Self> {
        let address = request.by.as_ref().ok_or(Error::Unauthenticated(REJECTED))?;
        Ok(Self { object: address.object.clone(), method: request.parts.method.clone() })
    }

    /// The way to the object with this key, to be shown, or saved under `name`; the address must be of this very object.
    pub(super) async fn way_to(
        &self,
        scope: &Scope,
        key: &str,
        file_type: FileType,
        name: Option<&str>,
    ) -> Result<Redirect> {
        if self.object != key {
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
        self.asked.way_to(scope, &key, file.file_type, name).await
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
        let owner = |request: &Request<'_>| {
            let (project, candidate) = (request.id("projectId")?, request.id("candidateId")?);
            Ok(Owner::Candidate { project, candidate })
        };
        let request = by_address_of(parts, app, owner).await?;
        let (guard, _) = OnCandidate::admit(&request, |_| Vec::new()).await?;
        Ok(Self { guard, asked: Asked::of(&request)? })
    }
}

impl<G: Grant> FromRequestParts<App> for ByAddress<OnCustomer<G>> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let owner = |request: &Request<'_>| Ok(Owner::Customer { customer: request.id("customerId")? });
        let request = by_address_of(parts, app, owner).await?;
        let (guard, _) = OnCustomer::admit(&request, |_| Vec::new()).await?;
        Ok(Self { guard, asked: Asked::of(&request)? })
    }
}

/// A request that goes by the address of a file of somebody's.
async fn by_address_of<'a>(
    parts: &'a mut Parts,
    app: &'a App,
    owner: fn(&Request<'_>) -> Result<Owner, InvalidId>,
) -> Result<Request<'a>> {
    let object = |request: &Request<'_>, token: &MediaToken, (): &()| {
        let company = request.id("companyId")?;
        Ok(object_key(&company, owner(request)?, FileId::from_bytes(token.file())))
    };
    let (request, ()) = Request::by_address(parts, app, |segment| (segment, ()), object).await?;
    Ok(request)
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
        self.store.commit(self.store.create_upload(&upload)).await?;
        Ok((upload, signed))
    }

    fn new_upload(&self, owner: Owner, kind: FileKind, announced: Option<Announced>) -> Upload {
        let id = self.store.next_id(self.now);
        Upload::new(id, self.company().clone(), (owner, kind), announced, (self.author(), self.now))
    }

    /// Whoever calls, as they must still be known when what they announced arrives.
    pub fn author(&self) -> Author {
        match (&self.caller.proof, self.caller.principal()) {
            (Proof::Session(live), _) => {
                let Session { claim, epoch, actor_epoch, .. } = live.session.clone();
                Author::Account { claim, epoch: Some(epoch), actor_epoch }
            }
            (_, Principal::Account(account)) => {
                let claim = Claim::own(self.company().clone(), account);
                Author::Account { claim, epoch: None, actor_epoch: None }
            }
            (_, Principal::NamedToken(token)) => Author::NamedToken { token },
        }
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
