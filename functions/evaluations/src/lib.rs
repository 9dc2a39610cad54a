//! The questions and criteria of a project.

mod changes;
mod criteria;
mod document;
mod questions;

use shared::Routes;

/// The routes of this group.
pub fn routes<R: Routes>(routes: R) -> R {
    routes
        .group("Evaluations", "What candidates are asked, and by what they are rated.")
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
}
