//! Views of guest links, and of what guests see.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::GuestReview;
use shared::domain::answers::{AnswerText, QuestionAnswer, WrittenAnswer};
use shared::domain::candidate::{Candidate, GuestLink};
use shared::domain::id::QuestionId;
use shared::domain::language::Language;
use shared::domain::media::file::FileType;
use shared::domain::media::video::{Rendition, Video};
use shared::domain::questionnaire::Question;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::GuestLinkView;
use shared::http::wire::{Timestamp, Uri};
use shared::media::AnswerObjects;
use shared::store::VersionedItem;

use crate::view::AnswerDimensions;

/// A new guest link, with its URL.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NewGuestLink")]
pub(crate) struct NewGuestLinkView {
    #[serde(flatten)]
    link: GuestLinkView,
    /// The page to send to the guest. The URL is secret; only this response and its replays contain it.
    #[schemars(example = example_uri::REVIEW)]
    url: Uri,
}

impl NewGuestLinkView {
    /// The view of a new link, with the URL that contains `key`.
    pub(super) fn new(link: &GuestLink, key: &str, references: ReferenceUris<'_>) -> Self {
        Self { link: GuestLinkView::new(link, references), url: references.review_page(key) }
    }
}

/// The answers of a candidate for a guest.
// No identifiers, addresses, files or evaluations: a guest may pass on whatever they see.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Review")]
pub(crate) struct ReviewView {
    /// The company.
    company: ReviewedCompany,
    /// The project.
    project: ReviewedProject,
    /// The candidate; null if the link hides the name.
    candidate: Option<ReviewedCandidate>,
    /// When the interview was completed, or when its time ended.
    ended_at: Option<Timestamp>,
    /// When the link stops working.
    expires_at: Timestamp,
    /// The questions, in their order.
    questions: Vec<ReviewedQuestion>,
}

/// The company of an interview.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedCompany {
    /// The name of the company.
    #[schemars(example = &"Acme")]
    name: String,
    /// The URL of the logo, which needs no credentials; null for none.
    #[schemars(example = example_uri::LOGO)]
    logo: Option<Uri>,
}

/// The project of an interview.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedProject {
    /// The name of the project.
    #[schemars(example = &"Backend engineer")]
    name: String,
}

/// The candidate who has answered.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedCandidate {
    /// First name.
    #[schemars(example = &"Ada")]
    first_name: String,
    /// Last name.
    #[schemars(example = &"Lovelace")]
    last_name: String,
}

/// A question of an interview.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedQuestion {
    /// The text of the question when the candidate answered it; the current text without an answer.
    #[schemars(example = &"Which project are you most proud of?")]
    text: String,
    /// The video that asks the question; null if there is none or it is not converted yet.
    video: Option<ReviewedVideo>,
    /// The answer; null if there is none or its conversion failed.
    answer: Option<ReviewedAnswer>,
}

/// A video that asks a question.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedVideo {
    /// The URLs at which the video can be watched. The URLs work for 15 minutes and no longer than the link.
    streams: ReviewedStreams,
    /// The URL of a thumbnail.
    #[schemars(example = ())]
    thumb: Option<Uri>,
    /// The size of the picture in pixels.
    dimensions: Option<AnswerDimensions>,
    /// The captions, by language.
    captions: Vec<ReviewedCaptions>,
}

/// The captions of a video or of an answer in a language.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedCaptions {
    /// The language of the captions.
    language: Language,
    /// The URL of the WebVTT. It works as long as the URLs of the video or answer.
    #[schemars(example = example_uri::CAPTIONS)]
    url: Uri,
}

/// An answer.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedAnswer {
    /// The written answer; empty for a recorded one.
    #[schemars(example = &"")]
    text: String,
    /// The length of a recorded answer once it is converted; null otherwise.
    #[schemars(example = 84)]
    seconds: Option<u32>,
    /// The URLs at which a recorded answer can be watched; empty until it is converted, and for a written one. The URLs work for
    /// 15 minutes and no longer than the link: when one fails, request the review again.
    streams: ReviewedStreams,
    /// The URL of a thumbnail once a recorded answer is converted; null otherwise.
    #[schemars(example = ())]
    thumb: Option<Uri>,
    /// The size of a recorded answer in pixels once it is converted; null otherwise.
    dimensions: Option<AnswerDimensions>,
    /// The captions of a recorded answer, by language.
    captions: Vec<ReviewedCaptions>,
}

