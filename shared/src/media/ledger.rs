//! Keys of deletion records: one empty object per deletion, ordered by time.
//!
//! The records are in the bucket because they must outlive the table. The service never serves them.

use chrono::{DateTime, NaiveDateTime, Utc};

use crate::domain::history::erasure::{ErasedItem, ErasureRecord};

pub(super) const LEDGER: &str = "erased/";
/// The format of a time in a key, such as `20261124T180000Z`. It sorts by time and needs no escaping.
const MOMENT: &str = "%Y%m%dT%H%M%SZ";

pub(super) fn entry_key(erasure: &ErasureRecord) -> String {
    let ErasureRecord { company, erased, at } = erasure;
    let start = start(*at);
    match erased {
        ErasedItem::Candidate { project, candidate } => {
            format!("{start}/{company}/candidates/{project}/{candidate}")
        }
        ErasedItem::Customer { customer } => format!("{start}/{company}/customers/{customer}"),
        ErasedItem::Video { video } => format!("{start}/{company}/videos/{video}"),
        ErasedItem::Company => format!("{start}/{company}/company"),
    }
}

/// The start of the keys of records at `since`. All keys of these and later records sort after it.
pub(super) fn start(since: DateTime<Utc>) -> String {
    format!("{LEDGER}{}", since.format(MOMENT))
}

/// The record with this key; `None` for other keys.
pub(super) fn entry_in(key: &str) -> Option<ErasureRecord> {
    let parts: Vec<&str> = key.strip_prefix(LEDGER)?.split('/').collect();
    let [at, company, kind @ ..] = parts.as_slice() else { return None };
    let erased = match kind {
        ["candidates", project, candidate] => {
            ErasedItem::Candidate { project: project.parse().ok()?, candidate: candidate.parse().ok()? }
        }
        ["customers", customer] => ErasedItem::Customer { customer: customer.parse().ok()? },
        ["videos", video] => ErasedItem::Video { video: video.parse().ok()? },
        ["company"] => ErasedItem::Company,
        _ => return None,
    };
    let at = NaiveDateTime::parse_from_str(at, MOMENT).ok()?.and_utc();
    Some(ErasureRecord { company: company.parse().ok()?, erased, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const K: &str = "01BX5ZZKBKACTAV9WEVGEMMVRZ";

    #[test]
    fn an_entry_is_told_by_its_key_and_nothing_else() {
        for key in [
            format!("erased/20261124T180000Z/acme/candidates/{P}/{K}"),
            format!("erased/20261124T180000Z/acme/customers/{K}"),
            format!("erased/20261124T180000Z/acme/videos/{K}"),
            "erased/20261124T180000Z/acme/company".to_owned(),
        ] {
            let entry = entry_in(&key).unwrap_or_else(|| panic!("{key}"));
            assert_eq!(
                (entry.company.as_str(), entry.at.to_rfc3339()),
                ("acme", "2026-11-24T18:00:00+00:00".to_owned())
            );
            assert_eq!(entry_key(&entry), key);
        }
        for key in [
            format!("media/20261124T180000Z/acme/customers/{K}"),
            format!("erased/20261124T180000Z/acme/customers/{K}/{K}"),
            "erased/20261124T180000Z/acme/customers/x".to_owned(),
            format!("erased/20261324T180000Z/acme/customers/{K}"),
            format!("erased/20261124T180000Z/A/customers/{K}"),
            format!("erased/20261124T180000Z/customers/{K}"),
        ] {
            assert_eq!(entry_in(&key), None, "{key}");
        }
    }

    #[test]
    fn keys_are_in_the_order_of_time() {
        let entry = format!("erased/20261124T180000Z/acme/customers/{K}");
        let at = entry_in(&entry).unwrap_or_else(|| panic!("{entry}")).at;
        assert!(start(at) < entry);
        assert!(entry < start(at + chrono::TimeDelta::seconds(1)));
    }
}
