//! A welcome video as a target, the files that it was converted to, and its captions.

use axum::extract::FromRequestParts;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;

use crate::app::App;
use crate::auth::access::request::PathIds;
use crate::auth::access::target::file::{FileRedirect, FileRequest};
use crate::auth::access::{
    AdmissionRejection, Admitted, AdmittedRequest, AuthenticatedRequest, RequestTarget,
    UnauthenticatedRequest, admit,
};
use crate::auth::caller::CallerIdentity;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::id::InvalidId;
use crate::domain::language::Language;
use crate::domain::media::video::{Rendition, Video};
use crate::domain::parse_enum;
use crate::domain::policy::CallerRelation;
use crate::error::{Error, Result};
use crate::http::EntityTag;
use crate::media::{captions_name, rendition_key};
use crate::store::{ItemKey, VersionedItem};

impl RequestTarget for Video {
    type Loaded = VersionedItem<Self>;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.video()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, VersionedItem<Self>)> {
        let video = request.take::<Self>(request.path.video());
        let relation = match &request.caller().identity {
            // Candidates see the videos of their project, and no others exist for them.
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
        let request = request.authorise(&relation)?;
        let video = video?;
        Ok((request.about(&video), video))
    }
}

/// The captions of a video in a language, there or not.
pub struct CaptionsTarget {
    /// The video.
    pub video: VersionedItem<Video>,
    /// The language.
    pub language: Language,
}

fn language_in(path: &PathIds) -> Result<Language, InvalidId> {
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

/// A request by the URL of captions, whose caller was shown the URL and may still do `A` with the video.
pub struct CaptionsAccess<A> {
    access: Admitted<Video, A>,
    language: Language,
}

impl<A> HasAdmission for CaptionsAccess<A> {
    const ADMISSION: AdmissionRule = AdmissionRule::Link;
}

impl<A> CaptionsAccess<A> {
    /// Responds with the WebVTT, or with 304 if the client has it. Fails with [`Error::NotFound`] if the video has no captions in
    /// the language.
    pub async fn show(&self) -> Result<Response> {
        let captions = self.access.store.captions(&self.access.target, self.language).await?;
        let text = captions.ok_or(Error::NotFound)?.text;
        // Not from the bucket: browsers load a track of another origin only with a video whose host allows it.
        let content_type = HeaderValue::from_static("text/vtt; charset=utf-8");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type)]);
        let tag = EntityTag::of(text.as_str().as_bytes());
        self.access.conditions.answer(headers, text.as_str().to_owned().into(), &tag)
    }
}

impl<A: HasAdmission> FromRequestParts<App> for CaptionsAccess<A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let token = request.path.text("token").unwrap_or_default().to_owned();
        let request = request.by_address(&token, |path, _| {
            Ok(captions_name(&path.company_id()?, path.id("videoId")?, language_in(path)?))
        })?;
        let language = language_in(&request.path).map_err(|_| Error::NotFound)?;
        Ok(Self { access: admit(request).await?, language })
    }
}

/// A request by the URL of a rendition, whose caller was shown the URL and may still do `A` with the video.
pub struct RenditionAccess<A> {
    access: Admitted<Video, A>,
    file: FileRequest,
    rendition: Rendition,
}

impl<A> HasAdmission for RenditionAccess<A> {
    const ADMISSION: AdmissionRule = AdmissionRule::Link;
}

impl<A> RenditionAccess<A> {
    /// Redirects to the rendition that the URL names, if it is one of these. Returns [`Error::NotFound`] without one, and
    /// [`Error::Unauthenticated`] for the token of another.
    pub async fn redirect(&self, renditions: &[Rendition]) -> Result<FileRedirect> {
        let video = &self.access.target;
        let rendition = self.rendition;
        if video.conversion.converted.is_none() || !renditions.contains(&rendition) {
            return Err(Error::NotFound);
        }
        let key = rendition_key(&video.company, video.id, rendition);
        self.file.redirect(&self.access.objects()?, &key, &key, rendition.file_type(), None, None).await
    }
}

impl<A: HasAdmission> FromRequestParts<App> for RenditionAccess<A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let method = parts.method.clone();
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let (token, rendition) = split_segment(request.path.text("token").unwrap_or_default());
        let token = token.to_owned();
        let request = request.by_address(&token, |path, _| {
            Ok(rendition_key(&path.company_id()?, path.id("videoId")?, rendition))
        })?;
        let file = FileRequest::of(&request, method)?;
        Ok(Self { access: admit(request).await?, file, rendition })
    }
}

/// The token in the last segment of a URL, and the rendition that its extension names.
fn split_segment(segment: &str) -> (&str, Rendition) {
    let named = [Rendition::Mp4, Rendition::Flv].into_iter().find_map(|rendition| {
        let token = segment.strip_suffix(rendition.extension())?.strip_suffix('.')?;
        Some((token, rendition))
    });
    named.unwrap_or((segment, Rendition::Thumbnail))
}
