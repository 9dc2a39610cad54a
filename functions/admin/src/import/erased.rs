//! People of an archive who were erased after it was written: by another deployment, as receipts tell, or by this one, as its ledger
//! of erasures tells.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use chrono::DateTime;
use serde_json::Value;
use shared::archive::{self, Result};
use shared::auth::OperatorAccess;
use shared::domain::archive::RecordKind;
use shared::domain::history::erasure::{ErasedItem, ErasureRecord};
use shared::domain::id::CompanyId;
use shared::domain::privacy::receipt::ReceiptKey;
use shared::http::view::ReceiptView;
use shared::media::LedgerPosition;

use super::TrustedKeys;
use super::files::{SignedArchive, identifier_in};

/// The people that an import has erased again.
#[derive(Default)]
pub(super) struct ErasedPeople {
    pub(super) erased: u64,
    /// The people who could not be erased, each with the reason.
    pub(super) kept: Vec<String>,
}

/// Erases the people of the archive in `company` that are in `receipts` or in the ledger.
// The ordinary deletion does it, as after a restore, so that counts, histories, files and receipts follow.
pub(super) async fn erase_again(
    access: &OperatorAccess,
    archive: &SignedArchive,
    company: &CompanyId,
    receipts: Vec<ErasureRecord>,
) -> Result<ErasedPeople> {
    let people = people_of(archive)?;
    let mut erasures: BTreeMap<String, ErasureRecord> = BTreeMap::new();
    let mut note = |record: ErasureRecord| {
        if let Some(person) = person_in(record.erased).filter(|person| people.contains(person)) {
            erasures.entry(person).or_insert(ErasureRecord { company: company.clone(), ..record });
        }
    };
    receipts.into_iter().for_each(&mut note);
    // The name of the company in the ledger does not matter: identifiers of people are never used again.
    let objects = access.objects()?;
    let mut position = Some(LedgerPosition::at(DateTime::UNIX_EPOCH));
    while let Some(from) = position {
        let (page, next) = objects.erasures(&from).await?;
        page.into_iter().for_each(&mut note);
        position = next;
    }
    let mut result = ErasedPeople::default();
    for (person, erasure) in erasures {
        match access.erase_again(&erasure).await {
            Ok(_) => result.erased += 1,
            Err(shared::Error::Refused(why)) => result.kept.push(format!("{person}: {}", why.detail)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(result)
}

/// The identifiers of the records of people.
fn people_of(archive: &SignedArchive) -> Result<HashSet<String>> {
    let mut people = HashSet::new();
    for kind in [RecordKind::Candidates, RecordKind::Customers] {
        let mut lines = archive.records(kind)?;
        while let Some(line) = lines.next_line()? {
            people.insert(identifier_in(&line)?);
        }
    }
    Ok(people)
}

/// The identifier of the record of a person; `None` for other items.
fn person_in(erased: ErasedItem) -> Option<String> {
    match erased {
        ErasedItem::Candidate { project, candidate } => Some(format!("{project}/{candidate}")),
        ErasedItem::Customer { customer } => Some(customer.to_string()),
        ErasedItem::Video { .. } | ErasedItem::Company => None,
    }
}

/// The keys whose receipts count: those of the archive, the one that has signed it, those that the operator trusts, and those of
/// this deployment.
async fn keys_of(
    access: &OperatorAccess,
    archive: &SignedArchive,
    trusted: &TrustedKeys,
) -> Result<Vec<ReceiptKey>> {
    let mut keys = vec![archive.key];
    if let TrustedKeys::Named(named) = trusted {
        keys.extend(named);
    }
    let mut lines = archive.records(RecordKind::ReceiptKeys)?;
    while let Some(line) = lines.next_line()? {
        let record: Value = serde_json::from_str(&line)?;
        keys.push(ReceiptKey::parse(record["value"]["x"].as_str().unwrap_or_default())?);
    }
    // An operator may import without the secret of receipts: those of the archive's own service need none.
    if access.config().receipt_secret.is_some() {
        keys.extend(access.receipt_keys().await?.public().iter().copied());
    }
    Ok(keys)
}

/// The erasures in `company` that the receipts in `files` tell of. Fails at the first line that is no receipt by a key that counts.
pub(super) async fn read_erasures(
    access: &OperatorAccess,
    archive: &SignedArchive,
    company: &CompanyId,
    trusted: &TrustedKeys,
    files: &[PathBuf],
) -> Result<Vec<ErasureRecord>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let keys = keys_of(access, archive, trusted).await?;
    let mut erasures = Vec::new();
    for file in files {
        erasures.extend(read_receipts(file, company, &keys)?);
    }
    Ok(erasures)
}

/// The erasures that the receipts in a file tell of. Fails at the first line that is no receipt by one of these keys.
fn read_receipts(file: &Path, company: &CompanyId, keys: &[ReceiptKey]) -> Result<Vec<ErasureRecord>> {
    let name = file.display();
    let opened = File::open(file).map_err(|error| format!("{name}: {error}"))?;
    let mut erasures = Vec::new();
    for (number, line) in BufReader::new(opened).lines().enumerate() {
        let fault = |problem: &str| format!("{name}, line {}: {problem}", number + 1);
        let jws = archive::jws_in(&line?).map_err(|error| fault(&error.to_string()))?;
        if keys.iter().all(|key| key.open_receipt(&jws).is_none()) {
            let problem = "no key of the archive, of this service or given by --key has signed this receipt";
            return Err(fault(problem).into());
        }
        let stated = ReceiptView::signed(jws).and_then(|receipt| receipt.erased());
        let (erased, at) = stated.ok_or_else(|| fault("this receipt names no candidate"))?;
        erasures.push(ErasureRecord { company: company.clone(), erased, at });
    }
    Ok(erasures)
}
