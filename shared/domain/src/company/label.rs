//! Labels, which organise the projects of a company.

use serde::{Deserialize, Serialize};

use crate::history::{EventType, FieldValue, HasHistory, ResourceRef, private};
use crate::id::{CompanyId, LabelId};
use crate::text::VisibleLine;

pub type LabelText = VisibleLine<100>;

/// A label as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    pub id: LabelId,
    /// The company that owns the label.
    pub company: CompanyId,
    /// The text of the label, unique in the company, ignoring case.
    pub text: LabelText,
    /// False once the deletion has begun: projects can no longer add the label.
    pub is_active: bool,
}

impl Label {
    pub fn new(id: LabelId, company: CompanyId, text: LabelText) -> Self {
        Self { id, company, text, is_active: true }
    }
}

impl HasHistory for Label {
    const CREATED: EventType = EventType::LabelCreated;
    const UPDATED: Option<EventType> = Some(EventType::LabelUpdated);
    const DELETED: Option<EventType> = Some(EventType::LabelDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Label { label: self.id })
    }

    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self { text, id: _, company: _, is_active: _ } = self;
        vec![("text", private(text))]
    }
}
