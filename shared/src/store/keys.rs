//! Every key of the table. The entity chart in `shared/README.md` shows them side by side.

pub(crate) use super::key::{BY_STATUS, Collection, DUE, Index, Key, PK, SEARCH, SK, TABLE};
use crate::domain::account::{Account, Principal};
use crate::domain::candidate::CandidateStatus;
use crate::domain::id::{
    CandidateId, CompanyId, CustomerId, FileId, LabelId, ProjectId, TokenId, VideoId, WebhookId,
};
use crate::domain::project::ProjectStatus;
use crate::domain::search::Source;
use crate::domain::secret::SecretHash;
use crate::domain::text::fold_case;

pub(crate) const COMPANY: &str = "COMPANY";

fn company_partition(c: &CompanyId) -> String {
    format!("COMPANY#{c}")
}

fn customer_partition(c: &CompanyId, u: CustomerId) -> String {
    format!("COMPANY#{c}#CUSTOMER#{u}")
}

fn project_partition(c: &CompanyId, p: ProjectId) -> String {
    format!("COMPANY#{c}#PROJECT#{p}")
}

pub(crate) fn company(c: &CompanyId) -> Key {
    Key::new(company_partition(c), COMPANY)
}

pub(crate) fn company_tally(c: &CompanyId) -> Key {
    Key::new(company_partition(c), "TALLY")
}

/// A key that no item has.
pub(crate) fn nothing() -> Key {
    Key::new("NOTHING".to_owned(), "NOTHING")
}

pub(crate) fn customers(c: &CompanyId) -> Collection {
    Collection { pk: company_partition(c), prefix: "CUSTOMER#" }
}

pub(crate) fn customer(c: &CompanyId, u: CustomerId) -> Key {
    customers(c).key(u)
}

pub(crate) fn account(c: &CompanyId, account: Account) -> Key {
    match account {
        Account::Customer { customer: u } => customer(c, u),
        Account::Candidate { project: p, candidate: k } => candidate(c, p, k),
    }
}

pub(crate) fn projects(c: &CompanyId) -> Collection {
    Collection { pk: company_partition(c), prefix: "PROJECT#" }
}

pub(crate) fn project(c: &CompanyId, p: ProjectId) -> Key {
    projects(c).key(p)
}

pub(crate) fn videos(c: &CompanyId) -> Collection {
    Collection { pk: company_partition(c), prefix: "VIDEO#" }
}

pub(crate) fn video(c: &CompanyId, v: VideoId) -> Key {
    videos(c).key(v)
}

pub(crate) fn labels(c: &CompanyId) -> Collection {
    Collection { pk: company_partition(c), prefix: "LABEL#" }
}

pub(crate) fn label(c: &CompanyId, l: LabelId) -> Key {
    labels(c).key(l)
}

/// The unique marker of a label's text. Hashed, since folding can make a text longer than a key may be.
pub(crate) fn label_by_text(c: &CompanyId, text: &str) -> Key {
    Key::new(format!("LABEL#{c}#{}", SecretHash::of(&fold_case(text)).as_str()), "TEXT")
}

/// The projects in which a customer has a role.
pub(crate) fn memberships(c: &CompanyId, u: CustomerId) -> Collection {
    Collection { pk: customer_partition(c, u), prefix: "PROJECT#" }
}

/// The shares by which a customer may read candidates.
pub(crate) fn shares(c: &CompanyId, u: CustomerId) -> Collection {
    Collection { pk: customer_partition(c, u), prefix: "SHARE#" }
}

pub(crate) fn candidates(c: &CompanyId, p: ProjectId) -> Collection {
    Collection { pk: project_partition(c, p), prefix: "CANDIDATE#" }
}

pub(crate) fn candidate(c: &CompanyId, p: ProjectId, k: CandidateId) -> Key {
    candidates(c, p).key(k)
}

/// The candidate whose item has this key; none for other items.
pub(crate) fn candidate_in(key: &Key) -> Option<CandidateId> {
    key.sk.strip_prefix("CANDIDATE#")?.parse().ok()
}

/// The questions and criteria of a project.
pub(crate) fn interview(c: &CompanyId, p: ProjectId) -> Key {
    Key::new(project_partition(c, p), "INTERVIEW")
}

/// What evaluators have written in a project. The identifiers are those of the candidate and of the evaluator.
pub(crate) fn scorecards(c: &CompanyId, p: ProjectId) -> Collection {
    Collection { pk: format!("{}#EVALUATIONS", project_partition(c, p)), prefix: "" }
}

pub(crate) fn scorecard(c: &CompanyId, p: ProjectId, k: CandidateId, u: CustomerId) -> Key {
    scorecards(c, p).key(format!("{k}#{u}"))
}

/// The summaries of the evaluations of candidates.
pub(crate) fn results(c: &CompanyId, p: ProjectId) -> Collection {
    Collection { pk: project_partition(c, p), prefix: "RESULT#" }
}

