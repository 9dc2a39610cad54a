//! Validates each line of an archive, and the references between lines, before the first write.

use std::collections::{BTreeMap, HashMap, HashSet};

use shared::domain::archive::RecordKind;
use shared::domain::candidate::Candidate;
use shared::domain::company::Company;
use shared::domain::company::usage::Month;
use shared::domain::history::{HistoryEntry, INTERVIEW_HISTORY};
use shared::domain::id::{
    CandidateId, CompanyId, CustomerId, LabelId, ProjectId, QuestionId, TakeRef, VideoId, WebhookId,
};
use shared::domain::language::Language;
use shared::domain::media::file::FileKind;
use shared::domain::privacy::legal::LegalKind;
use shared::domain::privacy::receipt::ReceiptKey;
use shared::domain::project::Project;
use shared::domain::staff::customer::Customer;
use shared::domain::text::fold_case;
use shared::http::view::ReceiptView;
use shared::media::detect;
use shared::store::{ArchiveReader, ArchiveRecord, ArchivedCounts, ImportedRecord, VersionedItem};

use super::files::{Lines, SignedArchive, identifier_in};
use super::media::{self, NamedFiles};
use shared::archive::{self, NeededRecordings, Result};

/// The kinds of records, ordered so that each kind refers only to earlier ones.
pub(super) const REFERENCE_ORDER: [RecordKind; 24] = [
    RecordKind::ReceiptKeys,
    RecordKind::Company,
    RecordKind::Retention,
    RecordKind::SignIn,
    RecordKind::LegalTexts,
    RecordKind::Logos,
    RecordKind::Labels,
    RecordKind::Customers,
    RecordKind::Videos,
    RecordKind::Captions,
    RecordKind::Projects,
    RecordKind::Questionnaires,
    RecordKind::Statistics,
    RecordKind::Candidates,
    RecordKind::Evaluations,
    RecordKind::GuestLinks,
    RecordKind::Answers,
    RecordKind::AnswerCaptions,
    RecordKind::WrittenAnswers,
    RecordKind::Tokens,
    RecordKind::Webhooks,
    RecordKind::Events,
    RecordKind::Receipts,
    RecordKind::Usage,
];

/// The maximum months of usage: fifty years.
const MOST_MONTHS: usize = 600;

/// The reason why a line is invalid.
type Fault = &'static str;

/// The values of earlier lines against which later lines are checked.
#[derive(Default)]
struct Validator {
    /// The versions of resources, by the identifiers of their histories.
    versions: HashMap<String, u64>,
    company: Option<Company>,
    logos: usize,
    legal_texts: BTreeMap<LegalKind, u32>,
    labels: HashSet<LabelId>,
    label_texts: HashSet<String>,
    customers: HashSet<CustomerId>,
    /// The owners of user names, case-folded; `None` for a candidate.
    usernames: HashMap<String, Option<CustomerId>>,
    /// The addresses of staff, case-folded.
    emails: HashMap<String, CustomerId>,
    /// The digests of the captions of videos.
    videos: HashMap<VideoId, BTreeMap<Language, String>>,
    projects: HashMap<ProjectId, HashSet<QuestionId>>,
    external_ids: HashSet<(Option<ProjectId>, String)>,
    candidates: HashSet<(ProjectId, CandidateId)>,
    /// The digests of the captions of takes.
    captioned: HashMap<(CandidateId, TakeRef, Language), String>,
    /// The questions that candidates have answered in writing.
    written: HashSet<(CandidateId, QuestionId)>,
    entries: HashSet<(String, u64)>,
    erasures: HashMap<u64, String>,
    receipt_keys: Vec<ReceiptKey>,
    webhooks: Vec<WebhookId>,
    files: NamedFiles,
    recordings: NeededRecordings,
    owners: HashSet<(&'static str, String)>,
    last_event: u64,
    /// The month when the archive was written; `None` if the manifest does not say.
    made_in: Option<Month>,
    months: usize,
}

pub(super) struct ValidatedArchive {
    /// The keys that verify the company's receipts.
    pub(super) receipt_keys: Vec<ReceiptKey>,
    pub(super) webhooks: Vec<WebhookId>,
    /// The number of missing files that records refer to.
    pub(super) missing: u64,
}

/// Validates a whole archive. Fails at the first error; the message names file and line.
pub(super) fn validate(
    archive: &SignedArchive,
    reader: ArchiveReader<'_>,
    allows_missing: bool,
) -> Result<ValidatedArchive> {
    let made_at = archive.manifest.created_at.parse().ok();
    let made_in = made_at.map(Month::of);
    let mut validator = Validator { last_event: archive.manifest.sequence, made_in, ..Validator::default() };
    for kind in REFERENCE_ORDER {
        let mut lines = archive.records(kind)?;
        let mut last = String::new();
        while let Some(line) = lines.next_line()? {
            let id = identifier_in(&line).map_err(|problem| lines.fault(&problem))?;
            if id <= last {
                return Err(lines.fault("the identifiers are not in their order, or one comes twice"));
            }
            validator.line(kind, &id, &line, reader).map_err(|problem| lines.fault(&problem))?;
            last = id;
        }
        validator.end(kind, &lines, archive)?;
    }
    let Validator { receipt_keys, webhooks, files, recordings, owners, .. } = validator;
    let missing = media::validate(archive, files, recordings, &owners, allows_missing)?;
    Ok(ValidatedArchive { receipt_keys, webhooks, missing })
}

/// Whether `line` is the canonical JSON of the record.
fn is_record(record: &ArchiveRecord, line: &str) -> Result<bool, String> {
    let text = serde_json_canonicalizer::to_string(&record.content).map_err(|error| error.to_string())?;
    Ok(text == line)
}

impl Validator {
    fn line(
        &mut self,
        kind: RecordKind,
        id: &str,
        line: &str,
        reader: ArchiveReader<'_>,
    ) -> Result<(), String> {
        match kind {
            RecordKind::ReceiptKeys => self.receipt_key(line)?,
            RecordKind::Receipts => self.receipt(id, line)?,
            _ => self.record(&reader.read(kind, line)?, reader.name)?,
        }
        if matches!(kind, RecordKind::Candidates | RecordKind::Customers | RecordKind::Videos) {
            self.owners.insert((kind.name(), id.to_owned()));
        }
        Ok(())
    }

