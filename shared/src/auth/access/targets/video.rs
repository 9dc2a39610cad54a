//! Targets for a welcome video, its renditions and its captions.

use std::marker::PhantomData;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use crate::app::App;
use crate::auth::access::request::PathIds;
use crate::auth::access::targets::file::{FileRedirect, FileRequest};
use crate::auth::access::targets::guest::{GuestFile, is_for_guest};
use crate::auth::access::{
    AdmissionRejection, Admitted, AdmittedRequest, AuthenticatedRequest, RequestTarget,
    UnauthenticatedRequest, admit,
};
use crate::auth::caller::CallerIdentity;
use crate::auth::credential::invalid_credential;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::id::InvalidId;
use crate::domain::language::Language;
use crate::domain::media::captions::CaptionText;
use crate::domain::media::video::{Rendition, Video};
use crate::domain::parse_enum;
use crate::domain::policy::CallerRelation;
use crate::error::{Error, Result};
use crate::http::exchange::state::RequestState;
use crate::http::{EntityTag, RequestConditions};
use crate::media::{FileUrlToken, ObjectStore, captions_name, rendition_key};
use crate::store::{ItemKey, Store, VersionedItem};

impl RequestTarget for Video {
    type Loaded = VersionedItem<Self>;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.video()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, VersionedItem<Self>)> {
        let video = request.take::<Self>(request.path.video());
        let relation = match &request.caller().identity {
            // Candidates see the videos of their project. Other videos must look as if they did not exist.
            CallerIdentity::Candidate(candidate) => {
                let id = video.as_ref().map_err(|_| Error::NotFound)?.id;
                if !request.store().shows_video(candidate, id).await? {
                    return Err(Error::NotFound);
                }
                CallerRelation::ThisCandidate
            }
            CallerIdentity::Customer(_) | CallerIdentity::NamedToken(_) => request.caller().in_company(),
        };
        // Authorise first: only callers with the permission may learn whether the video exists.
        let request = request.authorise(&relation)?;
        let video = video?;
        Ok((request.about(&video), video))
    }
}

/// The captions of a video in one language, which need not exist.
pub struct CaptionsTarget {
    pub video: VersionedItem<Video>,
    pub language: Language,
}

pub(super) fn language_in(path: &PathIds) -> Result<Language, InvalidId> {
    path.text("language").and_then(|language| parse_enum(language).ok()).ok_or(InvalidId)
}

impl RequestTarget for CaptionsTarget {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Video::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let language = language_in(&request.path);
        let (request, video) = Video::load(request).await?;
        Ok((request, Self { video, language: language.map_err(|_| Error::NotFound)? }))
    }
}

/// A request by the URL of a video's captions. The caller for whom the URL was made still has the permission `A` for the video,
/// or is a guest whose link still works.
pub struct CaptionsAccess<A> {
    video: VersionedItem<Video>,
    language: Language,
    store: Store,
    conditions: RequestConditions,
    action: PhantomData<fn() -> A>,
}

impl<A> HasAdmission for CaptionsAccess<A> {
    const ADMISSION: AdmissionRule = AdmissionRule::FileUrl;
}

impl<A> CaptionsAccess<A> {
    /// Responds with the captions as WebVTT, or with 304. Fails with [`Error::NotFound`] if the video has no captions in the
    /// language.
    pub async fn show(&self) -> Result<Response> {
        let captions = self.store.captions(&self.video, self.language).await?;
        show_captions(&self.conditions, &captions.ok_or(Error::NotFound)?.text)
    }
}

/// Responds with the captions as WebVTT, or with 304 if the client has them.
pub(super) fn show_captions(conditions: &RequestConditions, text: &CaptionText) -> Result<Response> {
    // Served here and not by the bucket: browsers load a track from another origin only if the video's host allows it.
    let content_type = HeaderValue::from_static("text/vtt; charset=utf-8");
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type)]);
    let tag = EntityTag::of(text.as_str().as_bytes());
    conditions.answer(headers, text.as_str().to_owned().into(), &tag)
}

