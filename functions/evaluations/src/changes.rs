//! Reads the bodies that create, replace or change questions and criteria.

use schemars::JsonSchema;
use serde_json::Value;
use shared::domain::id::{CompanyId, CriterionId, QuestionId};
use shared::domain::parse_enum;
use shared::domain::questionnaire::{
    ANSWER_SECONDS, Anchor, AnchorText, Anchors, Criterion, CriterionName, MAX_ANCHORS, MAX_POSITION,
    MAX_SECONDS, MAX_TAKES, Question, QuestionKind, QuestionText, default_takes,
};
use shared::domain::text::TextLines;
use shared::http::reference::ReferenceUris;
use shared::http::wire::tenths;
use shared::http::{BodyChanges, BodyFields};
use shared::{Error, Result};

/// The body that creates or replaces a question.
pub(crate) struct NewQuestion {
    text: QuestionText,
    takes: Option<Option<u32>>,
    position: Option<u32>,
    optional: BodyChanges<Question>,
}

impl NewQuestion {
    /// Reads the body. `maximum_score` is that of the project.
    pub(crate) fn read(
        mut body: BodyFields,
        company: &CompanyId,
        references: ReferenceUris<'_>,
        maximum_score: u32,
    ) -> Result<Self> {
        let text = body.required("text", QuestionText::parse);
        let takes = read_takes(&mut body);
        let position = read_position(&mut body);
        let optional = read_optional(&mut body, company, references, maximum_score);
        body.finish(|| Some(Self { text: text?, takes, position, optional }))
    }

    /// The question, with defaults for the missing fields. `position` is the default position.
    pub(crate) fn into_question(self, id: QuestionId, revision: u64, position: u32) -> Result<Question> {
        let mut question = Question {
            id,
            revision,
            position: self.position.map_or_else(|| position_left(position), Ok)?,
            text: self.text,
            former_texts: Vec::new(),
            kind: QuestionKind::Video,
            video: None,
            preparation_seconds: None,
            answer_seconds: ANSWER_SECONDS,
            takes: None,
            is_required: true,
            internal_description: TextLines::default(),
            anchors: Anchors::default(),
        };
        self.optional.apply_to(&mut question);
        // Set last, because the default depends on the preparation time.
        question.takes = self.takes.unwrap_or_else(|| Some(default_takes(question.preparation_seconds)));
        Ok(question)
    }
}

/// Reads the body of a question's change. `maximum_score` is that of the project.
pub(crate) fn read_question_changes(
    mut body: BodyFields,
    company: &CompanyId,
    references: ReferenceUris<'_>,
    maximum_score: u32,
) -> Result<BodyChanges<Question>> {
    let mut changes = read_optional(&mut body, company, references, maximum_score);
    changes.set(body.text("text", QuestionText::parse), |question| &mut question.text);
    changes.set(read_takes(&mut body), |question| &mut question.takes);
    changes.set(read_position(&mut body), |question| &mut question.position);
    body.finish(|| Some(changes))
}

fn read_optional(
    body: &mut BodyFields,
    company: &CompanyId,
    references: ReferenceUris<'_>,
    maximum_score: u32,
) -> BodyChanges<Question> {
    let mut changes: BodyChanges<Question> = BodyChanges::default();
    let video = body.clearable("video", |reference| references.parse(company, reference));
    let preparation = body.clearable_integer("preparation_seconds", 0, MAX_SECONDS);
    let note = body.text_or_empty("internal_description", TextLines::parse);
    changes.set(body.text("kind", parse_enum), |question| &mut question.kind);
    changes.set(video, |question| &mut question.video);
    changes.set(preparation, |question| &mut question.preparation_seconds);
    changes.set(body.integer("answer_seconds", 10, MAX_SECONDS), |question| &mut question.answer_seconds);
    changes.set(body.flag("is_required"), |question| &mut question.is_required);
    changes.set(note, |question| &mut question.internal_description);
    changes.set(read_anchors(body, maximum_score), |question| &mut question.anchors);
    changes
}

/// An anchor as clients send it.
#[derive(JsonSchema)]
#[schemars(inline)]
struct SentAnchor {
    /// From 0 to the project's `maximum_score`, with at most one decimal. Each value may occur only once.
    #[schemars(rename = "value", with = "f64", range(min = 0))]
    tenths: u32,
    text: AnchorText,
}

fn read_anchors(body: &mut BodyFields, maximum_score: u32) -> Option<Anchors> {
    let sent = body.list("anchors", MAX_ANCHORS, |item| {
        let value = item.get("value").ok_or("Expected objects with value.")?;
        let text = item.get("text").and_then(Value::as_str).ok_or("Expected objects with text.")?;
        Ok(SentAnchor { tenths: tenths(value, maximum_score)?, text: AnchorText::parse(text)? })
    });
    let values = sent?.into_iter().map(|SentAnchor { tenths, text }| Anchor { tenths, text }).collect();
    match Anchors::new(maximum_score, values) {
        Ok(anchors) => Some(anchors),
        Err(message) => {
            body.refuse("anchors", message);
            None
        }
    }
}

fn read_takes(body: &mut BodyFields) -> Option<Option<u32>> {
    body.clearable_integer("takes", 1, MAX_TAKES)
}

fn read_position(body: &mut BodyFields) -> Option<u32> {
    body.integer("position", 0, MAX_POSITION)
}

/// The body that creates or replaces a criterion.
pub(crate) struct NewCriterion {
    name: CriterionName,
    description: TextLines<1000>,
    position: Option<u32>,
    anchors: Anchors,
}

impl NewCriterion {
    /// Reads the body. `maximum_score` is that of the project.
    pub(crate) fn read(mut body: BodyFields, maximum_score: u32) -> Result<Self> {
        let name = body.required("name", CriterionName::parse);
        let description = body.text_or_empty("description", TextLines::parse).unwrap_or_default();
        let position = read_position(&mut body);
        let anchors = read_anchors(&mut body, maximum_score).unwrap_or_default();
        body.finish(|| Some(Self { name: name?, description, position, anchors }))
    }

    /// The criterion. `position` is the default position.
    pub(crate) fn into_criterion(self, id: CriterionId, revision: u64, position: u32) -> Result<Criterion> {
        let Self { name, description, anchors, .. } = self;
        let position = self.position.map_or_else(|| position_left(position), Ok)?;
        Ok(Criterion { id, revision, position, name, description, anchors })
    }
}

/// Reads the body of a criterion's change. `maximum_score` is that of the project.
pub(crate) fn read_criterion_changes(
    mut body: BodyFields,
    maximum_score: u32,
) -> Result<BodyChanges<Criterion>> {
    let mut changes: BodyChanges<Criterion> = BodyChanges::default();
    changes.set(body.text("name", CriterionName::parse), |criterion| &mut criterion.name);
    changes.set(body.text_or_empty("description", TextLines::parse), |criterion| &mut criterion.description);
    changes.set(read_position(&mut body), |criterion| &mut criterion.position);
    changes.set(read_anchors(&mut body, maximum_score), |criterion| &mut criterion.anchors);
    body.finish(|| Some(changes))
}

/// Returns `position`; fails beyond [`MAX_POSITION`].
fn position_left(position: u32) -> Result<u32> {
    let left = Some(position).filter(|position| *position <= MAX_POSITION);
    left.ok_or_else(|| Error::field("position", "No position is left after the last one. Send another."))
}
