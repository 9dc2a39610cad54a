//! Targets in a candidate's interview: all answers, one answer, its texts, and a take.

use std::marker::PhantomData;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::app::App;
use crate::auth::access::request::PathIds;
use crate::auth::access::targets::candidate::CandidateTarget;
use crate::auth::access::targets::file::{FileRedirect, FileRequest};
use crate::auth::access::targets::guest::{GuestFile, is_for_guest};
use crate::auth::access::{
    AdmissionRejection, Admitted, AdmittedRequest, AuthenticatedRequest, RequestTarget,
    UnauthenticatedRequest, admit,
};
use crate::auth::credential::invalid_credential;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::answers::{Answers, Draft, QuestionAnswer, Take, WrittenAnswer, draft_revision};
use crate::domain::candidate::{Candidate, LINK_DELETED};
use crate::domain::company::Company;
use crate::domain::id::{InvalidId, QuestionId, TakeRef};
use crate::domain::media::file::FileType;
use crate::domain::policy::CallerRelation;
use crate::domain::project::Project;
use crate::domain::questionnaire::{Question, Questionnaire};
use crate::error::{Error, Result};
use crate::media::{AnswerObjects, FileUrlToken, ObjectStore};
use crate::store::{ItemKey, VersionedItem};

/// A candidate with the questions of their project and their answers.
pub struct AnswersTarget {
    pub company: VersionedItem<Company>,
    pub project: VersionedItem<Project>,
    pub candidate: VersionedItem<Candidate>,
    /// The caller's relation to the candidate.
    pub relation: CallerRelation,
    /// The questions and criteria of the project.
    pub questionnaire: VersionedItem<Questionnaire>,
    pub answers: VersionedItem<Answers>,
}

/// The target [`AnswersTarget`], whether or not this service conducts the interview.
pub enum CandidateInterview {}

impl RequestTarget for CandidateInterview {
    type Loaded = AnswersTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = Candidate::keys(request);
        keys.extend([request.path.questionnaire(), request.path.answers()]);
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, AnswersTarget)> {
        let questionnaire = request.take_questionnaire()?;
        let answers = match request.take::<Answers>(request.path.answers()) {
            // The item is missing until the first take, text or draft. Only `NotFound` means that.
            Err(Error::NotFound) => None,
            answers => Some(answers?),
        };
        let (request, CandidateTarget { company, project, candidate, relation }) =
            Candidate::load(request).await?;
        let answers = answers.unwrap_or_else(|| VersionedItem::not_stored(Answers::of(&candidate)));
        Ok((request, AnswersTarget { company, project, candidate, relation, questionnaire, answers }))
    }

    fn check_replay(target: &AnswersTarget, location: &str) -> Result<()> {
        // The only POST to this target creates guest links, and the URL in its response is useless without the link.
        let link = location.trim_end_matches('/').rsplit('/').next().and_then(|id| id.parse().ok());
        match link {
            Some(link) if !target.candidate.guest_links.contains_key(&link) => Err(LINK_DELETED.into()),
            _ => Ok(()),
        }
    }
}

impl RequestTarget for Answers {
    type Loaded = AnswersTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        CandidateInterview::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, AnswersTarget)> {
        let (mut request, target) = CandidateInterview::load(request).await?;
        // Reset the revision, which is the candidate's: answers have their own.
        request.exchange.revision = None;
        // A candidate who has begun may finish, even if the project no longer has interviews here.
        if target.project.conducts(&target.questionnaire) || target.candidate.interview.is_some() {
            Ok((request, target))
        } else {
            Err(Error::NotFound)
        }
    }
}

/// A question and its answer, which may be missing.
pub struct AnswerTarget {
    /// The candidate and all their answers.
    pub all: AnswersTarget,
    pub question: Question,
}

impl AnswerTarget {
    /// The takes and the written answer; `None` before the candidate's first take or text.
    pub fn question_answer(&self) -> Option<&QuestionAnswer> {
        self.all.answers.answer_to(self.question.id)
    }
}

impl RequestTarget for QuestionAnswer {
    type Loaded = AnswerTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        CandidateInterview::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, AnswerTarget)> {
        let id = request.path.id::<QuestionId>("questionId");
        let (request, all) = Answers::load(request).await?;
        let question =
            id.ok().and_then(|id| all.questionnaire.question(id)).cloned().ok_or(Error::NotFound)?;
        let revision = all.answers.answer_to(question.id).map_or(0, |answer| answer.revision);
        Ok((request.about_revision(revision), AnswerTarget { all, question }))
    }
}

/// A candidate's written answer and draft for a question.
pub struct WrittenTarget {
    pub answer: AnswerTarget,
    pub written: VersionedItem<WrittenAnswer>,
}

impl RequestTarget for WrittenAnswer {
    type Loaded = WrittenTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = QuestionAnswer::keys(request);
        keys.push(request.path.written_answer());
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, WrittenTarget)> {
        let written = match request.take::<WrittenAnswer>(request.path.written_answer()) {
            // The item is missing until the first text or draft. Only `NotFound` means that.
            Err(Error::NotFound) => None,
            written => Some(written?),
        };
        let (request, answer) = QuestionAnswer::load(request).await?;
        let none = || WrittenAnswer::none(&answer.all.answers, answer.question.id);
        let written = written.unwrap_or_else(|| VersionedItem::not_stored(none()));
        Ok((request, WrittenTarget { answer, written }))
    }
}

