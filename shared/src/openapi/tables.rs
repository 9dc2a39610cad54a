//! The tables of permissions and moves, as Markdown.

use std::collections::BTreeSet;

use crate::domain::policy::{Action, CallerRelation};
use crate::domain::project::{CandidateRequirement, ProjectStatus};
use crate::domain::staff::StaffRole;
use crate::domain::staff::customer::AccountType;
use crate::domain::transition::{ADVANCES, Actor, CandidateMail, MoveCondition};

/// The columns of the table of permissions: a heading and a kind of caller.
fn columns() -> Vec<(String, CallerRelation)> {
    let account_types = AccountType::ALL.map(|account_type| {
        (format!("`{}`", account_type.as_str()), CallerRelation::Staff(account_type, BTreeSet::new()))
    });
    // Show roles for the account type with the fewest permissions.
    let roles = StaffRole::ALL.map(|role| {
        (
            format!("as `{}`", role.as_str()),
            CallerRelation::Staff(AccountType::HiringManager, BTreeSet::from([role])),
        )
    });
    // The description of `POST …/tokens/` explains tokens of other account types.
    let token = CallerRelation::NamedToken { account_type: AccountType::Owner, is_read_only: false };
    let project_token = CallerRelation::ProjectToken { is_in_project: true, is_read_only: false };
    let others = [
        ("with a share", CallerRelation::Sharee(AccountType::HiringManager)),
        ("the candidate", CallerRelation::ThisCandidate),
        ("named token", token),
        ("named token in its `projects`", project_token),
    ];
    let others = others.map(|(name, relation)| (name.to_owned(), relation));
    account_types.into_iter().chain(roles).chain(others).collect()
}

/// The table of all permissions, with the names that `whoami` lists.
pub(super) fn permissions() -> String {
    let columns = columns();
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| heading.as_str()).collect();
    let mut table = format!(
        "| permission | {} | allows |\n|---|{}---|\n",
        headings.join(" | "),
        "---|".repeat(columns.len())
    );
    for action in Action::ALL {
        let cells: Vec<&str> =
            columns.iter().map(|(_, relation)| if action.is_allowed(relation) { "✓" } else { "" }).collect();
        table += &format!("| `{}` | {} | {} |\n", action.as_str(), cells.join(" | "), action.about());
    }
    table
}

pub(super) fn allowed(action: Action) -> String {
    let who = columns().into_iter().filter(|(_, relation)| action.is_allowed(relation)).map(|(who, _)| who);
    let who: Vec<String> = who.collect();
    format!("Permission `{}`: {}.", action.as_str(), who.join(", "))
}

/// The table of the moves that `status/advance/` makes.
pub(super) fn advances() -> String {
    let mut table = "| from | by | if | to | mail |\n|---|---|---|---|---|\n".to_owned();
    for line in ADVANCES {
        let by = match line.by {
            Actor::Manager => "a project manager",
            Actor::Candidate => "the candidate",
        };
        let password = line.has_password.map(|has| if has { "has a password" } else { "has no password" });
        let needs = line.needs.iter().map(|condition| words(*condition));
        let needs: Vec<&str> = password.into_iter().chain(needs).collect();
        let mail = line.mail.map_or("", |mail| match mail {
            CandidateMail::Invitation => "invitation",
            CandidateMail::DeadlineChanged => "deadline changed",
            CandidateMail::Reminder => "reminder",
            CandidateMail::Completed => "your interview has arrived",
            CandidateMail::EndedByTime => "your time was over",
            CandidateMail::Reopened => "you can go on with your interview",
            CandidateMail::Cancelled => "your interview was cancelled",
            CandidateMail::LatestLink => "your link",
            CandidateMail::HelpAnswered => "your request was answered",
        });
        let from = line.from.as_str();
        let to = line.to.as_str();
        table += &format!("| `{from}` | {by} | {} | `{to}` | {mail} |\n", needs.join("; "));
    }
    table
}

fn words(condition: MoveCondition) -> &'static str {
    match condition {
        MoveCondition::NoErasureRequest => "has not requested erasure",
        MoveCondition::ProjectRunning => "the project is running",
        MoveCondition::Reachable => "the email address is deliverable, or `receive_mails` is false",
        MoveCondition::DeadlineAhead => "the deadline is in the future",
        MoveCondition::DeadlineNotPassed => "there is no deadline, or it is in the future",
        MoveCondition::HasPassword => {
            "has a password, or needs none: where `allow_hash_login` is true, or without email address and user name"
        }
        MoveCondition::TextsAccepted => "the current version of every required legal text is accepted",
        MoveCondition::QuestionsAnswered => {
            "required questions answered; never if the interview takes place elsewhere"
        }
    }
}

pub(super) fn project_moves() -> String {
    let mut table = "| from | to | if |\n|---|---|---|\n".to_owned();
    for from in ProjectStatus::ALL {
        for to in ProjectStatus::ALL.into_iter().filter(|to| *to != from) {
            if let Some(requirement) = from.candidate_requirement(to) {
                let needs = match requirement {
                    CandidateRequirement::Nothing => "",
                    CandidateRequirement::Archivable => "`can_archive`",
                    CandidateRequirement::New => "every candidate is `new`",
                };
                table += &format!("| `{}` | `{}` | {needs} |\n", from.as_str(), to.as_str());
            }
        }
    }
    table
}
