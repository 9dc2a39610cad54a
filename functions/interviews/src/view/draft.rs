//! The view of a candidate's draft.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::answers::{AnswerText, WrittenAnswer, draft_revision};
use shared::http::EntityTag;
use shared::http::wire::Timestamp;

/// A text that the candidate has typed but not sent.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct DraftView {
    /// The text.
    #[schemars(example = &"The race in our")]
    text: String,
    /// When the draft was saved.
    saved_at: Timestamp,
    /// The tag to send in `If-Match`, so that two windows do not overwrite each other's draft.
    #[schemars(example = &"\"4183563425738265211-e3b0c44298fc1c149afbf4c8996fb924\"")]
    tag: String,
}

impl DraftView {
    pub(super) fn of(written: &WrittenAnswer) -> Option<Self> {
        let draft = written.draft.as_ref()?;
        let text = draft.text.as_ref()?;
        let tag = draft_tag(Some(text)).to_string();
        Some(Self { text: text.to_string(), saved_at: Timestamp(draft.saved_at), tag })
    }
}

/// The `ETag` of a draft with this text; `None` for no draft.
pub(crate) fn draft_tag(text: Option<&AnswerText>) -> EntityTag {
    let body = text.map(ToString::to_string).unwrap_or_default();
    EntityTag::of(body.as_bytes()).in_revision(Some(draft_revision(text)))
}
