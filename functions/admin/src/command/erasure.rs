//! Repeats deletions after a restore of the table.

use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::history::erasure::{ErasedItem, ErasureRecord};
use shared::http::wire::Uri;
use shared::media::LedgerPosition;
use shared::store::FoundErasures;
use shared::{Error, Result};

use super::moment;

/// Repeats the deletions that were recorded at `since` or later.
pub(super) async fn again(operator: &OperatorAccess, since: &str) -> Result<Value> {
    let since = moment(since).map_err(|message| Error::field("since", message))?;
    let mut position = Some(LedgerPosition::at(since));
    let objects = operator.objects()?;
    let mut noted = 0;
    let mut erased = 0;
    let mut kept = Vec::new();
    while let Some(from) = position {
        let (mut page, next) = objects.erasures(&from).await?;
        let listed = page.len();
        // The restore cannot have undone deletions that are later than this command's start.
        page.retain(|erasure| erasure.at <= operator.now);
        position = next.filter(|_| page.len() == listed);
        noted += page.len();
        let FoundErasures { undone, done } = operator.find_erased(page).await?;
        // The item is gone, but its rest may not be: at the restored moment the outbox may not have deleted it yet.
        operator.erase_rests(&done).await?;
        for erasure in undone {
            let reason = match operator.erase_again(&erasure).await {
                Ok(was_there) => {
                    erased += usize::from(was_there);
                    continue;
                }
                Err(Error::Changed) => "Concurrent requests keep changing it. Repeat the command.",
                Err(Error::Refused(why)) => why.detail,
                Err(error) => return Err(error),
            };
            kept.push(json!({ "uri": uri_of(&erasure, operator), "reason": reason }));
        }
    }
    Ok(json!({ "erased_again": { "noted": noted, "erased": erased, "kept": kept } }))
}

fn uri_of(ErasureRecord { company, erased, .. }: &ErasureRecord, operator: &OperatorAccess) -> Uri {
    let references = operator.references();
    match *erased {
        ErasedItem::Candidate { project, candidate } => {
            references.uri_in_project(company, project, candidate)
        }
        ErasedItem::Customer { customer } => references.uri(company, customer),
        ErasedItem::Video { video } => references.uri(company, video),
        ErasedItem::Company => references.company(company),
    }
}
