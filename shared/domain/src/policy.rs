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
    ThisCandidate,
    /// A candidate, in a request about anything else.
    OtherCandidate,
}

/// The callers who may take an action. `actions!` says what the words of its rows mean.
#[derive(Debug, Clone, Copy)]
struct ActionRule {
    /// The lowest account type that allows it; `None` for actions that no account type allows.
    account_type: Option<AccountType>,
    /// The roles in the target's project that allow it.
    roles: &'static [StaffRole],
    this_candidate: bool,
    sharee: bool,
    project_token: bool,
    takes_person: bool,
    only_reads: bool,
}

impl ActionRule {
    /// Allows the action to nobody.
    const NONE: Self = Self {
        account_type: None,
        roles: &[],
        this_candidate: false,
        sharee: false,
        project_token: false,
        takes_person: false,
        only_reads: false,
    };
}

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

/// Adds one word of a row of `actions!` to its rule. Other words do not compile.
macro_rules! allow {
    ($rule:ident reads) => {
        $rule.only_reads = true
    };
    ($rule:ident person) => {
        $rule.takes_person = true
    };
    ($rule:ident this_candidate) => {
        $rule.this_candidate = true
    };
    ($rule:ident sharee) => {
        $rule.sharee = true
    };
    ($rule:ident project_token) => {
        $rule.project_token = true
    };
    ($rule:ident STAFF) => {
        $rule.roles = STAFF
    };
    ($rule:ident MANAGERS) => {
        $rule.roles = MANAGERS
    };
    ($rule:ident OVERSEERS) => {
        $rule.roles = OVERSEERS
    };
    ($rule:ident EVALUATORS) => {
        $rule.roles = EVALUATORS
    };
    ($rule:ident $account_type:ident) => {
        $rule.account_type = Some(AccountType::$account_type)
    };
}

/// Declares [`Action`] with its rules, and for each action a type that implements [`ActionGrant`]. A row is:
///
/// ```text
/// /// What the action allows, in words.
/// Name "name_in_whoami" [reads]: caller [or caller]... [in person];
/// ```
///
/// Each `caller` is one of:
///
/// - an account type: staff users with this or a higher one, whatever their roles; named tokens of the company with such rights
/// - `STAFF`, `MANAGERS`, `OVERSEERS`, `EVALUATORS`: staff users with one of these roles in the target's project, whatever their
///   account type. If interview managers are among them, also the named tokens that are limited to this project. If the row has no account
///   type, also named tokens of the company with the rights of an admin, which act for a customer with the role
/// - `this_candidate`: the candidate that the request is about
/// - `sharee`: staff users with a share of that candidate
/// - `project_token`: the named tokens that are limited to the target's project
///
/// `reads` lets named tokens that may only read take the whole action. `in person` refuses all named tokens.
macro_rules! actions {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $($reads:ident)?: $($caller:ident)or+ $(in $person:ident)?;)+) => {
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
                let mut rule = ActionRule::NONE;
                match self {
                    $(Self::$name => {
                        $(allow!(rule $reads);)?
                        $(allow!(rule $caller);)+
                        $(allow!(rule $person);)?
                    })+
                }
                rule
            }
        }

        $($(#[doc = $doc])+ pub enum $name {}
        impl ActionGrant for $name {
            const ACTION: Action = Action::$name;
        })+
    };
}

