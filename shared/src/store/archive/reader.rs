//! Reads the records of an archive. Trusts nothing in them, because anyone may have written the archive.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, Datelike as _, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ArchiveRecord, ArchivedCounts, ArchivedEntity, ArchivedUsage};
use crate::domain::answers::{AnswerCaptions, Answers, WrittenAnswer};
use crate::domain::archive::RecordKind;
use crate::domain::candidate::{Candidate, GuestLink};
use crate::domain::company::Company;
use crate::domain::company::label::Label;
use crate::domain::company::logo::Logo;
use crate::domain::evaluation::Evaluation;
use crate::domain::history::HistoryEntry;
use crate::domain::id::CompanyId;
use crate::domain::mail::sender::SenderAddress;
use crate::domain::media::captions::Captions;
use crate::domain::media::video::Video;
use crate::domain::privacy::legal::LegalText;
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::random::RandomSource;
use crate::domain::retention::RetentionPolicy;
use crate::domain::secret::{Sealed, SecretHash};
use crate::domain::staff::customer::Customer;
use crate::domain::staff::named_token::NamedToken;
use crate::domain::staff::sign_in::SignInSettings;
use crate::domain::webhook::Webhook;
use crate::error::Result;
use crate::store::table::item::{Item, VersionedItem};

/// The largest version of an item: keys hold ten digits.
const MAX_VERSION: u64 = 9_999_999_999;
/// The largest accepted number of days, minutes, scores and so on. Sums and dates of larger numbers overflow.
const MAX_NUMBER: f64 = 1e6;
/// The largest accepted size, counter or event number: JSON has no larger exact integers.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;
/// A field that clients may set to any number of its type. It is only used for sorting.
const POSITION: &str = "position";
/// The last accepted year: dates with more digits do not sort as text.
const LAST_YEAR: i32 = 9999;
/// The maximum size of an item in bytes: DynamoDB's limit, less the attributes of the index by due date.
const MAX_ITEM: usize = 400 * 1024 - 200;

/// A validated record, ready to be stored.
#[derive(Debug)]
pub enum ImportedRecord {
    AnswerCaptions(VersionedItem<AnswerCaptions>),
    Answers(VersionedItem<Answers>),
    Candidate(Box<VersionedItem<Candidate>>),
    Captions(VersionedItem<Captions>),
    Company(Box<VersionedItem<Company>>),
    Counts(ArchivedCounts),
    Customer(Box<VersionedItem<Customer>>),
    Evaluation(VersionedItem<Evaluation>),
    Event(Box<VersionedItem<HistoryEntry>>),
    GuestLink(Box<VersionedItem<GuestLink>>),
    Label(VersionedItem<Label>),
    LegalText(VersionedItem<LegalText>),
    Logo(VersionedItem<Logo>),
    Project(Box<VersionedItem<Project>>),
    Questionnaire(VersionedItem<Questionnaire>),
    Retention(VersionedItem<RetentionPolicy>),
    SignIn(Box<VersionedItem<SignInSettings>>),
    Token(Box<VersionedItem<NamedToken>>),
    Usage(ArchivedUsage),
    Video(Box<VersionedItem<Video>>),
    Webhook(Box<VersionedItem<Webhook>>),
    WrittenAnswer(VersionedItem<WrittenAnswer>),
}

/// Reads the records of an archive.
#[derive(Clone, Copy)]
pub struct ArchiveReader<'a> {
    /// The identifier of the company in the archive.
    pub company: &'a CompanyId,
    /// The identifier of the company in this deployment.
    pub name: &'a CompanyId,
    /// Generates the secrets that an archive lacks. They are never shown, so they authenticate nobody.
    pub entropy: &'a dyn RandomSource,
}

/// The members of every record.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordLine {
    id: String,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    revision: Option<u64>,
    #[serde(default)]
    event_version: Option<u64>,
    value: Value,
}

impl ImportedRecord {
    /// Describes the right in the record that only an operator may grant; `None` if there is none.
    pub fn grant(&self) -> Option<String> {
        match self {
            Self::Company(company) if !company.verified_senders.is_empty() => {
                let senders: Vec<&str> = company.verified_senders.iter().map(SenderAddress::as_str).collect();
                Some(format!("verified senders: {}", senders.join(", ")))
            }
            Self::Customer(customer) if customer.authenticate_on_behalf => {
                Some(format!("{} may act on behalf of others", customer.username.as_str()))
            }
            _ => None,
        }
    }

