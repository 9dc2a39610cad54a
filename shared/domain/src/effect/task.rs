//! The work of effects.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::effect::deletion::{DeletionAuthor, ItemDeletion};
use crate::export::ExportMail;
use crate::history::ChangeAuthor;
use crate::history::erasure::{ErasedItem, ErasureCounts, ErasureReason};
use crate::id::{CandidateId, CustomerId, ExportId, ProjectId, TakeRef, TokenId, WebhookId};
use crate::language::Language;
use crate::media::conversion::queue::Recording;
use crate::secret::SecretHash;
use crate::staff::ended_interviews::EndedInterviews;
use crate::staff::help_notice::{AskedHelp, HelpRecipient};
use crate::staff::named_token::MadeByToken;
use crate::text::{Email, ShortName};
use crate::transition::CandidateMail;
use crate::webhook::WebhookMail;

/// The work of an effect.
// Tasks refer to accounts and resources, and contain neither keys nor texts of mails. The outbox reads those when it sends, so
// that mails show the current state, and a stored effect gives nobody access. Two tasks contain personal data, and are deleted a
// day after they were given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EffectTask {
    /// Send a mail to a candidate.
    CandidateMail {
        project: ProjectId,
        /// The recipient.
        candidate: CandidateId,
        /// The kind of mail.
        mail: CandidateMail,
    },
    /// Mail a candidate the link to their interview, if one of their ended keys has this hash.
    CandidateLink {
        project: ProjectId,
        /// The recipient.
        candidate: CandidateId,
        key: SecretHash,
    },
    /// Mail a customer the key to choose a first password.
    CustomerInvitation {
        /// The recipient.
        customer: CustomerId,
    },
    /// Mail the key that confirms a new address of an account to that address.
    AddressConfirmation {
        /// The recipient.
        account: Account,
    },
    /// Mail the former address of an account that the address was changed, with the key that restores it.
    AddressChanged {
        /// The recipient.
        account: Account,
        /// The time of the change, which distinguishes it from later ones.
        // The mail must not restore an address that a later change has replaced.
        changed_at: DateTime<Utc>,
        by: ChangeAuthor,
    },
    /// Mail an owner that an account's holder has restored a former address.
    AddressRestored {
        /// The recipient.
        owner: CustomerId,
        account: Account,
    },
    /// Mail an owner that the settings of sign-in were changed, or a customer that another customer has changed their link.
    SignInChanged {
        /// The recipient.
        customer: CustomerId,
        by: ChangeAuthor,
        /// Whether the recipient's own link was changed.
        is_own: bool,
    },
    /// Mail a customer which interviews in their projects have ended.
    InterviewNotice {
        /// The recipient.
        customer: CustomerId,
        interviews: EndedInterviews,
    },
    /// Mail a customer which interviews await their evaluation.
    EvaluationReminder {
        /// The recipient.
        customer: CustomerId,
        interviews: EndedInterviews,
    },
    /// Find the people to tell about a candidate's request for help.
    HelpRequested { asked: AskedHelp },
    /// Mail candidates' requests for help to staff or to the contact for candidates.
    HelpNotice {
        recipient: HelpRecipient,
        /// The requests that the mail names.
        asked: Vec<AskedHelp>,
        /// The number of further requests, which the mail does not name.
        more: usize,
    },
    /// Mail a customer that their account was deleted.
    CustomerDeleted {
        /// The recipient.
        was: Box<FormerCustomer>,
        /// The user or token that deleted the account.
        by: DeletionAuthor,
    },
    /// Delete objects that nothing refers to.
    ObjectsDeleted {
        /// The keys of the objects in the bucket.
        keys: Vec<String>,
    },
    /// Queue a recording for its conversion.
    Conversion {
        recording: Recording,
        /// When the take was finished or closed, or the video announced.
        since: DateTime<Utc>,
    },
    /// Delete objects that takes no longer need.
    TakesDeleted { project: ProjectId, candidate: CandidateId, takes: Vec<TakeRef> },
    /// Erase what a deletion left behind, and record the erasure.
    Erased {
        /// The deleted item.
        erased: ErasedItem,
        /// Why it was deleted.
        reason: ErasureReason,
        /// The items erased by the deletion, and by tries that left nothing behind.
        counts: ErasureCounts,
        /// The items that tries have found since then; some may not be erased yet.
        #[serde(default, skip_serializing_if = "ErasureCounts::is_empty")]
        found: ErasureCounts,
        /// When the item was first deleted, if a restored table brought it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deleted_before: Option<DateTime<Utc>>,
        /// Until when the client may still upload files. Only a try after that can be the last one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settles_at: Option<DateTime<Utc>>,
    },
    /// Complete a deletion that takes several transactions.
    Deletion { deletion: ItemDeletion },
    /// Delete what a deleted named token has made.
    MadeByTokenDeleted {
        token: TokenId,
        made: BTreeSet<MadeByToken>,
        /// The owner who has deleted the token.
        by: CustomerId,
    },
    /// Mail a reset key to every account that matches a name.
    PasswordReset {
        /// The user name or email address, as it was typed.
        // The outbox looks the accounts up, so that the response time does not reveal whether the name exists.
        name: String,
    },
    /// Mail an owner about a webhook.
    WebhookMail {
        /// The recipient.
        customer: CustomerId,
        webhook: WebhookId,
        /// The kind of mail.
        mail: WebhookMail,
    },
    /// Mail an owner about an export.
    ExportMail {
        /// The recipient.
        customer: CustomerId,
        export: ExportId,
        /// The kind of mail.
        mail: ExportMail,
    },
}

