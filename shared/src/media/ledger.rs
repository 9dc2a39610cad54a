//! The ledger of erasures: an object for each, which says everything by its key, in the order of time.
//!
//! It lies in the bucket because it must outlive the table. No address of the service leads there.

use chrono::{DateTime, NaiveDateTime, Utc};

use crate::domain::erasure::{Erased, Erasure};

/// What all keys of the ledger begin with.
pub(super) const LEDGER: &str = "erased/";
/// A moment in a key, such as `20261124T180000Z`: its order is that of time, and every tool takes it as it is.
const MOMENT: &str = "%Y%m%dT%H%M%SZ";

/// The key of an entry.
pub(super) fn entry_key(erasure: &Erasure) -> String {
    let Erasure { company, erased, at } = erasure;
    let start = start(*at);
    match erased {
        Erased::Candidate { project, candidate } => {
            format!("{start}/{company}/candidates/{project}/{candidate}")
        }
        Erased::Customer { customer } => format!("{start}/{company}/customers/{customer}"),
        Erased::Video { video } => format!("{start}/{company}/videos/{video}"),
    }
}

/// What comes right before the keys of what was erased at `since` or later.
pub(super) fn start(since: DateTime<Utc>) -> String {
    format!("{LEDGER}{}", since.format(MOMENT))
}

/// The entry with this key, if it is one.
pub(super) fn entry_in(key: &str) -> Option<Erasure> {
    let parts: Vec<&str> = key.strip_prefix(LEDGER)?.split('/').collect();
    let [at, company, kind @ ..] = parts.as_slice() else { return None };
    let erased = match kind {
        ["candidates", project, candidate] => {
            Erased::Candidate { project: project.parse().ok()?, candidate: candidate.parse().ok()? }
        }
        ["customers", customer] => Erased::Customer { customer: customer.parse().ok()? },
        ["videos", video] => Erased::Video { video: video.parse().ok()? },
        _ => return None,
    };
    let at = NaiveDateTime::parse_from_str(at, MOMENT).ok()?.and_utc();
    Some(Erasure { company: company.parse().ok()?, erased, at })
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
