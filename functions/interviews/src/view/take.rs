//! Takes, and the requests that upload their parts, as clients see them.

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
    /// How far it is. While it is `awaiting-upload`, parts can be sent.
    status: ConversionStatus,
    /// When the take was begun.
    begun_at: Timestamp,
    /// When the video that asks the question and the time to prepare end. Only managers and the candidate see it.
    record_from: Option<Timestamp>,
    /// When the time to answer ends; what is recorded later is cut off. Only managers and the candidate see it.
    record_until: Option<Timestamp>,
    /// When the take was finished, or closed by the service; null before.
    #[schemars(example = ())]
    finished_at: Option<Timestamp>,
    /// The length in seconds, as the client says.
    #[schemars(example = 84)]
    recorded_seconds: Option<u32>,
    /// The source of the take.
    source: TakeSource,
    /// Whether the service has closed it with the parts that had arrived. It can still be finished while no later take has
    /// begun.
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

/// A take that has begun, with the question, which some candidates see only now.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BegunTake")]
pub(crate) struct BegunTakeView {
    #[serde(flatten)]
    take: Option<TakeView>,
    /// The question.
    question: QuestionView,
}

impl BegunTakeView {
    /// The view of the open take of a question.
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
            question: if viewer.is_candidate { asked.for_candidate() } else { asked },
        }
    }
}

/// A take after the attempt to finish it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FinishedTake")]
pub(crate) struct FinishedTakeView {
    #[serde(flatten)]
    take: TakeView,
    /// The parts that have not arrived. Unless there are none, the take is still open: send them and finish it again.
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
    /// One for each part, in the order of the request.
    pub(crate) parts: Vec<SignedPartView>,
}

/// The request that uploads a part.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct SignedPartView {
    /// The number of the part.
    #[schemars(example = 7)]
    number: u32,
    /// The request. It stores the bytes once: 412 means that the part is there.
    upload: SignedUploadView,
}

impl SignedPartView {
    pub(crate) fn new(number: u32, request: SignedUpload, expires_at: DateTime<Utc>) -> Self {
        Self { number, upload: SignedUploadView::new(request, expires_at) }
    }
}
