//! Who may do what: one table, which guards consult and `whoami` shows.

use std::collections::BTreeSet;

use crate::domain::Refusal;
use crate::domain::customer::AccountType;
use crate::domain::project::Role;

/// The refusal of a known caller who may not do something.
pub const NOT_ALLOWED: Refusal =
    Refusal { code: "permission_denied", detail: "You do not have permission to perform this action." };

/// Who may take an action: callers with at least an account type, or with one of some roles in the project at hand.
#[derive(Debug, Clone, Copy)]
struct Rule {
    account_type: AccountType,
    roles: &'static [Role],
}

/// Any role in a project makes its holder project staff.
const STAFF: &[Role] = &[Role::InterviewManager, Role::Evaluator, Role::Reviewer];
/// Interview managers are the project managers of the contract.
const MANAGERS: &[Role] = &[Role::InterviewManager];

/// Proof, at compile time, of the action that a guard has allowed.
pub trait Grant: Send + Sync + 'static {
    /// The action.
    const ACTION: Action;
}

macro_rules! actions {
    ($($(#[$doc:meta])+ $name:ident $text:literal: $account_type:ident or $roles:expr;)+) => {
        /// Something that not everybody may do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Action {
            $($(#[$doc])+ $name,)+
        }

        impl Action {
            /// Every action, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name that clients see.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            fn rule(self) -> Rule {
                match self { $(Self::$name => Rule { account_type: AccountType::$account_type, roles: $roles },)+ }
            }
        }

        $($(#[$doc])+ pub enum $name {}
        impl Grant for $name {
            const ACTION: Action = Action::$name;
        })+
    };
}

actions! {
    /// Read the company.
    ReadCompany "read_company": HiringManager or &[];
    /// List projects: owners and admins see all, others those in which they have a role.
    ListProjects "list_projects": HiringManager or &[];
    /// See every project of the company.
    SeeAllProjects "see_all_projects": Admin or &[];
    /// Create a project.
    CreateProject "create_project": Recruiter or &[];
    /// Read a project and its candidates.
    ReadProject "read_project": Admin or STAFF;
    /// Change a project or its status; create, change and delete its candidates.
    ChangeProject "change_project": Admin or MANAGERS;
}

impl Action {
    /// Whether a caller of `account_type`, with `roles` in the project at hand, may do this.
    pub fn is_allowed(self, account_type: AccountType, roles: &BTreeSet<Role>) -> bool {
        let rule = self.rule();
        account_type >= rule.account_type || rule.roles.iter().any(|role| roles.contains(role))
    }
}
