//! The addresses of resources: made from the configured base URL, and read back.

use url::Url;

use super::wire::Uri;
use crate::config::Config;
use crate::domain::file::{FileKind, Owner, StoredFile};
use crate::domain::history::{ChangeAuthor, ResourceRef};
use crate::domain::id::{
    CandidateId, CompanyId, CriterionId, CustomerId, FileId, Id, InvalidId, LabelId, ProjectId, QuestionId,
    RoleId, ShareId, TokenId, VideoId, WebhookId,
};
use crate::domain::video::{Rendition, Video};
use crate::media::{MediaSigner, object_key, rendition_key};

/// Makes and reads references.
#[derive(Clone, Copy)]
pub struct ReferenceUris<'a> {
    base: &'a Url,
    suite: &'a Url,
    signer: Option<&'a MediaSigner>,
}

impl<'a> ReferenceUris<'a> {
    /// References below the base URL of these settings.
    pub fn new(config: &'a Config) -> Self {
        Self { base: &config.base_url, suite: &config.suite_url, signer: None }
    }

    /// References below a base URL, which the web application's pages are below as well.
    pub(crate) fn below(base: &'a Url) -> Self {
        Self { base, suite: base, signer: None }
    }

    /// Whether the service itself is at this host, with the port if it is not the scheme's own.
    pub fn is_own(&self, authority: &str) -> bool {
        self.base.authority() == authority
    }

    /// The same, with addresses of files for the caller whose signer this is.
    pub fn signed_by(self, signer: &'a MediaSigner) -> Self {
        Self { signer: Some(signer), ..self }
    }

    /// Where one of an owner's files can be fetched; `None` without a file or a signer.
    pub fn file(&self, c: &CompanyId, owner: Owner, kind: FileKind, file: Option<StoredFile>) -> Option<Uri> {
        // Events and mails have no signer: such an address is good for one session only.
        let (signer, file) = (self.signer?, file?);
        let token = signer.sign(file.id.to_bytes(), &object_key(c, owner, file.id));
        Some(self.files(c, owner, kind).join(token))
    }

    /// Below which an owner's files of this kind are fetched.
    pub fn files(&self, c: &CompanyId, owner: Owner, kind: FileKind) -> Uri {
        self.owner(c, owner).join(kind.as_str())
    }

    /// An upload for an owner.
    pub fn upload(&self, c: &CompanyId, owner: Owner, f: FileId) -> Uri {
        self.owner(c, owner).join("uploads").join(f)
    }

    fn owner(&self, c: &CompanyId, owner: Owner) -> Uri {
        match owner {
            Owner::Customer { customer } => self.customer(c, customer),
            Owner::Candidate { project, candidate } => self.candidate(c, project, candidate),
        }
    }

    /// A company.
    pub fn company(&self, c: &CompanyId) -> Uri {
        Uri::new(format!("{}/companies/{c}/", self.base))
    }

    /// A customer.
    pub fn customer(&self, c: &CompanyId, u: CustomerId) -> Uri {
        Uri::new(format!("{}/companies/{c}/customers/{u}/", self.base))
    }

    /// A named token.
    pub fn token(&self, c: &CompanyId, t: TokenId) -> Uri {
        self.company(c).join("tokens").join(t)
    }

    /// A webhook.
    pub fn webhook(&self, c: &CompanyId, w: WebhookId) -> Uri {
        self.company(c).join("webhooks").join(w)
    }

    /// A label.
    pub fn label(&self, c: &CompanyId, l: LabelId) -> Uri {
        self.company(c).join("labels").join(l)
    }

    /// A welcome video.
    pub fn video(&self, c: &CompanyId, v: VideoId) -> Uri {
        self.company(c).join("videos").join(v)
    }

    /// Where a rendition of a video can be fetched; `None` before its conversion, or without a signer.
    pub fn rendition(&self, video: &Video, rendition: Rendition) -> Option<Uri> {
        let (signer, _) = (self.signer?, video.converted?);
        let token = signer.sign(video.id.to_bytes(), &rendition_key(&video.company, video.id, rendition));
        let video = self.video(&video.company, video.id);
        match rendition {
            Rendition::Thumbnail => Some(video.join("thumb").join(token)),
            Rendition::Mp4 | Rendition::Flv => {
                Some(Uri::new(format!("{video}video/{token}.{}", rendition.extension())))
            }
        }
    }

    /// A project.
    pub fn project(&self, c: &CompanyId, p: ProjectId) -> Uri {
        Uri::new(format!("{}/companies/{c}/projects/{p}/", self.base))
    }

    /// A candidate.
    pub fn candidate(&self, c: &CompanyId, p: ProjectId, k: CandidateId) -> Uri {
        Uri::new(format!("{}/companies/{c}/projects/{p}/candidates/{k}/", self.base))
    }

    /// A share of a candidate.
    pub fn share(&self, c: &CompanyId, p: ProjectId, k: CandidateId, s: ShareId) -> Uri {
        self.candidate(c, p, k).join("shares").join(s)
    }

    /// A role in a project.
    pub fn role(&self, c: &CompanyId, p: ProjectId, r: RoleId) -> Uri {
        self.project(c, p).join("roles").join(r)
    }

    /// A question.
    pub fn question(&self, c: &CompanyId, p: ProjectId, q: QuestionId) -> Uri {
        self.project(c, p).join("questions").join(q)
    }

    /// A criterion.
    pub fn criterion(&self, c: &CompanyId, p: ProjectId, id: CriterionId) -> Uri {
        self.project(c, p).join("criteria").join(id)
    }

