//! Files: what their bytes are, where they are stored, and the addresses by which they are fetched.

mod address;
mod checked;
mod document;
mod objects;
mod picture;

pub use address::{MediaSigner, MediaToken};
pub use checked::{Checked, inspect};
pub use objects::{Objects, SignedUpload};

use crate::domain::file::{Owner, StoredFile};
use crate::domain::id::{CompanyId, FileId};

/// Where clients put files that do not fit through a request. Nothing below it is ever served; what stays there is
/// deleted by the bucket's own rule after a day.
const UPLOADS: &str = "uploads/files/";

/// The key of a stored object.
pub fn object_key(company: &CompanyId, owner: Owner, file: FileId) -> String {
    match owner {
        Owner::Customer { customer } => format!("media/{company}/customers/{customer}/{file}"),
        Owner::Candidate { project, candidate } => {
            format!("media/{company}/candidates/{project}/{candidate}/{file}")
        }
    }
}

/// The key of the object that a client puts, until it has been looked at.
pub fn upload_key(file: FileId) -> String {
    format!("{UPLOADS}{file}")
}

/// The upload whose object has this key.
pub fn upload_in(key: &str) -> Option<FileId> {
    key.strip_prefix(UPLOADS)?.parse().ok()
}

/// The name under which a document is saved: its owner's, as far as file systems can bear it.
pub fn file_name(name: &str, file: StoredFile) -> String {
    let kept = |character: char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '\'');
    let name: String = name.chars().filter(|character| kept(*character)).collect();
    format!("{}.{}", name.trim(), file.file_type.extension())
}
