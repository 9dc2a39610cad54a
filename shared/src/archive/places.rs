//! The places of a company's files in the bucket and in an archive.

use crate::domain::archive::RecordKind;
use crate::domain::id::CompanyId;

/// A folder below `media/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaPlace {
    /// Photos and CVs of candidates, and renditions of their answers.
    Candidates,
    /// Photos of staff.
    Customers,
    /// Parts of takes that wait for their conversion.
    Takes,
    /// Welcome videos that wait for their conversion.
    Uploads,
    /// Welcome videos.
    Videos,
}

impl MediaPlace {
    /// All places, in the order of their names.
    pub const ALL: [Self; 5] = [Self::Candidates, Self::Customers, Self::Takes, Self::Uploads, Self::Videos];

    pub fn name(self) -> &'static str {
        match self {
            Self::Candidates => "candidates",
            Self::Customers => "customers",
            Self::Takes => "takes",
            Self::Uploads => "uploads",
            Self::Videos => "videos",
        }
    }

    /// The kind of the records that own this place's files.
    pub fn kind(self) -> RecordKind {
        match self {
            Self::Candidates | Self::Takes => RecordKind::Candidates,
            Self::Customers => RecordKind::Customers,
            Self::Uploads | Self::Videos => RecordKind::Videos,
        }
    }

    /// The prefix of the keys of this place's files in the bucket.
    pub fn prefix(self, company: &CompanyId) -> String {
        match self {
            Self::Candidates => format!("media/{company}/candidates/"),
            Self::Customers => format!("media/{company}/customers/"),
            Self::Takes => format!("takes/{company}/"),
            Self::Uploads => format!("uploads/videos/{company}/"),
            Self::Videos => format!("media/{company}/videos/"),
        }
    }

    /// The place of a path below `media/`, and the path below that place.
    pub fn of(path: &str) -> Option<(Self, &str)> {
        let (name, below) = path.split_once('/')?;
        Some((Self::ALL.into_iter().find(|place| place.name() == name)?, below))
    }

    /// The identifier of the record that owns the file at the path `below` this place.
    pub fn owner_of(self, below: &str) -> Option<String> {
        let mut parts = below.split('/');
        let first = parts.next()?;
        Some(match self.kind() {
            RecordKind::Candidates => format!("{first}/{}", parts.next()?),
            _ => first.to_owned(),
        })
    }

    /// Whether the file is a photo or a CV.
    pub fn is_of_person(self, below: &str) -> bool {
        let depth = below.split('/').count();
        match self {
            Self::Candidates => depth == 3,
            Self::Customers => depth == 2,
            Self::Takes | Self::Uploads | Self::Videos => false,
        }
    }
}
