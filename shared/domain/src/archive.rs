//! The kinds of records in an archive of a company, whose format is described in `functions/PORTABILITY.md`.

/// A kind of record, which has a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// Captions of recorded answers.
    AnswerCaptions,
    /// The takes of candidates, and which questions they have answered in writing.
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
    /// The settings of the sign-in of the company's staff.
    SignIn,
    /// The counts of erased candidates, which statistics still include.
    Statistics,
    /// Named tokens.
    Tokens,
    /// The usage of the company, by month.
    Usage,
    /// Welcome videos.
    Videos,
    /// Webhooks.
    Webhooks,
    /// The texts that candidates have written.
    WrittenAnswers,
}

/// The entity that is read together with the records of a kind, so that they are of one moment.
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
    pub const ALL: [Self; 24] = [
        Self::AnswerCaptions,
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
        Self::SignIn,
        Self::Statistics,
        Self::Tokens,
        Self::Usage,
        Self::Videos,
        Self::Webhooks,
        Self::WrittenAnswers,
    ];

    /// The name of its file, without the ending.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AnswerCaptions => "answer-captions",
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
            Self::SignIn => "sign-in",
            Self::Statistics => "statistics",
            Self::Tokens => "tokens",
            Self::Usage => "usage",
            Self::Videos => "videos",
            Self::Webhooks => "webhooks",
            Self::WrittenAnswers => "written-answers",
        }
    }

    /// Whether an import stores its records as items. The company's item is stored last, and usage is a part of the item that numbers
    /// the events.
    pub const fn has_items(self) -> bool {
        !matches!(self, Self::Company | Self::ReceiptKeys | Self::Receipts | Self::Usage)
    }

    /// The entity together with which its records are read.
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
            | Self::SignIn
            | Self::Tokens
            | Self::Videos
            | Self::Webhooks => RecordLevel::Company,
            Self::Projects | Self::Questionnaires | Self::Statistics => RecordLevel::Project,
            Self::AnswerCaptions
            | Self::Answers
            | Self::Candidates
            | Self::Evaluations
            | Self::GuestLinks
            | Self::WrittenAnswers => RecordLevel::Candidate,
            Self::Events | Self::Receipts | Self::Usage => RecordLevel::Feed,
        }
    }

    /// The stored attributes that no record has. A dot leads into an attribute.
    // Secrets and their hashes: whoever has the archive must not act for anybody. Limits of how often somebody may do something,
    // which are this deployment's matter. The address that a candidate has yet to confirm: clients would be shown it, but nobody
    // could confirm it without the key and the password. Customers keep theirs, since they can be asked again to confirm it.
    pub const fn left_out(self) -> &'static [&'static str] {
        match self {
            Self::Answers => &["texts_written"],
            Self::Candidates => &[
                "access_key",
                "address_keys",
                "former_keys",
                "help_asked",
                "is_key_mailed",
                "links_mailed",
                "mail_rate",
                "one_time_key",
                "own_changes",
                "password_hash",
                "pending_email",
                "session_epoch",
            ],
            // The mark of this deployment's operator.
            Self::Company => &["is_test"],
            Self::Customers => &[
                "address_keys",
                "mail_rate",
                "one_time_key",
                "password_hash",
                "session_epoch",
                "sign_in_link",
            ],
            // A signed one of another deployment, which `receipts` has.
            Self::Events => &["receipt"],
            Self::GuestLinks => &["hash", "media_key", "requests"],
            Self::SignIn => &["last_problem", "links_since", "provider.client_secret"],
            Self::Tokens => &["hash", "is_imported", "limits.media_key", "media_key"],
            Self::Webhooks => &["former_secret", "secret"],
            _ => &[],
        }
    }
}
