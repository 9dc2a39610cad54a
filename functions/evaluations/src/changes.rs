//! What clients send of questions and criteria.

use shared::domain::id::{CompanyId, CriterionId, QuestionId, VideoId};
use shared::domain::interview::{
    ANSWER_SECONDS, Criterion, CriterionName, MAX_POSITION, MAX_SECONDS, MAX_TAKES, Question, QuestionKind,
    QuestionText, default_takes,
};
use shared::domain::parse_enum;
use shared::domain::text::TextLines;
use shared::http::BodyFields;
use shared::http::fields::set;
use shared::http::reference::ReferenceUris;
use shared::{Error, Result};

/// What a client sent of a question; none leaves a field as it is.
pub(crate) struct UpdateQuestion {
    text: Option<QuestionText>,
    kind: Option<QuestionKind>,
    video: Option<Option<VideoId>>,
    preparation_seconds: Option<Option<u32>>,
    answer_seconds: Option<u32>,
    takes: Option<Option<u32>>,
    is_required: Option<bool>,
    position: Option<u32>,
    internal_description: Option<TextLines<1000>>,
}

impl UpdateQuestion {
    /// Reads the body of a change.
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<Self> {
        let changes = Self {
            text: body.text("text", QuestionText::parse),
            kind: body.text("kind", parse_enum),
            video: body.clearable("video", |reference| references.parse_video(company, reference)),
            preparation_seconds: body.clearable_integer("preparation_seconds", 0, MAX_SECONDS),
            answer_seconds: body.integer("answer_seconds", 10, MAX_SECONDS),
            takes: body.clearable_integer("takes", 1, MAX_TAKES),
            is_required: body.flag("is_required"),
            position: body.integer("position", 0, MAX_POSITION),
            internal_description: body.lines("internal_description"),
        };
        body.finish(|| Some(changes))
    }

    /// Reads the body of a creation, or of a replacement.
    pub(crate) fn read_whole(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<Self> {
        body.require("text");
        Self::read(body, company, references)
    }

    /// A question of these fields and, for those that are missing, the defaults.
    pub(crate) fn into_whole(self, id: QuestionId, revision: u64, position: u32) -> Result<Question> {
        let Some(text) = self.text else { return Err(unread()) };
        let preparation_seconds = self.preparation_seconds.flatten();
        Ok(Question {
            id,
            revision,
            position: self.position.map_or_else(|| position_left(position), Ok)?,
            text,
            kind: self.kind.unwrap_or(QuestionKind::Video),
            video: self.video.flatten(),
            preparation_seconds,
            answer_seconds: self.answer_seconds.unwrap_or(ANSWER_SECONDS),
            takes: self.takes.unwrap_or_else(|| Some(default_takes(preparation_seconds))),
            is_required: self.is_required.unwrap_or(true),
            internal_description: self.internal_description.unwrap_or_default(),
        })
    }

    /// The question with these changes.
    pub(crate) fn apply_to(self, mut question: Question) -> Question {
        set(&mut question.text, self.text);
        set(&mut question.kind, self.kind);
        set(&mut question.video, self.video);
        set(&mut question.preparation_seconds, self.preparation_seconds);
        set(&mut question.answer_seconds, self.answer_seconds);
        set(&mut question.takes, self.takes);
        set(&mut question.is_required, self.is_required);
        set(&mut question.position, self.position);
        set(&mut question.internal_description, self.internal_description);
        question
    }
}

/// What a client sent of a criterion; none leaves a field as it is.
pub(crate) struct UpdateCriterion {
    name: Option<CriterionName>,
    description: Option<TextLines<1000>>,
    position: Option<u32>,
}

impl UpdateCriterion {
    /// Reads the body of a change.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let changes = Self {
            name: body.text("name", CriterionName::parse),
            description: body.lines("description"),
            position: body.integer("position", 0, MAX_POSITION),
        };
        body.finish(|| Some(changes))
    }

    /// Reads the body of a creation, or of a replacement.
    pub(crate) fn read_whole(mut body: BodyFields) -> Result<Self> {
        body.require("name");
        Self::read(body)
    }

    /// A criterion of these fields and, for those that are missing, the defaults.
    pub(crate) fn into_whole(self, id: CriterionId, revision: u64, position: u32) -> Result<Criterion> {
        let Some(name) = self.name else { return Err(unread()) };
        let position = self.position.map_or_else(|| position_left(position), Ok)?;
        Ok(Criterion { id, revision, position, name, description: self.description.unwrap_or_default() })
    }

    /// The criterion with these changes.
    pub(crate) fn apply_to(self, mut criterion: Criterion) -> Criterion {
        set(&mut criterion.name, self.name);
        set(&mut criterion.description, self.description);
        set(&mut criterion.position, self.position);
        criterion
    }
}

fn unread() -> Error {
    Error::internal("a field is missing that its reader did not require")
}

/// The default position, if that is one.
fn position_left(position: u32) -> Result<u32> {
    let left = Some(position).filter(|position| *position <= MAX_POSITION);
    left.ok_or_else(|| Error::field("position", "No position is left after the last one. Send another."))
}
