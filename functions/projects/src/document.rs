//! The texts and examples of each route in the OpenAPI document.

use serde_json::json;
use shared::domain::project::{CandidateRequirement, NO_MOVE, ProjectStatus};
use shared::domain::questionnaire::QUESTIONS_IN_USE;
use shared::domain::text::ExternalId;
use shared::http::example_uri;
use shared::openapi::OperationDoc;

use crate::changes::{read_changes, read_new};
use crate::expand::NAMES;
use crate::retention::{ProjectRetentionView, read_rule};
use crate::roles::{RoleView, SetRoles};
use crate::status::{StatusView, read_status};
use crate::view::ProjectView;

pub(crate) fn list_projects(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Oldest first. Owners and admins see all projects, other customers those in which they have a \
             role.",
        )
        .query::<ProjectStatus>("status", "Only projects with this status.")
        .query::<ExternalId>(
            "external_id",
            "Only the project with this key, which is compared exactly. May not be empty.",
        )
        .expand(NAMES)
}

pub(crate) fn list_projects_of_customer(operation: OperationDoc) -> OperationDoc {
    operation
        .text("Projects in which the customer has a role and which the caller may read.")
        .query::<ProjectStatus>("status", "Only projects with this status.")
        .expand(NAMES)
}

pub(crate) fn create_project(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Creates a draft with the caller as an interview manager. A named token is not a customer, so it \
             must name at least one in `interview_managers`. `interview_platform` is by default `builtin`, or \
             `external` in a deployment whose mails lead to another application. If another project of the company \
             has the `external_id`, the answer is 409 with the code `external_id_taken`; `resource_uri` is that project, \
             unless the caller may not see it.\n\n\
             With `copy_of`, the draft takes over the settings, questions, criteria, labels, videos, `reminder_days` and retention \
             policy of that project, which the caller must be able to change; fields in the body win. What the caller may not set is not copied either: \
             callers who may not change the retention of a project get one with the company's, and `not_copied` names it. Not copied are \
             candidates, roles, status, dates, `external_id`, `internal_id` and `partner_data`. The copy is made whole or not at all.",
        )
        .takes_external_id()
        .body_with_references::<ProjectView, _>(|body, company, references| {
            read_new(body, company, references, false)
        })
        .field("copy_of", "A project to copy.")
        .example(
            "project",
            json!({ "name": "Backend engineer", "external_id": "REQ-7", "default_interview_period": 14 }),
        )
        .example("copy", json!({ "name": "Backend engineer, autumn", "copy_of": example_uri::PROJECT }))
        .example("way_back", json!({ "name": "Backend engineer", "return_url": "https://jobs.example.com/done?from=interview" }))
}

pub(crate) fn get_project(operation: OperationDoc) -> OperationDoc {
    operation.expand(NAMES)
}

pub(crate) fn change_project(operation: OperationDoc) -> OperationDoc {
    operation
        .text("To change the status, use `status/`.")
        .takes_external_id()
        .body_with_references::<ProjectView, _>(|body, company, references| {
            read_changes(body, company, references, false)
        })
        .refuses(&[QUESTIONS_IN_USE])
        .example("details", json!({ "contact_person": "Grace Hopper", "team_evaluation": 1 }))
}

pub(crate) fn change_project_status(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The introduction has a table of the moves. Sending the current status changes nothing. `warnings` tells of a project that \
             runs without questions.",
        )
        .body::<StatusView, _>(read_status)
        .refuses(&[NO_MOVE, CandidateRequirement::Archivable.refusal(), CandidateRequirement::New.refusal()])
        .example("run", json!({ "status": "40-running" }))
}

pub(crate) fn get_project_retention(operation: OperationDoc) -> OperationDoc {
    operation.text("The project's own policy or, without one, the company's.")
}

pub(crate) fn set_project_retention(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Replaces the company's policy in this project; null `days` keep the candidates although the company's policy \
             would erase them. A policy that is stricter than the one before, be it the company's, erases nothing for \
             seven days, until `starts_at`. `retention/due/` of the company shows beforehand who would be erased.",
        )
        .body::<ProjectRetentionView, _>(read_rule)
        .field("from", "The event from which the days are counted. By default `last_activity`.")
        .example("four_weeks", json!({ "days": 28, "from": "project_closed" }))
        .example("keep", json!({ "days": null }))
}

pub(crate) fn delete_project_retention(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The company's policy applies again. If that is stricter than the project's was, nothing is erased for seven days.",
    )
}

pub(crate) fn get_statistics_of_project(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The numbers that remain of deleted candidates. The counts of the project itself, such as \
         `candidates_count`, are of candidates who exist. After the service was restored to an earlier moment, candidates \
         who are deleted again count by their status at that moment.",
    )
}

pub(crate) fn list_roles(operation: OperationDoc) -> OperationDoc {
    operation.text(
        "The roles that the project's `evaluators`, `interview_managers` and `reviewers` show, one entry for \
         each customer and role. Each entry has flags for all roles of its customer.",
    )
}

pub(crate) fn give_role(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Send `role`, or the flags: true gives a role, false takes it, and roles that are not sent stay \
             as they are. The request must give at least one role. The answer is 201 with the first new \
             role, or 200 if the customer already has all of them. A customer cannot be evaluator and \
             reviewer of the same project.",
        )
        .body_with_references::<RoleView, _>(SetRoles::read)
        .field("role", "A role to give to the customer.")
        .example(
            "evaluator",
            json!({ "customer": "/api/v3/companies/acme/customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/",
                            "role": "evaluator" }),
        )
        .example(
            "flags",
            json!({ "customer": "/api/v3/companies/acme/customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/",
                            "interview_manager": false, "evaluator": true, "reviewer": false }),
        )
}
