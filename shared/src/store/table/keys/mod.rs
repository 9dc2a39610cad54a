//! Every key of the table. `shared/TABLE.md` shows them side by side.

pub(in crate::store) mod search;

pub(crate) use super::key::{BY_STATUS, DUE, ItemCollection, ItemKey, KeySchema, PK, SEARCH, SK, TABLE};
use crate::domain::account::{Account, Principal};
use crate::domain::candidate::CandidateStatus;
use crate::domain::history::INTERVIEW_HISTORY;
use crate::domain::id::{
    CandidateId, CompanyId, CustomerId, ExportId, FileId, GuestLinkId, LabelId, LogoId, ProjectId,
    QuestionId, TakeRef, TokenId, VideoId, WebhookId,
};
use crate::domain::language::Language;
use crate::domain::privacy::legal::LegalTextId;
use crate::domain::project::ProjectStatus;
use crate::domain::secret::SecretHash;
use crate::domain::staff::help_notice::HelpRecipient;
use crate::domain::staff::named_token::{NamedToken, TokenProof};
use crate::domain::text::{ExternalId, fold_case};

pub(crate) const COMPANY: &str = "COMPANY";
/// The sort key of a [`company_erasure`].
pub(in crate::store) const COMPANY_ERASURE: &str = "ERASURE";
/// The sort key of a company's [`sequence`].
pub(in crate::store) const SEQUENCE: &str = "SEQUENCE";

// Prefixes of keys that a restore of the table does not touch: `store/upkeep/restore.rs`.
/// The partition that lists the conversion queues, and the prefix of each company's queue of recordings.
pub(in crate::store) const CONVERSIONS: &str = "CONVERSIONS";
pub(in crate::store) const EFFECT: &str = "EFFECT#";
/// The prefix of the partition of a company's exports.
pub(in crate::store) const EXPORTS: &str = "EXPORTS#";
pub(in crate::store) const FAILURES: &str = "FAILURES#";
pub(in crate::store) const GUESTS: &str = "GUESTS#";
/// The prefix of the partition of a company's notices: about ended interviews and requests for help.
pub(in crate::store) const NOTICES: &str = "NOTICES#";
pub(in crate::store) const RESET: &str = "RESET#";
pub(in crate::store) const SESSION: &str = "SESSION#";
/// The prefix of the keys of a named token with a value: of the sort key in its company, and of the partition key of its copy.
pub(in crate::store) const TOKEN: &str = "TOKEN#";
/// The prefix of the partition of a company's named tokens that trust a workload.
pub(in crate::store) const TRUSTS: &str = "TRUSTS#";
/// The prefix of the partition of a token that an exchange has made.
pub(in crate::store) const EXCHANGED: &str = "EXCHANGED#";
pub(in crate::store) const UPLOAD: &str = "UPLOAD#";
/// The prefix of a webhook's sort key in its company, and of the partition of its cursor, attempts and stalled resources.
pub(in crate::store) const WEBHOOK: &str = "WEBHOOK#";

fn company_partition(c: &CompanyId) -> String {
    format!("COMPANY#{c}")
}

fn customer_partition(c: &CompanyId, u: CustomerId) -> String {
    format!("COMPANY#{c}#CUSTOMER#{u}")
}

fn project_partition(c: &CompanyId, p: ProjectId) -> String {
    format!("COMPANY#{c}#PROJECT#{p}")
}

pub(crate) fn company(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), COMPANY)
}

pub(crate) fn company_counts(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), "TALLY")
}

/// The policy for how long a company keeps candidates.
pub(crate) fn retention_policy(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), "RETENTION")
}

/// The next or current retention run of a company.
pub(crate) fn retention_run(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), "RETENTION#RUN")
}

pub(crate) fn sign_in_settings(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), "SIGN_IN")
}

/// The erasure of a company. It replaces the item [`company`].
pub(crate) fn company_erasure(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), COMPANY_ERASURE)
}

/// The sort key of imports.
pub(crate) const IMPORT: &str = "IMPORT";

pub(crate) fn company_import(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), IMPORT)
}

/// The keys that verify receipts from before a company's import, by their thumbprints.
pub(crate) fn receipt_keys(c: &CompanyId) -> ItemCollection {
    ItemCollection { pk: company_partition(c), prefix: "RECEIPT_KEY#" }
}