    /// The record without its [`grant`](Self::grant).
    pub fn without_grant(self) -> Result<Self> {
        Ok(match self {
            Self::Company(company) => {
                let without = Company { verified_senders: Vec::new(), ..Company::clone(&company) };
                Self::Company(Box::new(company.with_value(without)?))
            }
            Self::Customer(customer) => {
                let without = Customer { authenticate_on_behalf: false, ..Customer::clone(&customer) };
                Self::Customer(Box::new(customer.with_value(without)?))
            }
            other => other,
        })
    }
}

impl ArchiveReader<'_> {
    /// Reads the record in a line of the file of its kind. Fails with a description of the problem. A record is valid
    /// only if exporting the resulting item gives exactly this line.
    pub fn read(&self, kind: RecordKind, line: &str) -> Result<ImportedRecord, String> {
        let mut content: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
        // This also refuses duplicate members.
        if to_text(&content)? != line {
            return Err("this is not canonical JSON".to_owned());
        }
        check_values(kind, &content["value"])?;
        if self.company != self.name {
            self.rename(kind, &mut content);
        }
        Ok(match kind {
            RecordKind::AnswerCaptions => ImportedRecord::AnswerCaptions(self.item(content)?),
            RecordKind::Answers => ImportedRecord::Answers(self.item(content)?),
            RecordKind::Candidates => ImportedRecord::Candidate(Box::new(self.item(content)?)),
            RecordKind::Captions => ImportedRecord::Captions(self.item(content)?),
            RecordKind::Company => ImportedRecord::Company(Box::new(self.item(content)?)),
            RecordKind::Customers => ImportedRecord::Customer(Box::new(self.item(content)?)),
            RecordKind::Evaluations => ImportedRecord::Evaluation(self.item(content)?),
            RecordKind::Events => ImportedRecord::Event(Box::new(self.item(content)?)),
            RecordKind::GuestLinks => ImportedRecord::GuestLink(Box::new(self.item(content)?)),
            RecordKind::Labels => ImportedRecord::Label(self.item(content)?),
            RecordKind::LegalTexts => ImportedRecord::LegalText(self.item(content)?),
            RecordKind::Logos => ImportedRecord::Logo(self.item(content)?),
            RecordKind::Projects => ImportedRecord::Project(Box::new(self.item(content)?)),
            RecordKind::Questionnaires => ImportedRecord::Questionnaire(self.item(content)?),
            RecordKind::Retention => ImportedRecord::Retention(self.item(content)?),
            RecordKind::SignIn => ImportedRecord::SignIn(Box::new(self.item(content)?)),
            RecordKind::Statistics => ImportedRecord::Counts(read_counts(&content)?),
            RecordKind::Tokens => ImportedRecord::Token(Box::new(self.item(content)?)),
            RecordKind::Usage => ImportedRecord::Usage(read_usage(&content)?),
            RecordKind::Videos => ImportedRecord::Video(Box::new(self.item(content)?)),
            RecordKind::Webhooks => ImportedRecord::Webhook(Box::new(self.item(content)?)),
            RecordKind::WrittenAnswers => ImportedRecord::WrittenAnswer(self.item(content)?),
            RecordKind::ReceiptKeys | RecordKind::Receipts => {
                return Err("this has no item of its own".to_owned());
            }
        })
    }

    /// Replaces the identifier of the company by the new one. Receipts keep the former one, because they are signed.
    fn rename(&self, kind: RecordKind, content: &mut Value) {
        let pointers: &[&str] = match kind {
            RecordKind::Company => &["/id", "/value/id"],
            RecordKind::Retention | RecordKind::SignIn => &["/id", "/value/company"],
            RecordKind::Events => &["/value/change/company"],
            RecordKind::Videos => &["/value/company", "/value/author/claim/company"],
            _ => &["/value/company"],
        };
        for pointer in pointers {
            if let Some(found) = content.pointer_mut(pointer).filter(|found| **found == json!(self.company)) {
                *found = json!(self.name);
            }
        }
    }

    fn item<T: ArchivedEntity>(&self, content: Value) -> Result<VersionedItem<T>, String> {
        let RecordLine { id, version, revision, event_version, value } =
            RecordLine::deserialize(&content).map_err(|error| error.to_string())?;
        let version = version.unwrap_or_default();
        let revision = revision.unwrap_or(version);
        let counts = [revision, event_version.unwrap_or(revision)];
        if !(1..=MAX_VERSION).contains(&version) || counts.iter().any(|count| !(1..=version).contains(count))
        {
            return Err("its version, revision or event_version is not a number of writes".to_owned());
        }
        let value: T =
            serde_json::from_value(self.with_secrets(T::KIND, value)).map_err(|error| error.to_string())?;
        let item = VersionedItem::imported(value, version, revision, event_version);
        let item = item.map_err(|error| error.to_string())?;
        if size_of(item.stored()) > MAX_ITEM {
            return Err("it is larger than an item".to_owned());
        }
        let written = ArchiveRecord::of(&item).map_err(|error| error.to_string())?;
        if written.id != id {
            return Err(format!("its identifier should be {}", written.id));
        }
        if item.company() != self.name {
            return Err("it is of another company".to_owned());
        }
        // Detects unknown members, and values that the types read differently.
        if to_text(&written.content)? != to_text(&content)? {
            return Err("it has members or values that no record has".to_owned());
        }
        Ok(item)
    }

    /// Adds the attributes that the value's type needs and that archives leave out.
    fn with_secrets(&self, kind: RecordKind, mut value: Value) -> Value {
        let is_limited = value["limits"].is_object();
        let added = match kind {
            RecordKind::Candidates | RecordKind::Customers => {
                [("mail_rate", Some(json!([]))), ("session_epoch", Some(json!(0)))]
            }
            RecordKind::GuestLinks => [("hash", Some(self.hash())), ("media_key", Some(media_key()))],
            // A token that trusts a workload has no secret.
            RecordKind::Tokens if value["trust"].is_object() => return value,
            RecordKind::Tokens => [("hash", Some(self.hash())), ("media_key", (!is_limited).then(media_key))],
            _ => return value,
        };
        if let Some(attributes) = value.as_object_mut() {
            let present = added.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            attributes.extend(present);
        }
        if kind == RecordKind::Tokens && is_limited {
            value["limits"]["media_key"] = media_key();
        }
        value
    }

    /// The hash of a secret that nobody knows.
    fn hash(&self) -> Value {
        let mut bytes = [0; 32];
        self.entropy.fill(&mut bytes);
        json!(SecretHash::from_bytes(bytes))
    }
}

