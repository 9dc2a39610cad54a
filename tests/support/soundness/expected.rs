//! Computes the items that a table must contain, from its companies and what they own.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use shared::domain::answers::Answers;
use shared::domain::candidate::{Candidate, CandidateStatus, GuestLink};
use shared::domain::company::Company;
use shared::domain::company::label::Label;
use shared::domain::effect::Effect;
use shared::domain::evaluation::evaluator_index::EvaluatorIndex;
use shared::domain::evaluation::{Evaluation, ScoreNumbers};
use shared::domain::export::CompanyExport;
use shared::domain::history::HistoryEntry;
use shared::domain::id::{CandidateId, CompanyId, CustomerId, GuestLinkId, ProjectId};
use shared::domain::media::upload::{Upload, UploadStatus};
use shared::domain::media::video::Video;
use shared::domain::project::Project;
use shared::domain::retention::company_erasure::CompanyErasure;
use shared::domain::retention::run::RetentionRun;
use shared::domain::scoring::result::ResultSummary;
use shared::domain::secret::SecretHash;
use shared::domain::staff::customer::{AccountType, Customer};
use shared::domain::staff::help_notice::HelpNotice;
use shared::domain::staff::named_token::{NamedToken, TokenProof};
use shared::domain::staff::notice::{InterviewNotice, InterviewWave};
use shared::domain::staff::reminder::EvaluationRound;
use shared::domain::text::{ExternalId, fold_case};
use shared::domain::transition::project_counts::{SHARDS, shard_of};
use shared::domain::webhook::{DeliveryCursor, Webhook};
use shared::store::EventSequence;

use crate::erased::ErasedCandidates;
use crate::history::Histories;
use crate::table::{Item, Key, index_partition, read, search_entries, shard_in, string};

pub(super) type Attributes = BTreeMap<String, Value>;

#[derive(Default)]
pub(super) struct Expected {
    pub(super) items: BTreeMap<Key, Attributes>,
    evaluator_indices: BTreeMap<ProjectId, EvaluatorIndex>,
    pub(super) scores: BTreeMap<(CandidateId, CustomerId), ScoreNumbers>,
    pub(super) evaluations: Vec<Evaluation>,
    guest_links: Vec<GuestLink>,
    /// The guest links that each candidate's item lists.
    known_links: BTreeMap<CandidateId, BTreeSet<GuestLinkId>>,
    pub(super) histories: Histories,
    pub(super) erased: ErasedCandidates,
    /// Whether the event sequence of each company says that there are webhooks.
    feeds: BTreeMap<CompanyId, bool>,
    /// Companies that have not started, so nothing of them may be due.
    pub(super) waiting: BTreeSet<String>,
    pub(super) wrong: Vec<String>,
}

impl Expected {
    /// Expects nothing yet. Nothing of the `waiting` companies may be due.
    pub(super) fn besides(waiting: BTreeSet<String>) -> Self {
        Self { waiting, ..Self::default() }
    }