    /// A resource with a history; questions and criteria are parts of their project.
    pub fn resource(&self, c: &CompanyId, resource: ResourceRef) -> Uri {
        match resource {
            ResourceRef::Company => self.company(c),
            ResourceRef::Customer { customer } => self.customer(c, customer),
            ResourceRef::Project { project } => self.project(c, project),
            ResourceRef::Candidate { project, candidate } => self.candidate(c, project, candidate),
            ResourceRef::Video { video } => self.video(c, video),
            ResourceRef::Label { label } => self.label(c, label),
            ResourceRef::Token { token } => self.token(c, token),
            ResourceRef::Webhook { webhook } => self.webhook(c, webhook),
        }
    }

    /// The page of the web application that shows the resource at `reference`.
    pub fn suite_page(&self, reference: &Uri) -> Uri {
        let path = reference.as_str().strip_prefix(self.base.as_str()).unwrap_or_default();
        Uri::new(format!("{}{path}", self.suite.as_str().trim_end_matches('/')))
    }

    /// The customer of company `c` at `reference`.
    pub fn parse_customer(&self, c: &CompanyId, reference: &str) -> Result<CustomerId, String> {
        self.parse(c, "customers", reference)
    }

    /// The question of project `p` of company `c` at `reference`.
    pub fn parse_question(&self, c: &CompanyId, p: ProjectId, reference: &str) -> Result<QuestionId, String> {
        self.parse(c, &format!("projects/{p}/questions"), reference)
    }

    /// The criterion of project `p` of company `c` at `reference`.
    pub fn parse_criterion(
        &self,
        c: &CompanyId,
        p: ProjectId,
        reference: &str,
    ) -> Result<CriterionId, String> {
        self.parse(c, &format!("projects/{p}/criteria"), reference)
    }

    /// The label of company `c` at `reference`.
    pub fn parse_label(&self, c: &CompanyId, reference: &str) -> Result<LabelId, String> {
        self.parse(c, "labels", reference)
    }

    /// The welcome video of company `c` at `reference`.
    pub fn parse_video(&self, c: &CompanyId, reference: &str) -> Result<VideoId, String> {
        self.parse(c, "videos", reference)
    }

    /// The resource with a history of company `c` at `reference`.
    pub fn parse_resource(&self, c: &CompanyId, reference: &str) -> Result<ResourceRef, String> {
        let company = self.company(c);
        let path = reference.strip_prefix(company.as_str());
        // Many clients drop the last slash.
        let segments: Vec<&str> = path.map(|path| path.split_terminator('/').collect()).unwrap_or_default();
        let resource = match segments[..] {
            [] => path.map(|_| ResourceRef::Company).ok_or(InvalidId),
            ["customers", id] => id.parse().map(|customer| ResourceRef::Customer { customer }),
            ["projects", id] => id.parse().map(|project| ResourceRef::Project { project }),
            ["projects", project, "candidates", id] => project
                .parse()
                .and_then(|project| Ok(ResourceRef::Candidate { project, candidate: id.parse()? })),
            ["videos", id] => id.parse().map(|video| ResourceRef::Video { video }),
            ["labels", id] => id.parse().map(|label| ResourceRef::Label { label }),
            ["tokens", id] => id.parse().map(|token| ResourceRef::Token { token }),
            ["webhooks", id] => id.parse().map(|webhook| ResourceRef::Webhook { webhook }),
            _ => Err(InvalidId),
        };
        resource.map_err(|_| format!("\"{reference}\" is not the URL of a resource under {company}."))
    }

    /// The author of changes at `reference`, or of this name.
    pub fn parse_author(&self, c: &CompanyId, reference: &str) -> Result<ChangeAuthor, String> {
        match reference {
            // Neither has a URL.
            "system" => return Ok(ChangeAuthor::System),
            "operator" => return Ok(ChangeAuthor::Operator),
            _ => {}
        }
        match self.parse_resource(c, reference)? {
            ResourceRef::Customer { customer } => Ok(ChangeAuthor::Customer { customer }),
            ResourceRef::Candidate { project, candidate } => {
                Ok(ChangeAuthor::Candidate { project, candidate })
            }
            ResourceRef::Token { token } => Ok(ChangeAuthor::NamedToken { token }),
            _ => Err("Use a customer, a candidate, a named token, `system` or `operator`.".to_owned()),
        }
    }

    /// The project of company `c` at `reference`.
    pub fn parse_project(&self, c: &CompanyId, reference: &str) -> Result<ProjectId, String> {
        self.parse(c, "projects", reference)
    }

    /// The candidate at `reference`, with its company and its project.
    pub fn parse_candidate(&self, reference: &str) -> Result<(CompanyId, ProjectId, CandidateId), String> {
        let path = reference.strip_prefix(self.base.as_str()).unwrap_or_default();
        let segments: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
        let ids = match segments[..] {
            ["", "companies", c, "projects", p, "candidates", k] => {
                c.parse().and_then(|c| Ok((c, p.parse()?, k.parse()?))).ok()
            }
            _ => None,
        };
        ids.ok_or_else(|| format!("\"{reference}\" is not the URL of a candidate under {}.", self.base))
    }

    fn parse<T>(&self, c: &CompanyId, collection: &str, reference: &str) -> Result<Id<T>, String> {
        let start = format!("{}/companies/{c}/{collection}/", self.base);
        // Clients may drop the final slash.
        let id = reference.strip_prefix(&start).map(|id| id.strip_suffix('/').unwrap_or(id));
        id.and_then(|id| id.parse().ok())
            .ok_or_else(|| format!("\"{reference}\" is not a URL under {start}."))
    }
}
