//! The permissions of all callers: one table, which admission consults and `whoami` shows.
//!
//! The table leaves out guests, who see what their link shows, and functions that events and schedules start. A file's URL works
//! while the caller who received it may read the file, and no longer than the row "file URLs" in `functions/LIMITS.md` says.
//! `tests/api/system/access.txt` has the matrix of all routes and callers.

use std::collections::BTreeSet;

use super::Refusal;
use super::names::named;
use super::staff::StaffRole;
use super::staff::customer::AccountType;

/// The refusal of an authenticated caller who lacks the permission.
pub const NOT_ALLOWED: Refusal =
    Refusal { code: "permission_denied", detail: "You do not have permission to perform this action." };

/// The caller's relation to the target of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerRelation {
    /// A staff user, with these roles in the target's project.
    Staff(AccountType, BTreeSet<StaffRole>),
    /// A staff user without a role in the target's project, but with a share of the target candidate.
    Sharee(AccountType),
    /// A named token for the whole company. It may do what staff users of its account type may, except actions that need a
    /// person.
    NamedToken {
        /// The token's rights in the company.
        account_type: AccountType,
        /// Whether the token may only read, whatever its account type.
        is_read_only: bool,
    },
    /// A named token that is limited to some projects: an interview manager in them, and a reader in the company, whatever its
    /// account type.
    ProjectToken {
        /// Whether the target belongs to one of the token's projects.
        is_in_project: bool,
        /// Whether the token may only read.
        is_read_only: bool,
    },
    /// The candidate that the request is about.
    Own,
    /// A candidate, when the target is not their own.
    Outsider,
}

/// Who may take an action: callers with at least this account type, or with one of these roles in the target's project; the
/// target candidate (`itself`); customers with a share of that candidate; named tokens that are limited to the target's project.
/// A named token of the company may do what staff users of its account type may, unless the action takes a person.
#[derive(Debug, Clone, Copy)]
struct ActionRule {
    /// `None` if no account type suffices without a role.
    account_type: Option<AccountType>,
    roles: &'static [StaffRole],
    itself: bool,
    sharee: bool,
    project_token: bool,
    takes_person: bool,
    only_reads: bool,
}

/// No role, for actions that only an account type allows.
const NONE: &[StaffRole] = &[];
/// Any role in a project makes its holder project staff.
const STAFF: &[StaffRole] = &[StaffRole::InterviewManager, StaffRole::Evaluator, StaffRole::Reviewer];
/// Interview managers, whom the contract calls project managers.
const MANAGERS: &[StaffRole] = &[StaffRole::InterviewManager];

/// The roles that see results at once.
const OVERSEERS: &[StaffRole] = &[StaffRole::InterviewManager, StaffRole::Reviewer];

/// Evaluators, whatever their account type.
const EVALUATORS: &[StaffRole] = &[StaffRole::Evaluator];

/// Compile-time proof that admission has allowed [`ACTION`](Self::ACTION).
pub trait ActionGrant: Send + Sync + 'static {
    const ACTION: Action;
}

macro_rules! account_type {
    (Role) => {
        None
    };
    ($account_type:ident) => {
        Some(AccountType::$account_type)
    };
}

macro_rules! actions {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $($reads:ident)?: $account_type:ident or $roles:ident $(or $other:ident)* $(but $person:ident)?;)+) => {
        named! {
            /// An action that a caller needs permission for.
            pub enum Action {
                $($(#[doc = $doc])+ $name = $text,)+
            }
        }

        impl Action {
            /// The description of the action, from its documentation.
            pub fn about(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii(),)+ }
            }

            fn rule(self) -> ActionRule {
                match self {
                    $(Self::$name => ActionRule {
                        account_type: account_type!($account_type),
                        roles: $roles,
                        itself: [$(stringify!($other)),*].contains(&"itself"),
                        sharee: [$(stringify!($other)),*].contains(&"sharee"),
                        project_token: [$(stringify!($other)),*].contains(&"project_token"),
                        takes_person: [$(stringify!($person))?].contains(&"person"),
                        only_reads: [$(stringify!($reads))?].contains(&"reads"),
                    },)+
                }
            }
        }

        $($(#[doc = $doc])+ pub enum $name {}
        impl ActionGrant for $name {
            const ACTION: Action = Action::$name;
        })+
    };
}