    pub(super) fn add(&mut self, key: &Key, item: &Item) {
        let (pk, sk) = key;
        self.histories.add(key, item);
        self.erased.add(key, item);
        if sk == "COMPANY" {
            self.count((pk.clone(), "TALLY".to_owned()), []);
            // Every version that the company's item counts must exist, and no other.
            let company: Company = read(item);
            for id in company.legal.texts(false) {
                let sk = format!("{}#{:010}", id.kind.as_str(), id.version);
                self.count((format!("LEGAL#{}", company.id), sk), []);
            }
            if let Some(logo) = &company.logo {
                self.count((format!("LOGO#{}", company.id), logo.id.to_string()), []);
            }
        } else if sk == "ERASURE" {
            let erasure: CompanyErasure = read(item);
            self.check_due(key, item, 44, erasure.work.indexed_at());
            if erasure.ended_at.is_none() {
                self.count(company_counts(&erasure.company), []);
            }
        } else if sk.starts_with("CUSTOMER#") {
            self.add_customer(&read(item));
        } else if sk.starts_with("LABEL#") {
            self.add_label(&read(item));
        } else if sk.starts_with("TOKEN#") && pk.starts_with("COMPANY#") {
            let token: NamedToken = read(item);
            self.check_due(key, item, 49, token.due_at());
            self.add_token(&token);
        } else if sk.starts_with("PROJECT#") && !pk.contains("#CUSTOMER#") {
            let project: Project = read(item);
            let partition = format!("COMPANY#{}#PROJECTS#{}", project.company, project.status.as_str());
            self.check_index(key, item, partition);
            self.add_project(&project);
        } else if sk.starts_with("CANDIDATE#") && pk.starts_with("COMPANY#") {
            let candidate: Candidate = read(item);
            self.check_index(key, item, index_partition(&candidate));
            self.check_candidate_due(key, item, &candidate);
            self.add_candidate(&candidate);
        } else if pk.ends_with("#EVALUATIONS") {
            self.evaluations.push(read(item));
        } else if pk.starts_with("ANSWERS#") {
            let answers: Answers = read(item);
            self.check_due(key, item, 45 + answers.candidate.to_bytes()[15] % 4, answers.due_at());
            for question in answers.stored_texts() {
                let Answers { company, project, candidate, .. } = &answers;
                self.count((format!("TEXTS#{company}#{project}#{candidate}"), question.to_string()), []);
            }
            for (take, language, _) in answers.captions() {
                let Answers { company, project, candidate, .. } = &answers;
                let sk = format!("{}#{}#{}", take.question, take.number, language.as_str());
                self.count((format!("TAKE_CAPTIONS#{company}#{project}#{candidate}"), sk), []);
            }
        } else if pk.starts_with("GUESTS#") {
            self.guest_links.push(read(item));
        } else if sk.starts_with("EXPORT#") {
            let export: CompanyExport = read(item);
            self.check_due(key, item, 56, export.work.indexed_at());
        } else if sk == "EFFECT" {
            let effect: Effect = read(item);
            self.check_due(key, item, shard_in(item), effect.work.indexed_at().or(effect.given_up_at));
        } else if pk.starts_with("VIDEOS#") && item.contains_key("submitted_at") {
            let video: Video = read(item);
            self.count(company_counts(&video.company), [("videos".to_owned(), 1)]);
            self.check_due(key, item, 22 + video.id.to_bytes()[15] % 2, video.conversion.overdue_at());
            for language in video.captions.keys() {
                let sk = format!("{}#{}", video.id, language.as_str());
                self.count((format!("CAPTIONS#{}", video.company), sk), []);
            }
        } else if sk.starts_with("WEBHOOK#") {
            self.add_webhook(&read(item));
        } else if sk == "CURSOR" {
            let position: DeliveryCursor = read(item);
            let shard = 32 + position.webhook.to_bytes()[15] % 4;
            self.check_due(key, item, shard, position.work.indexed_at());
        } else if sk == "SEQUENCE" {
            let sequence: EventSequence = read(item);
            self.check_due(key, item, shard_in(item), sequence.delivery_due_at);
            self.feeds.insert(sequence.company, sequence.has_webhooks);
        } else if pk.starts_with("NOTICES#") && sk == "WAVE" {
            let wave: InterviewWave = read(item);
            self.check_due(key, item, shard_in(item), Some(wave.read_at));
        } else if pk.starts_with("NOTICES#") && sk == "EVALUATIONS" {
            let round: EvaluationRound = read(item);
            self.check_due(key, item, shard_in(item), Some(round.due_at()));
        } else if pk.starts_with("NOTICES#") && sk.starts_with("HELP#") {
            let notice: HelpNotice = read(item);
            self.check_due(key, item, shard_in(item), notice.next_mail_at);
            if notice.next_mail_at.is_some() == notice.waiting.is_empty() {
                self.wrong.push(format!("{key:?} is due although nothing waits, or the other way round"));
            }
        } else if pk.starts_with("NOTICES#") {
            let notice: InterviewNotice = read(item);
            self.check_due(key, item, 52 + notice.customer.to_bytes()[15] % 4, notice.next_mail_at);
            if notice.next_mail_at.is_some() && notice.waiting.is_empty() {
                self.wrong.push(format!("{key:?} is due although nothing waits"));
            }
        } else if sk == "RETENTION#RUN" {
            let run: RetentionRun = read(item);
            self.check_due(key, item, shard_in(item), run.work.indexed_at());
        } else if pk.starts_with("HISTORY#") {
            let entry: HistoryEntry = read(item);
            let at = entry.origin.at + TimeDelta::minutes(1);
            self.check_due(key, item, shard_in(item), Some(at).filter(|_| entry.is_unnumbered()));
        } else if sk == "UPLOAD" {
            let upload: Upload = read(item);
            let is_awaited = upload.status == UploadStatus::AwaitingUpload;
            let shard = 20 + upload.id.to_bytes()[15] % 2;
            self.check_due(key, item, shard, is_awaited.then(|| upload.given_up_at()));
        }
    }

