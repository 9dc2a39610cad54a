//! Retries failed conversions of answers, restarts conversions that a restore has undone, and finds files whose takes
//! exist.

use std::collections::HashMap;

use serde_json::{Value, json};
use shared::Result;
use shared::auth::OperatorAccess;
use shared::domain::answers::Answers;
use shared::media::AnswerObjects;
use shared::store::VersionedItem;

use super::{no_company, only_company_id};

/// Retries the company's failed conversions whose parts still exist.
pub(super) async fn retry(operator: &OperatorAccess, company: Option<&str>) -> Result<Value> {
    let company = only_company_id(company)?;
    operator.store.company(&company).await?.ok_or_else(no_company)?;
    let store = &operator.store;
    let now = operator.now;
    let mut retried = 0;
    for project in store.all_projects(&company).await? {
        retried += store.retry_conversions(&company, project.id, now).await?;
    }
    Ok(json!({ "company": company, "retried": { "conversion": retried } }))
}

/// Restarts conversions of answers that a restore of the table has undone.
pub(super) async fn restart(operator: &OperatorAccess) -> Result<Value> {
    let restarted = operator.store.restart_conversions(operator.now).await?;
    Ok(json!({ "restarted": { "conversion": restarted } }))
}

/// Returns those `files` whose takes are in the table.
pub(super) async fn files_of_takes(operator: &OperatorAccess, files: Vec<String>) -> Result<Value> {
    let mut known: HashMap<String, Option<VersionedItem<Answers>>> = HashMap::new();
    let mut found = Vec::new();
    for file in files {
        let Some((objects, take)) = AnswerObjects::in_file(&file) else { continue };
        // Load each candidate's answers only once: a candidate has many files.
        let place = objects.all_parts();
        if !known.contains_key(&place) {
            let AnswerObjects { company, project, candidate } = &objects;
            known.insert(place.clone(), operator.store.answers(company, *project, *candidate).await?);
        }
        if known.get(&place).and_then(Option::as_ref).is_some_and(|answers| answers.take(take).is_some()) {
            found.push(file);
        }
    }
    Ok(json!({ "files_of_takes": found }))
}
