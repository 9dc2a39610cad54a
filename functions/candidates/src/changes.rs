//! What clients send of a candidate.

use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::AdmittedRequest;
use shared::auth::password::Password;
use shared::domain::candidate::{Candidate, CandidateProfile};
use shared::domain::file::FileKind;
use shared::domain::partner_data::PartnerData;
use shared::domain::text::{Email, ShortName, TextLine, TextLines, Username};
use shared::http::fields::set;
use shared::http::wire::Uri;
use shared::http::{BodyFields, FileChange};

/// The fields of a candidate that its managers may send; none leaves a field as it is.
pub(crate) struct UpdateCandidate {
    first_name: Option<ShortName>,
    last_name: Option<ShortName>,
    username: Option<Option<Username>>,
    email: Option<Option<Email>>,
    deadline: Option<Option<DateTime<Utc>>>,
    phone: Option<TextLine<50>>,
    gender: Option<TextLine<20>>,
    address: Option<TextLines<500>>,
    partner_data: Option<PartnerData>,
}

impl UpdateCandidate {
    /// Reads the body of a change.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let changes = Self::read_from(&mut body);
        body.finish(|| Some(changes))
    }

    /// Reads the body of a creation.
    pub(crate) fn read_new(mut body: BodyFields) -> Result<CandidateProfile> {
        body.require("first_name");
        body.require("last_name");
        let changes = Self::read_from(&mut body);
        body.finish(|| {
            let mut profile = CandidateProfile::new(changes.first_name.clone()?, changes.last_name.clone()?);
            changes.apply_to(&mut profile);
            Some(profile)
        })
    }

    fn read_from(body: &mut BodyFields) -> Self {
        Self {
            first_name: body.text("first_name", ShortName::parse),
            last_name: body.text("last_name", ShortName::parse),
            username: body.clearable("username", Username::parse),
            email: body.clearable("email", Email::parse),
            deadline: body.timestamp("deadline"),
            phone: body.line("phone"),
            gender: body.line("gender"),
            address: body.lines("address"),
            partner_data: body.partner_data("partner_data"),
        }
    }

    /// Makes the changes.
    pub(crate) fn apply_to(self, profile: &mut CandidateProfile) {
        set(&mut profile.first_name, self.first_name);
        set(&mut profile.last_name, self.last_name);
        set(&mut profile.username, self.username);
        set(&mut profile.email, self.email);
        set(&mut profile.deadline, self.deadline);
        set(&mut profile.phone, self.phone);
        set(&mut profile.gender, self.gender);
        set(&mut profile.address, self.address);
        set(&mut profile.partner_data, self.partner_data);
    }
}

/// The files that a client sends of a candidate, or takes away.
pub(crate) struct CandidateFiles {
    photo: Option<FileChange>,
    cv: Option<FileChange>,
}

impl CandidateFiles {
    /// Reads them out of a body; what is wrong with them is told along with the rest. `own` tells where the candidate's
    /// files are fetched.
    pub(crate) fn read(body: &mut BodyFields, own: impl Fn(FileKind) -> Option<Uri>) -> Self {
        let mut file = |kind| body.file(kind, own(kind).as_ref());
        Self { photo: file(FileKind::Photo), cv: file(FileKind::Cv) }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        let is_sent = |change: &Option<FileChange>| matches!(change, Some(FileChange::Put(_)));
        !is_sent(&self.photo) && !is_sent(&self.cv)
    }

    /// Stores what was sent, and makes the changes.
    pub(crate) async fn apply_to(self, candidate: &mut Candidate, access: &AdmittedRequest) -> Result<()> {
        let (owner, files) = (candidate.owner(), access.files()?);
        candidate.photo = files.change(owner, FileKind::Photo, candidate.photo, self.photo).await?;
        candidate.cv = files.change(owner, FileKind::Cv, candidate.cv, self.cv).await?;
        Ok(())
    }
}

/// The fields that a candidate may send of itself; none leaves a field as it is.
pub(crate) struct UpdateOwnCandidate {
    password: Option<Password>,
    phone: Option<TextLine<50>>,
    gender: Option<TextLine<20>>,
    address: Option<TextLines<500>>,
}

impl UpdateOwnCandidate {
    /// Reads the body of a change.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let changes = Self::read_from(&mut body);
        body.finish(|| Some(changes))
    }

    /// The fields, of a body that is read for more.
    pub(crate) fn read_from(body: &mut BodyFields) -> Self {
        Self {
            password: body.text("password", Password::choose),
            phone: body.line("phone"),
            gender: body.line("gender"),
            address: body.lines("address"),
        }
    }

    /// Makes the changes but that of the password, and gives that.
    pub(crate) fn apply_to(self, profile: &mut CandidateProfile) -> Option<Password> {
        set(&mut profile.phone, self.phone);
        set(&mut profile.gender, self.gender);
        set(&mut profile.address, self.address);
        self.password
    }
}