impl RequestTarget for Draft {
    type Loaded = WrittenTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        WrittenAnswer::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, WrittenTarget)> {
        let (request, target) = WrittenAnswer::load(request).await?;
        let revision = draft_revision(target.written.draft_text());
        Ok((request.about_revision(revision), target))
    }
}

pub struct TakeTarget {
    /// The candidate and all their answers.
    pub all: AnswersTarget,
    pub question: Question,
    pub take_ref: TakeRef,
    /// The take; `None` if it has been dropped.
    pub take: Option<Take>,
}

impl RequestTarget for Take {
    type Loaded = TakeTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        CandidateInterview::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, TakeTarget)> {
        let number = number_in(&request.path);
        let (request, AnswerTarget { all, question }) = QuestionAnswer::load(request).await?;
        let take_ref = TakeRef { question: question.id, number: number.ok_or(Error::NotFound)? };
        let answer =
            all.answers.answer_to(question.id).filter(|answer| take_ref.number <= answer.last_number);
        let take = answer.ok_or(Error::NotFound)?.take(take_ref.number).cloned();
        Ok((request, TakeTarget { all, question, take_ref, take }))
    }
}

fn number_in(path: &PathIds) -> Option<u32> {
    // Only the canonical form is accepted: no sign and no leading zeros.
    let text = path.text("take")?;
    text.parse().ok().filter(|number: &u32| *number > 0 && number.to_string() == text)
}

/// A request by the URL of a take's rendition. The caller for whom the URL was made still has the permission `A` for the
/// candidate, or is a guest whose link still works.
pub struct TakeFileAccess<A> {
    answers: VersionedItem<Answers>,
    take_ref: TakeRef,
    file: FileRequest,
    file_type: FileType,
    /// How long a guest may fetch the file from the bucket; `None` for other callers.
    max_lifetime: Option<Duration>,
    app: App,
    action: PhantomData<fn() -> A>,
}

impl<A> HasAdmission for TakeFileAccess<A> {
    const ADMISSION: AdmissionRule = AdmissionRule::FileUrl;
}

impl<A> TakeFileAccess<A> {
    /// Redirects to the rendition that the URL names. Fails with [`Error::NotFound`] if it does not exist or has another
    /// type, and with [`Error::Unauthenticated`] if the token is for another rendition.
    pub async fn redirect(&self, file_type: FileType) -> Result<FileRedirect> {
        let take = self.answers.take(self.take_ref);
        let conversion = take.and_then(|take| take.played_conversion);
        let conversion = conversion.filter(|_| self.file_type == file_type).ok_or(Error::NotFound)?;
        let objects = AnswerObjects::of(&self.answers);
        let signed_name = objects.rendition_name(self.take_ref, file_type);
        let key = objects.rendition(self.take_ref, conversion, file_type);
        let bucket = ObjectStore::of(&self.app)?;
        self.file.redirect(&bucket, &signed_name, &key, file_type, None, self.max_lifetime).await
    }
}

impl<A: HasAdmission> FromRequestParts<App> for TakeFileAccess<A> {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let method = parts.method.clone();
        let request = UnauthenticatedRequest::new(parts, app).await?;
        let segment = request.path.text("token").unwrap_or_default();
        let (token, file_type) = match segment.strip_suffix(".mp4") {
            Some(token) => (token.to_owned(), FileType::Mp4),
            None => (segment.to_owned(), FileType::Jpeg),
        };
        let app = app.clone();
        let action = PhantomData;
        if let Some(token) = FileUrlToken::parse(&token).filter(is_for_guest) {
            let (take_ref, signed_name) =
                rendition_in(&request.path, file_type).map_err(|_| invalid_credential())?;
            let key = request.path.answers().map_err(|_| invalid_credential())?;
            let GuestFile { item: answers, lifetime } =
                GuestFile::admit(&request, &token, &signed_name, key).await?;
            let file = FileRequest::new(signed_name, method);
            return Ok(Self {
                answers,
                take_ref,
                file,
                file_type,
                max_lifetime: Some(lifetime),
                app,
                action,
            });
        }
        let request = request.by_file_url(&token, |path, _| {
            rendition_in(path, file_type).map(|(_, signed_name)| signed_name)
        })?;
        let file = FileRequest::of(&request, method)?;
        let access: Admitted<Take, A> = admit(request).await?;
        let TakeTarget { all, take_ref, .. } = access.target;
        Ok(Self { answers: all.answers, take_ref, file, file_type, max_lifetime: None, app, action })
    }
}

/// The take in the path, and the name for which the URL of its rendition is signed.
fn rendition_in(path: &PathIds, file_type: FileType) -> Result<(TakeRef, String), InvalidId> {
    let objects = AnswerObjects {
        company: path.company_id()?,
        project: path.id("projectId")?,
        candidate: path.id("candidateId")?,
    };
    let take_ref = TakeRef { question: path.id("questionId")?, number: number_in(path).ok_or(InvalidId)? };
    Ok((take_ref, objects.rendition_name(take_ref, file_type)))
}
