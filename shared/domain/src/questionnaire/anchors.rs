//! Anchors: the meanings of values on the scale, for people who rate.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scale::rescaled;
use crate::text::TextLines;

/// The maximum number of anchors of a question or a criterion.
// The shortest scale, from 0 to 1, has eleven values with one decimal, so anchors can have different values on every scale.
pub const MAX_ANCHORS: usize = 11;

/// The size of a stored anchor without its text, in bytes.
const OVERHEAD: usize = 24;

/// Up to 500 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct AnchorText(TextLines<500>);

impl AnchorText {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for AnchorText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The meaning of one value of the scale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The value in tenths.
    pub tenths: u32,
    pub text: AnchorText,
}

/// The anchors of a question or a criterion, ascending, on the scale that applied when they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredAnchors", into = "StoredAnchors")]
pub struct Anchors {
    /// The maximum of the scale; 0 without anchors.
    maximum: u32,
    values: Vec<Anchor>,
}

/// Anchors as stored. They are checked when read, because an archive may come from anywhere.
#[derive(Serialize, Deserialize)]
struct StoredAnchors {
    maximum: u32,
    values: Vec<Anchor>,
}

impl From<Anchors> for StoredAnchors {
    fn from(Anchors { maximum, values }: Anchors) -> Self {
        Self { maximum, values }
    }
}

impl TryFrom<StoredAnchors> for Anchors {
    type Error = String;

    fn try_from(StoredAnchors { maximum, values }: StoredAnchors) -> Result<Self, String> {
        Self::new(maximum, values)
    }
}

impl Anchors {
    /// The anchors with these values, on a scale with this maximum. Fails with a message if there are too many, if one is outside
    /// the scale, or if two have the same value.
    pub fn new(maximum: u32, mut values: Vec<Anchor>) -> Result<Self, String> {
        values.sort_by_key(|anchor| anchor.tenths);
        if values.is_empty() {
            return Ok(Self::default());
        }
        if values.len() > MAX_ANCHORS {
            return Err(format!("Ensure this list has no more than {MAX_ANCHORS} items."));
        }
        if values.last().is_some_and(|last| last.tenths > maximum.saturating_mul(10)) {
            return Err(format!("Ensure each value is from 0 to {maximum}."));
        }
        if values.windows(2).any(|pair| pair[0].tenths == pair[1].tenths) {
            return Err("Each value may have only one anchor.".to_owned());
        }
        Ok(Self { maximum, values })
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Converts the anchors to a scale with the maximum `scale`, rounding half up to tenths. Anchors that would get the same
    /// value move to the nearest free tenth.
    pub fn on_scale(&self, scale: u32) -> Vec<Anchor> {
        let mut free = 0;
        let mut scaled = self.values.clone();
        for anchor in &mut scaled {
            anchor.tenths = rescaled(anchor.tenths, self.maximum, scale).max(free);
            free = anchor.tenths + 1;
        }
        let mut most = scale.saturating_mul(10);
        for anchor in scaled.iter_mut().rev() {
            anchor.tenths = anchor.tenths.min(most);
            most = most.saturating_sub(1);
        }
        scaled
    }

    /// Replaces `before`, but keeps it if clients see the same anchors: they may send back what they read on another scale.
    pub(super) fn replacing(self, before: &Self) -> Self {
        if self.values == before.on_scale(self.maximum) { before.clone() } else { self }
    }

    /// The size in bytes.
    pub(super) fn size(&self) -> usize {
        self.values.iter().map(|anchor| anchor.text.0.len() + OVERHEAD).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn anchors(maximum: u32, tenths: &[u32]) -> Anchors {
        let text = |tenths: &u32| AnchorText::parse(&format!("No. {tenths}")).unwrap();
        let values = tenths.iter().map(|tenths| Anchor { tenths: *tenths, text: text(tenths) });
        Anchors::new(maximum, values.collect()).unwrap()
    }

    fn shown(anchors: &Anchors, scale: u32) -> Vec<u32> {
        anchors.on_scale(scale).iter().map(|anchor| anchor.tenths).collect()
    }

    #[test]
    fn anchors_are_sorted_and_follow_the_scale_like_ratings() {
        let five = anchors(5, &[50, 0, 35]);
        assert_eq!(shown(&five, 5), [0, 35, 50]);
        assert_eq!(shown(&five, 10), [0, 70, 100]);
        assert_eq!(shown(&five, 1), [0, 7, 10]);
    }

    #[test]
    fn two_anchors_never_get_one_value() {
        assert_eq!(shown(&anchors(10, &[98, 99, 100]), 1), [8, 9, 10]);
        assert_eq!(shown(&anchors(1_000, &[0, 1, 2]), 1), [0, 1, 2]);
        let full: Vec<u32> = (0..11).collect();
        assert_eq!(shown(&anchors(1_000, &full), 1), full);
    }

    #[test]
    fn what_is_shown_changes_nothing_when_it_is_sent_back() {
        let before = anchors(1_000, &[0, 1, 9_999]);
        let sent = Anchors::new(3, before.on_scale(3)).unwrap();
        assert_eq!(sent.replacing(&before), before);
        let other = anchors(3, &[1]);
        assert_eq!(other.clone().replacing(&before), other);
        assert_eq!(Anchors::default().replacing(&before), Anchors::default());
    }

    #[test]
    fn archives_with_anchors_that_no_request_could_write_are_refused() {
        let read =
            |values: &str| serde_json::from_str::<Anchors>(&format!(r#"{{"maximum":5,"values":{values}}}"#));
        assert!(read(r#"[{"tenths":50,"text":"x"}]"#).is_ok());
        for wrong in [r#"[{"tenths":51,"text":"x"}]"#, r#"[{"tenths":5,"text":"x"},{"tenths":5,"text":"y"}]"#]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let many: Vec<String> =
            (0..12).map(|tenths| format!(r#"{{"tenths":{tenths},"text":"x"}}"#)).collect();
        assert!(read(&format!("[{}]", many.join(","))).is_err());
    }

    proptest! {
        #[test]
        fn anchors_stay_apart_and_in_range_on_every_scale(
            maximum in 1..=1_000_u32, scale in 1..=1_000_u32, parts in prop::collection::btree_set(0..=10_000_u32, 0..=11),
        ) {
            let tenths: std::collections::BTreeSet<u32> = parts.iter().map(|part| part * maximum / 1_000).collect();
            let before = anchors(maximum, &tenths.into_iter().collect::<Vec<_>>());
            let shown = before.on_scale(scale);
            prop_assert!(shown.windows(2).all(|pair| pair[0].tenths < pair[1].tenths));
            prop_assert!(shown.iter().all(|anchor| anchor.tenths <= scale * 10));
            let sent = Anchors::new(scale, shown).unwrap();
            prop_assert_eq!(sent.replacing(&before), before);
        }
    }
}
