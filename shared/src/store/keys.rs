//! Every key of the table, and nowhere else. The entity chart in `shared/README.md` shows them side by side.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::domain::account::{Account, Principal};
use crate::domain::candidate::CandidateStatus;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, FileId, LabelId, ProjectId, TokenId, VideoId};
use crate::domain::project::ProjectStatus;
use crate::domain::search::Source;
use crate::domain::secret::SecretHash;
use crate::domain::text::fold_case;

/// The names of the table's key attributes.
pub(crate) const PK: &str = "pk";
/// The sort key's attribute.
pub(crate) const SK: &str = "sk";
/// The index over resources by their status.
pub(crate) const BY_STATUS: &str = "by_status";
/// Its partition key.
pub(crate) const BY_STATUS_PK: &str = "by_status_pk";
/// Its sort key.
pub(crate) const BY_STATUS_SK: &str = "by_status_sk";

/// The index over the words by which a company's candidates are found.
pub(crate) const SEARCH: &str = "search";
/// Its partition key.
pub(crate) const SEARCH_PK: &str = "search_pk";
/// Its sort key.
pub(crate) const SEARCH_SK: &str = "search_sk";

/// The index over what becomes due.
pub(crate) const DUE: &str = "due";
/// Its partition key.
pub(crate) const DUE_SHARD: &str = "due_shard";
/// Its sort key.
pub(crate) const DUE_AT: &str = "due_at";

/// How many partitions of that index candidates are spread over.
const CANDIDATE_SHARDS: u8 = 16;
/// How many partitions of that index effects are spread over.
const EFFECT_SHARDS: u8 = 4;
/// How many partitions of that index uploads are spread over.
const UPLOAD_SHARDS: u8 = 2;
/// How many partitions of that index videos are spread over.
const VIDEO_SHARDS: u8 = 2;

/// The primary key of one item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Partition key.
    pub(crate) pk: String,
    /// Sort key.
    pub(crate) sk: String,
}

impl Key {
    fn new(pk: String, sk: impl Into<String>) -> Self {
        Self { pk, sk: sk.into() }
    }
}

/// Items of one kind that stand side by side in one partition, in the order of their identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collection {
    /// Partition key.
    pub(crate) pk: String,
    /// What every sort key begins with.
    pub(crate) prefix: &'static str,
}

impl Collection {
    /// The key of the item whose identifier is `id`.
    pub(crate) fn key(&self, id: impl std::fmt::Display) -> Key {
        Key::new(self.pk.clone(), format!("{}{id}", self.prefix))
    }
}

/// The sort key of every company.
pub(crate) const COMPANY: &str = "COMPANY";

/// The company.
pub(crate) fn company(c: &CompanyId) -> Key {
    Key::new(format!("COMPANY#{c}"), COMPANY)
}

/// The counts of what a company owns.
pub(crate) fn company_tally(c: &CompanyId) -> Key {
    Key::new(format!("COMPANY#{c}"), "TALLY")
}

/// Where nothing stands.
pub(crate) fn nothing() -> Key {
    Key::new("NOTHING".to_owned(), "NOTHING")
}

/// All customers of a company.
pub(crate) fn customers(c: &CompanyId) -> Collection {
    Collection { pk: format!("COMPANY#{c}"), prefix: "CUSTOMER#" }
}

/// A customer.
pub(crate) fn customer(c: &CompanyId, u: CustomerId) -> Key {
    customers(c).key(u)
}

/// Somebody who can log in.
pub(crate) fn account(c: &CompanyId, account: Account) -> Key {
    match account {
        Account::Customer { customer: u } => customer(c, u),
        Account::Candidate { project: p, candidate: k } => candidate(c, p, k),
    }
}

/// All projects of a company.
pub(crate) fn projects(c: &CompanyId) -> Collection {
    Collection { pk: format!("COMPANY#{c}"), prefix: "PROJECT#" }
}

/// A project.
pub(crate) fn project(c: &CompanyId, p: ProjectId) -> Key {
    projects(c).key(p)
}

/// All welcome videos of a company.
pub(crate) fn videos(c: &CompanyId) -> Collection {
    Collection { pk: format!("COMPANY#{c}"), prefix: "VIDEO#" }
}

/// A welcome video.
pub(crate) fn video(c: &CompanyId, v: VideoId) -> Key {
    videos(c).key(v)
}

/// All labels of a company.
pub(crate) fn labels(c: &CompanyId) -> Collection {
    Collection { pk: format!("COMPANY#{c}"), prefix: "LABEL#" }
}

/// A label.
pub(crate) fn label(c: &CompanyId, l: LabelId) -> Key {
    labels(c).key(l)
}

/// The label with a text: unique in the company. Hashed, since folding can swell a text beyond what fits in a key.
pub(crate) fn label_by_text(c: &CompanyId, text: &str) -> Key {
    Key::new(format!("LABEL#{c}#{}", SecretHash::of(&fold_case(text)).as_str()), "TEXT")
}