actions! {
    /// Read the company, its labels, customers and welcome videos, and the shares with the caller; named tokens with `projects` of
    /// the customers only those with a role in these.
    ReadCompany "read_company" reads: HiringManager or NONE;
    /// Change the company's settings.
    ChangeCompany "change_company": Admin or NONE;
    /// Create, change and delete labels.
    ManageLabels "manage_labels": Recruiter or NONE;
    /// Create, change and delete welcome videos.
    ManageVideos "manage_videos": Recruiter or NONE;
    /// Read a welcome video; candidates only those of their project.
    ReadVideo "read_video" reads: HiringManager or NONE or itself;
    /// List, create and delete named tokens.
    // Owners alone, so that no token has more rights than the person who created it.
    ManageTokens "manage_tokens": Owner or NONE but person;
    /// Set the provider that staff sign in by.
    ManageSignIn "manage_sign_in": Owner or NONE but person;
    /// Request, read and delete exports of the company.
    ExportCompany "export_company": Owner or NONE but person;
    /// Create, change and delete customers of a lower account type.
    ManageCustomers "manage_customers": Recruiter or NONE;
    /// Invite customers again.
    ReinviteCustomers "reinvite_customers": Admin or NONE;
    /// Import customers, which deactivates all others.
    ImportCustomers "import_customers": Admin or NONE;
    /// List projects: owners and admins all, others those that give them a role.
    ListProjects "list_projects" reads: HiringManager or NONE;
    /// See every project of the company.
    SeeAllProjects "see_all_projects" reads: Admin or NONE;
    /// Read the company's events; named tokens with `projects` those of one of these.
    ReadEvents "read_events" reads: Admin or NONE or project_token;
    /// Read what the company has used in each month.
    ReadUsage "read_usage" reads: Admin or NONE;
    /// Read webhooks and their deliveries; named tokens with `projects` those of webhooks for these alone.
    ReadWebhooks "read_webhooks" reads: Admin or NONE or project_token;
    /// Create, change and delete webhooks; named tokens with `projects` those that they have made for these.
    ManageWebhooks "manage_webhooks": Admin or NONE or project_token;
    /// Change how long candidates are kept, put candidates on hold, and publish legal texts.
    ManagePrivacy "manage_privacy": Admin or NONE;
    /// Search candidates of the projects that the caller may read.
    Search "search" reads: HiringManager or NONE;
    /// Create a project.
    CreateProject "create_project": Recruiter or NONE;
    /// Read a project and list its candidates.
    ReadProject "read_project" reads: Admin or STAFF;
    /// Read the questions of a project; candidates from the beginning of their interview on.
    ReadQuestions "read_questions" reads: Admin or STAFF or itself;
    /// Read how far the evaluators of a project agree.
    ReadAgreement "read_agreement" reads: Admin or OVERSEERS;
    /// Evaluate a candidate; only with this role in the project, or as a named token with the rights of an owner or admin for a customer with it.
    Evaluate "evaluate": Role or EVALUATORS;
    /// Veto a candidate; only with this role in the project.
    CastVeto "cast_veto": Role or EVALUATORS but person;
    /// Change a project, its status, its questions or its criteria; create, import, delete, skip and remind its candidates, set their deadlines, reopen and cancel their interviews, caption their answers, and show them to guests.
    ChangeProject "change_project": Admin or MANAGERS;
    /// Read a candidate, with files and recorded answers.
    ReadCandidate "read_candidate" reads: Admin or STAFF or itself or sharee;
    /// Read the history of a candidate.
    ReadHistory "read_history" reads: Admin or MANAGERS;
    /// Read everything that the service holds about a candidate.
    ExportCandidate "export_candidate" reads: Admin or MANAGERS or itself;
    /// Request the erasure of a candidate.
    RequestErasure "request_erasure": Admin or MANAGERS or itself;
    /// Withdraw a request for erasure.
    WithdrawErasure "withdraw_erasure": Admin or NONE or itself;
    /// Change a candidate's fields: managers those of the application, candidates their own.
    ChangeCandidate "change_candidate": Admin or MANAGERS or itself;
    /// Answer the questions of an interview.
    AnswerQuestions "answer_questions": Role or NONE or itself but person;
    /// Ask the company for help with an interview; also with a key that has ended, unless it was replaced.
    AskForHelp "ask_for_help": Role or NONE or itself but person;
    /// Advance a candidate.
    AdvanceCandidate "advance_candidate": Admin or MANAGERS or itself;
}