/// The media key of an imported credential. Its secret is unknown, so the key signs and verifies nothing.
fn media_key() -> Value {
    json!(Sealed::of_nothing())
}

fn to_text(value: &Value) -> Result<String, String> {
    serde_json_canonicalizer::to_string(value).map_err(|error| error.to_string())
}

fn read_counts(content: &Value) -> Result<ArchivedCounts, String> {
    let line = RecordLine::deserialize(content).map_err(|error| error.to_string())?;
    let counts = ArchivedCounts::of_record(&line.id, &line.value);
    let counts = counts.filter(|counts| counts.to_record().content == *content);
    counts.ok_or_else(|| "these are no counts of a project".to_owned())
}

fn read_usage(content: &Value) -> Result<ArchivedUsage, String> {
    let line = RecordLine::deserialize(content).map_err(|error| error.to_string())?;
    let usage = ArchivedUsage::of_record(&line.id, &line.value);
    let usage = usage.filter(|usage| usage.to_record().content == *content);
    usage.ok_or_else(|| "this is not what was used in a month".to_owned())
}

/// Refuses numbers and dates that would overflow in calculations: the types accept larger ones than clients can set.
fn check_values(kind: RecordKind, value: &Value) -> Result<(), String> {
    match value {
        Value::Number(number) => {
            let most = match kind {
                RecordKind::Events | RecordKind::Statistics | RecordKind::Usage | RecordKind::Videos => {
                    MAX_COUNT
                }
                _ => MAX_NUMBER,
            };
            let fits = number.as_f64().is_some_and(|number| number.abs() <= most);
            if fits { Ok(()) } else { Err(format!("{number} is too large")) }
        }
        Value::String(text) => {
            let moment = text.parse::<DateTime<Utc>>().ok();
            let year = moment.map(|moment| moment.year());
            if year.is_none_or(|year| (0..=LAST_YEAR).contains(&year)) {
                Ok(())
            } else {
                Err(format!("{text} is too early or too late"))
            }
        }
        Value::Array(values) => values.iter().try_for_each(|value| check_values(kind, value)),
        Value::Object(values) => {
            let mut checked = values.iter().filter(|(name, _)| *name != POSITION);
            checked.try_for_each(|(_, value)| check_values(kind, value))
        }
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

/// An upper bound of the size that DynamoDB counts for an item.
fn size_of(item: &Item) -> usize {
    fn of_value(value: &AttributeValue) -> usize {
        match value {
            AttributeValue::S(text) => text.len(),
            AttributeValue::N(number) => number.len() + 1,
            AttributeValue::L(values) => 3 + values.iter().map(|value| 1 + of_value(value)).sum::<usize>(),
            AttributeValue::M(values) => 3 + size_of(values) + values.len(),
            _ => 1,
        }
    }
    item.iter().map(|(name, value)| name.len() + of_value(value)).sum()
}