pub(crate) fn result(c: &CompanyId, p: ProjectId, k: CandidateId) -> Key {
    results(c, p).key(k)
}

/// The candidate of the summary with this key; none for other items.
pub(crate) fn result_in(key: &Key) -> Option<CandidateId> {
    key.sk.strip_prefix("RESULT#")?.parse().ok()
}

pub(crate) fn tally_shard(c: &CompanyId, p: ProjectId, shard: u8) -> Key {
    Key::new(project_partition(c, p), format!("TALLY#{shard}"))
}

/// The unique marker of a username, which staff and candidates share.
pub(crate) fn login_username(c: &CompanyId, name: &str) -> Key {
    Key::new(login_partition(c, name), "USERNAME")
}

/// The unique marker of a customer's email address.
pub(crate) fn login_email(c: &CompanyId, email: &str) -> Key {
    Key::new(login_partition(c, email), "EMAIL")
}

/// The candidates with an email address.
pub(crate) fn login_candidates(c: &CompanyId, email: &str) -> Collection {
    Collection { pk: login_partition(c, email), prefix: "CANDIDATE#" }
}

/// The partition of all accounts with this username or email address.
pub(crate) fn login_partition(c: &CompanyId, name: &str) -> String {
    format!("LOGIN#{c}#{}", fold_case(name))
}

/// The partition that is read for a name that no account can have.
pub(crate) fn no_login_partition(c: &str, name: &str) -> String {
    format!("LOGIN##{}", SecretHash::of(&format!("{c}#{name}")).as_str())
}

/// The recent failed logins of a name, by the hash of its login partition.
pub(crate) fn login_failures(name: &SecretHash) -> Key {
    Key::new(format!("FAILURES#{}", name.as_str()), "FAILURES")
}

pub(crate) fn session(hash: &SecretHash) -> Key {
    Key::alone(format!("SESSION#{}", hash.as_str()))
}

pub(crate) fn token_by_hash(hash: &SecretHash) -> Key {
    Key::alone(format!("TOKEN#{}", hash.as_str()))
}

pub(crate) fn tokens(c: &CompanyId) -> Collection {
    Collection { pk: company_partition(c), prefix: "TOKEN#" }
}

pub(crate) fn token(c: &CompanyId, t: TokenId) -> Key {
    tokens(c).key(t)
}

/// The first letters of words fall into so many groups; those of the Latin alphabet into one each.
const LETTER_GROUPS: u32 = 32;

/// The partition of the search entries of a project whose words come from `source` and begin as `start` does.
///
/// An import writes some ten entries per candidate, too many for one partition. The source and the first letter spread
/// them, and every search knows both.
pub(crate) fn search_words(c: &CompanyId, p: ProjectId, source: Source, start: &str) -> String {
    let letter = start.chars().next().map_or(0, u32::from);
    search_shard(c, p, source, letter % LETTER_GROUPS)
}

fn search_shard(c: &CompanyId, p: ProjectId, source: Source, group: u32) -> String {
    format!("SEARCH#{c}#{}#{group:02}#PROJECT#{p}", source_name(source))
}

/// All partitions of the search entries of a project, that of releases which had only one included.
pub(crate) fn all_search_words(c: &CompanyId, p: ProjectId) -> impl Iterator<Item = String> {
    let shards =
        Source::ALL.into_iter().flat_map(|source| (0..LETTER_GROUPS).map(move |group| (source, group)));
    let shards = shards.map(move |(source, group)| search_shard(c, p, source, group));
    shards.chain([format!("SEARCH#{c}#PROJECT#{p}")])
}

/// The partition of the index [`SEARCH`] for words with the first letter of `word`.
pub(crate) fn search_letter(c: &CompanyId, word: &str) -> String {
    let first: String = word.chars().take(1).collect();
    format!("SEARCH#{c}#LETTER#{first}")
}

/// The start of the sort keys of words from `source` that begin with `start`.
pub(crate) fn search_prefix(source: Source, start: &str) -> String {
    format!("{}#{start}", source_name(source))
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::FullName => "FULL",
        Source::Name => "NAME",
        Source::Email => "EMAIL",
    }
}

/// One word of a candidate. The space sorts whole words before longer ones; of one word the newest candidate comes first.
pub(crate) fn search_entry(
    c: &CompanyId,
    (word, source): (&str, Source),
    p: ProjectId,
    k: CandidateId,
) -> Key {
    Key::new(search_words(c, p, source, word), format!("{} {}", search_prefix(source, word), k.reversed()))
}

/// The parts of the key of a search entry.
pub(crate) fn in_search_entry(key: &Key) -> Option<(&str, Source, ProjectId, CandidateId)> {
    let (_, p) = key.pk.rsplit_once('#')?;
    let (word, k) = key.sk.rsplit_once(' ')?;
    let (word, source) = Source::ALL
        .into_iter()
        .find_map(|source| Some((word.strip_prefix(&search_prefix(source, ""))?, source)))?;
    Some((word, source, p.parse().ok()?, k.parse::<CandidateId>().ok()?.reversed()))
}

