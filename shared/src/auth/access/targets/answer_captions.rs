//! Targets for the captions of an answer: as a resource, and as a file by its URL.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;

use crate::app::App;
use crate::auth::access::request::PathIds;
use crate::auth::access::targets::answers::{AnswerTarget, AnswersTarget};
use crate::auth::access::targets::guest::{GuestFile, is_for_guest};
use crate::auth::access::targets::video::{language_in, show_captions};
use crate::auth::access::{
    AdmissionRejection, Admitted, AdmittedRequest, AuthenticatedRequest, RequestTarget,
    UnauthenticatedRequest, admit,
};
use crate::auth::credential::invalid_credential;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::answers::{Answers, QuestionAnswer};
use crate::domain::id::{InvalidId, QuestionId};
use crate::domain::language::Language;
use crate::error::{Error, Result};
use crate::http::RequestConditions;
use crate::http::exchange::state::RequestState;
use crate::media::{AnswerObjects, FileUrlToken};
use crate::store::{ItemKey, Store, VersionedItem};

/// The captions of an answer in one language, which need not exist.
pub struct AnswerCaptionsTarget {
    pub answer: AnswerTarget,
    pub language: Language,
}

impl RequestTarget for AnswerCaptionsTarget {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        QuestionAnswer::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let language = language_in(&request.path);
        let (request, answer) = QuestionAnswer::load(request).await?;
        Ok((request, Self { answer, language: language.map_err(|_| Error::NotFound)? }))
    }
}

/// A request by the URL of an answer's captions. The caller for whom the URL was made still has the permission `A` for the
/// candidate, or is a guest whose link still works.
pub struct AnswerCaptionsAccess<A> {
    answers: VersionedItem<Answers>,
    question: QuestionId,
    language: Language,
    store: Store,
    conditions: RequestConditions,
    action: PhantomData<fn() -> A>,
}

impl<A> HasAdmission for AnswerCaptionsAccess<A> {
    const ADMISSION: AdmissionRule = AdmissionRule::FileUrl;
}

impl<A> AnswerCaptionsAccess<A> {
    /// Responds with the captions of the current answer as WebVTT, or with 304. Fails with [`Error::NotFound`] if the answer has
    /// no captions in the language.
    pub async fn show(&self) -> Result<Response> {
        let answer = self.answers.answer_to(self.question).and_then(QuestionAnswer::answer_take);
        let captioned = answer.filter(|take| take.captions.contains_key(&self.language));
        let take = captioned.ok_or(Error::NotFound)?.reference(self.question);
        let captions = self.store.answer_captions(&self.answers, take, self.language).await?;
        show_captions(&self.conditions, &captions.ok_or(Error::NotFound)?.text)
    }
}

impl<A: HasAdmission> FromRequestParts<App> for AnswerCaptionsAccess<A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let conditions = RequestConditions::of(parts).unwrap_or_default();
        let store = RequestState::of(&parts.extensions).store(app);
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let token = request.path.text("token").unwrap_or_default().to_owned();
        let named = captions_in(&request.path);
        let action = PhantomData;
        if let Some(token) = FileUrlToken::parse(&token).filter(is_for_guest) {
            let (question, language, signed_name) = named.map_err(|_| invalid_credential())?;
            let key = request.path.answers().map_err(|_| invalid_credential())?;
            let GuestFile { item: answers, .. } =
                GuestFile::admit(&request, &token, &signed_name, key).await?;
            return Ok(Self { answers, question, language, store, conditions, action });
        }
        let request = request
            .by_file_url(&token, |path, _| captions_in(path).map(|(_, _, signed_name)| signed_name))?;
        let access: Admitted<QuestionAnswer, A> = admit(request).await?;
        let AnswerTarget { all: AnswersTarget { answers, .. }, question } = access.target;
        let (_, language, _) = named.map_err(|_| Error::NotFound)?;
        Ok(Self { answers, question: question.id, language, store, conditions, action })
    }
}

/// The question and language in the path, and the name for which the captions' URL is signed.
fn captions_in(path: &PathIds) -> Result<(QuestionId, Language, String), InvalidId> {
    let objects = AnswerObjects {
        company: path.company_id()?,
        project: path.id("projectId")?,
        candidate: path.id("candidateId")?,
    };
    let question = path.id("questionId")?;
    let language = language_in(path)?;
    Ok((question, language, objects.captions_name(question, language)))
}
