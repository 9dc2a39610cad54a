//! Guest links as targets of managers, and what guests see by the key of one.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::request::Parts;
use chrono::{DateTime, TimeDelta, Utc};

use crate::app::App;
use crate::auth::access::target::candidate::CandidateTarget;
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
use crate::error::{Error, Result};
use crate::http::exchange::state::{LoggedCaller, RequestState};
use crate::http::reference::ReferenceUris;
use crate::http::view::EndedGuestLinkView;
use crate::media::{MediaSigner, MediaToken};
use crate::store::{ItemBatch, ItemKey, Store, VersionedItem, keys};

/// How long the URLs of files work that a guest is shown.
const ADDRESS: TimeDelta = TimeDelta::minutes(15);

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

/// Where a guest link is.
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
    fn explain(&self, end: GuestLinkEnd, project: &Project) -> Result<Error> {
        let told = EndedGuestLinkView::new(project, &self.company);
        Ok(Error::EndedKey(end.refusal(), told.into_map()?))
    }

    /// Has the log line of the request tell by which link whose answers were read.
    fn note(&self, state: &RequestState) {
        let caller = format!("guest {}", self.link.id);
        let company = self.company.id.clone();
        let _ = state.caller.set(LoggedCaller { company, caller, on_behalf_by: None });
        let _ = state.person.set(format!("candidate {}", self.candidate.id));
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
    /// The table.
    pub store: Store,
    signer: MediaSigner,
    app: App,
}

impl HasAdmission for GuestReview {
    const ADMISSION: AdmissionRule = AdmissionRule::Guest;
}

impl FromRequestParts<App> for GuestReview {
    type Rejection = AdmissionRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, AdmissionRejection> {
        let GuestKey { company, project, candidate, link, hash, secret } =
            GuestKey::from_headers(&parts.headers)?;
        let state = RequestState::of(&parts.extensions);
        let store = state.store(app);
        let now = app.now();
        let of_project = keys::project(&company, project);
        let of_questions = keys::questionnaire(&company, project);
        let of_answers = keys::answers(&company, project, candidate);
        let found = LinkPlace { company, project, candidate, link }.find(&store).await?;
        if !found.is_opened_by(&hash) {
            return Err(rejected().into());
        }
        if found.end(now).is_none() {
            // Too many requests cost no further read.
            GuestLink::clone(&found).requested(now).map_err(Error::Throttled)?;
        }
        let (mut opened, mut batch) = OpenedLink::load(&store, found, now, [of_project.clone()]).await?;
        let project = batch.take::<Project>(&of_project)?.ok_or_else(rejected)?;
        if opened.link.end(now).is_none() {
            // A HEAD shows nothing, and neither does a link that rests.
            let is_shown = parts.method == Method::GET && opened.end(now).is_none();
            let counted = store.count_guest_request(opened.link, is_shown, now).await;
            opened.link =
                counted.map_err(|error| if matches!(error, Error::NotFound) { rejected() } else { error })?;
        }
        // It may have been deleted in the meantime.
        if let Some(end) = opened.end(now) {
            return Err(opened.explain(end, &project)?.into());
        }
        opened.note(&state);
        // Only now: these are the large items, and a key that opens nothing must not cost them.
        let mut batch = store.get([of_questions.clone(), of_answers.clone()]).await?;
        let OpenedLink { company, candidate, link } = opened;
        let answers = batch.take(&of_answers)?.ok_or_else(rejected)?;
        let questionnaire = batch.take(&of_questions)?;
        let reference = [&[GUEST_LINK][..], &link.id.to_bytes()].concat();
        let signer = MediaSigner::new(secret, &reference, now, app.entropy());
        let app = app.clone();
        Ok(Self { company, project, candidate, questionnaire, answers, link, store, signer, app })
    }
}

impl GuestReview {
    /// Makes the URLs of resources, those of files included.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.config()).signed_by(&self.signer)
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }
}

/// A file of a candidate's answers that a guest was shown.
pub(super) struct GuestFile {
    pub(super) answers: VersionedItem<Answers>,
    /// How long the bucket may still serve it.
    pub(super) lifetime: Duration,
}

impl GuestFile {
    /// Whether a guest was shown the URL with this token.
    pub(super) fn is_for_guest(token: &MediaToken) -> bool {
        token.reference().first() == Some(&GUEST_LINK)
    }

    /// Admits a request by the URL of a file, which is signed for `object`.
    pub(super) async fn admit(
        request: &UnauthenticatedRequest<'_>,
        token: &MediaToken,
        object: &str,
    ) -> Result<Self> {
        let place = place_of(request, token).map_err(|_| rejected())?;
        let app = request.app();
        let now = app.now();
        let left = token.time_left(ADDRESS, now).ok_or_else(rejected)?;
        let state = request.state();
        let store = state.store(app);
        let of_answers = keys::answers(&place.company, place.project, place.candidate);
        let link = place.find(&store).await?;
        if link.end(now).is_some() {
            return Err(rejected());
        }
        let key = store.open_media_key(&place.key(), &link.media_key).await?;
        if !key.is_some_and(|key| token.is_for(&key, object)) {
            return Err(rejected());
        }
        let (opened, mut batch) = OpenedLink::load(&store, link, now, [of_answers.clone()]).await?;
        // The page asks with the key when a file is refused, and says why.
        if opened.end(now).is_some() {
            return Err(rejected());
        }
        opened.note(&state);
        let answers = batch.take(&of_answers)?.ok_or(Error::NotFound)?;
        // The bucket knows nothing of the link, so its URL ends with both. It counts whole seconds.
        let lifetime = left.min(opened.link.ends_at - now).max(TimeDelta::seconds(1));
        let lifetime = lifetime.to_std().map_err(Error::internal)?;
        Ok(Self { answers, lifetime })
    }
}

fn place_of(request: &UnauthenticatedRequest<'_>, token: &MediaToken) -> Result<LinkPlace, InvalidId> {
    let path = &request.path;
    let link = token.reference().get(1..).and_then(|id| id.try_into().ok()).ok_or(InvalidId)?;
    Ok(LinkPlace {
        company: path.company_id()?,
        project: path.id("projectId")?,
        candidate: path.id("candidateId")?,
        link: GuestLinkId::from_bytes(link),
    })
}
