//! Fields that a body may hold because its resource shows them, and that no reader reads.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::document::written;

/// The names of the members of the objects that a schema describes; of a list, those of its items.
fn members(document: &Value, schema: &Value) -> BTreeSet<String> {
    if let Some(reference) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        return members(document, document.pointer(reference).unwrap());
    }
    match schema.get("items") {
        Some(items) => members(document, items),
        None => schema["properties"].as_object().into_iter().flat_map(|all| all.keys().cloned()).collect(),
    }
}

/// The path of the resource that a request creates or changes; `None` if it is no resource that can be read alone.
fn resource_of<'a>(document: &'a Value, path: &'a str, method: &str, body: &Value) -> Option<&'a str> {
    if method != "post" {
        return Some(path);
    }
    // A body that is a list is sent to an import below the list of the resources.
    let is_import = body.get("items").is_some();
    let list = if is_import { path.trim_end_matches('/').rsplit_once('/')?.0 } else { path };
    let list = format!("{}/{{", list.trim_end_matches('/'));
    let is_of_list = |path: &&String| {
        path.strip_prefix(&list).and_then(|id| id.strip_suffix("}/")).is_some_and(|id| !id.contains('/'))
    };
    document["paths"].as_object().unwrap().keys().find(is_of_list).map(String::as_str)
}

/// A client may send back what it has read, so a field that a reader forgets is ignored, with 200. Here it appears in a line.
#[test]
fn bodies_ignore_these_fields_of_their_resources() {
    const JSON: &str = "/content/application~1json/schema";
    let document: Value = serde_json::from_str(&written().unwrap()).unwrap();
    let mut lines = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let Some(body) = operation["requestBody"].pointer(JSON) else { continue };
            let Some(resource) = resource_of(&document, path, method, body) else { continue };
            let shown = &document["paths"][resource]["get"]["responses"]["200"];
            let Some(shown) = shown.pointer(JSON) else { continue };
            let (shown, read) = (members(&document, shown), members(&document, body));
            let ignored: Vec<_> = shown.difference(&read).map(String::as_str).collect();
            if !ignored.is_empty() {
                lines.push(format!("{}: {}", operation["operationId"].as_str().unwrap(), ignored.join(" ")));
            }
        }
    }
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"), @"
    announceCandidateFile: error id resource_uri status upload
    announceCustomerPhoto: error id resource_uri status upload
    changeCandidate: activation_key cancellation company confirmationdate created_by email_confirmed email_status ended_by_time erasure_due_at evaluation_status help_request id interview_key interview_suite_url interview_url interviewdate invitationdate is_on_hold my_evaluation my_evaluation_status next_reminder_at opened_at project reopening resource_uri shares status
    changeCompany: id logo resource_uri
    changeCriterion: id project resource_uri
    changeCustomer: activation_key company confirmationdate created_by email_confirmed email_status id invitationdate projects resource_uri status user
    changeLabel: company id resource_uri
    changeProject: aborted_candidates_count can_archive can_evaluate can_see_results candidates candidates_count company confirmed_candidates_count criteria evaluated_candidates_count expired_candidates_count id interview_suite_url interviewed_candidates_count interviewing_candidates_count invited_candidates_count language my_pending_evaluations_count questions resource_uri results roles skipped_candidates_count status status_update_uri
    changeProjectStatus: resource_uri warnings
    changeQuestion: id project resource_uri
    changeVideo: captions company dimensions id length resource_uri streams submit_date submitted_by thumb thumb_conversion_id thumb_file upload upload_filename video_conversion_error video_conversion_id video_conversion_status
    changeWebhook: after behind company created_at created_by disabled_reason failing_since former_secret_until id last_delivery_at misses_erasures resource_uri status waiting_resources
    createCandidate: activation_key adjustments cancellation company confirmationdate created_by email_confirmed email_status ended_by_time erasure_due_at evaluation_status help_request id interview_key interview_suite_url interview_url interviewdate invitationdate is_on_hold my_evaluation my_evaluation_status next_reminder_at opened_at project reopening resource_uri shares status
    createCriterion: id project resource_uri
    createCustomer: activation_key company confirmationdate created_by email_confirmed email_status id invitationdate projects resource_uri status user
    createGuestLink: candidate created_at created_by id last_opened_at opened_at resource_uri
    createLabel: company id resource_uri
    createNamedToken: company created_at created_by exchanged_at id is_expired last_problem last_used_at resource_uri
    createProject: aborted_candidates_count can_archive can_evaluate can_see_results candidates candidates_count company confirmed_candidates_count criteria evaluated_candidates_count expired_candidates_count id interview_suite_url interviewed_candidates_count interviewing_candidates_count invited_candidates_count language my_pending_evaluations_count questions resource_uri results roles skipped_candidates_count status status_update_uri
    createQuestion: id project resource_uri
    createVideo: captions company dimensions id length resource_uri streams submit_date submitted_by thumb thumb_conversion_id thumb_file upload video_conversion_error video_conversion_id video_conversion_status
    createWebhook: behind company created_at created_by disabled_reason failing_since former_secret_until id last_delivery_at misses_erasures resource_uri status waiting_resources
    giveRole: id project resource_uri
    importCandidates: activation_key adjustments cancellation company confirmationdate created_by email_confirmed email_status ended_by_time erasure_due_at evaluation_status help_request id interview_key interview_suite_url interview_url interviewdate invitationdate is_on_hold my_evaluation my_evaluation_status next_reminder_at opened_at project reopening resource_uri shares status
    importCustomers: activation_key company confirmationdate created_by email_confirmed email_status id invitationdate phone photo preferred_language projects receive_interview_notifications resource_uri role seen_welcome status user
    publishLegalText: created_at id resource_uri version
    replaceCriterion: id project resource_uri
    replaceQuestion: id project resource_uri
    replaceVideo: captions company dimensions id length resource_uri streams submit_date submitted_by thumb thumb_conversion_id thumb_file upload upload_filename video_conversion_error video_conversion_id video_conversion_status
    saveEvaluation: candidate changed_at completed_at evaluator first id resource_uri
    setProjectRetention: is_inherited resource_uri starts_at
    setRetention: last_run next_run_at resource_uri starts_at
    setSignIn: is_working last_problem redirect_uri resource_uri sign_in_url
    setSignInOfCustomer: issuer linked_at resource_uri
    shareCandidate: candidate id resource_uri
    vetoCandidate: candidate evaluator id resource_uri
    writeAnswer: captions dimensions error id interruptions open_take question question_text resource_uri seconds status streams take takes_begun takes_left thumb
    ");
}
