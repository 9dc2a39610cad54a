//! What an archive of a company holds: its format is described in `functions/PORTABILITY.md`.

/// A kind of record, which has a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// What candidates have recorded, and which questions they have answered in writing.
    Answers,
    /// Candidates, with their consents, shares and what evaluators have rated.
    Candidates,
    /// Captions of welcome videos.
    Captions,
    /// The company.
    Company,
    /// Staff users.
    Customers,
    /// Evaluations, with their vetoes.
    Evaluations,
    /// The events of the company's feed.
    Events,
    /// Links that let guests watch answers.
    GuestLinks,
    /// Labels.
    Labels,
    /// All versions of the company's legal texts.
    LegalTexts,
    /// The pictures of the company's logo.
    Logos,
    /// Projects, with their settings and who works on them.
    Projects,
    /// The questions and criteria of projects.
    Questionnaires,
    /// The public keys that verify receipts and the manifest.
    ReceiptKeys,
    /// Receipts of erasures.
    Receipts,
    /// The retention policy of the company.
    Retention,
    /// What statistics count of candidates who were erased.
    Statistics,
    /// Named tokens.
    Tokens,
    /// Welcome videos.
    Videos,
    /// Webhooks.
    Webhooks,
    /// What candidates have written.
    WrittenAnswers,
}

/// What the records of a kind are read together with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordLevel {
    /// The company.
    Company,
    /// A project, whose identifier is the first part of the record's.
    Project,
    /// A candidate, whose project and identifier are the first two parts of the record's.
    Candidate,
    /// The feed.
    Feed,
}

impl RecordKind {
    /// All kinds, by the names of their files.
    pub const ALL: [Self; 21] = [
        Self::Answers,
        Self::Candidates,
        Self::Captions,
        Self::Company,
        Self::Customers,
        Self::Evaluations,
        Self::Events,
        Self::GuestLinks,
        Self::Labels,
        Self::LegalTexts,
        Self::Logos,
        Self::Projects,
        Self::Questionnaires,
        Self::ReceiptKeys,
        Self::Receipts,
        Self::Retention,
        Self::Statistics,
        Self::Tokens,
        Self::Videos,
        Self::Webhooks,
        Self::WrittenAnswers,
    ];

    /// The name of its file, without the ending.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::Candidates => "candidates",
            Self::Captions => "captions",
            Self::Company => "company",
            Self::Customers => "customers",
            Self::Evaluations => "evaluations",
            Self::Events => "events",
            Self::GuestLinks => "guest-links",
            Self::Labels => "labels",
            Self::LegalTexts => "legal-texts",
            Self::Logos => "logos",
            Self::Projects => "projects",
            Self::Questionnaires => "questionnaires",
            Self::ReceiptKeys => "receipt-keys",
            Self::Receipts => "receipts",
            Self::Retention => "retention",
            Self::Statistics => "statistics",
            Self::Tokens => "tokens",
            Self::Videos => "videos",
            Self::Webhooks => "webhooks",
            Self::WrittenAnswers => "written-answers",
        }
    }

    /// Whether an import stores its records as items. The company itself has one, which is stored last.
    pub const fn has_items(self) -> bool {
        !matches!(self, Self::Company | Self::ReceiptKeys | Self::Receipts)
    }

    /// What its records are read together with.
    pub const fn level(self) -> RecordLevel {
        match self {
            Self::Captions
            | Self::Company
            | Self::Customers
            | Self::Labels
            | Self::LegalTexts
            | Self::Logos
            | Self::ReceiptKeys
            | Self::Retention
            | Self::Tokens
            | Self::Videos
            | Self::Webhooks => RecordLevel::Company,
            Self::Projects | Self::Questionnaires | Self::Statistics => RecordLevel::Project,
            Self::Answers
            | Self::Candidates
            | Self::Evaluations
            | Self::GuestLinks
            | Self::WrittenAnswers => RecordLevel::Candidate,
            Self::Events | Self::Receipts => RecordLevel::Feed,
        }
    }

    /// The stored attributes that no record has. A dot leads into an attribute.
    // Secrets and their hashes: whoever has the archive must not act for anybody. What limits how often somebody may do something,
    // which is this deployment's matter. And the address that a candidate has yet to confirm: clients would be shown it, but nobody
    // could confirm it without the key and the password. Customers keep theirs, since they can be asked again to confirm it.
    pub const fn left_out(self) -> &'static [&'static str] {
        match self {
            Self::Answers => &["texts_written"],
            Self::Candidates => &[
                "access_key",
                "address_keys",
                "former_keys",
                "is_key_mailed",
                "links_mailed",
                "mail_rate",
                "one_time_key",
                "own_changes",
                "password_hash",
                "pending_email",
                "session_epoch",
            ],
            Self::Customers => {
                &["address_keys", "mail_rate", "one_time_key", "password_hash", "session_epoch"]
            }
            // A signed one of another deployment, which `receipts` has.
            Self::Events => &["receipt"],
            Self::GuestLinks => &["hash", "media_key", "requests"],
            Self::Tokens => &["hash", "limits.media_key", "media_key"],
            Self::Webhooks => &["former_secret", "secret"],
            _ => &[],
        }
    }
}
