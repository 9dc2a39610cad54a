//! Targets for guest links: as resources of managers, and as what guests see with a link's key.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, TimeDelta, Utc};

use crate::app::App;
use crate::auth::access::targets::candidate::CandidateTarget;
use crate::auth::access::{
    AdmissionRejection, AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest,
};
use crate::auth::credential::{GUEST_LINK, GuestKey, invalid_credential};
use crate::auth::{AdmissionRule, HasAdmission};
use crate::config::Config;
use crate::domain::answers::Answers;
use crate::domain::candidate::{Candidate, GuestLink, GuestLinkEnd};
use crate::domain::company::Company;
use crate::domain::id::{CandidateId, CompanyId, GuestLinkId, InvalidId, ProjectId};
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::secret::PresentedSecret;
use crate::error::{Error, Result};
use crate::http::exchange::state::{LoggedCaller, RequestState};
use crate::http::reference::ReferenceUris;
use crate::http::view::EndedGuestLinkView;
use crate::media::{FileUrlSigner, FileUrlToken};
use crate::store::{ItemBatch, ItemKey, Store, StoredEntity, VersionedItem, keys};

/// A guest link of a candidate, for managers.
pub struct GuestLinkTarget {
    pub candidate: VersionedItem<Candidate>,
    pub link: VersionedItem<GuestLink>,
}

impl RequestTarget for GuestLink {
    type Loaded = GuestLinkTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = Candidate::keys(request);
        keys.push(request.path.guest_link());
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, GuestLinkTarget)> {
        let link = request.take::<GuestLink>(request.path.guest_link());
        let now = request.now();
        let (request, CandidateTarget { candidate, .. }) = Candidate::load(request).await?;
        let link = link?;
        if !candidate.listed_guest_links(now).any(|listed| listed == link.id) {
            return Err(Error::NotFound);
        }
        Ok((request.about(&link), GuestLinkTarget { candidate, link }))
    }
}

/// The place of a guest link in the table.
struct LinkPlace {
    company: CompanyId,
    project: ProjectId,
    candidate: CandidateId,
    link: GuestLinkId,
}

/// A guest link whose key the caller has, with its company and candidate.
struct OpenedLink {
    company: VersionedItem<Company>,
    candidate: VersionedItem<Candidate>,
    link: VersionedItem<GuestLink>,
}

impl LinkPlace {
    fn key(&self) -> ItemKey {
        keys::guest_link(&self.company, self.project, self.candidate, self.link)
    }

    /// Reads the link, even if it has ended. Fails with 401 if it does not exist.
    // Read only the link, not company and candidate with it: otherwise the response time would reveal whether they exist.
    async fn find(&self, store: &Store) -> Result<VersionedItem<GuestLink>> {
        let key = self.key();
        store.get([key.clone()]).await?.take::<GuestLink>(&key)?.ok_or_else(invalid_credential)
    }
}

impl OpenedLink {
    /// Reads the link's company and candidate, and the items `more`. Fails with 401 if company or candidate has been deleted or
    /// the candidate does not have the link.
    async fn load(
        store: &Store,
        link: VersionedItem<GuestLink>,
        now: DateTime<Utc>,
        more: impl IntoIterator<Item = ItemKey>,
    ) -> Result<(Self, ItemBatch)> {
        let GuestLink { company, project, candidate, .. } = &*link;
        let [of_company, of_candidate] =
            [keys::company(company), keys::candidate(company, *project, *candidate)];
        let mut batch = store.get([of_company.clone(), of_candidate.clone()].into_iter().chain(more)).await?;
        let company = batch.take::<Company>(&of_company)?.ok_or_else(invalid_credential)?;
        // After a restore of the table, a link may exist that its candidate lacks.
        let candidate = batch.take::<Candidate>(&of_candidate)?;
        let candidate =
            candidate.filter(|of| of.knows_guest_link(&link, now)).ok_or_else(invalid_credential)?;
        Ok((Self { company, candidate, link }, batch))
    }

    /// Why the link shows nothing at `now`; `None` if it works.
    fn end(&self, now: DateTime<Utc>) -> Option<GuestLinkEnd> {
        self.link.end(now).or_else(|| self.candidate.guest_link_end())
    }