/// The data of a deleted customer for the last mail.
// The account no longer exists when the mail is sent, so the effect must contain the address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerCustomer {
    /// The recipient's address.
    pub email: Email,
    pub first_name: ShortName,
    pub last_name: ShortName,
    /// The language to write in.
    pub language: Language,
}

impl EffectTask {
    /// The names of all tasks.
    pub const KINDS: [&str; 32] = [
        "invitation",
        "reminder",
        "deadline-changed",
        "completed",
        "ended-by-time",
        "reopened",
        "cancelled",
        "latest-link",
        "help-answered",
        "candidate-link",
        "customer-invitation",
        "address-confirmation",
        "address-changed",
        "address-restored",
        "sign-in-changed",
        "interview-notice",
        "evaluation-reminder",
        "help-requested",
        "help-notice",
        "customer-deleted",
        "objects-deleted",
        "conversion",
        "takes-deleted",
        "erased",
        "deletion",
        "made-by-token-deleted",
        "password-reset",
        "webhook-failing",
        "webhook-disabled",
        "export-requested",
        "export-finished",
        "export-failed",
    ];

    /// Whether the task deletes data.
    pub fn is_deletion(&self) -> bool {
        match self {
            Self::ObjectsDeleted { .. }
            | Self::TakesDeleted { .. }
            | Self::Erased { .. }
            | Self::MadeByTokenDeleted { .. }
            | Self::Deletion { .. } => true,
            Self::CandidateMail { .. }
            | Self::CandidateLink { .. }
            | Self::CustomerInvitation { .. }
            | Self::AddressConfirmation { .. }
            | Self::AddressChanged { .. }
            | Self::AddressRestored { .. }
            | Self::SignInChanged { .. }
            | Self::InterviewNotice { .. }
            | Self::EvaluationReminder { .. }
            | Self::HelpRequested { .. }
            | Self::HelpNotice { .. }
            | Self::CustomerDeleted { .. }
            | Self::PasswordReset { .. }
            | Self::Conversion { .. }
            | Self::WebhookMail { .. }
            | Self::ExportMail { .. } => false,
        }
    }

    /// The name in identifiers and logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::CandidateMail { mail, .. } => mail.as_str(),
            Self::CandidateLink { .. } => "candidate-link",
            Self::CustomerInvitation { .. } => "customer-invitation",
            Self::AddressConfirmation { .. } => "address-confirmation",
            Self::AddressChanged { .. } => "address-changed",
            Self::AddressRestored { .. } => "address-restored",
            Self::SignInChanged { .. } => "sign-in-changed",
            Self::InterviewNotice { .. } => "interview-notice",
            Self::EvaluationReminder { .. } => "evaluation-reminder",
            Self::HelpRequested { .. } => "help-requested",
            Self::HelpNotice { .. } => "help-notice",
            Self::CustomerDeleted { .. } => "customer-deleted",
            Self::ObjectsDeleted { .. } => "objects-deleted",
            Self::Conversion { .. } => "conversion",
            Self::TakesDeleted { .. } => "takes-deleted",
            Self::Erased { .. } => "erased",
            Self::Deletion { .. } => "deletion",
            Self::MadeByTokenDeleted { .. } => "made-by-token-deleted",
            Self::PasswordReset { .. } => "password-reset",
            Self::WebhookMail { mail, .. } => mail.as_str(),
            Self::ExportMail { mail, .. } => mail.as_str(),
        }
    }
}
