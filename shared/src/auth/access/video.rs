//! Guards of a welcome video and of its renditions.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::file::{FileRedirect, FileRequest};
use super::request::PathIds;
use super::{
    AdmittedRequest, AuthenticatedRequest, GuardRejection, RequestGuard, UnauthenticatedRequest, admit,
    extract,
};
use crate::app::App;
use crate::auth::caller::CallerIdentity;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::id::InvalidId;
use crate::domain::policy::{ActionGrant, CallerRelation};
use crate::domain::video::{Rendition, Video};
use crate::error::{Error, Result};
use crate::media::rendition_key;
use crate::store::{ItemKey, VersionedItem};

/// A caller who may do `A` with the video of the path: a staff user, or a candidate whose project shows it.
pub struct VideoAccess<A> {
    /// The video.
    pub video: VersionedItem<Video>,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for VideoAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.video()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let video = request.take::<Video>(PathIds::video);
        let standing = match &request.caller().identity {
            CallerIdentity::Candidate(candidate) => {
                let id = video.as_ref().map_err(|_| Error::NotFound)?.id;
                if !request.store().shows_video(candidate, id).await? {
                    return Err(Error::NotFound);
                }
                CallerRelation::Own
            }
            CallerIdentity::Customer(_) | CallerIdentity::NamedToken(_) => request.caller().in_company(),
        };
        // Only callers who may do this learn whether the video exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let video = video?;
        Ok(Self { context: context.about(&video), video, action: PhantomData })
    }
}

extract!(VideoAccess<A: ActionGrant>);

/// A caller who was shown the address of a rendition, and may still do `A` with the video.
pub struct RenditionAccess<A> {
    access: VideoAccess<A>,
    fetch: FileRequest,
    rendition: Rendition,
}

impl<A> HasAdmission for RenditionAccess<A> {
    const ADMISSION: AdmissionRule = AdmissionRule::Link;
}

impl<A> Deref for RenditionAccess<A> {
    type Target = AdmittedRequest;

    fn deref(&self) -> &AdmittedRequest {
        &self.access
    }
}

impl<A> RenditionAccess<A> {
    /// Redirects to the rendition that the address names, if it is one of these. Returns [`Error::NotFound`] without
    /// one, and [`Error::Unauthenticated`] for a token of another.
    pub async fn redirect(&self, renditions: &[Rendition]) -> Result<FileRedirect> {
        let (video, rendition) = (&self.access.video, self.rendition);
        if video.converted.is_none() || !renditions.contains(&rendition) {
            return Err(Error::NotFound);
        }
        let key = rendition_key(&video.company, video.id, rendition);
        self.fetch.redirect(&self.objects()?, &key, rendition.file_type(), None).await
    }
}

impl<A: ActionGrant> FromRequestParts<App> for RenditionAccess<A> {
    type Rejection = GuardRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, GuardRejection> {
        let method = parts.method.clone();
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let (token, rendition) = split(request.path.text("token").unwrap_or_default());
        let token = token.to_owned();
        let request = request.by_address(&token, |path, _| {
            Ok(rendition_key(&path.company_id()?, path.id("videoId")?, rendition))
        })?;
        let access = admit(&request).await?;
        Ok(Self { access, fetch: FileRequest::of(request, method)?, rendition })
    }
}

/// The token in the last segment of an address, and the rendition that its extension names.
fn split(segment: &str) -> (&str, Rendition) {
    let named = [Rendition::Mp4, Rendition::Flv].into_iter().find_map(|rendition| {
        let token = segment.strip_suffix(rendition.extension())?.strip_suffix('.')?;
        Some((token, rendition))
    });
    named.unwrap_or((segment, Rendition::Thumbnail))
}