/// The projects in which a customer has a role.
pub(crate) fn memberships(c: &CompanyId, u: CustomerId) -> Collection {
    Collection { pk: format!("COMPANY#{c}#CUSTOMER#{u}"), prefix: "PROJECT#" }
}

/// The shares by which a customer may read candidates.
pub(crate) fn shares(c: &CompanyId, u: CustomerId) -> Collection {
    Collection { pk: format!("COMPANY#{c}#CUSTOMER#{u}"), prefix: "SHARE#" }
}

/// All candidates of a project.
pub(crate) fn candidates(c: &CompanyId, p: ProjectId) -> Collection {
    Collection { pk: format!("COMPANY#{c}#PROJECT#{p}"), prefix: "CANDIDATE#" }
}

/// A candidate.
pub(crate) fn candidate(c: &CompanyId, p: ProjectId, k: CandidateId) -> Key {
    candidates(c, p).key(k)
}

/// The candidate whose item stands under a key, if it is one of a candidate.
pub(crate) fn candidate_in(key: &Key) -> Option<CandidateId> {
    key.sk.strip_prefix("CANDIDATE#")?.parse().ok()
}

/// One shard of a project's tally.
pub(crate) fn tally_shard(c: &CompanyId, p: ProjectId, shard: u8) -> Key {
    Key::new(format!("COMPANY#{c}#PROJECT#{p}"), format!("TALLY#{shard}"))
}

/// The account that a user name leads to: unique among staff and candidates.
pub(crate) fn login_username(c: &CompanyId, name: &str) -> Key {
    Key::new(login_partition(c, name), "USERNAME")
}

/// The customer that an email address leads to: unique among staff.
pub(crate) fn login_email(c: &CompanyId, email: &str) -> Key {
    Key::new(login_partition(c, email), "EMAIL")
}

/// All candidates that an email address leads to.
pub(crate) fn login_candidates(c: &CompanyId, email: &str) -> Collection {
    Collection { pk: login_partition(c, email), prefix: "CANDIDATE#" }
}

/// One of the candidates that an email address leads to.
pub(crate) fn login_candidate(c: &CompanyId, email: &str, k: CandidateId) -> Key {
    login_candidates(c, email).key(k)
}

/// All accounts that a name may lead to.
pub(crate) fn login_partition(c: &CompanyId, name: &str) -> String {
    format!("LOGIN#{c}#{}", fold_case(name))
}

/// Where a name stands that nobody can have.
pub(crate) fn no_login_partition(c: &str, name: &str) -> String {
    format!("LOGIN##{}", SecretHash::of(&format!("{c}#{name}")).as_str())
}

/// The recent failed logins of a name, by the hash of its login partition.
pub(crate) fn login_failures(name: &SecretHash) -> Key {
    Key::new(format!("FAILURES#{}", name.as_str()), "FAILURES")
}

/// A session, by the hash of the secret that its holder presents.
pub(crate) fn session(hash: &SecretHash) -> Key {
    let pk = format!("SESSION#{}", hash.as_str());
    Key::new(pk.clone(), pk)
}

/// A named token, by the hash of its value.
pub(crate) fn token_by_hash(hash: &SecretHash) -> Key {
    let pk = format!("TOKEN#{}", hash.as_str());
    Key::new(pk.clone(), pk)
}

/// All named tokens of a company.
pub(crate) fn tokens(c: &CompanyId) -> Collection {
    Collection { pk: format!("COMPANY#{c}"), prefix: "TOKEN#" }
}

/// A named token, by its identifier.
pub(crate) fn token(c: &CompanyId, t: TokenId) -> Key {
    tokens(c).key(t)
}

/// All words by which candidates of a project are found.
pub(crate) fn search_words(c: &CompanyId, p: ProjectId) -> String {
    format!("SEARCH#{c}#PROJECT#{p}")
}

/// The partition of the index over words in which those of a company's candidates stand that begin like `word`.
pub(crate) fn search_letter(c: &CompanyId, word: &str) -> String {
    let first: String = word.chars().take(1).collect();
    format!("SEARCH#{c}#LETTER#{first}")
}

/// What the sort keys of words from `source` begin with that begin with `start`.
pub(crate) fn search_prefix(source: Source, start: &str) -> String {
    let source = match source {
        Source::FullName => "FULL",
        Source::Name => "NAME",
        Source::Email => "EMAIL",
    };
    format!("{source}#{start}")
}

/// A word by which a candidate is found. A space sorts before all that a word has, and so whole words before longer
/// ones; of one word the newest candidate comes first.
pub(crate) fn search_entry(
    c: &CompanyId,
    (word, source): (&str, Source),
    p: ProjectId,
    k: CandidateId,
) -> Key {
    Key::new(search_words(c, p), format!("{} {}", search_prefix(source, word), k.reversed()))
}

/// The word, and the candidate that it leads to, in the key of a search entry.
pub(crate) fn in_search_entry(key: &Key) -> Option<(&str, Source, ProjectId, CandidateId)> {
    let (_, p) = key.pk.rsplit_once('#')?;
    let (word, k) = key.sk.rsplit_once(' ')?;
    let (word, source) = Source::ALL
        .into_iter()
        .find_map(|source| Some((word.strip_prefix(&search_prefix(source, ""))?, source)))?;
    Some((word, source, p.parse().ok()?, k.parse::<CandidateId>().ok()?.reversed()))
}