pub(crate) fn exports(c: &CompanyId) -> ItemCollection {
    // A partition of their own, to keep load off the company's partition, which every request reads.
    ItemCollection { pk: format!("{EXPORTS}{c}"), prefix: "EXPORT#" }
}

pub(crate) fn export(c: &CompanyId, e: ExportId) -> ItemKey {
    exports(c).key(e)
}

/// The latest export of a company. Each request for an export replaces this item.
pub(crate) fn latest_export(c: &CompanyId) -> ItemKey {
    ItemKey::new(exports(c).pk, "LATEST")
}

/// The versions of a company's legal texts.
pub(crate) fn legal_texts(c: &CompanyId) -> ItemCollection {
    // A partition of their own: anyone may read legal texts, and that must not slow down the company's partition, which
    // every request reads.
    ItemCollection { pk: format!("LEGAL#{c}"), prefix: "" }
}

pub(crate) fn legal_text(c: &CompanyId, id: LegalTextId) -> ItemKey {
    legal_texts(c).key(format!("{}#{}", id.kind.as_str(), version(id.version.into())))
}

/// The picture of a company's logo, by the identifier in its URL, so that the URL of a former logo finds nothing.
pub(crate) fn logos(c: &CompanyId) -> ItemCollection {
    // A partition of its own, as for legal texts: everyone who opens a mail loads the logo.
    ItemCollection { pk: format!("LOGO#{c}"), prefix: "" }
}

pub(crate) fn logo(c: &CompanyId, l: LogoId) -> ItemKey {
    logos(c).key(l)
}

/// A key that no item has.
pub(crate) fn absent_key() -> ItemKey {
    ItemKey::new("NOTHING".to_owned(), "NOTHING")
}

pub(crate) fn customers(c: &CompanyId) -> ItemCollection {
    ItemCollection { pk: company_partition(c), prefix: "CUSTOMER#" }
}

pub(crate) fn customer(c: &CompanyId, u: CustomerId) -> ItemKey {
    customers(c).key(u)
}

pub(crate) fn account(c: &CompanyId, account: Account) -> ItemKey {
    match account {
        Account::Customer { customer: u } => customer(c, u),
        Account::Candidate { project: p, candidate: k } => candidate(c, p, k),
    }
}

pub(crate) fn projects(c: &CompanyId) -> ItemCollection {
    ItemCollection { pk: company_partition(c), prefix: "PROJECT#" }
}

pub(crate) fn project(c: &CompanyId, p: ProjectId) -> ItemKey {
    projects(c).key(p)
}

pub(crate) fn videos(c: &CompanyId) -> ItemCollection {
    // A partition of their own, so that the function that converts videos has access to nothing else of a company.
    ItemCollection { pk: format!("VIDEOS#{c}"), prefix: "" }
}

pub(crate) fn video(c: &CompanyId, v: VideoId) -> ItemKey {
    videos(c).key(v)
}

/// The captions of a company's videos.
pub(crate) fn all_captions(c: &CompanyId) -> ItemCollection {
    // Not in the partition of the videos: listing videos would read the captions too.
    ItemCollection { pk: format!("CAPTIONS#{c}"), prefix: "" }
}

pub(crate) fn captions(c: &CompanyId, v: VideoId, language: Language) -> ItemKey {
    all_captions(c).key(format!("{v}#{}", language.as_str()))
}

pub(crate) fn labels(c: &CompanyId) -> ItemCollection {
    ItemCollection { pk: company_partition(c), prefix: "LABEL#" }
}

pub(crate) fn label(c: &CompanyId, l: LabelId) -> ItemKey {
    labels(c).key(l)
}

/// The unique marker of a label's text.
pub(crate) fn label_by_text(c: &CompanyId, text: &str) -> ItemKey {
    // Hashed, because folding can make a text longer than a key may be.
    ItemKey::new(format!("LABEL#{c}#{}", SecretHash::of(&fold_case(text)).as_str()), "TEXT")
}

/// The partition of the unique markers of one `external_id`: that of a project and those of candidates.
fn external_id_partition(c: &CompanyId, external_id: &ExternalId) -> String {
    // Hashed, because the table's stream carries keys, and stream records outlive the erasure of a candidate.
    format!("EXTERNAL#{c}#{}", SecretHash::of(external_id.as_str()).as_str())
}

