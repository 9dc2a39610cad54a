//! The kinds of records in an archive of a company, whose format is described in `functions/PORTABILITY.md`.

/// A kind of record. An archive has one file per kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// Captions of recorded answers.
    AnswerCaptions,
    /// The takes of candidates, and which questions they have answered in writing.
    Answers,
    /// Candidates, with their consents, shares and the values of evaluators' ratings.
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
    /// Projects, with their settings and staff.
    Projects,
    /// The questions and criteria of projects.
    Questionnaires,
    /// The public keys that verify receipts and the manifest.
    ReceiptKeys,
    /// Receipts of erasures.
    Receipts,
    /// The retention policy of the company.
    Retention,
    /// The settings of the provider that staff sign in by.
    SignIn,
    /// The counts of erased candidates that statistics keep.
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

/// The entity that the export reads together with records of a kind, so that they show one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordLevel {
    /// The company.
    Company,
    /// A project. Its identifier is the first part of the record's identifier.
    Project,
    /// A candidate. The identifiers of the project and the candidate are the first two parts of the record's identifier.
    Candidate,
    /// The feed of the company's events.
    Feed,
}

impl RecordKind {
    /// All kinds, sorted by file name.
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

    /// The name of the kind's file, without the extension.
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

    /// Whether an import stores records of this kind as items of their own. It stores the company's item last, and usage is part
    /// of the item that numbers the events.
    pub const fn has_items(self) -> bool {
        !matches!(self, Self::Company | Self::ReceiptKeys | Self::Receipts | Self::Usage)
    }

    /// The entity that the export reads together with records of this kind.
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

    /// The stored attributes that records leave out. A dot separates an attribute from a nested one.
    // Left out are: secrets and their hashes, because holders of an archive must not act for anyone; rate limits, because they
    // concern this deployment only; and the address that a candidate has yet to confirm, because responses would show it although
    // nobody can confirm it without the key and the password. Customers keep theirs, because they can be asked again to confirm
    // it.
    pub const fn left_out(self) -> &'static [&'static str] {
        match self {
            Self::Answers => &["texts_written"],
            Self::Candidates => &[
                "access_key",
                "email_keys",
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
            // Set by this deployment's operator.
            Self::Company => &["is_test"],
            Self::Customers => {
                &["email_keys", "mail_rate", "one_time_key", "password_hash", "session_epoch", "sign_in_link"]
            }
            // The receipt that another deployment has signed. The file `receipts` has it.
            Self::Events => &["receipt"],
            Self::GuestLinks => &["hash", "media_key", "requests"],
            Self::SignIn => &["last_problem", "links_since", "provider.client_secret"],
            Self::Tokens => &["hash", "is_imported", "limits.media_key", "media_key"],
            Self::Webhooks => &["former_secret", "secret"],
            _ => &[],
        }
    }
}
