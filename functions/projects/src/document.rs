//! What the reference says of this group.

use serde_json::json;
use shared::domain::project::{CandidatesMust, NO_MOVE, ProjectStatus};
use shared::openapi::{Group, Operation};

use crate::changes::Changes;
use crate::nested::NAMES;
use crate::roles::{RoleView, RolesChange};
use crate::status::{StatusView, read_status};
use crate::view::ProjectView;
use crate::{crud, roles, status};

/// This group as the reference shows it.
pub fn group() -> Group {
    Group {
        name: "projects",
        title: "Projects",
        text: "Projects, their status, and the roles in them.",
        routes: crate::routes(),
        operations: vec![
            Operation::of("List projects", crud::list)
                .text("The oldest first. Owners and admins see all, others those in which they have a role.")
                .query::<ProjectStatus>("status", "Only projects with this status.")
                .expand(NAMES),
            Operation::of("List projects of customer", crud::list_of_customer)
                .text("Those in which the customer has a role and that the caller may read.")
                .query::<ProjectStatus>("status", "Only projects with this status.")
                .expand(NAMES),
            Operation::of("Create project", crud::create)
                .text(
                    "A draft, of which the caller is an interview manager. A named token is no customer: it names at \
                     least one in `interview_managers`.",
                )
                .body_with_references::<ProjectView, _>(Changes::read_new)
                .example("project", json!({ "name": "Backend engineer", "default_interview_period": 14 })),
            Operation::of("Get project", crud::read).expand(NAMES),
            Operation::of("Change project", crud::update)
                .text("Its status has an address of its own.")
                .body_with_references::<ProjectView, _>(Changes::read)
                .example("details", json!({ "contact_person": "Grace Hopper", "team_evaluation": 1 })),
            Operation::of("Get project status", status::read),
            Operation::of("Change project status", status::update)
                .text("See the table of moves in the introduction. The same status again changes nothing.")
                .body::<StatusView, _>(read_status)
                .refuses(&[NO_MOVE, CandidatesMust::BeArchivable.refusal(), CandidatesMust::BeNew.refusal()])
                .example("run", json!({ "status": "40-running" })),
            Operation::of("List roles", roles::list).text(
                "The same data as the project's lists of people: an entry for each role that a customer holds, with \
                 flags for all roles of that customer.",
            ),
            Operation::of("Give role", roles::create)
                .text(
                    "Send `role`, or the flags: true gives a role, false takes it, and what is not sent stays as it \
                     is. At least one role must be given. Answers 201 with the first role that is new, 200 when \
                     the customer has them all already. A customer cannot be evaluator and reviewer of one project.",
                )
                .body_with_references::<RoleView, _>(RolesChange::read)
                .example(
                    "evaluator",
                    json!({ "customer": "/api/v3/companies/acme/customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/",
                            "role": "evaluator" }),
                )
                .example(
                    "flags",
                    json!({ "customer": "/api/v3/companies/acme/customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/",
                            "interview_manager": false, "evaluator": true, "reviewer": false }),
                ),
            Operation::of("Get role", roles::read),
            Operation::of("Take role", roles::delete),
        ],
    }
}
