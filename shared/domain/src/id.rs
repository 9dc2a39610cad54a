//! Identifiers: a company's is its slug, all others are ULIDs, so that key order is creation order.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

use crate::random::RandomSource;

/// A company's identifier: `[a-z0-9-]{2,63}`, immutable, also what logins send as `company`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct CompanyId(String);

impl CompanyId {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CompanyId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if (2..=63).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId)
        }
    }
}

impl fmt::Display for CompanyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CompanyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The text is not an identifier of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an identifier")
    }
}

impl std::error::Error for InvalidId {}

/// The identifier of a resource of type `T`: a ULID, 26 upper-case characters.
pub struct Id<T> {
    ulid: Ulid,
    // A function pointer, so that identifiers are Send and Sync whatever they identify.
    of: PhantomData<fn() -> T>,
}

/// A kind of resource that has a URL.
pub trait ResourceKind {
    /// The kind of the parent resource. A resource's URL begins with its parent's URL.
    type Parent;
    /// The path segment before the identifier in the resource's URL.
    const SEGMENT: &'static str;
}

/// Declares identifier types. For each: an empty type as its mark, the alias `Id<mark>` and, if resources with such an identifier
/// have URLs, the parent's mark and the URL segment.
// Marks instead of the resources' types, because those contain identifiers: the modules would depend on each other.
macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $id:ident of $mark:ident $(in $parent:ident $segment:literal)?,)+) => {
        $(
            #[doc(hidden)]
            pub enum $mark {}
            $(#[doc = $doc])+
            pub type $id = Id<$mark>;
            $(
                impl ResourceKind for $mark {
                    type Parent = $parent;
                    const SEGMENT: &'static str = $segment;
                }
            )?
        )+
    };
}

/// The mark of companies, as the parent of other resources.
pub enum CompanyMark {}

ids! {
    /// The identifier of a staff user.
    CustomerId of CustomerMark in CompanyMark "customers",
    /// The identifier of a project.
    ProjectId of ProjectMark in CompanyMark "projects",
    /// The identifier of a candidate.
    CandidateId of CandidateMark in ProjectMark "candidates",
    /// The identifier of a welcome video.
    VideoId of VideoMark in CompanyMark "videos",
    /// The identifier of a label.
    LabelId of LabelMark in CompanyMark "labels",
    /// The identifier of a named token; not its secret.
    TokenId of TokenMark in CompanyMark "tokens",
    /// The identifier of a share of a candidate.
    ShareId of ShareMark in CandidateMark "shares",
    /// The identifier of a link that shows the answers of a candidate to guests; not its secret.
    GuestLinkId of GuestLinkMark in CandidateMark "guest-links",
    /// The identifier of a customer's role in a project.
    RoleId of RoleMark in ProjectMark "roles",
    /// The identifier of a company's logo.
    LogoId of LogoMark,
    /// The identifier of a file, assigned when its upload starts.
    FileId of FileMark,
    /// The identifier of a question.
    QuestionId of QuestionMark in ProjectMark "questions",
    /// The identifier of a criterion.
    CriterionId of CriterionMark in ProjectMark "criteria",
    /// The identifier of a veto.
    VetoId of VetoMark in CandidateMark "vetos",
    /// The identifier of a webhook.
    WebhookId of WebhookMark in CompanyMark "webhooks",
    /// The identifier of an export of a company.
    ExportId of ExportMark in CompanyMark "exports",
    /// The identifier of an attempt to deliver an event.
    AttemptId of AttemptMark,
}

/// Identifies a take by its question and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TakeRef {
    pub question: QuestionId,
    /// The number of the take.
    pub number: u32,
}

impl<T> Id<T> {
    /// The smallest identifier. No resource has it.
    pub const MIN: Self = Self::new(Ulid(u128::MIN));
    /// The largest identifier. No resource has it.
    pub const MAX: Self = Self::new(Ulid(u128::MAX));

    /// The identifier with this ULID.
    pub const fn new(ulid: Ulid) -> Self {
        Self { ulid, of: PhantomData }
    }

    /// The 16 bytes of the ULID, big-endian.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.ulid.to_bytes()
    }

    /// The identifier with these 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self::new(Ulid::from_bytes(bytes))
    }

    /// The creation time, to the millisecond.
    pub fn created_at(self) -> DateTime<Utc> {
        let milliseconds = i64::try_from(self.ulid.timestamp_ms()).ok();
        milliseconds.and_then(DateTime::from_timestamp_millis).unwrap_or_default()
    }

    /// The smallest identifier that can be created in the millisecond of `moment`.
    pub fn first_of(moment: DateTime<Utc>) -> Self {
        let milliseconds = u64::try_from(moment.timestamp_millis()).unwrap_or(0);
        Self::new(Ulid::from_parts(milliseconds, 0))
    }

    /// The next identifier in sort order.
    pub const fn next(self) -> Self {
        Self::new(Ulid(self.ulid.0.saturating_add(1)))
    }

    /// The previous identifier in sort order.
    pub const fn previous(self) -> Self {
        Self::new(Ulid(self.ulid.0.saturating_sub(1)))
    }

    /// The bitwise complement, so that the newest sorts first. Reversing it again returns the identifier.
    pub const fn reversed(self) -> Self {
        Self::new(Ulid(!self.ulid.0))
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.ulid == other.ulid
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ulid.cmp(&other.ulid)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ulid.hash(state);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `Ulid`'s own `Display` goes through a second formatter, which is slow for lists of hundreds of identifiers.
        f.write_str(self.ulid.array_to_str(&mut [0; 26]))
    }
}

