//! Guest links as targets of managers, and what guests see by the key of one.

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
use crate::auth::credential::{GUEST_LINK, GuestKey, rejected};
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

/// A guest link of a candidate, for its managers.
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

/// A guest link whose key the caller has, with the items that it depends on.
struct OpenedLink {
    company: VersionedItem<Company>,
    candidate: VersionedItem<Candidate>,
    link: VersionedItem<GuestLink>,
}

impl LinkPlace {
    fn key(&self) -> ItemKey {
        keys::guest_link(&self.company, self.project, self.candidate, self.link)
    }

    /// The link at this place, even if it has ended; refused if there is none.
    // Read alone, although company and candidate could be read with it: the response time would tell whether they exist.
    async fn find(&self, store: &Store) -> Result<VersionedItem<GuestLink>> {
        let key = self.key();
        store.get([key.clone()]).await?.take::<GuestLink>(&key)?.ok_or_else(rejected)
    }
}

impl OpenedLink {
    /// The link with the items of `more` keys. Refused like one that does not exist if the company or the candidate is gone, or the
    /// candidate does not know the link.
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
        let company = batch.take::<Company>(&of_company)?.ok_or_else(rejected)?;
        // A restored table may hold a link that its candidate knows nothing of.
        let candidate = batch.take::<Candidate>(&of_candidate)?;
        let candidate = candidate.filter(|of| of.knows_guest_link(&link, now)).ok_or_else(rejected)?;
        Ok((Self { company, candidate, link }, batch))
    }

    /// Why it shows nothing at `now`; `None` if it works.
    fn end(&self, now: DateTime<Utc>) -> Option<GuestLinkEnd> {
        self.link.end(now).or_else(|| self.candidate.guest_link_end())
    }

    /// The error for a link that shows nothing, with a contact.
    fn explain(&self, end: GuestLinkEnd, project: &Project, config: &Config) -> Result<Error> {
        let told = EndedGuestLinkView::new(project, &self.company, ReferenceUris::new(config));
        Ok(Error::EndedKey(end.refusal(), told.into_map()?))
    }

    /// Has the log line of the request name the link and the candidate.
    fn note(&self, state: &RequestState) {
        let caller = format!("guest {}", self.link.id);
        let company = self.company.id.clone();
        let _ = state.caller.set(LoggedCaller { company, caller, on_behalf_by: None });
        let _ = state.person.set(format!("candidate {}", self.candidate.id));
    }
}

/// A request by the key of a guest link, which may show nothing any more.
struct GuestRequest {
    opened: OpenedLink,
    project: VersionedItem<Project>,
    secret: PresentedSecret,
    store: Store,
    state: Arc<RequestState>,
    app: App,
}

impl GuestRequest {
    /// Finds the link. Fails with [`Error::Throttled`] after too many requests.
    async fn admit(parts: &Parts, app: &App) -> Result<Self> {
        let GuestKey { company, project, candidate, link, hash, secret } =
            GuestKey::from_headers(&parts.headers)?;
        let state = RequestState::of(&parts.extensions);
        let store = state.store(app);
        let now = app.now();
        let of_project = keys::project(&company, project);
        let found = LinkPlace { company, project, candidate, link }.find(&store).await?;
        if !found.is_opened_by(&hash) {
            return Err(rejected());
        }
        if found.end(now).is_none() {
            // Too many requests cost no further read.
            GuestLink::clone(&found).requested(now).map_err(Error::Throttled)?;
        }
        let (opened, mut batch) = OpenedLink::load(&store, found, now, [of_project.clone()]).await?;
        let project = batch.take::<Project>(&of_project)?.ok_or_else(rejected)?;
        Ok(Self { opened, project, secret, store, state, app: app.clone() })
    }