actions! {
    /// Read the company, its labels, customers and welcome videos, and the list of candidates shared with the caller. Named tokens
    /// with `projects` see only customers who have a role in these projects.
    ReadCompany "read_company" reads: HiringManager;
    /// Change the company's settings.
    ChangeCompany "change_company": Admin;
    /// Create, change and delete labels.
    ManageLabels "manage_labels": Recruiter;
    /// Create, change and delete welcome videos.
    ManageVideos "manage_videos": Recruiter;
    /// Read a welcome video. Candidates read only the videos of their project.
    ReadVideo "read_video" reads: HiringManager or this_candidate;
    /// List, create and delete named tokens.
    // Owners alone, so that no token has more rights than the person who created it.
    ManageTokens "manage_tokens": Owner in person;
    /// Set the provider that staff sign in by.
    ManageSignIn "manage_sign_in": Owner in person;
    /// Request, read and delete exports of the company.
    ExportCompany "export_company": Owner in person;
    /// Create, change and delete customers of a lower account type.
    ManageCustomers "manage_customers": Recruiter;
    /// Invite customers again.
    ReinviteCustomers "reinvite_customers": Admin;
    /// Import customers, which deactivates all others.
    ImportCustomers "import_customers": Admin;
    /// List projects. Owners and admins see all, others only those that give them a role.
    ListProjects "list_projects" reads: HiringManager;
    /// See every project of the company.
    SeeAllProjects "see_all_projects" reads: Admin;
    /// Read the company's events. Named tokens with `projects` read only the events of these projects.
    ReadEvents "read_events" reads: Admin or project_token;
    /// Read the company's usage in each month.
    ReadUsage "read_usage" reads: Admin;
    /// Read webhooks and their deliveries. Named tokens with `projects` see only webhooks that are limited to these projects.
    ReadWebhooks "read_webhooks" reads: Admin or project_token;
    /// Create, change and delete webhooks. Named tokens with `projects` manage only webhooks that they have created for these projects.
    ManageWebhooks "manage_webhooks": Admin or project_token;
    /// Change how long candidates are kept, put candidates on hold, and publish legal texts.
    ManagePrivacy "manage_privacy": Admin;
    /// Search candidates of the projects that the caller may read.
    Search "search" reads: HiringManager;
    /// Create a project.
    CreateProject "create_project": Recruiter;
    /// Read a project and list its candidates.
    ReadProject "read_project" reads: Admin or STAFF;
    /// Read the questions of a project. Candidates may read them once their interview has begun.
    ReadQuestions "read_questions" reads: Admin or STAFF or this_candidate;
    /// Read how far the evaluators of a project agree.
    ReadAgreement "read_agreement" reads: Admin or OVERSEERS;
    /// Evaluate a candidate, as an evaluator of the project. A named token with the rights of an owner or admin does so for an evaluator.
    Evaluate "evaluate": EVALUATORS;
    /// Veto a candidate, as an evaluator of the project.
    CastVeto "cast_veto": EVALUATORS in person;
    /// Change a project, its status, its questions or its criteria. Create, import, delete, skip and remind its candidates, set their deadlines, reopen and cancel their interviews, caption their answers, and show the answers to guests.
    ChangeProject "change_project": Admin or MANAGERS;
    /// Read a candidate, with files and recorded answers.
    ReadCandidate "read_candidate" reads: Admin or STAFF or this_candidate or sharee;
    /// Read the history of a candidate.
    ReadHistory "read_history" reads: Admin or MANAGERS;
    /// Read everything that the service holds about a candidate.
    ExportCandidate "export_candidate" reads: Admin or MANAGERS or this_candidate;
    /// Request the erasure of a candidate.
    RequestErasure "request_erasure": Admin or MANAGERS or this_candidate;
    /// Withdraw a request for erasure.
    WithdrawErasure "withdraw_erasure": Admin or this_candidate;
    /// Change a candidate's fields. Managers change those of the application, candidates their own.
    ChangeCandidate "change_candidate": Admin or MANAGERS or this_candidate;
    /// Answer the questions of an interview.
    AnswerQuestions "answer_questions": this_candidate in person;
    /// Ask the company for help with an interview, even with a key that has ended, unless it was replaced.
    AskForHelp "ask_for_help": this_candidate in person;
    /// Advance a candidate.
    AdvanceCandidate "advance_candidate": Admin or MANAGERS or this_candidate;
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
            CallerRelation::ThisCandidate => rule.this_candidate,
            CallerRelation::OtherCandidate => false,
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