impl<T> FromStr for Id<T> {
    type Err = InvalidId;

    /// Accepts only the canonical form, so that each resource has exactly one URL.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let ulid = Ulid::from_string(text).map_err(|_| InvalidId)?;
        let mut canonical = [0; 26];
        if ulid.array_to_str(&mut canonical) == text { Ok(Self::new(ulid)) } else { Err(InvalidId) }
    }
}

// The API shows and accepts URLs instead of bare identifiers.
impl<T> JsonSchema for Id<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "uri-reference",
            "description": "A reference: an absolute URL of this service, or its path."
        })
    }
}

impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A block of [`SIZE`](Self::SIZE) consecutive identifiers, stored as the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdBlock {
    first: Id<IdBlock>,
}

impl IdBlock {
    /// The number of identifiers.
    pub const SIZE: usize = 1_000;

    /// The identifier at `index`, from 0.
    ///
    /// # Panics
    /// If `index` is [`Self::SIZE`] or more: those identifiers belong to other blocks.
    pub fn id<T>(self, index: usize) -> Id<T> {
        assert!(index < Self::SIZE, "an identifier behind the end of its block");
        Id::new(Ulid(self.first.ulid.0.wrapping_add(index as u128)))
    }
}

/// Generates unique identifiers that increase within one process.
pub struct IdGenerator {
    entropy: Arc<dyn RandomSource>,
    last: Mutex<Ulid>,
}

impl IdGenerator {
    /// Takes random bits from `entropy`.
    pub fn new(entropy: Arc<dyn RandomSource>) -> Self {
        Self { entropy, last: Mutex::new(Ulid::nil()) }
    }

    /// The next identifier, created at `now`.
    ///
    /// The identifiers increase even within one millisecond and after the clock steps back, so that lists keep the order of
    /// creation.
    pub fn next<T>(&self, now: DateTime<Utc>) -> Id<T> {
        Id::new(self.take(1, now))
    }

    /// The next block of identifiers, created at `now`, in order like those of [`Self::next`].
    pub fn next_block(&self, now: DateTime<Utc>) -> IdBlock {
        IdBlock { first: Id::new(self.take(IdBlock::SIZE, now)) }
    }

    /// Reserves `count` consecutive identifiers and returns the first.
    fn take(&self, count: usize, now: DateTime<Utc>) -> Ulid {
        let millisecond = u64::try_from(now.timestamp_millis()).unwrap_or(0);
        let mut random = [0; 16];
        self.entropy.fill(&mut random);
        let fresh = Ulid::from_parts(millisecond, u128::from_be_bytes(random));
        // Ignore poisoning: the value is always consistent, and one panic must not fail all later requests.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Incrementing fails only if all 80 random bits are set. The fresh value is just as good then.
        let next = if fresh.timestamp_ms() > last.timestamp_ms() {
            fresh
        } else {
            last.increment().unwrap_or(fresh)
        };
        *last = Ulid(next.0.wrapping_add(count as u128 - 1));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Sevens;

    #[test]
    fn company_identifiers_are_slugs() {
        for good in ["ac", "acme-2", &"a".repeat(63)] {
            assert!(good.parse::<CompanyId>().is_ok(), "{good}");
        }
        for bad in ["", "a", "Acme", "ac me", "ac_me", "ac#me", "äcme", &"a".repeat(64)] {
            assert!(bad.parse::<CompanyId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn identifiers_have_one_spelling() {
        let text = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(text.parse::<ProjectId>().unwrap().to_string(), text);
        assert!(text.to_lowercase().parse::<ProjectId>().is_err());
        assert!(text.replace('0', "O").parse::<ProjectId>().is_err());
        assert!("8ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<ProjectId>().is_err());
    }

    #[test]
    fn reversed_identifiers_sort_the_newest_first() {
        let [old, new] = [[0; 16], [7; 16]].map(CandidateId::from_bytes);
        assert!(new.reversed().to_string() < old.reversed().to_string());
        assert_eq!(new.reversed().to_string().parse::<CandidateId>().unwrap().reversed(), new);
    }

    #[test]
    fn identifiers_grow_though_the_clock_stands_or_steps_back() {
        let ids = IdGenerator::new(Arc::new(Sevens));
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let earlier = now - chrono::TimeDelta::hours(1);
        let made: Vec<ProjectId> = [now, now, earlier, now].into_iter().map(|at| ids.next(at)).collect();
        assert!(made.is_sorted_by(|a, b| a < b), "{made:?}");
        assert!(made.iter().map(ToString::to_string).is_sorted());
    }

    #[test]
    fn a_block_is_one_run_that_nothing_else_is_part_of() {
        let ids = IdGenerator::new(Arc::new(Sevens));
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let before: ProjectId = ids.next(now);
        let block = ids.next_block(now);
        let after: ProjectId = ids.next(now);
        let all: Vec<ProjectId> = (0..IdBlock::SIZE).map(|index| block.id(index)).collect();
        assert!(before < all[0] && all[IdBlock::SIZE - 1] < after);
        assert!(all.is_sorted_by(|a, b| a < b));
    }
}
