//! Guards of a welcome video and of its renditions.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::file::{Fetch, Redirect};
use super::request::Path;
use super::{Authenticated, Context, Guard, Rejection, Request, admit, extract};
use crate::app::App;
use crate::auth::caller::Identity;
use crate::auth::{Admission, Admits};
use crate::domain::id::InvalidId;
use crate::domain::policy::{Grant, Standing};
use crate::domain::video::{Rendition, Video};
use crate::error::{Error, Result};
use crate::media::rendition_key;
use crate::store::{Key, Versioned};

/// A caller who may do `A` with the video of the path: a staff user, or a candidate whose project shows it.
pub struct VideoAccess<A> {
    /// The video.
    pub video: Versioned<Video>,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for VideoAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.video()]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let video = request.take::<Video>(Path::video);
        let standing = match &request.caller().identity {
            Identity::Candidate(candidate) => {
                let id = video.as_ref().map_err(|_| Error::NotFound)?.id;
                if !request.store().shows_video(candidate, id).await? {
                    return Err(Error::NotFound);
                }
                Standing::Itself
            }
            Identity::Customer(_) | Identity::NamedToken(_) => request.caller().in_company(),
        };
        // Only callers who may do this learn whether the video exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let video = video?;
        Ok(Self { context: context.about(&video), video, action: PhantomData })
    }
}

extract!(VideoAccess<A: Grant>);

/// A caller who was shown the address of a rendition, and may still do `A` with the video.
pub struct RenditionAccess<A> {
    access: VideoAccess<A>,
    fetch: Fetch,
    rendition: Rendition,
}

impl<A> Admits for RenditionAccess<A> {
    const ADMISSION: Admission = Admission::Link;
}

impl<A> Deref for RenditionAccess<A> {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.access
    }
}

impl<A> RenditionAccess<A> {
    /// Redirects to the rendition that the address names, if it is one of these. Returns [`Error::NotFound`] without
    /// one, and [`Error::Unauthenticated`] for a token of another.
    pub async fn redirect(&self, renditions: &[Rendition]) -> Result<Redirect> {
        let (video, rendition) = (&self.access.video, self.rendition);
        if video.converted.is_none() || !renditions.contains(&rendition) {
            return Err(Error::NotFound);
        }
        let key = rendition_key(&video.company, video.id, rendition);
        self.fetch.redirect(&self.objects()?, &key, rendition.file_type(), None).await
    }
}

impl<A: Grant> FromRequestParts<App> for RenditionAccess<A> {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Rejection> {
        let method = parts.method.clone();
        let request = Request::new(parts, app).await?;
        let (token, rendition) = split(request.path.text("token").unwrap_or_default());
        let token = token.to_owned();
        let request = request.by_address(&token, |path, _| {
            Ok(rendition_key(&path.company_id()?, path.id("videoId")?, rendition))
        })?;
        let access = admit(&request).await?;
        Ok(Self { access, fetch: Fetch::of(request, method)?, rendition })
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