pub(crate) fn effect(id: &str) -> Key {
    Key::new(format!("EFFECT#{id}"), "EFFECT")
}

/// The identifier of the effect with this partition key; none for other items.
pub fn effect_in(pk: &str) -> Option<&str> {
    pk.strip_prefix("EFFECT#")
}

pub(crate) fn upload(f: FileId) -> Key {
    Key::new(format!("UPLOAD#{f}"), "UPLOAD")
}

/// The sender of requests with an Idempotency-Key, independent of the credential.
pub(crate) fn sender(c: &CompanyId, by: Principal) -> String {
    format!("{c} {by}")
}

/// The sender of requests with an Idempotency-Key that a named token authenticates.
pub(crate) fn token_sender(hash: &SecretHash) -> String {
    format!("token {}", hash.as_str())
}

/// The identifier of a request with an Idempotency-Key: the hash of its sender, route and key.
pub(crate) fn idempotency_id(name: &str) -> String {
    SecretHash::of(name).as_str().to_owned()
}

pub(crate) fn idempotency(id: &str) -> Key {
    Key::alone(format!("IDEMPOTENCY#{id}"))
}

/// A further part of the answer that the `version`th write of an attempt refers to.
pub(crate) fn idempotency_part(id: &str, version: u64, part: usize) -> Key {
    Key::new(format!("IDEMPOTENCY#{id}"), format!("PART#{version}#{part}"))
}

pub(crate) fn reset_request(name: &SecretHash) -> Key {
    Key::new(format!("RESET#{}", name.as_str()), "RESET")
}

pub(crate) fn reset_mail(address: &SecretHash) -> Key {
    Key::new(format!("RESET#{}", address.as_str()), "MAIL")
}

/// The history of a resource. The identifiers are versions, so that their texts sort like numbers.
pub(crate) fn history(c: &CompanyId, id: &str) -> Collection {
    Collection { pk: format!("HISTORY#{c}#{id}"), prefix: "" }
}

pub(crate) fn entry(c: &CompanyId, history_id: &str, version: u64) -> Key {
    history(c, history_id).key(self::version(version))
}

/// A version of a resource as its history sorts it.
pub(crate) fn version(version: u64) -> String {
    format!("{version:010}")
}

/// The company and the identifier of the history with this partition key; none for other items.
pub(crate) fn in_history(pk: &str) -> Option<(CompanyId, &str)> {
    let (company, id) = pk.strip_prefix("HISTORY#")?.split_once('#')?;
    Some((company.parse().ok()?, id))
}

pub(crate) fn webhooks(c: &CompanyId) -> Collection {
    Collection { pk: company_partition(c), prefix: "WEBHOOK#" }
}

pub(crate) fn webhook(c: &CompanyId, w: WebhookId) -> Key {
    webhooks(c).key(w)
}

fn webhook_partition(w: WebhookId) -> String {
    format!("WEBHOOK#{w}")
}

pub(crate) fn cursor(w: WebhookId) -> Key {
    Key::new(webhook_partition(w), "CURSOR")
}

/// The resources one of whose events a webhook has refused. The identifiers are those of their histories.
pub(crate) fn stalled_resources(w: WebhookId) -> Collection {
    Collection { pk: webhook_partition(w), prefix: "STALLED#" }
}

/// The attempts to deliver events to a webhook.
pub(crate) fn attempts(w: WebhookId) -> Collection {
    Collection { pk: webhook_partition(w), prefix: "ATTEMPT#" }
}

/// The webhook in whose partition this is; none for other items.
pub(crate) fn in_webhook(pk: &str) -> Option<WebhookId> {
    pk.strip_prefix("WEBHOOK#")?.parse().ok()
}

/// The company in whose partition this is; none for other items.
pub(crate) fn in_company(pk: &str) -> Option<CompanyId> {
    pk.strip_prefix("COMPANY#")?.parse().ok()
}

/// The last number that an event of a company has.
pub(crate) fn sequence(c: &CompanyId) -> Key {
    Key::new(company_partition(c), "SEQUENCE")
}

/// The number of an event as the index by status sorts it.
pub(crate) fn event_number(sequence: u64) -> String {
    format!("{sequence:020}")
}

/// The partition of a company's numbered events in the index by status.
pub(crate) fn events(c: &CompanyId) -> String {
    format!("COMPANY#{c}#EVENTS")
}

/// The mark of an event of the platform that was applied.
pub(crate) fn event(id: &str) -> Key {
    Key::new(format!("EVENT#{id}"), "EVENT")
}

pub(crate) fn projects_by_status(c: &CompanyId, status: ProjectStatus) -> String {
    format!("COMPANY#{c}#PROJECTS#{}", status.as_str())
}

pub(crate) fn candidates_by_status(c: &CompanyId, p: ProjectId, status: CandidateStatus) -> String {
    format!("COMPANY#{c}#PROJECT#{p}#CANDIDATES#{}", status.as_str())
}