    fn record(&mut self, record: &ImportedRecord, company: &CompanyId) -> Result<(), Fault> {
        match record {
            ImportedRecord::AnswerCaptions(one) => {
                let take = TakeRef { question: one.question, number: one.take };
                let digest = self.captioned.remove(&(one.candidate, take, one.language));
                if digest.is_none_or(|digest| digest != one.text.digest()) {
                    return Err("the answers of the candidate do not have it");
                }
            }
            ImportedRecord::Answers(one) => {
                self.note(format!("{}{INTERVIEW_HISTORY}", one.candidate), one.version());
                self.require_candidate(one.project, one.candidate)?;
                let questions = self.projects.get(&one.project).ok_or("its project is missing")?;
                if one.questions.keys().any(|question| !questions.contains(question)) {
                    return Err("a question is missing");
                }
                self.recordings.add_answers(one);
                for (take, language, digest) in one.captions() {
                    self.captioned.insert((one.candidate, take, language), digest.to_owned());
                }
                self.written.extend(one.stored_texts().map(|question| (one.candidate, question)));
            }
            ImportedRecord::Candidate(one) => self.candidate(one)?,
            ImportedRecord::Captions(one) => {
                let digests = self.videos.get_mut(&one.video);
                let digest = digests.and_then(|digests| digests.remove(&one.language));
                if digest.is_none_or(|digest| digest != one.text.digest()) {
                    return Err("its video is missing, or does not have it");
                }
            }
            ImportedRecord::Company(one) => {
                self.note(company.to_string(), one.version());
                self.company = Some(Company::clone(one));
            }
            ImportedRecord::Counts(ArchivedCounts { project, .. }) => self.require_project(*project)?,
            ImportedRecord::Customer(one) => self.customer(one)?,
            ImportedRecord::Evaluation(one) => self.require_candidate(one.project, one.candidate)?,
            ImportedRecord::Event(one) => self.event(one)?,
            ImportedRecord::GuestLink(one) => self.require_candidate(one.project, one.candidate)?,
            ImportedRecord::Label(one) => {
                self.note(one.id.to_string(), one.version());
                self.labels.insert(one.id);
                if !self.label_texts.insert(fold_case(one.text.as_str())) {
                    return Err("another label has this text");
                }
            }
            ImportedRecord::LegalText(one) => {
                let number = self.legal_texts.entry(one.id.kind).or_default();
                *number += 1;
                if *number != one.id.version {
                    return Err("a version before it is missing");
                }
            }
            ImportedRecord::Logo(one) => {
                self.logos += 1;
                let logo = self.company.as_ref().and_then(|company| company.logo.as_ref());
                if logo != Some(&one.to_ref()) {
                    return Err("the company has another logo");
                }
                let png = one.to_png().and_then(|png| detect(FileKind::Photo, &png));
                if png.map(|file| file.extension()) != Some("png") {
                    return Err("the picture is no PNG");
                }
            }
            ImportedRecord::Project(one) => self.project(one)?,
            ImportedRecord::Questionnaire(one) => {
                let questions = self.projects.get_mut(&one.project).ok_or("its project is missing")?;
                questions.extend(one.questions.iter().map(|question| question.id));
                let mut shown = one.questions.iter().filter_map(|question| question.video);
                if shown.any(|video| !self.videos.contains_key(&video)) {
                    return Err("a video is missing");
                }
            }
            ImportedRecord::Retention(one) => self.note("RETENTION".to_owned(), one.version()),
            // The settings may name owners who were deleted since.
            ImportedRecord::SignIn(one) => self.note("SIGN_IN".to_owned(), one.version()),
            ImportedRecord::Token(one) => self.note(one.id.to_string(), one.version()),
            // Usage cannot be checked against the events, because those of former months have expired.
            ImportedRecord::Usage(one) => {
                // Every batch of events would write a future month until it comes; then it would be invoiced.
                if self.made_in.is_none_or(|made_in| one.month > made_in) {
                    return Err("a month after the archive was made");
                }
                self.months += 1;
                if self.months > MOST_MONTHS {
                    return Err("more months than fit into an item");
                }
            }
            ImportedRecord::Video(one) => {
                self.note(one.id.to_string(), one.version());
                self.recordings.add_video(one);
                self.videos.insert(one.id, one.captions.clone());
            }
            ImportedRecord::Webhook(one) => {
                self.note(one.id.to_string(), one.version());
                self.webhooks.push(one.id);
            }
            ImportedRecord::WrittenAnswer(one) => {
                if !self.written.remove(&(one.candidate, one.question)) {
                    return Err("the answers of the candidate do not have it");
                }
            }
        }
        Ok(())
    }