impl CallerRelation {
    /// Whether the caller may only read.
    pub fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::NamedToken { is_read_only: true, .. } | Self::ProjectToken { is_read_only: true, .. }
        )
    }

    /// Whether the caller is a named token.
    pub fn is_token(&self) -> bool {
        matches!(self, Self::NamedToken { .. } | Self::ProjectToken { .. })
    }
}

impl Action {
    /// Whether a caller of this relation may do everything that the action includes. [`is_allowed`](Self::is_allowed) also lets
    /// read-only tokens take the part that reads, such as listing webhooks.
    pub fn is_allowed_in_full(self, relation: &CallerRelation) -> bool {
        self.is_allowed(relation) && (self.rule().only_reads || !relation.is_read_only())
    }

    /// Whether a caller of this relation may take the action. Ignores whether a token is read-only: admission refuses its writes
    /// before it asks.
    pub fn is_allowed(self, relation: &CallerRelation) -> bool {
        let rule = self.rule();
        let has_type = |own: AccountType| rule.account_type.is_some_and(|needed| own >= needed);
        match relation {
            CallerRelation::Staff(account_type, roles) => {
                has_type(*account_type) || rule.roles.iter().any(|role| roles.contains(role))
            }
            // A share lets its customer read the candidate and nothing else: no keys, no other shares, not the project.
            CallerRelation::Sharee(account_type) => has_type(*account_type) || rule.sharee,
            CallerRelation::NamedToken { account_type, .. } => {
                // For an action that needs a role, the token acts for a customer who has the role.
                let for_others = rule.account_type.is_none() && *account_type >= AccountType::Admin;
                !rule.takes_person && (has_type(*account_type) || for_others)
            }
            CallerRelation::ProjectToken { is_in_project, .. } => {
                let is_of_project = rule.project_token || rule.roles.contains(&StaffRole::InterviewManager);
                // In the company, the token gets reading rights only: a change would affect other projects.
                !rule.takes_person
                    && (has_type(AccountType::HiringManager) || *is_in_project && is_of_project)
            }
            CallerRelation::Own => rule.itself,
            CallerRelation::Outsider => false,
        }
    }

    /// The end of a sentence: why owners do this themselves, and what to send instead of a named token. Empty for other actions.
    fn why_it_takes_an_owner(self) -> &'static str {
        match self {
            Self::ExportCompany => {
                ", because an export holds everything of the company: request it with the token of a login of an owner"
            }
            Self::ManageSignIn => ", because it decides who gets in: send the token of a login of an owner",
            Self::ManageTokens => {
                ", because a token could give itself more rights: send the token of a login of an owner"
            }
            _ => "",
        }
    }

    /// A sentence about the named tokens that may take the action.
    pub fn tokens_with_it(self) -> String {
        let of_company = |account_type: &AccountType| {
            self.is_allowed(&CallerRelation::NamedToken { account_type: *account_type, is_read_only: false })
        };
        let types = AccountType::ALL.into_iter().filter(of_company);
        let types: Vec<String> = types.map(|account_type| format!("`{}`", account_type.as_str())).collect();
        let types = types.join(" or ").replacen(" or ", ", ", types.len().saturating_sub(2));
        let in_project = CallerRelation::ProjectToken { is_in_project: true, is_read_only: false };
        match (types.as_str(), self.is_allowed(&in_project)) {
            ("", false) => format!("No named token has it{}.", self.why_it_takes_an_owner()),
            ("", true) => "Named tokens have it in their `projects`.".to_owned(),
            (types, false) => format!("Named tokens without `projects` have it as {types}."),
            (types, true) => format!("Named tokens have it as {types}, or in their `projects`."),
        }
    }
}
