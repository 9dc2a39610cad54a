//! The guards of one welcome video.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::file::{Asked, Redirect};
use super::{Request, Scope, require};
use crate::app::App;
use crate::auth::caller::Identity;
use crate::auth::policy::{Grant, Standing};
use crate::domain::id::{CompanyId, VideoId};
use crate::domain::upload::Announced;
use crate::domain::video::{Rendition, Video};
use crate::error::{Error, Result};
use crate::media::{MediaToken, SignedUpload, rendition_key, video_upload_key};
use crate::store::{Versioned, keys};

/// A caller who may do `G` with the video of the path: a staff user, or a candidate whose project shows it.
pub struct OnVideo<G> {
    /// The video.
    pub video: Versioned<Video>,
    scope: Scope,
    grant: PhantomData<G>,
}

impl<G> Deref for OnVideo<G> {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl<G: Grant> OnVideo<G> {
    async fn admit(request: &Request<'_>) -> Result<Self> {
        let path = request.id::<CompanyId>("companyId");
        let key = path.and_then(|company| Ok(keys::video(&company, request.id::<VideoId>("videoId")?)));
        // Whether there is such a video at all is for those to know who may do this.
        let wanted = key.clone().map_or_else(|_| Vec::new(), |key| vec![key]);
        let (scope, mut batch) = request.admit(Ok(wanted)).await?;
        let video = key.ok().map(|key| batch.take::<Video>(&key)).transpose()?.flatten();
        let standing = scope.towards_video(video.as_deref()).await?;
        require(G::ACTION.is_allowed(&standing))?;
        let video = video.ok_or(Error::NotFound)?;
        scope.about(video.revision())?;
        Ok(Self { video, scope, grant: PhantomData })
    }
}

impl Scope {
    /// What the caller is to a video.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a candidate whose project does not show it.
    async fn towards_video(&self, video: Option<&Video>) -> Result<Standing> {
        let Identity::Candidate(candidate) = &self.caller.identity else {
            return Ok(self.caller.in_company());
        };
        let video = video.ok_or(Error::NotFound)?;
        let project = self.store.project(&candidate.company, candidate.project).await?;
        let is_shown = project.is_some_and(|project| project.settings.shows(video.id));
        if is_shown { Ok(Standing::Itself) } else { Err(Error::NotFound) }
    }

    /// Lets the caller put the file of a new video straight into the bucket.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub async fn begin_video_upload(&self, video: &Video) -> Result<SignedUpload> {
        let Announced { content_type, size } = &video.file;
        let lifetime = (video.url_expires_at() - self.now).to_std().map_err(Error::internal)?;
        let key = video_upload_key(&video.company, video.id);
        self.objects()?.upload_to(&key, content_type, *size, lifetime).await
    }

    /// Stores the file of a video, which is converted as soon as it is there.
    ///
    /// # Errors
    /// [`Error::Busy`].
    pub async fn upload_video(&self, video: &Video, bytes: axum::body::Bytes) -> Result<()> {
        let key = video_upload_key(&video.company, video.id);
        self.objects()?.put_unchecked(&key, bytes).await
    }
}

impl<G: Grant> FromRequestParts<App> for OnVideo<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        Self::admit(&Request::new(parts, app).await?).await
    }
}

/// A guard of a video that goes by the token in the path, and what that is an address of.
pub struct ByVideoAddress<G> {
    guard: OnVideo<G>,
    asked: Asked,
    rendition: Rendition,
}

impl<G> ByVideoAddress<G> {
    /// The way to the rendition that the address names, if it is one of these.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, [`Error::Unauthenticated`] when the token is for another.
    pub async fn open(&self, renditions: &[Rendition]) -> Result<Redirect> {
        let (video, rendition) = (&self.guard.video, self.rendition);
        if video.converted.is_none() || !renditions.contains(&rendition) {
            return Err(Error::NotFound);
        }
        let key = rendition_key(&video.company, video.id, rendition);
        self.asked.way_to(&self.guard, &key, rendition.file_type(), None).await
    }
}

impl<G: Grant> FromRequestParts<App> for ByVideoAddress<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let object = |request: &Request<'_>, _: &MediaToken, rendition: &Rendition| {
            Ok(rendition_key(&request.id("companyId")?, request.id("videoId")?, *rendition))
        };
        let (request, rendition) = Request::by_address(parts, app, take_apart, object).await?;
        let guard = OnVideo::admit(&request).await?;
        Ok(Self { guard, asked: Asked::of(&request)?, rendition })
    }
}

/// A token, and what follows it in the address of one of the video's files.
fn take_apart(segment: &str) -> (&str, Rendition) {
    let named = [Rendition::Mp4, Rendition::Flv].into_iter().find_map(|rendition| {
        let token = segment.strip_suffix(rendition.extension())?.strip_suffix('.')?;
        Some((token, rendition))
    });
    named.unwrap_or((segment, Rendition::Thumbnail))
}