/// The unique marker of a project's `external_id`.
pub(crate) fn project_by_external_id(c: &CompanyId, external_id: &ExternalId) -> ItemKey {
    // Not the sort key `PROJECT`: other releases read items with that key as projects.
    ItemKey::new(external_id_partition(c, external_id), "PROJECT_OF_COMPANY")
}

/// The unique markers of candidates with one `external_id`, by project.
pub(crate) fn candidates_by_external_id(c: &CompanyId, external_id: &ExternalId) -> ItemCollection {
    ItemCollection { pk: external_id_partition(c, external_id), prefix: "CANDIDATE_OF#" }
}

/// The projects where a customer has a role.
pub(crate) fn memberships(c: &CompanyId, u: CustomerId) -> ItemCollection {
    ItemCollection { pk: customer_partition(c, u), prefix: "PROJECT#" }
}

/// The notices to the staff of a company.
pub(crate) fn notices(c: &CompanyId) -> ItemCollection {
    // A partition of their own, to keep load off the company's partition, which every request reads.
    ItemCollection { pk: format!("{NOTICES}{c}"), prefix: "" }
}

/// The wave of ended interviews: the position in the feed from which staff have yet to be notified.
pub(crate) fn interview_wave(c: &CompanyId) -> ItemKey {
    notices(c).key("WAVE")
}

/// The next morning on which the evaluators of a company are reminded.
pub(crate) fn evaluation_round(c: &CompanyId) -> ItemKey {
    notices(c).key("EVALUATIONS")
}

/// The ended interviews that wait for the next mail to a customer.
pub(crate) fn interview_notice(c: &CompanyId, u: CustomerId) -> ItemKey {
    notices(c).key(u)
}

/// The requests for help that wait for the next mail to a recipient.
pub(crate) fn help_notice(c: &CompanyId, recipient: HelpRecipient) -> ItemKey {
    ItemCollection { pk: notices(c).pk, prefix: "HELP#" }.key(recipient.name())
}

/// The shares that let a customer read candidates.
pub(crate) fn shares(c: &CompanyId, u: CustomerId) -> ItemCollection {
    ItemCollection { pk: customer_partition(c, u), prefix: "SHARE#" }
}

pub(crate) fn candidates(c: &CompanyId, p: ProjectId) -> ItemCollection {
    ItemCollection { pk: project_partition(c, p), prefix: "CANDIDATE#" }
}

pub(crate) fn candidate(c: &CompanyId, p: ProjectId, k: CandidateId) -> ItemKey {
    candidates(c, p).key(k)
}

/// The candidate whose item has this key; `None` for other items.
pub(crate) fn candidate_in(key: &ItemKey) -> Option<CandidateId> {
    key.sk.strip_prefix("CANDIDATE#")?.parse().ok()
}

/// The questions and criteria of a project.
pub(crate) fn questionnaire(c: &CompanyId, p: ProjectId) -> ItemKey {
    ItemKey::new(project_partition(c, p), "INTERVIEW")
}

/// The evaluations of a project, by candidate and evaluator.
pub(crate) fn evaluations(c: &CompanyId, p: ProjectId) -> ItemCollection {
    ItemCollection { pk: format!("{}#EVALUATIONS", project_partition(c, p)), prefix: "" }
}

pub(crate) fn evaluation(c: &CompanyId, p: ProjectId, k: CandidateId, u: CustomerId) -> ItemKey {
    evaluations(c, p).key(format!("{k}#{u}"))
}

/// The answers of a project's candidates, by candidate.
pub(crate) fn all_answers(c: &CompanyId, p: ProjectId) -> ItemCollection {
    // Partitions of their own, so that the IAM policies of functions can tell answers from candidates.
    ItemCollection { pk: format!("ANSWERS#{c}#{p}"), prefix: "" }
}

pub(crate) fn answers(c: &CompanyId, p: ProjectId, k: CandidateId) -> ItemKey {
    all_answers(c, p).key(k)
}

/// The written answers of a candidate, by question.
pub(crate) fn written_answers(c: &CompanyId, p: ProjectId, k: CandidateId) -> ItemCollection {
    // Not in the partition of the answers: the function that converts takes has no right to read texts.
    ItemCollection { pk: format!("TEXTS#{c}#{p}#{k}"), prefix: "" }
}

