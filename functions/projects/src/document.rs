//! What the reference says of this group.

use serde_json::json;
use shared::domain::project::{CandidatesMust, NO_MOVE, ProjectStatus};
use shared::openapi::{Group, Operation};

use crate::changes::Changes;
use crate::nested::NAMES;
use crate::roles::RoleView;
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
                .text("A draft, of which the caller is an interview manager.")
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
            Operation::of("List roles", roles::list).text("The same data as the project's lists of people."),
            Operation::of("Give role", roles::create)
                .text("Nobody is an evaluator and a reviewer at once.")
                .body_with_references::<RoleView, _>(roles::read_new)
                .example(
                    "evaluator",
                    json!({ "customer": "/api/v3/companies/acme/customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/",
                            "role": "evaluator" }),
                ),
            Operation::of("Get role", roles::read),
            Operation::of("Take role", roles::delete),
        ],
    }
}
