//! A candidate's consents to the company's legal texts.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::{Admitted, ConsentTarget};
use shared::domain::candidate::Candidate;
use shared::domain::history::ChangeAuthor;
use shared::domain::id::CompanyId;
use shared::domain::language::Language;
use shared::domain::parse_enum;
use shared::domain::policy::{CallerRelation, ChangeCandidate, ReadCandidate};
use shared::domain::privacy::consent::{CandidateConsent, ConsentProblem, ConsentStatement};
use shared::domain::privacy::legal::{LegalKind, LegalTextId};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::iso8601::parse_timestamp;
use shared::http::page::{ListQuery, PageView};
use shared::http::reference::ReferenceUris;
use shared::http::view::AuthorView;
use shared::http::wire::Timestamp;
use shared::{Error, Result};

/// A candidate's acceptance of a legal text.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Consent")]
pub(crate) struct ConsentView {
    /// The kind of text.
    kind: LegalKind,
    /// The version of the text.
    #[schemars(example = 3)]
    version: u32,
    /// The language of the text that the candidate read.
    language: Language,
    /// When the candidate accepted the text. Only managers and imports may send it, for a consent obtained elsewhere;
    /// by default the time of the request.
    obtained_at: Timestamp,
    /// The candidate, or the caller who recorded a consent obtained elsewhere.
    recorded_by: AuthorView,
}

impl ConsentView {
    fn new(
        kind: LegalKind,
        consent: &CandidateConsent,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Self {
        Self {
            kind,
            version: consent.version,
            language: consent.language,
            obtained_at: Timestamp(consent.obtained_at),
            recorded_by: AuthorView::new(company, consent.recorded_by, references),
        }
    }
}

/// A consent in the data document.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConsentData")]
pub(crate) struct ConsentDataView {
    #[serde(flatten)]
    consent: ConsentView,
    /// When the consent was withdrawn; null if it was not.
    #[schemars(example = ())]
    withdrawn_at: Option<Timestamp>,
}

impl ConsentDataView {
    /// All consents of a candidate, including withdrawn ones.
    pub(crate) fn all_of(candidate: &Candidate, references: ReferenceUris<'_>) -> Vec<Self> {
        let consents = candidate.consents.iter();
        let views = consents.map(|(kind, consent)| Self {
            consent: ConsentView::new(*kind, consent, &candidate.company, references),
            withdrawn_at: consent.withdrawn_at.map(Timestamp),
        });
        views.collect()
    }
}

/// GET …/consents/
pub(crate) async fn list(
    access: Admitted<Candidate, ReadCandidate>,
    query: ListQuery,
) -> Result<PageView<ConsentView>> {
    // Only the data document shows withdrawn consents, as proof.
    let consents = access.target.candidate.standing_consents().collect();
    let (page, total) = query.slice_unsorted(consents, |(kind, consent)| {
        LegalTextId { kind: *kind, version: consent.version }.to_string()
    });
    let page =
        page.map(|(kind, consent)| ConsentView::new(kind, consent, access.company_id(), access.references()));
    query.answer(page, total)
}

/// PUT …/consents/{kind}/
pub(crate) async fn record(
    access: Admitted<ConsentTarget, ChangeCandidate>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<ConsentView>>> {
    let kind = access.target.kind;
    let of = &access.target.of;
    let to_change = of.to_change(access.now)?;
    let statement = read(body, kind, of.relation == CallerRelation::ThisCandidate)?;
    let by = ChangeAuthor::from(access.caller.principal());
    let after = to_change
        .clone()
        .with_consent(statement, &of.company.legal, by, access.now)
        .map_err(|ConsentProblem { field, message }| Error::field(field, message))?;
    let consent = after.standing_consent(kind).ok_or_else(|| Error::internal("the consent is missing"))?;
    let view = ConsentView::new(kind, consent, access.company_id(), access.references());
    // A repeated consent keeps the time of the first, which is the proof, and creates no event.
    if after == to_change {
        return access.show(view);
    }
    access.commit(access.store.change_candidate(&of.candidate, &after.into(), access.now), Json(view)).await
}

/// Reads the body of a consent to a text of `kind`. If `is_own`, it must not contain `obtained_at`: candidates consent
/// now.
pub(crate) fn read(mut body: BodyFields, kind: LegalKind, is_own: bool) -> Result<ConsentStatement> {
    // Candidates could otherwise date their consent before the interview that requires it.
    if is_own && body.has("obtained_at") {
        body.refuse("obtained_at", "Only managers may record a consent that was obtained elsewhere.");
    }
    let statement = read_statement(&mut body, Some(kind));
    body.finish(|| statement)
}

/// Reads a consent in an imported entry.
pub(crate) fn read_imported(mut body: BodyFields) -> Result<ConsentStatement> {
    let kind = body.required("kind", parse_enum);
    let statement = read_statement(&mut body, kind);
    body.finish(|| statement)
}

fn read_statement(body: &mut BodyFields, kind: Option<LegalKind>) -> Option<ConsentStatement> {
    body.require("version");
    let version = body.integer("version", 1, u32::MAX);
    let language = body.required("language", parse_enum);
    let obtained_at = body.clearable_date("obtained_at", parse_timestamp).flatten();
    let text = LegalTextId { kind: kind?, version: version? };
    Some(ConsentStatement { text, language: language?, obtained_at })
}

/// DELETE …/consents/{kind}/
pub(crate) async fn withdraw(
    access: Admitted<ConsentTarget, ChangeCandidate>,
) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.of.candidate;
    let to_change = access.target.of.to_change(access.now)?;
    let after = to_change.clone().without_consent(access.target.kind, access.now);
    if after == to_change {
        return access.commit(access.store.empty_transaction(), NoContent).await;
    }
    access.commit(access.store.change_candidate(before, &after.into(), access.now), NoContent).await
}