pub(crate) fn written_answer(c: &CompanyId, p: ProjectId, k: CandidateId, q: QuestionId) -> ItemKey {
    written_answers(c, p, k).key(q)
}

/// The captions of a candidate's answers, by take and language.
pub(crate) fn answer_captions(c: &CompanyId, p: ProjectId, k: CandidateId) -> ItemCollection {
    // Not in the partition of the texts, which is read as a whole, nor in that of the captions of videos: some
    // functions have access only to those.
    ItemCollection { pk: format!("TAKE_CAPTIONS#{c}#{p}#{k}"), prefix: "" }
}

/// The prefix of the sort keys of a take's captions.
pub(in crate::store) fn captions_of_take(take: TakeRef) -> String {
    format!("{}#{}#", take.question, take.number)
}

pub(crate) fn captions_of_answer(
    c: &CompanyId,
    p: ProjectId,
    k: CandidateId,
    take: TakeRef,
    language: Language,
) -> ItemKey {
    answer_captions(c, p, k).key(format!("{}{}", captions_of_take(take), language.as_str()))
}

/// The guest links of a company's candidates.
pub(crate) fn guest_links(c: &CompanyId) -> ItemCollection {
    // A partition of their own, so that a guest's requests have access to nothing else of the company, and a restore of
    // the table leaves guest links as they are.
    ItemCollection { pk: format!("{GUESTS}{c}"), prefix: "" }
}

/// The prefix of the sort keys of the guest links of a candidate.
pub(in crate::store) fn guest_links_of(p: ProjectId, k: CandidateId) -> String {
    format!("{p}#{k}#")
}

pub(crate) fn guest_link(c: &CompanyId, p: ProjectId, k: CandidateId, l: GuestLinkId) -> ItemKey {
    guest_links(c).key(format!("{}{l}", guest_links_of(p, k)))
}

/// The conversion queues, one for each company with recordings that wait for their conversion.
pub(crate) fn conversion_queues() -> ItemCollection {
    ItemCollection { pk: CONVERSIONS.to_owned(), prefix: "" }
}

/// The recordings of a company that wait for their conversion, those that have waited longest first.
pub(crate) fn waiting_recordings(c: &CompanyId) -> ItemCollection {
    ItemCollection { pk: format!("{CONVERSIONS}#{c}"), prefix: "" }
}

/// The summaries of evaluations of a project's candidates, by candidate.
pub(crate) fn results(c: &CompanyId, p: ProjectId) -> ItemCollection {
    ItemCollection { pk: project_partition(c, p), prefix: "RESULT#" }
}

pub(crate) fn result(c: &CompanyId, p: ProjectId, k: CandidateId) -> ItemKey {
    results(c, p).key(k)
}

/// The candidate of the summary with this key; `None` for other items.
pub(crate) fn result_in(key: &ItemKey) -> Option<CandidateId> {
    key.sk.strip_prefix("RESULT#")?.parse().ok()
}

/// The marks of a project's candidates whose request for help is open, by candidate.
pub(crate) fn open_help_requests(c: &CompanyId, p: ProjectId) -> ItemCollection {
    ItemCollection { pk: project_partition(c, p), prefix: "HELP#" }
}

pub(crate) fn counts_shard(c: &CompanyId, p: ProjectId, shard: u8) -> ItemKey {
    ItemKey::new(project_partition(c, p), format!("TALLY#{shard}"))
}

/// The unique marker of a username. Staff and candidates of a company share one namespace.
pub(crate) fn login_username(c: &CompanyId, name: &str) -> ItemKey {
    ItemKey::new(login_partition(c, name), "USERNAME")
}

/// The unique marker of a customer's email address.
pub(crate) fn login_email(c: &CompanyId, email: &str) -> ItemKey {
    ItemKey::new(login_partition(c, email), "EMAIL")
}

/// The candidates with an email address.
pub(crate) fn login_candidates(c: &CompanyId, email: &str) -> ItemCollection {
    ItemCollection { pk: login_partition(c, email), prefix: "CANDIDATE#" }
}

/// The partition of all accounts with this username or email address.
pub(crate) fn login_partition(c: &CompanyId, name: &str) -> String {
    format!("LOGIN#{c}#{}", fold_case(name))
}