    /// The error for a link that shows nothing. It names company and contact.
    fn explain(&self, end: GuestLinkEnd, project: &Project, config: &Config) -> Result<Error> {
        let told = EndedGuestLinkView::new(project, &self.company, ReferenceUris::new(config));
        Ok(Error::EndedKey(end.refusal(), told.into_map()?))
    }

    /// Adds the link and the candidate to the request's log line.
    fn note(&self, state: &RequestState) {
        let caller = format!("guest {}", self.link.id);
        let company = self.company.id.clone();
        let _ = state.caller.set(LoggedCaller { company, caller, on_behalf_by: None });
        let _ = state.person.set(format!("candidate {}", self.candidate.id));
    }
}

/// A request by the key of a guest link, which may have ended.
struct GuestRequest {
    opened: OpenedLink,
    project: VersionedItem<Project>,
    secret: PresentedSecret,
    store: Store,
    state: Arc<RequestState>,
    app: App,
}

impl GuestRequest {
    /// Finds the link of the request's key. Fails with 401 if there is none, and with [`Error::Throttled`] after too
    /// many requests for the link.
    async fn admit(parts: &Parts, app: &App) -> Result<Self> {
        let GuestKey { company, project, candidate, link, hash, secret } =
            GuestKey::from_headers(&parts.headers)?;
        let state = RequestState::of(&parts.extensions);
        let store = state.store(app);
        let now = app.now();
        let of_project = keys::project(&company, project);
        let found = LinkPlace { company, project, candidate, link }.find(&store).await?;
        if !found.is_opened_by(&hash) {
            return Err(invalid_credential());
        }
        if found.end(now).is_none() {
            // Check the rate before reading more items.
            GuestLink::clone(&found).requested(now).map_err(Error::Throttled)?;
        }
        let (opened, mut batch) = OpenedLink::load(&store, found, now, [of_project.clone()]).await?;
        let project = batch.take::<Project>(&of_project)?.ok_or_else(invalid_credential)?;
        Ok(Self { opened, project, secret, store, state, app: app.clone() })
    }

    /// Counts the request and, if it `is_opening` the link, records the opening. If the link shows nothing, fails with the reason.
    async fn count(mut self, is_opening: bool) -> Result<Self> {
        let now = self.app.now();
        if self.opened.link.end(now).is_none() {
            // A link that shows nothing because of its candidate is not opened.
            let is_opening = is_opening && self.opened.end(now).is_none();
            let counted = self.store.count_guest_request(self.opened.link, is_opening, now).await;
            self.opened.link = counted.map_err(|error| {
                if matches!(error, Error::NotFound) { invalid_credential() } else { error }
            })?;
        }
        // Checked again: a manager may have ended the link in the meantime.
        if let Some(end) = self.opened.end(now) {
            return Err(self.opened.explain(end, &self.project, self.app.config())?);
        }
        self.opened.note(&self.state);
        Ok(self)
    }
}

/// A request by the key of a working guest link, with everything that the link shows.
pub struct GuestReview {
    pub company: VersionedItem<Company>,
    pub project: VersionedItem<Project>,
    pub candidate: VersionedItem<Candidate>,
    pub questionnaire: Option<VersionedItem<Questionnaire>>,
    pub answers: VersionedItem<Answers>,
    pub link: VersionedItem<GuestLink>,
    pub store: Store,
    signer: FileUrlSigner,
    app: App,
}

impl HasAdmission for GuestReview {
    const ADMISSION: AdmissionRule = AdmissionRule::Guest;
}

impl FromRequestParts<App> for GuestReview {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let GuestRequest { opened, project, secret, store, app, .. } =
            GuestRequest::admit(parts, app).await?.count(false).await?;
        let OpenedLink { company, candidate, link } = opened;
        // Read the large items last, so that a useless key does not cause their cost.
        let of_questions = keys::questionnaire(&company.id, project.id);
        let of_answers = keys::answers(&company.id, project.id, candidate.id);
        let mut batch = store.get([of_questions.clone(), of_answers.clone()]).await?;
        let answers = batch.take(&of_answers)?.ok_or_else(invalid_credential)?;
        let questionnaire = batch.take(&of_questions)?;
        let ids = [project.id.to_bytes(), candidate.id.to_bytes(), link.id.to_bytes()];
        let reference = [&[GUEST_LINK][..], &ids.concat()].concat();
        let signer = FileUrlSigner::new(secret, &reference, app.now(), app.entropy());
        Ok(Self { company, project, candidate, questionnaire, answers, link, store, signer, app })
    }
}