    fn customer(&mut self, customer: &VersionedItem<Customer>) -> Result<(), Fault> {
        let id = customer.id;
        self.note(id.to_string(), customer.version());
        self.customers.insert(id);
        let name = fold_case(customer.username.as_str());
        let emails = [&customer.email, customer.shown_email()].map(|email| fold_case(email.as_str()));
        let is_of_another = self.emails.get(&name).is_some_and(|owner| *owner != id)
            || emails.iter().any(|email| self.usernames.get(email).is_some_and(|owner| *owner != Some(id)))
            || self.usernames.insert(name, Some(id)).is_some();
        // User name and address may be equal.
        let mut is_taken = |email| self.emails.insert(email, id).is_some_and(|owner| owner != id);
        if is_of_another || emails.into_iter().any(&mut is_taken) {
            return Err("another customer has this user name or address");
        }
        if let Some(photo) = customer.photo {
            self.files.insert(format!("customers/{id}/{}", photo.id), (FileKind::Photo, photo));
        }
        Ok(())
    }

    fn project(&mut self, project: &VersionedItem<Project>) -> Result<(), Fault> {
        self.note(project.id.to_string(), project.version());
        self.projects.insert(project.id, HashSet::new());
        let settings = &project.settings;
        if settings.labels.iter().any(|label| !self.labels.contains(label)) {
            return Err("a label is missing");
        }
        if settings.videos.iter().any(|placed| !self.videos.contains_key(&placed.video)) {
            return Err("a video is missing");
        }
        if project.staff.everybody().iter().any(|customer| !self.customers.contains(customer)) {
            return Err("a customer is missing");
        }
        match &settings.external_id {
            Some(key) if !self.external_ids.insert((None, key.as_str().to_owned())) => {
                Err("another project has this external_id")
            }
            _ => Ok(()),
        }
    }