/// A partition without items, to be read for a name that no account can have.
pub(crate) fn no_login_partition(c: &str, name: &str) -> String {
    format!("LOGIN##{}", SecretHash::of(&format!("{c}#{name}")).as_str())
}

/// The recent failed logins of a name, by the hash of its login partition.
pub(crate) fn login_failures(name: &SecretHash) -> ItemKey {
    ItemKey::new(format!("{FAILURES}{}", name.as_str()), "FAILURES")
}

pub(crate) fn session(hash: &SecretHash) -> ItemKey {
    // Hashed, so that the table or a backup contains no usable session.
    ItemKey::alone(format!("{SESSION}{}", hash.as_str()))
}

pub(crate) fn token_by_hash(hash: &SecretHash) -> ItemKey {
    ItemKey::alone(format!("{TOKEN}{}", hash.as_str()))
}

/// The named tokens of a company that trust a workload.
pub(crate) fn trusting_tokens(c: &CompanyId) -> ItemCollection {
    // A partition of their own: unauthenticated requests read it, and must not slow down the company's partition, which
    // every request reads.
    ItemCollection { pk: format!("{TRUSTS}{c}"), prefix: "" }
}

/// The copy of a named token that requests with the token read: by the hash of its value or, if it trusts a workload,
/// among its company's trusting tokens.
pub(crate) fn token_copy(token: &NamedToken) -> ItemKey {
    match &token.proof {
        TokenProof::Value { hash, .. } => token_by_hash(hash),
        TokenProof::Trust(_) | TokenProof::ImportedTrust(_) => trusting_token(&token.company, token.id),
    }
}

pub(crate) fn trusting_token(c: &CompanyId, t: TokenId) -> ItemKey {
    trusting_tokens(c).key(t)
}

/// A token that an exchange has made.
pub(crate) fn exchanged_token(hash: &SecretHash) -> ItemKey {
    ItemKey::alone(format!("{EXCHANGED}{}", hash.as_str()))
}

pub(crate) fn tokens(c: &CompanyId) -> ItemCollection {
    ItemCollection { pk: company_partition(c), prefix: TOKEN }
}

pub(crate) fn token(c: &CompanyId, t: TokenId) -> ItemKey {
    tokens(c).key(t)
}

pub(crate) fn effect(id: &str) -> ItemKey {
    ItemKey::new(format!("{EFFECT}{id}"), "EFFECT")
}

/// The identifier of the effect with this partition key; `None` for other items.
pub fn effect_in(pk: &str) -> Option<&str> {
    pk.strip_prefix(EFFECT)
}

pub(crate) fn upload(f: FileId) -> ItemKey {
    ItemKey::new(format!("{UPLOAD}{f}"), "UPLOAD")
}

/// The sender of requests with an `Idempotency-Key`: the account, whichever credential it presents.
pub(crate) fn sender(c: &CompanyId, by: Principal) -> String {
    format!("{c} {by}")
}

/// The sender of requests with an `Idempotency-Key` if a named token authenticates them.
pub(crate) fn token_sender(hash: &SecretHash) -> String {
    format!("token {}", hash.as_str())
}

/// The identifier of a request with an `Idempotency-Key`: the hash of its sender, route and key.
pub(crate) fn idempotency_id(name: &str) -> String {
    SecretHash::of(name).as_str().to_owned()
}

pub(crate) fn idempotency(id: &str) -> ItemKey {
    ItemKey::alone(format!("IDEMPOTENCY#{id}"))
}

/// A further part of the response that the `version`th write of [`idempotency`] stores.
pub(crate) fn idempotency_part(id: &str, version: u64, part: usize) -> ItemKey {
    ItemKey::new(format!("IDEMPOTENCY#{id}"), format!("PART#{version}#{part}"))
}

/// The candidates that the first attempt at a bulk action has selected.
pub(crate) fn idempotency_selection(id: &str) -> ItemKey {
    ItemKey::new(format!("IDEMPOTENCY#{id}"), "SELECTION")
}

/// The marks of those entries of a bulk action that are done, by their index in the request.
pub(crate) fn idempotency_entries(id: &str) -> ItemCollection {
    ItemCollection { pk: format!("IDEMPOTENCY#{id}"), prefix: "ENTRY#" }
}