/// A request by which the page reports that a guest has opened the link.
pub struct GuestOpening(GuestRequest);

impl HasAdmission for GuestOpening {
    const ADMISSION: AdmissionRule = AdmissionRule::Guest;
}

impl GuestOpening {
    /// Records the opening. If the link shows nothing, fails with the reason.
    pub async fn note(self) -> Result<()> {
        self.0.count(true).await.map(drop)
    }
}

impl FromRequestParts<App> for GuestOpening {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        Ok(Self(GuestRequest::admit(parts, app).await?))
    }
}

impl GuestReview {
    /// Makes the URLs of resources, including file URLs for this guest.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.config()).signed_by(&self.signer)
    }

    pub fn config(&self) -> &Config {
        self.app.config()
    }
}

/// Whether the file URL with this token was made for a guest.
pub(super) fn is_for_guest(token: &FileUrlToken) -> bool {
    token.reference().first() == Some(&GUEST_LINK)
}

/// A guest's request for a file, with the item that contains the file's place.
pub(super) struct GuestFile<T> {
    pub(super) item: VersionedItem<T>,
    /// How long the bucket may still serve the file.
    pub(super) lifetime: Duration,
}

impl<T: StoredEntity> GuestFile<T> {
    /// Admits a guest's request by a file URL that is signed for `signed_name`, and reads the item at `key`. Fails with
    /// [`Error::NotFound`] without that item, otherwise with 401.
    pub(super) async fn admit(
        request: &UnauthenticatedRequest<'_>,
        token: &FileUrlToken,
        signed_name: &str,
        key: ItemKey,
    ) -> Result<Self> {
        let place = place_of(request, token).ok_or_else(invalid_credential)?;
        let app = request.app();
        let now = app.now();
        let left = token.time_left(FileUrlToken::LIFETIME_OF_GUESTS, now).ok_or_else(invalid_credential)?;
        let state = request.state();
        let store = state.store(app);
        let link = place.find(&store).await?;
        // Check before decrypting the key and reading the candidate, which cost time.
        if link.end(now).is_some() {
            return Err(invalid_credential());
        }
        let media_key = store.open_media_key(&place.key(), &link.media_key).await?;
        if !media_key.is_some_and(|key| token.is_for(&key, signed_name)) {
            return Err(invalid_credential());
        }
        let (opened, mut batch) = OpenedLink::load(&store, link, now, [key.clone()]).await?;
        // A change of the candidate may have ended the link too. After the 401, the page asks the API with the link's
        // key and shows the reason.
        if opened.end(now).is_some() {
            return Err(invalid_credential());
        }
        opened.note(&state);
        let item = batch.take(&key)?.ok_or(Error::NotFound)?;
        // The bucket cannot check the link, so its URL expires with the token or the link, whichever is first, but after at least
        // a second, S3's unit.
        let lifetime = left.min(opened.link.ends_at - now).max(TimeDelta::seconds(1));
        let lifetime = lifetime.to_std().map_err(Error::internal)?;
        Ok(Self { item, lifetime })
    }
}

/// The link for which the file URL was made: its identifiers in the token, in the company of the path.
fn place_of(request: &UnauthenticatedRequest<'_>, token: &FileUrlToken) -> Option<LinkPlace> {
    let (_, ids) = token.reference().split_first()?;
    let (project, ids) = ids.split_first_chunk()?;
    let (candidate, link) = ids.split_first_chunk()?;
    Some(LinkPlace {
        company: request.path.company_id().ok()?,
        project: ProjectId::from_bytes(*project),
        candidate: CandidateId::from_bytes(*candidate),
        link: GuestLinkId::from_bytes(link.try_into().ok()?),
    })
}