    fn add_customer(&mut self, customer: &Customer) {
        let company = &customer.company;
        let owners = customer.account_type == AccountType::Owner && customer.is_at_work();
        let counters = [("customers".to_owned(), 1), ("owners".to_owned(), owners.into())];
        self.count(company_counts(company), counters);
        let leads_there = |name: &str, sk: &str| (login(company.as_str(), name), sk.to_owned());
        let former = customer.email_keys.former.iter().map(|former| &former.email);
        let addresses = [&customer.email, customer.shown_email()].into_iter().chain(former);
        let logins: BTreeSet<_> = addresses.map(|email| leads_there(email.as_str(), "EMAIL")).collect();
        for key in logins.into_iter().chain([leads_there(customer.username.as_str(), "USERNAME")]) {
            self.count(key, []);
        }
    }

    fn add_label(&mut self, label: &Label) {
        let company = &label.company;
        self.count(company_counts(company), [("labels".to_owned(), 1)]);
        let text = SecretHash::of(&fold_case(label.text.as_str()));
        self.count((format!("LABEL#{company}#{}", text.as_str()), "TEXT".to_owned()), []);
    }

    fn add_token(&mut self, token: &NamedToken) {
        self.count(company_counts(&token.company), [("named_tokens".to_owned(), 1)]);
        match &token.proof {
            TokenProof::Value { hash, .. } => {
                let by_hash = format!("TOKEN#{}", hash.as_str());
                self.count((by_hash.clone(), by_hash), []);
            }
            // An imported trust has no copy.
            TokenProof::ImportedTrust(_) => {}
            TokenProof::Trust(_) => {
                self.count(company_counts(&token.company), [("trusts".to_owned(), 1)]);
                self.count((format!("TRUSTS#{}", token.company), token.id.to_string()), []);
            }
        }
    }

    fn add_webhook(&mut self, webhook: &Webhook) {
        self.count(company_counts(&webhook.company), [("webhooks".to_owned(), 1)]);
        self.count((format!("WEBHOOK#{}", webhook.id), "CURSOR".to_owned()), []);
        // Keys are in order, so the company's event sequence was added before.
        if self.feeds.get(&webhook.company) != Some(&true) {
            self.wrong.push(format!("the feed of {} knows of no webhooks", webhook.company));
        }
    }

    fn add_project(&mut self, project: &Project) {
        let (c, p) = (&project.company, project.id);
        self.evaluator_indices.insert(p, project.evaluator_index.clone());
        let counter = (format!("projects:{}", project.status.as_str()), 1);
        self.count(company_counts(c), [counter]);
        for shard in 0..SHARDS {
            let shard = (format!("COMPANY#{c}#PROJECT#{p}"), format!("TALLY#{shard}"));
            let attributes = self.items.entry(shard).or_default();
            attributes.insert("project_status".to_owned(), project.status.as_str().into());
        }
        if let Some(external_id) = &project.settings.external_id {
            let leads_to = [("project", p.to_string())];
            self.expect_key(c, external_id, "PROJECT_OF_COMPANY".to_owned(), leads_to);
        }
        for customer in project.staff.everybody() {
            self.count((format!("COMPANY#{c}#CUSTOMER#{customer}"), format!("PROJECT#{p}")), []);
        }
    }

