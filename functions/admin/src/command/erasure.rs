//! Repeats deletions after a table was restored.

use shared::auth::OperatorAccess;
use shared::domain::erasure::{ErasedItem, ErasureRecord};
use shared::http::wire::Uri;
use shared::media::LedgerPosition;
use shared::store::FoundErasures;
use shared::{Error, Result};

use super::moment;
use crate::outcome::{CommandOutput, ErasedAgain};

/// Repeats the deletions recorded at `since` or later.
pub(super) async fn again(operator: &OperatorAccess, since: &str) -> Result<CommandOutput> {
    let since = moment(since).map_err(|message| Error::field("since", message))?;
    let mut position = Some(LedgerPosition::at(since));
    let objects = operator.objects()?;
    let mut outcome = ErasedAgain::default();
    while let Some(from) = position {
        let (mut page, next) = objects.erasures(&from).await?;
        let listed = page.len();
        // Deletions from here on were not undone.
        page.retain(|erasure| erasure.at <= operator.now);
        position = next.filter(|_| page.len() == listed);
        outcome.noted += page.len();
        let FoundErasures { undone, done } = operator.find_erased(page).await?;
        // The item is gone, but at the restored moment the outbox may not have deleted all that belongs to it.
        operator.erase_rests(&done).await?;
        for erasure in undone {
            match operator.erase_again(&erasure).await {
                Ok(was_there) => outcome.erased += usize::from(was_there),
                Err(Error::Changed) => outcome.keep(
                    uri_of(&erasure, operator),
                    "Concurrent requests keep changing it. Repeat the command.",
                ),
                Err(Error::Refused(why)) => outcome.keep(uri_of(&erasure, operator), why.detail),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(CommandOutput { erased_again: Some(outcome), ..CommandOutput::default() })
}

fn uri_of(ErasureRecord { company, erased, .. }: &ErasureRecord, operator: &OperatorAccess) -> Uri {
    let references = operator.references();
    match *erased {
        ErasedItem::Candidate { project, candidate } => references.candidate(company, project, candidate),
        ErasedItem::Customer { customer } => references.customer(company, customer),
        ErasedItem::Video { video } => references.video(company, video),
    }
}