    /// Counts the request, and notes that a guest has opened the link if the request `is_opening` it. Fails if the link shows nothing,
    /// with the reason.
    async fn count(mut self, is_opening: bool) -> Result<Self> {
        let now = self.app.now();
        if self.opened.link.end(now).is_none() {
            // A link that rests shows nothing.
            let is_opening = is_opening && self.opened.end(now).is_none();
            let counted = self.store.count_guest_request(self.opened.link, is_opening, now).await;
            self.opened.link =
                counted.map_err(|error| if matches!(error, Error::NotFound) { rejected() } else { error })?;
        }
        // The link may have been deleted in the meantime.
        if let Some(end) = self.opened.end(now) {
            return Err(self.opened.explain(end, &self.project, self.app.config())?);
        }
        self.opened.note(&self.state);
        Ok(self)
    }
}

/// A request by the key of a guest link that works, with what it shows.
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
        // The large items are read only now, because a key that opens nothing must not cost them.
        let of_questions = keys::questionnaire(&company.id, project.id);
        let of_answers = keys::answers(&company.id, project.id, candidate.id);
        let mut batch = store.get([of_questions.clone(), of_answers.clone()]).await?;
        let answers = batch.take(&of_answers)?.ok_or_else(rejected)?;
        let questionnaire = batch.take(&of_questions)?;
        let ids = [project.id.to_bytes(), candidate.id.to_bytes(), link.id.to_bytes()];
        let reference = [&[GUEST_LINK][..], &ids.concat()].concat();
        let signer = FileUrlSigner::new(secret, &reference, app.now(), app.entropy());
        Ok(Self { company, project, candidate, questionnaire, answers, link, store, signer, app })
    }
}

/// A request by the key of a guest link, which tells that the guest has opened it.
pub struct GuestOpening(GuestRequest);

impl HasAdmission for GuestOpening {
    const ADMISSION: AdmissionRule = AdmissionRule::Guest;
}

impl GuestOpening {
    /// Notes the opening. Fails if the link shows nothing, with the reason.
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
    /// Makes the URLs of resources, those of files included.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.config()).signed_by(&self.signer)
    }

    pub fn config(&self) -> &Config {
        self.app.config()
    }
}

/// Whether a guest was shown the URL with this token.
pub(super) fn is_for_guest(token: &FileUrlToken) -> bool {
    token.reference().first() == Some(&GUEST_LINK)
}

/// A file that a guest was shown, with the item that tells where it is.
pub(super) struct GuestFile<T> {
    pub(super) item: VersionedItem<T>,
    /// How long the bucket may still serve it.
    pub(super) lifetime: Duration,
}

impl<T: StoredEntity> GuestFile<T> {
    /// Admits a request by the URL of a file, which is signed for `signed_name`. Fails with [`Error::NotFound`] if there is no item at
    /// `key`.
    pub(super) async fn admit(
        request: &UnauthenticatedRequest<'_>,
        token: &FileUrlToken,
        signed_name: &str,
        key: ItemKey,
    ) -> Result<Self> {
        let place = place_of(request, token).ok_or_else(rejected)?;
        let app = request.app();
        let now = app.now();
        let left = token.time_left(FileUrlToken::LIFETIME_OF_GUESTS, now).ok_or_else(rejected)?;
        let state = request.state();
        let store = state.store(app);
        let link = place.find(&store).await?;
        // A link that has ended opens no seal and reads no candidate.
        if link.end(now).is_some() {
            return Err(rejected());
        }
        let media_key = store.open_media_key(&place.key(), &link.media_key).await?;
        if !media_key.is_some_and(|key| token.is_for(&key, signed_name)) {
            return Err(rejected());
        }
        let (opened, mut batch) = OpenedLink::load(&store, link, now, [key.clone()]).await?;
        // The candidate may have ended the link too. The page asks with the key when a file is refused, and says why.
        if opened.end(now).is_some() {
            return Err(rejected());
        }
        opened.note(&state);
        let item = batch.take(&key)?.ok_or(Error::NotFound)?;
        // The bucket knows nothing of the link, so its URL ends with the token or the link, whichever is first. It counts whole seconds.
        let lifetime = left.min(opened.link.ends_at - now).max(TimeDelta::seconds(1));
        let lifetime = lifetime.to_std().map_err(Error::internal)?;
        Ok(Self { item, lifetime })
    }
}

/// The place of the link that has shown the URL with this token: its reference, in the company of the path.
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