/// Something that is still to be done about a change.
pub(crate) fn effect(id: &str) -> Key {
    Key::new(format!("EFFECT#{id}"), "EFFECT")
}

/// The identifier of the effect with this partition key.
pub(crate) fn effect_in(pk: &str) -> Option<&str> {
    pk.strip_prefix("EFFECT#")
}

/// A file on its way.
pub(crate) fn upload(f: FileId) -> Key {
    Key::new(format!("UPLOAD#{f}"), "UPLOAD")
}

/// Who sends requests with an Idempotency-Key, whichever of their credentials they come with.
pub(crate) fn sender(c: &CompanyId, by: Principal) -> String {
    format!("{c} {by}")
}

/// The same of a named token, which is its own only credential.
pub(crate) fn token_sender(hash: &SecretHash) -> String {
    format!("token {}", hash.as_str())
}

/// The identifier of a request with an Idempotency-Key, by its name: for one sender, on one route, one key is one request.
pub(crate) fn idempotency_id(name: &str) -> String {
    SecretHash::of(name).as_str().to_owned()
}

/// What is known of a request with an Idempotency-Key.
pub(crate) fn idempotency(id: &str) -> Key {
    let pk = format!("IDEMPOTENCY#{id}");
    Key::new(pk.clone(), pk)
}

/// One more part of the answer to such a request, as the `version`th write of its item has it.
pub(crate) fn idempotency_part(id: &str, version: u64, part: usize) -> Key {
    Key::new(format!("IDEMPOTENCY#{id}"), format!("PART#{version}#{part}"))
}

/// When another password was last asked for, by the hash of the name.
pub(crate) fn reset_request(name: &SecretHash) -> Key {
    Key::new(format!("RESET#{}", name.as_str()), "RESET")
}

/// The last mail about forgotten passwords to an address, by the hash of the address.
pub(crate) fn reset_mail(address: &SecretHash) -> Key {
    Key::new(format!("RESET#{}", address.as_str()), "MAIL")
}

/// An event that has been dealt with.
pub(crate) fn event(id: &str) -> Key {
    Key::new(format!("EVENT#{id}"), "EVENT")
}

/// The partition of the index over what becomes due in which an upload stands.
pub(crate) fn upload_due_shard(f: FileId) -> u8 {
    CANDIDATE_SHARDS + EFFECT_SHARDS + f.to_bytes()[15] % UPLOAD_SHARDS
}

/// All partitions of that index in which uploads stand.
pub(crate) fn upload_due_shards() -> Range<u8> {
    let start = CANDIDATE_SHARDS + EFFECT_SHARDS;
    start..start + UPLOAD_SHARDS
}

/// The partition of the index over what becomes due in which a video stands.
pub(crate) fn video_due_shard(v: VideoId) -> u8 {
    upload_due_shards().end + v.to_bytes()[15] % VIDEO_SHARDS
}

/// All partitions of that index in which videos stand.
pub(crate) fn video_due_shards() -> Range<u8> {
    let start = upload_due_shards().end;
    start..start + VIDEO_SHARDS
}

/// The partition of the index over what becomes due in which an effect stands that was given up, under that moment.
pub(crate) fn given_up_shard(id: &str) -> u8 {
    video_due_shards().end + Sha256::digest(id)[0] % EFFECT_SHARDS
}

/// All partitions of that index in which such effects stand.
pub(crate) fn given_up_shards() -> Range<u8> {
    let start = video_due_shards().end;
    start..start + EFFECT_SHARDS
}

/// The partition of the index over what becomes due in which a candidate stands.
pub(crate) fn candidate_due_shard(k: CandidateId) -> u8 {
    k.to_bytes()[15] % CANDIDATE_SHARDS
}

/// The partition of the index over what becomes due in which an effect stands.
pub(crate) fn effect_due_shard(id: &str) -> u8 {
    CANDIDATE_SHARDS + Sha256::digest(id)[0] % EFFECT_SHARDS
}

/// All partitions of that index in which candidates stand.
pub(crate) fn candidate_due_shards() -> Range<u8> {
    0..CANDIDATE_SHARDS
}

/// All partitions of that index in which effects stand.
pub(crate) fn effect_due_shards() -> Range<u8> {
    CANDIDATE_SHARDS..CANDIDATE_SHARDS + EFFECT_SHARDS
}

/// The index partition of a company's projects with this status.
pub(crate) fn projects_by_status(c: &CompanyId, status: ProjectStatus) -> String {
    format!("COMPANY#{c}#PROJECTS#{}", status.as_str())
}

/// The index partition of a project's candidates with this status.
pub(crate) fn candidates_by_status(c: &CompanyId, p: ProjectId, status: CandidateStatus) -> String {
    format!("COMPANY#{c}#PROJECT#{p}#CANDIDATES#{}", status.as_str())
}
