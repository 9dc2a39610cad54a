//! The bodies of requests that create or change a candidate.

use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::AdmittedRequest;
use shared::auth::password::Password;
use shared::domain::candidate::{
    Candidate, CandidateProfile, InterviewAdjustments, MAX_EXTRA_TAKES, TimeFactor,
};
use shared::domain::media::file::FileKind;
use shared::domain::parse_enum;
use shared::domain::text::{Email, ExternalId, ShortName, TextLine, TextLines, Username};
use shared::http::iso8601::parse_timestamp;
use shared::http::wire::Uri;
use shared::http::{BodyChanges, BodyFields, FileChange};

/// Reads the body of a creation.
pub(crate) fn read_new(mut body: BodyFields, now: DateTime<Utc>) -> Result<CandidateProfile> {
    let first_name = body.required("first_name", ShortName::parse);
    let last_name = body.required("last_name", ShortName::parse);
    let changes = read_manager_fields(&mut body, now);
    body.finish(|| {
        let mut profile = CandidateProfile::new(first_name?, last_name?);
        changes.apply_to(&mut profile);
        Some(profile)
    })
}

/// Reads the body of a change by a manager: the changed fields, and whether the email address counts without the
/// candidate's confirmation.
pub(crate) fn read_changes(
    mut body: BodyFields,
    now: DateTime<Utc>,
) -> Result<(BodyChanges<CandidateProfile>, bool)> {
    let mut changes = read_manager_fields(&mut body, now);
    let confirms_email = body.flag("confirm").unwrap_or_default();
    // Ignore the field, which clients may send back: only candidates choose their password.
    body.ignore("password");
    changes.set(body.text("first_name", ShortName::parse), |profile| &mut profile.first_name);
    changes.set(body.text("last_name", ShortName::parse), |profile| &mut profile.last_name);
    body.finish(|| Some((changes, confirms_email)))
}

/// Reads the adjustments that a manager grants the candidate; null removes them.
pub(crate) fn read_adjustments(body: &mut BodyFields) -> Result<Option<Option<InterviewAdjustments>>> {
    body.clearable_object("adjustments", |mut fields: BodyFields| {
        let time_factor = fields.number("time_factor", 1, 3, TimeFactor::parse).unwrap_or_default();
        let extra_takes = fields.integer("extra_takes", 0, MAX_EXTRA_TAKES).unwrap_or_default();
        let may_write = fields.flag("may_write").unwrap_or_default();
        fields.finish(|| Some(InterviewAdjustments { time_factor, extra_takes, may_write }))
    })
}

/// Reads the fields that managers may change, except the name.
fn read_manager_fields(body: &mut BodyFields, now: DateTime<Utc>) -> BodyChanges<CandidateProfile> {
    let mut changes = read_own_fields(body);
    changes.set(body.clearable("username", Username::parse), |profile| &mut profile.username);
    changes.set(body.clearable("email", Email::parse), |profile| &mut profile.email);
    changes.set(body.clearable("external_id", ExternalId::parse), |profile| &mut profile.external_id);
    let deadline =
        body.clearable_date("deadline", |text| CandidateProfile::check_deadline(parse_timestamp(text)?, now));
    changes.set(deadline, |profile| &mut profile.deadline);
    changes.set(body.partner_data("partner_data"), |profile| &mut profile.partner_data);
    changes.set(body.clearable("language", parse_enum), |profile| &mut profile.language);
    changes.set(body.flag("receive_mails"), |profile| &mut profile.receive_mails);
    changes
}

/// Reads the fields that candidates too may change.
fn read_own_fields(body: &mut BodyFields) -> BodyChanges<CandidateProfile> {
    let mut changes: BodyChanges<CandidateProfile> = BodyChanges::default();
    changes.set(body.text_or_empty("phone", TextLine::parse_unmarked), |profile| &mut profile.phone);
    changes.set(body.text_or_empty("gender", TextLine::parse), |profile| &mut profile.gender);
    changes.set(body.text_or_empty("address", TextLines::parse), |profile| &mut profile.address);
    changes
}

/// Reads the body of a change by the candidate: the new password and the changed fields.
pub(crate) fn read_own(mut body: BodyFields) -> Result<(Option<Password>, BodyChanges<CandidateProfile>)> {
    let password = body.text("password", Password::choose);
    let changes = read_own_fields(&mut body);
    body.finish(|| Some((password, changes)))
}

/// The changes of a candidate's files in a request.
pub(crate) struct CandidateFiles {
    photo: Option<FileChange>,
    cv: Option<FileChange>,
}

impl CandidateFiles {
    /// Reads the files of a body. `own` returns the URL prefix of the candidate's current file, so that sending the URL
    /// back keeps the file.
    pub(crate) fn read(body: &mut BodyFields, own: impl Fn(FileKind) -> Option<Uri>) -> Self {
        let photo = body.file(FileKind::Photo, || own(FileKind::Photo));
        let cv = body.file(FileKind::Cv, || own(FileKind::Cv));
        Self { photo, cv }
    }

    /// Whether the request contains no new file.
    pub(crate) fn is_empty(&self) -> bool {
        ![&self.photo, &self.cv].iter().any(|change| matches!(change, Some(FileChange::Put(_))))
    }

    /// Stores the new files and updates the candidate.
    pub(crate) async fn apply_to(self, candidate: &mut Candidate, access: &AdmittedRequest) -> Result<()> {
        let owner = candidate.account();
        let files = access.files()?;
        candidate.photo = files.change(owner, FileKind::Photo, candidate.photo, self.photo).await?;
        candidate.cv = files.change(owner, FileKind::Cv, candidate.cv, self.cv).await?;
        Ok(())
    }
}
