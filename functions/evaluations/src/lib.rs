//! A project's questions and criteria, the evaluations of its candidates, and the results.

mod agreement;
mod changes;
mod criteria;
mod document;
mod evaluations;
mod questions;
mod results;
mod vetos;
mod view;

use std::convert::identity;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Evaluations", "Questions to candidates, criteria, and evaluations of their answers.")
        .under("/companies/{companyId}/projects/{projectId}/questions/")
        .get("", questions::list, "List questions", document::list_questions)
        .post("", questions::create, "Create question", document::create_question)
        .get("{questionId}/", questions::read, "Get question", identity)
        .put("{questionId}/", questions::replace, "Replace question", document::replace_question)
        .patch("{questionId}/", questions::update, "Change question", document::change_question)
        .delete("{questionId}/", questions::delete, "Delete question", document::delete_question)
        .under("/companies/{companyId}/projects/{projectId}/criteria/")
        .get("", criteria::list, "List criteria", document::list_criteria)
        .post("", criteria::create, "Create criterion", document::create_criterion)
        .get("{criterionId}/", criteria::read, "Get criterion", identity)
        .put("{criterionId}/", criteria::replace, "Replace criterion", document::replace_criterion)
        .patch("{criterionId}/", criteria::update, "Change criterion", document::change_criterion)
        .delete("{criterionId}/", criteria::delete, "Delete criterion", identity)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/evaluations/")
        .get("", evaluations::list, "List evaluations", document::list_evaluations)
        .get("{customerId}/", evaluations::read, "Get evaluation", document::get_evaluation)
        .put("{customerId}/", evaluations::save, "Save evaluation", document::save_evaluation)
        .delete("{customerId}/", evaluations::delete, "Delete evaluation", document::delete_evaluation)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/vetos/")
        .get("", vetos::list, "List vetoes", document::list_vetos)
        .post("", vetos::create, "Veto candidate", document::veto_candidate)
        .get("{vetoId}/", vetos::read, "Get veto", document::get_veto)
        .under("/companies/{companyId}/projects/{projectId}/")
        .get("vetos/", vetos::list_of_project, "List vetoes of project", document::list_vetos_of_project)
        .get("results/agreement/", agreement::read, "Get agreement", document::get_agreement)
        .get("results/", results::list, "List results", document::list_results)
        .get("results/{candidateId}/", results::read, "Get result", document::get_result)
}
