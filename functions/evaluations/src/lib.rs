//! The questions and criteria of a project, what evaluators write about its candidates, and the results.

mod changes;
mod criteria;
mod document;
mod evaluations;
mod questions;
mod results;
mod vetos;
mod view;

use shared::RouteReader;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Evaluations", "What candidates are asked, by what they are rated, and how.")
        .under("/companies/{companyId}/projects/{projectId}/questions/")
        .get("", questions::list, document::list_questions)
        .post("", questions::create, document::create_question)
        .get("{questionId}/", questions::read, document::get_question)
        .put("{questionId}/", questions::replace, document::replace_question)
        .patch("{questionId}/", questions::update, document::change_question)
        .delete("{questionId}/", questions::delete, document::delete_question)
        .under("/companies/{companyId}/projects/{projectId}/criteria/")
        .get("", criteria::list, document::list_criteria)
        .post("", criteria::create, document::create_criterion)
        .get("{criterionId}/", criteria::read, document::get_criterion)
        .put("{criterionId}/", criteria::replace, document::replace_criterion)
        .patch("{criterionId}/", criteria::update, document::change_criterion)
        .delete("{criterionId}/", criteria::delete, document::delete_criterion)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/evaluations/")
        .get("", evaluations::list, document::list_evaluations)
        .get("{customerId}/", evaluations::read, document::get_evaluation)
        .put("{customerId}/", evaluations::save, document::save_evaluation)
        .delete("{customerId}/", evaluations::delete, document::delete_evaluation)
        .under("/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/vetos/")
        .get("", vetos::list, document::list_vetos)
        .post("", vetos::create, document::veto_candidate)
        .get("{vetoId}/", vetos::read, document::get_veto)
        .under("/companies/{companyId}/projects/{projectId}/")
        .get("vetos/", vetos::list_of_project, document::list_vetos_of_project)
        .get("results/", results::list, document::list_results)
        .get("results/{candidateId}/", results::read, document::get_result)
}