impl<A: HasAdmission> FromRequestParts<App> for CaptionsAccess<A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let conditions = RequestConditions::of(parts).unwrap_or_default();
        let store = RequestState::of(&parts.extensions).store(app);
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let token = request.path.text("token").unwrap_or_default().to_owned();
        let language = language_in(&request.path);
        let signed_name = |path: &PathIds| {
            Ok::<_, InvalidId>(captions_name(&path.company_id()?, path.id("videoId")?, language_in(path)?))
        };
        let video = match FileUrlToken::parse(&token).filter(is_for_guest) {
            Some(token) => {
                let signed_name = signed_name(&request.path).map_err(|_| invalid_credential())?;
                guest_video(&request, &token, &signed_name).await?.item
            }
            None => {
                let request = request.by_file_url(&token, |path, _| signed_name(path))?;
                let access: Admitted<Video, A> = admit(request).await?;
                access.target
            }
        };
        let language = language.map_err(|_| Error::NotFound)?;
        Ok(Self { video, language, store, conditions, action: PhantomData })
    }
}

/// A request by the URL of a video's rendition. The caller for whom the URL was made still has the permission `A` for the video,
/// or is a guest whose link still works.
pub struct RenditionAccess<A> {
    video: VersionedItem<Video>,
    file: FileRequest,
    rendition: Rendition,
    /// How long a guest may fetch the file from the bucket; `None` for other callers.
    max_lifetime: Option<Duration>,
    app: App,
    action: PhantomData<fn() -> A>,
}

impl<A> HasAdmission for RenditionAccess<A> {
    const ADMISSION: AdmissionRule = AdmissionRule::FileUrl;
}

impl<A> RenditionAccess<A> {
    /// Redirects to the rendition that the URL names, if it is among `renditions`. Fails with [`Error::NotFound`]
    /// otherwise and before the conversion, and with [`Error::Unauthenticated`] if the token is for another rendition.
    pub async fn redirect(&self, renditions: &[Rendition]) -> Result<FileRedirect> {
        let Self { video, rendition, .. } = self;
        if video.conversion.converted.is_none() || !renditions.contains(rendition) {
            return Err(Error::NotFound);
        }
        let key = rendition_key(&video.company, video.id, *rendition);
        let bucket = ObjectStore::of(&self.app)?;
        self.file.redirect(&bucket, &key, &key, rendition.file_type(), None, self.max_lifetime).await
    }
}

impl<A: HasAdmission> FromRequestParts<App> for RenditionAccess<A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let method = parts.method.clone();
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let (token, rendition) = split_segment(request.path.text("token").unwrap_or_default());
        let token = token.to_owned();
        let app = app.clone();
        let action = PhantomData;
        let signed_name = |path: &PathIds| {
            Ok::<_, InvalidId>(rendition_key(&path.company_id()?, path.id("videoId")?, rendition))
        };
        if let Some(token) = FileUrlToken::parse(&token).filter(is_for_guest) {
            let signed_name = signed_name(&request.path).map_err(|_| invalid_credential())?;
            let GuestFile { item: video, lifetime } = guest_video(&request, &token, &signed_name).await?;
            let file = FileRequest::new(signed_name, method);
            return Ok(Self { video, file, rendition, max_lifetime: Some(lifetime), app, action });
        }
        let request = request.by_file_url(&token, |path, _| signed_name(path))?;
        let file = FileRequest::of(&request, method)?;
        let access: Admitted<Video, A> = admit(request).await?;
        Ok(Self { video: access.target, file, rendition, max_lifetime: None, app, action })
    }
}

/// Admits a guest's request by a file URL of the video in the path. The URL must be signed for `signed_name`.
async fn guest_video(
    request: &UnauthenticatedRequest<'_>,
    token: &FileUrlToken,
    signed_name: &str,
) -> Result<GuestFile<Video>> {
    let key = request.path.video().map_err(|_| invalid_credential())?;
    GuestFile::admit(request, token, signed_name, key).await
}

/// Splits the last segment of a URL into the token and the rendition that its extension names.
fn split_segment(segment: &str) -> (&str, Rendition) {
    let named = [Rendition::Mp4, Rendition::Flv].into_iter().find_map(|rendition| {
        let token = segment.strip_suffix(rendition.extension())?.strip_suffix('.')?;
        Some((token, rendition))
    });
    named.unwrap_or((segment, Rendition::Thumbnail))
}
