//! Views of takes, and of the requests that upload their parts.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::answers::{QuestionAnswer, Take, TakeSource};
use shared::domain::id::TakeRef;
use shared::domain::media::conversion::ConversionStatus;
use shared::domain::questionnaire::Question;
use shared::http::example_uri;
use shared::http::view::{QuestionView, SignedUploadView};
use shared::http::wire::{Identifier, Timestamp, Uri};
use shared::media::SignedUpload;

use super::InterviewViewer;

/// A take.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Take")]
pub(crate) struct TakeView {
    id: Identifier<u32>,
    /// The URL of the resource.
    #[schemars(example = example_uri::TAKE)]
    resource_uri: Uri,
    /// The number of the take, unique among the takes of its question.
    #[schemars(example = 2)]
    number: u32,
    /// The progress of the take. Parts can be sent while it is `awaiting-upload`.
    status: ConversionStatus,
    /// When the take was begun.
    begun_at: Timestamp,
    /// When recording may start: after the question's video and the preparation time. Only managers and the candidate
    /// see it.
    record_from: Option<Timestamp>,
    /// When the time to answer ends; later parts of the recording are cut off. Only managers and the candidate see it.
    record_until: Option<Timestamp>,
    /// When the candidate finished the take or the service closed it; null before.
    #[schemars(example = ())]
    finished_at: Option<Timestamp>,
    /// The length in seconds, as reported by the client.
    #[schemars(example = 84)]
    recorded_seconds: Option<u32>,
    /// The source of the take.
    source: TakeSource,
    /// Whether the service has closed the take with the parts received so far. It can still be finished until a later
    /// take begins.
    #[schemars(example = false)]
    is_interrupted: bool,
}

impl TakeView {
    pub(super) fn new(take_ref: TakeRef, take: &Take, viewer: &InterviewViewer<'_>) -> Self {
        Self {
            id: Identifier(take.number),
            resource_uri: viewer.references.take(&viewer.objects, take_ref),
            number: take.number,
            status: take.conversion.status,
            begun_at: Timestamp(take.begun_at),
            record_from: viewer.sees_limits.then_some(Timestamp(take.record_from)),
            record_until: viewer.sees_limits.then_some(Timestamp(take.record_until)),
            finished_at: take.finished_at.map(Timestamp),
            recorded_seconds: take.recorded_seconds,
            source: take.source,
            is_interrupted: take.is_interrupted,
        }
    }
}

/// A new take with its question, which may have been concealed until now.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BegunTake")]
pub(crate) struct BegunTakeView {
    #[serde(flatten)]
    take: Option<TakeView>,
    /// The question.
    question: QuestionView,
}

impl BegunTakeView {
    /// The view of a question and its open take.
    pub(crate) fn new(
        question: &Question,
        answer: Option<&QuestionAnswer>,
        viewer: &InterviewViewer<'_>,
    ) -> Self {
        let asked =
            QuestionView::new(question, viewer.questionnaire, viewer.maximum_score, viewer.references);
        let take = answer.and_then(QuestionAnswer::open_take);
        Self {
            take: take.map(|take| TakeView::new(take.reference(question.id), take, viewer)),
            question: if viewer.is_this_candidate { asked.for_candidate() } else { asked },
        }
    }
}

/// The take after a request to finish it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FinishedTake")]
pub(crate) struct FinishedTakeView {
    #[serde(flatten)]
    take: TakeView,
    /// The missing parts. If there are any, the take is still open: send them and finish it again.
    #[schemars(example = [3, 7])]
    missing_parts: Vec<u32>,
}

impl FinishedTakeView {
    pub(crate) fn new(
        take_ref: TakeRef,
        take: &Take,
        missing_parts: Vec<u32>,
        viewer: &InterviewViewer<'_>,
    ) -> Self {
        Self { take: TakeView::new(take_ref, take, viewer), missing_parts }
    }
}

/// The requests that upload parts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SignedParts")]
pub(crate) struct SignedPartsView {
    /// One request for each part, in the order of the client's request.
    pub(crate) parts: Vec<SignedPartView>,
}

/// The request that uploads a part.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct SignedPartView {
    /// The number of the part.
    #[schemars(example = 7)]
    number: u32,
    /// The request. It stores the part only once: 412 means that the part exists already.
    upload: SignedUploadView,
}

impl SignedPartView {
    pub(crate) fn new(number: u32, request: SignedUpload, expires_at: DateTime<Utc>) -> Self {
        Self { number, upload: SignedUploadView::new(request, expires_at) }
    }
}