/// The URLs at which a recorded answer can be watched.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(inline)]
struct ReviewedStreams {
    /// H.264 and AAC in mp4.
    #[schemars(example = example_uri::ANSWER_VIDEO)]
    #[serde(skip_serializing_if = "Option::is_none")]
    mp4: Option<Uri>,
}

/// The items of a review that admission has not loaded.
pub(super) struct ShownItems {
    /// The written answers.
    pub(super) texts: BTreeMap<QuestionId, VersionedItem<WrittenAnswer>>,
    /// The videos that ask questions.
    pub(super) videos: Vec<VersionedItem<Video>>,
}

impl ReviewView {
    /// The review for a guest.
    pub(super) fn new(guest: &GuestReview, shown: &ShownItems) -> Self {
        let references = guest.references();
        let objects = AnswerObjects::of(&guest.answers);
        let questions = guest.questionnaire.iter().flat_map(|questionnaire| &questionnaire.questions);
        let asked = |question: &Question| {
            let given = guest.answers.answer_to(question.id);
            let text = shown.texts.get(&question.id).and_then(|written| written.text.as_ref());
            let video = shown.videos.iter().find(|video| question.video == Some(video.id));
            ReviewedQuestion {
                text: guest.answers.asked_text(question).to_string(),
                video: video.and_then(|video| ReviewedVideo::new(video, references)),
                answer: given
                    .and_then(|given| ReviewedAnswer::new(question, given, text, &objects, references)),
            }
        };
        Self {
            company: ReviewedCompany {
                name: guest.company.name.to_string(),
                logo: references.logo(&guest.company),
            },
            project: ReviewedProject { name: guest.project.settings.name.to_string() },
            candidate: (!guest.link.hide_name).then(|| ReviewedCandidate::new(&guest.candidate)),
            ended_at: guest.candidate.interview_ended_at().map(Timestamp),
            expires_at: Timestamp(guest.link.ends_at),
            questions: questions.map(asked).collect(),
        }
    }
}

impl ReviewedVideo {
    /// The view of a video; `None` before it is converted.
    fn new(video: &Video, references: ReferenceUris<'_>) -> Option<Self> {
        let made = video.conversion.converted?;
        let captions = |language: Language| {
            Some(ReviewedCaptions { language, url: references.captions(video, language)? })
        };
        Some(Self {
            streams: ReviewedStreams { mp4: references.rendition(video, Rendition::Mp4) },
            thumb: references.rendition(video, Rendition::Thumbnail),
            dimensions: Some(AnswerDimensions { width: made.width, height: made.height }),
            captions: video.captions.keys().copied().filter_map(captions).collect(),
        })
    }
}

impl ReviewedCandidate {
    fn new(candidate: &Candidate) -> Self {
        let profile = &candidate.profile;
        Self { first_name: profile.first_name.to_string(), last_name: profile.last_name.to_string() }
    }
}

impl ReviewedAnswer {
    fn new(
        question: &Question,
        given: &QuestionAnswer,
        text: Option<&AnswerText>,
        objects: &AnswerObjects,
        references: ReferenceUris<'_>,
    ) -> Option<Self> {
        if let Some(text) = text {
            let streams = ReviewedStreams::default();
            return Some(Self {
                text: text.to_string(),
                seconds: None,
                streams,
                thumb: None,
                dimensions: None,
                captions: Vec::new(),
            });
        }
        let take = given.answer_take()?;
        let of = take.reference(question.id);
        let made = take.conversion.converted;
        let fetched = |file_type| made.and_then(|_| references.take_rendition(objects, of, file_type));
        let captions = |language: Language| {
            let url = references.answer_captions(objects, question.id, language)?;
            Some(ReviewedCaptions { language, url })
        };
        Some(Self {
            text: String::new(),
            seconds: made.map(|made| made.seconds),
            streams: ReviewedStreams { mp4: fetched(FileType::Mp4) },
            thumb: fetched(FileType::Jpeg),
            dimensions: made.map(|made| AnswerDimensions { width: made.width, height: made.height }),
            captions: take.captions.keys().copied().filter_map(captions).collect(),
        })
    }
}