    fn add_candidate(&mut self, candidate: &Candidate) {
        let Candidate { company, project, id, profile, shares, guest_links, .. } = candidate;
        self.count(shard_key(candidate), counted(candidate));
        // Keys are in order, so the project was added before its candidates.
        for (customer, evaluation) in &candidate.evaluations {
            let index = &self.evaluator_indices[project];
            let mut with_them = index.clone();
            if with_them.assign_bit(*customer) != Ok(evaluation.bit) || with_them != *index {
                self.wrong.push(format!("{customer} has another bit than in the evaluation of {id}"));
            }
        }
        self.scores.extend(candidate.scores.iter().map(|(by, score)| ((*id, *by), score.clone())));
        for link in guest_links.keys() {
            self.count((format!("GUESTS#{company}"), format!("{project}#{id}#{link}")), []);
        }
        self.known_links.insert(*id, guest_links.keys().copied().collect());
        if let Some(username) = &profile.username {
            self.count((login(company.as_str(), username.as_str()), "USERNAME".to_owned()), []);
        }
        let emails = candidate.account_email().held();
        let logins: BTreeSet<_> = emails
            .map(|email| (login(company.as_str(), email.as_str()), format!("CANDIDATE#{id}")))
            .collect();
        for key in logins {
            self.count(key, []);
        }
        if let Some(external_id) = &profile.external_id {
            let leads_to = [("project", project.to_string()), ("candidate", id.to_string())];
            self.expect_key(company, external_id, format!("CANDIDATE_OF#{project}"), leads_to);
        }
        if candidate.open_help_request().is_some() {
            self.count((format!("COMPANY#{company}#PROJECT#{project}"), format!("HELP#{id}")), []);
        }
        for (share, customer) in shares {
            let note = self
                .items
                .entry((format!("COMPANY#{company}#CUSTOMER#{customer}"), format!("SHARE#{share}")));
            let candidate = [("project", project.to_string()), ("candidate", id.to_string())];
            note.or_default().extend(candidate.map(|(name, id)| (name.to_owned(), id.into())));
        }
        if let Some(summary) = ResultSummary::of(candidate) {
            let summary = serde_json::to_value(summary).expect("JSON");
            let summary = summary.as_object().cloned().unwrap_or_default();
            let key = (format!("COMPANY#{company}#PROJECT#{project}"), format!("RESULT#{id}"));
            self.items.entry(key).or_default().extend(summary);
        }
        for (key, attributes) in search_entries(candidate) {
            let attributes = attributes.map(|(name, value)| (name.to_owned(), value.into()));
            self.items.entry(key).or_default().extend(attributes);
        }
    }

    /// Working guest links that their candidate's item does not list. Links of deleted candidates wait for the outbox.
    pub(super) fn unknown_guest_links(&self) -> Vec<String> {
        let is_unknown = |link: &&GuestLink| {
            let is_later = |other: &GuestLinkId| other.created_at() >= link.ends_at;
            // Deleted links are not listed, nor ended links once a later one was created.
            let has_ended = |known: &BTreeSet<_>| link.withdrawn_at.is_some() || known.iter().any(is_later);
            let known = self.known_links.get(&link.candidate);
            known.is_some_and(|known| !known.contains(&link.id) && !has_ended(known))
        };
        self.guest_links
            .iter()
            .filter(is_unknown)
            .map(|link| format!("{link:?} follows from nothing"))
            .collect()
    }

    /// Expects the uniqueness marker of an `external_id`, which refers to the resource with the key.
    fn expect_key<const N: usize>(
        &mut self,
        company: &CompanyId,
        external_id: &ExternalId,
        sk: String,
        leads_to: [(&str, String); N],
    ) {
        let key = (format!("EXTERNAL#{company}#{}", SecretHash::of(external_id.as_str()).as_str()), sk);
        let leads_to = leads_to.map(|(name, id)| (name.to_owned(), id.into()));
        if self.items.insert(key, leads_to.into()).is_some() {
            self.wrong.push(format!("two have the key {external_id:?}"));
        }
    }

