//! Erases people of an archive who were erased after it was written: by another deployment, according to receipts, or
//! by this one, according to its ledger of erasures.

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
    /// The people who could not be erased, with the reasons.
    pub(super) kept: Vec<String>,
}

/// Erases the people of the archive in `company` who are in `receipts` or in the ledger.
// It uses the ordinary deletion, as after a restore, so that counts, histories, files and receipts follow.
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
    // Ignore the company in the ledger, which may have another name: identifiers of people are never reused.
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

/// The identifiers of all candidates and customers in the archive.
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

/// The identifier of a person in the archive; `None` for other items.
fn person_in(erased: ErasedItem) -> Option<String> {
    match erased {
        ErasedItem::Candidate { project, candidate } => Some(format!("{project}/{candidate}")),
        ErasedItem::Customer { customer } => Some(customer.to_string()),
        ErasedItem::Video { .. } | ErasedItem::Company => None,
    }
}

/// The keys whose receipts are accepted: the archive's signing key, the receipt keys in it, those that the operator
/// trusts, and those of this deployment.
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
    // The operator may import without the receipt secret: receipts of the archive's own service need none.
    if access.config().receipt_secret.is_some() {
        keys.extend(access.receipt_keys().await?.public().iter().copied());
    }
    Ok(keys)
}

/// Reads the erasures in `company` from the receipts in `files`. Fails at the first line that is not a receipt signed
/// by an accepted key.
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

/// Reads the erasures from the receipts in a file. Fails at the first line that is not a receipt signed by one of
/// `keys`.
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