    fn candidate(&mut self, candidate: &VersionedItem<Candidate>) -> Result<(), Fault> {
        let Candidate { id, project, profile, .. } = &**candidate;
        self.note(id.to_string(), candidate.version());
        self.require_project(*project)?;
        self.candidates.insert((*project, *id));
        if let Some(name) = profile.username.as_ref().map(|name| fold_case(name.as_str()))
            && (self.emails.contains_key(&name) || self.usernames.insert(name, None).is_some())
        {
            return Err("another account has this user name");
        }
        if let Some(key) = &profile.external_id
            && !self.external_ids.insert((Some(*project), key.as_str().to_owned()))
        {
            return Err("another candidate of the project has this external_id");
        }
        if candidate.shares.values().any(|customer| !self.customers.contains(customer)) {
            return Err("the customer of a share is missing");
        }
        for (kind, file) in [(FileKind::Photo, candidate.photo), (FileKind::Cv, candidate.cv)] {
            if let Some(file) = file {
                self.files.insert(format!("candidates/{project}/{id}/{}", file.id), (kind, file));
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &HistoryEntry) -> Result<(), Fault> {
        let number = event.sequence.unwrap_or_default();
        if !(1..=self.last_event).contains(&number) || !event.is_event() {
            return Err("its number is not one of the archive's events");
        }
        if event.predecessor.is_some_and(|mark| mark.number >= number) {
            return Err("its predecessor is not before it");
        }
        let history_id = event.change.resource.history_id(&event.change.company);
        // The next write of the resource adds the entry with its version.
        let is_later = self.versions.get(&history_id).is_some_and(|version| event.version_after > *version);
        if is_later || event.event_before.is_some_and(|before| before >= event.version_after) {
            return Err("its version is not one of the resource");
        }
        if event.is_erasure() {
            self.erasures.insert(number, event.id().to_string());
        }
        match self.entries.insert((history_id, event.version_after)) {
            true => Ok(()),
            false => Err("another event has this version of the resource"),
        }
    }

    fn receipt_key(&mut self, line: &str) -> Result<(), String> {
        let record: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let key = ReceiptKey::parse(record["value"]["x"].as_str().unwrap_or_default())?;
        let expected = archive::receipt_key(&key).map_err(|error| error.to_string())?;
        if !is_record(&expected, line)? {
            return Err("this is no key of receipts".to_owned());
        }
        self.receipt_keys.push(key);
        Ok(())
    }

    fn receipt(&self, id: &str, line: &str) -> Result<(), String> {
        let record: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let jws = record["value"]["jws"].as_str().unwrap_or_default();
        let receipt = ReceiptView::signed(jws.to_owned()).ok_or("this is no receipt")?;
        let number = id.parse().ok();
        let event = number.and_then(|number: u64| self.erasures.get(&number));
        if event.is_none_or(|event| event != receipt.event()) {
            return Err("no event of an erasure has this receipt".to_owned());
        }
        let expected = archive::receipt(id, &receipt).map_err(|error| error.to_string())?;
        if !is_record(&expected, line)? {
            return Err("it does not say what is signed".to_owned());
        }
        if self.receipt_keys.iter().all(|key| key.open_receipt(jws).is_none()) {
            return Err("no key of the archive has signed it".to_owned());
        }
        Ok(())
    }

    /// Checks what depends on all records of a kind.
    fn end(&self, kind: RecordKind, lines: &Lines, archive: &SignedArchive) -> Result<()> {
        if archive.manifest.records.get(kind.name()) != Some(&lines.number) {
            return Err(format!("manifest.json: the number of {} is wrong", kind.name()).into());
        }
        let company = self.company.as_ref();
        let problem = match kind {
            RecordKind::Company if lines.number != 1 => "there must be one company",
            RecordKind::LegalTexts
                if company.is_some_and(|company| {
                    let kinds = LegalKind::ALL.into_iter();
                    let mut counts = kinds.map(|kind| (kind, self.legal_texts.get(&kind).copied()));
                    counts.any(|(kind, count)| count.unwrap_or_default() != company.legal.count(kind))
                }) =>
            {
                "the company names other versions"
            }
            RecordKind::Logos
                if company.is_some_and(|company| company.logo.is_some()) != (self.logos == 1) =>
            {
                "the logo of the company is missing"
            }
            RecordKind::Captions if self.videos.values().any(|missing| !missing.is_empty()) => {
                "captions of a video are missing"
            }
            RecordKind::AnswerCaptions if !self.captioned.is_empty() => "captions of an answer are missing",
            RecordKind::WrittenAnswers if !self.written.is_empty() => "a written answer is missing",
            RecordKind::Receipts if lines.number != self.erasures.len() as u64 => {
                "the receipt of an erasure is missing"
            }
            _ => return Ok(()),
        };
        Err(format!("{}: {problem}", archive::name_of(kind)).into())
    }

    fn note(&mut self, history_id: String, version: u64) {
        self.versions.insert(history_id, version);
    }

    fn require_project(&self, project: ProjectId) -> Result<(), Fault> {
        if self.projects.contains_key(&project) { Ok(()) } else { Err("its project is missing") }
    }

    fn require_candidate(&self, project: ProjectId, candidate: CandidateId) -> Result<(), Fault> {
        let is_there = self.candidates.contains(&(project, candidate));
        if is_there { Ok(()) } else { Err("its candidate is missing") }
    }
}
