//! The views of questions and criteria.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::id::{CriterionId, QuestionId};
use crate::domain::questionnaire::{Anchors, Criterion, Question, QuestionKind, Questionnaire};
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Decimal, Identifier, Uri};

/// The meaning of a value of the rating scale.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Anchor")]
pub(super) struct AnchorView {
    /// The value, from 0 to the project's current `maximum_score`, with at most one decimal.
    #[schemars(example = 4)]
    value: Decimal,
    /// What evaluators see or hear in an answer that deserves the value.
    #[schemars(example = &"Names two trade-offs unasked.", length(min = 1))]
    text: String,
}

impl AnchorView {
    /// The views of anchors, rescaled to `maximum_score`.
    fn all_of(anchors: &Anchors, maximum_score: u32) -> Vec<Self> {
        let anchors = anchors.on_scale(maximum_score).into_iter();
        anchors
            .map(|anchor| Self { value: Decimal::of_tenths(anchor.tenths), text: anchor.text.to_string() })
            .collect()
    }
}

/// A question.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Question")]
pub struct QuestionView {
    id: Identifier<QuestionId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::QUESTION)]
    resource_uri: Uri,
    /// The URL of the project.
    #[schemars(example = example_uri::PROJECT)]
    project: Uri,
    /// The position of the question, unique in the project. Questions are sorted by it, ascending.
    #[schemars(example = 1)]
    position: u32,
    /// The text of the question. If the question has a time to prepare, null for candidates until they begin a take.
    #[schemars(example = &"Which project are you proud of?")]
    text: Option<String>,
    /// How candidates answer.
    kind: QuestionKind,
    /// The URL of the welcome video that asks the question; null for none.
    #[schemars(example = ())]
    video: Option<Uri>,
    /// Seconds to prepare; null for no preparation.
    #[schemars(example = 30)]
    preparation_seconds: Option<u32>,
    /// The maximum length of an answer in seconds.
    #[schemars(example = 120)]
    answer_seconds: u32,
    /// How often candidates may record an answer; null for 20 times.
    #[schemars(example = 3)]
    takes: Option<u32>,
    /// Whether candidates must answer.
    #[schemars(example = true)]
    is_required: bool,
    /// A note for staff. Candidates do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Look for ownership.")]
    internal_description: Option<String>,
    /// The meanings of values of the rating scale, ascending by value. Candidates do not see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchors: Option<Vec<AnchorView>>,
}

impl QuestionView {
    /// The view for staff, with the anchors rescaled to the project's `maximum_score`.
    pub fn new(
        question: &Question,
        of: &Questionnaire,
        maximum_score: u32,
        references: ReferenceUris<'_>,
    ) -> Self {
        let Questionnaire { company, project, .. } = of;
        Self {
            id: Identifier(question.id),
            resource_uri: references.uri_in_project(company, *project, question.id),
            project: references.uri(company, *project),
            position: question.position,
            text: Some(question.text.to_string()),
            kind: question.kind,
            video: question.video.map(|video| references.uri(company, video)),
            preparation_seconds: question.preparation_seconds,
            answer_seconds: question.answer_seconds,
            takes: question.takes,
            is_required: question.is_required,
            internal_description: Some(question.internal_description.to_string()),
            anchors: Some(AnchorView::all_of(&question.anchors, maximum_score)),
        }
    }

    /// The view for candidates, without notes and anchors for staff.
    pub fn for_candidate(self) -> Self {
        Self { internal_description: None, anchors: None, ..self }
    }

    /// The view without text and video, for candidates who have yet to begin a take of a question with a time to prepare.
    pub fn concealed(self) -> Self {
        Self { text: None, video: None, ..self }
    }
}

/// A criterion.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Criterion")]
pub struct CriterionView {
    id: Identifier<CriterionId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::CRITERION)]
    resource_uri: Uri,
    /// The URL of the project.
    #[schemars(example = example_uri::PROJECT)]
    project: Uri,
    /// The position of the criterion, unique in the project. Criteria are sorted by it, ascending.
    #[schemars(example = 1)]
    position: u32,
    /// The display name.
    #[schemars(example = &"Communication", length(min = 1))]
    name: String,
    /// The meaning of the criterion.
    #[schemars(example = &"Speaks clearly and listens.")]
    description: String,
    /// The meanings of values of the rating scale, ascending by value.
    anchors: Vec<AnchorView>,
}

impl CriterionView {
    /// The view of a criterion, with the anchors rescaled to the project's `maximum_score`.
    pub fn new(
        criterion: &Criterion,
        of: &Questionnaire,
        maximum_score: u32,
        references: ReferenceUris<'_>,
    ) -> Self {
        let Questionnaire { company, project, .. } = of;
        Self {
            id: Identifier(criterion.id),
            resource_uri: references.uri_in_project(company, *project, criterion.id),
            project: references.uri(company, *project),
            position: criterion.position,
            name: criterion.name.to_string(),
            description: criterion.description.to_string(),
            anchors: AnchorView::all_of(&criterion.anchors, maximum_score),
        }
    }
}