/// One of the slots that limit a company's concurrent imports and bulk actions.
pub(crate) fn bulk_slot(c: &CompanyId, number: u8) -> ItemKey {
    // A partition of their own, to keep load off the company's partition, which every request reads.
    ItemKey::new(format!("BULK#{c}"), format!("SLOT#{number}"))
}

pub(crate) fn reset_request(name: &SecretHash) -> ItemKey {
    ItemKey::new(format!("{RESET}{}", name.as_str()), "RESET")
}

pub(crate) fn reset_mail(address: &SecretHash) -> ItemKey {
    ItemKey::new(format!("{RESET}{}", address.as_str()), "MAIL")
}

/// The history of a resource, by [`version`].
pub(crate) fn history(c: &CompanyId, id: &str) -> ItemCollection {
    ItemCollection { pk: format!("HISTORY#{c}#{id}"), prefix: "" }
}

pub(crate) fn entry(c: &CompanyId, history_id: &str, version: u64) -> ItemKey {
    history(c, history_id).key(self::version(version))
}

/// The partition of the history of a candidate's interview. `pk` is the partition of the candidate's own history.
pub(crate) fn interview_history(pk: &str) -> String {
    format!("{pk}{INTERVIEW_HISTORY}")
}

/// Formats a version of a resource for the sort keys of its history.
pub(crate) fn version(version: u64) -> String {
    // Padded with zeros, because DynamoDB sorts the keys as text.
    format!("{version:010}")
}

/// The company and the identifier of the history with this partition key; `None` for other items.
pub(crate) fn in_history(pk: &str) -> Option<(CompanyId, &str)> {
    let (company, id) = pk.strip_prefix("HISTORY#")?.split_once('#')?;
    Some((company.parse().ok()?, id))
}

pub(crate) fn webhooks(c: &CompanyId) -> ItemCollection {
    ItemCollection { pk: company_partition(c), prefix: WEBHOOK }
}

pub(crate) fn webhook(c: &CompanyId, w: WebhookId) -> ItemKey {
    webhooks(c).key(w)
}

fn webhook_partition(w: WebhookId) -> String {
    format!("{WEBHOOK}{w}")
}

pub(crate) fn cursor(w: WebhookId) -> ItemKey {
    ItemKey::new(webhook_partition(w), "CURSOR")
}

/// The resources with an event that the webhook has not accepted, by the identifiers of their histories.
pub(crate) fn stalled_resources(w: WebhookId) -> ItemCollection {
    ItemCollection { pk: webhook_partition(w), prefix: "STALLED#" }
}

/// The attempts to deliver events to a webhook.
pub(crate) fn attempts(w: WebhookId) -> ItemCollection {
    ItemCollection { pk: webhook_partition(w), prefix: "ATTEMPT#" }
}

/// The webhook with this partition key; `None` for other items.
pub(crate) fn in_webhook(pk: &str) -> Option<WebhookId> {
    pk.strip_prefix(WEBHOOK)?.parse().ok()
}

/// The company with this partition key; `None` for other items.
pub(crate) fn in_company(pk: &str) -> Option<CompanyId> {
    pk.strip_prefix("COMPANY#")?.parse().ok()
}

/// The last number that was given to an event of a company.
pub(crate) fn sequence(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), SEQUENCE)
}

/// The usage of a company in its closed months.
pub(crate) fn closed_usage(c: &CompanyId) -> ItemKey {
    ItemKey::new(company_partition(c), "USAGE")
}

/// Formats the number of an event as the index by status sorts it.
pub(crate) fn event_number(sequence: u64) -> String {
    format!("{sequence:020}")
}

/// The partition of a company's numbered events in the index by status.
pub(crate) fn events(c: &CompanyId) -> String {
    format!("COMPANY#{c}#EVENTS")
}

/// The mark that an event of the platform was applied.
pub(crate) fn event(id: &str) -> ItemKey {
    ItemKey::new(format!("EVENT#{id}"), "EVENT")
}

pub(crate) fn projects_by_status(c: &CompanyId, status: ProjectStatus) -> String {
    format!("COMPANY#{c}#PROJECTS#{}", status.as_str())
}

pub(crate) fn candidates_by_status(c: &CompanyId, p: ProjectId, status: CandidateStatus) -> String {
    format!("COMPANY#{c}#PROJECT#{p}#CANDIDATES#{}", status.as_str())
}