    /// Expects an item, and adds to its counters.
    fn count(&mut self, key: Key, counters: impl IntoIterator<Item = (String, i64)>) {
        let attributes = self.items.entry(key).or_default();
        for (counter, by) in counters {
            let count = attributes.get(&counter).and_then(Value::as_i64).unwrap_or(0) + by;
            attributes.insert(counter, count.into());
        }
    }

    /// Expects a candidate in the index by due date at the earliest of their deadline, next reminder and erasure date.
    fn check_candidate_due(&mut self, key: &Key, item: &Item, candidate: &Candidate) {
        let last = candidate.id.to_bytes()[15];
        let deadline = candidate.expires_at().into_iter().chain(candidate.next_reminder_at()).min();
        match (deadline, candidate.erasure_request.map(|request| request.due_at)) {
            (deadline, Some(erasure)) if deadline.is_none_or(|deadline| erasure < deadline) => {
                self.check_due(key, item, 38 + last % 4, Some(erasure));
            }
            (deadline, _) => self.check_due(key, item, last % 16, deadline),
        }
    }

    fn check_due(&mut self, key: &Key, item: &Item, shard: u8, at: Option<DateTime<Utc>>) {
        let place = [item.get("due_shard"), item.get("due_at")];
        let expected = |at: String| [Some(AttributeValue::N(shard.to_string())), Some(string(at))];
        let at = at.map(|at| at.format("%Y-%m-%dT%H:%M:%SZ").to_string());
        // Allow the form without the company, which the last release wrote.
        let allowed = match &at {
            // Only events of a waiting company may be due: they get numbers, such as that of a new password.
            _ if self.waiting.contains(&company_in(key, item)) && !key.0.starts_with("HISTORY#") => {
                vec![[None, None]]
            }
            None => vec![[None, None]],
            Some(at) => vec![expected(format!("{at}#{}", company_in(key, item))), expected(at.clone())],
        };
        if !allowed.contains(&place.map(|value| value.cloned())) {
            self.wrong.push(format!("{key:?} becomes due at {place:?}, not {at:?}"));
        }
    }

    fn check_index(&mut self, key: &Key, item: &Item, partition: String) {
        let id = key.1.split_once('#').map(|(_, id)| id.to_owned()).unwrap_or_default();
        let place = [item.get("by_status_pk"), item.get("by_status_sk")];
        if place != [Some(&string(partition)), Some(&string(id))] {
            self.wrong.push(format!("{key:?} stands in the index at {place:?}"));
        }
    }
}

/// The company of an item with a due date.
fn company_in(key: &Key, item: &Item) -> String {
    let named = item.get("company").and_then(|company| company.as_s().ok());
    let of_history = key.0.strip_prefix("HISTORY#").and_then(|rest| Some(rest.split_once('#')?.0));
    named.map(String::as_str).or(of_history).unwrap_or_default().to_owned()
}

/// The counters of a shard that one candidate increases by 1.
fn counted(candidate: &Candidate) -> Vec<(String, i64)> {
    let mut counters = BTreeSet::from([format!("status:{}", candidate.status.as_str())]);
    if candidate.status == CandidateStatus::Interviewed {
        let vetoed = candidate.vetoed_set().to_string();
        let vetoed = if vetoed == "0" { String::new() } else { format!(":{vetoed}") };
        counters.insert(format!("evaluated_by:{}{vetoed}", candidate.completed_set()));
    }
    counters.into_iter().map(|counter| (counter, 1)).collect()
}

fn shard_key(candidate: &Candidate) -> Key {
    let partition = format!("COMPANY#{}#PROJECT#{}", candidate.company, candidate.project);
    (partition, format!("TALLY#{}", shard_of(candidate.id)))
}

fn company_counts(company: &CompanyId) -> Key {
    (format!("COMPANY#{company}"), "TALLY".to_owned())
}

fn login(company: &str, name: &str) -> String {
    format!("LOGIN#{company}#{}", fold_case(name))
}
