//! The addresses of resources: made from the configured base URL, and read back.

use std::fmt::{self, Write as _};

use url::Url;

use super::wire::Uri;
use crate::config::Config;
use crate::domain::account::Account;
use crate::domain::account::Creator;
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::history::{ChangeAuthor, ResourceRef};
use crate::domain::id::{
    CandidateId, CompanyId, CompanyMark, FileId, GuestLinkId, GuestLinkMark, Id, InvalidId, ProjectId,
    ProjectMark, QuestionId, ResourceKind, ShareId, ShareMark, TakeRef, TokenId,
};
use crate::domain::language::Language;
use crate::domain::media::file::{FileKind, FileType, StoredFile};
use crate::domain::media::video::{Rendition, Video};
use crate::domain::privacy::legal::LegalTextId;
use crate::domain::project::Project;
use crate::domain::staff::sign_in::SignInFailure;
use crate::mail::{InterviewLink, review_link};
use crate::media::{AnswerObjects, FileUrlSigner, captions_name, object_key, rendition_key};
use crate::store::OpenedKeys;

/// Makes and reads references.
#[derive(Clone, Copy)]
pub struct ReferenceUris<'a> {
    base: &'a Url,
    suite: &'a Url,
    has_suite: bool,
    app: Option<&'a Url>,
    signer: Option<&'a FileUrlSigner>,
}

impl<'a> ReferenceUris<'a> {
    /// References below the base URL of these settings.
    pub fn new(config: &'a Config) -> Self {
        let Config { base_url: base, suite_url: suite, has_suite, app_url, .. } = config;
        Self { base, suite, has_suite: *has_suite, app: app_url.as_ref(), signer: None }
    }

    /// References below a base URL, in a deployment without a web application, whose pages are below `suite`.
    pub(crate) fn below(base: &'a Url, suite: &'a Url) -> Self {
        Self { base, suite, has_suite: false, app: None, signer: None }
    }

    /// Whether the service itself is at this host, with the port if it is not the scheme's own.
    pub fn is_own(&self, authority: &str) -> bool {
        self.base.authority() == authority
    }

    /// Adds URLs of files to the references, for the caller that this signer belongs to.
    pub fn signed_by(self, signer: &'a FileUrlSigner) -> Self {
        Self { signer: Some(signer), ..self }
    }

    /// The URL of one of an owner's files; `None` without a file or a signer.
    pub fn file(
        &self,
        c: &CompanyId,
        owner: Account,
        kind: FileKind,
        file: Option<StoredFile>,
    ) -> Option<Uri> {
        // Events and mails have no signer: such a URL works for one session only.
        let signer = self.signer?;
        let file = file?;
        let token = signer.sign(file.id.to_bytes(), &object_key(c, owner, file.id));
        Some(self.files(c, owner, kind).join(token))
    }

    /// The URL below which an owner's files of this kind are fetched.
    pub fn files(&self, c: &CompanyId, owner: Account, kind: FileKind) -> Uri {
        self.owner(c, owner).join(kind.as_str())
    }

    pub fn upload(&self, c: &CompanyId, owner: Account, f: FileId) -> Uri {
        self.owner(c, owner).join("uploads").join(f)
    }

    fn owner(&self, c: &CompanyId, owner: Account) -> Uri {
        match owner {
            Account::Customer { customer } => self.uri(c, customer),
            Account::Candidate { project, candidate } => self.uri_in_project(c, project, candidate),
        }
    }

    /// The callback: the address to which a company's provider sends people back.
    // One for each company: with one for all, a company's provider could have another one's codes sent to itself (RFC 9700 §4.4).
    pub fn sign_in_callback(&self, c: &CompanyId) -> Uri {
        self.sign_in_url(c).join("callback")
    }

    /// The address where the staff of a company sign in by its provider.
    pub fn sign_in_url(&self, c: &CompanyId) -> Uri {
        write_uri(format_args!("{}/sign-in/{c}/", self.base))
    }

    /// The page of a company's staff.
    pub fn staff_page(&self, c: &CompanyId) -> Uri {
        self.own_page(format_args!("staff/{c}"))
    }

    /// The page that says why nobody was signed in.
    pub fn sign_in_page(&self, failure: SignInFailure, company: Option<&CompanyId>) -> Uri {
        let page = self.own_page(format_args!("sign-in"));
        let company = company.map(|company| format!("&company={company}")).unwrap_or_default();
        Uri::new(format!("{page}?code={}{company}", failure.as_str()))
    }

    pub fn company(&self, c: &CompanyId) -> Uri {
        write_uri(format_args!("{}/companies/{c}/", self.base))
    }

    /// The logo of a company, for everyone; `None` without one.
    pub fn logo(&self, company: &Company) -> Option<Uri> {
        company.logo.as_ref().map(|logo| self.company(&company.id).join("logo").join(logo.id))
    }

    /// A resource right below company `c`.
    pub fn uri<K: ResourceKind<Parent = CompanyMark>>(&self, c: &CompanyId, id: Id<K>) -> Uri {
        write_uri(format_args!("{}/companies/{c}/{}/{id}/", self.base, K::SEGMENT))
    }

    /// A resource right below project `p` of company `c`.
    pub fn uri_in_project<K>(&self, c: &CompanyId, p: ProjectId, id: Id<K>) -> Uri
    where
        K: ResourceKind<Parent = ProjectMark>,
    {
        write_uri(format_args!("{}/companies/{c}/projects/{p}/{}/{id}/", self.base, K::SEGMENT))
    }

    pub fn share(&self, c: &CompanyId, p: ProjectId, k: CandidateId, s: ShareId) -> Uri {
        self.uri_in_project(c, p, k).join(ShareMark::SEGMENT).join(s)
    }

    pub fn guest_link(&self, c: &CompanyId, p: ProjectId, k: CandidateId, l: GuestLinkId) -> Uri {
        self.uri_in_project(c, p, k).join(GuestLinkMark::SEGMENT).join(l)
    }

    /// The page where guests watch the answers that the link with this key shows.
    pub fn review_page(&self, key: &str) -> Uri {
        // Always the service's own: the web application of a deployment may have no such page.
        let mut origin = self.base.clone();
        origin.set_path("");
        Uri::new(review_link(&origin, key))
    }

    pub fn legal_text(&self, c: &CompanyId, id: LegalTextId) -> Uri {
        self.company(c).join("legal").join(id)
    }

    /// The answer of a candidate to a question.
    pub fn answer(&self, answers: &AnswerObjects, question: QuestionId) -> Uri {
        self.uri_in_project(&answers.company, answers.project, answers.candidate)
            .join("answers")
            .join(question)
    }

    pub fn take(&self, answers: &AnswerObjects, take: TakeRef) -> Uri {
        self.answer(answers, take.question).join("takes").join(take.number)
    }

    /// The URL of a rendition of a converted take; `None` without a signer.
    pub fn take_rendition(&self, answers: &AnswerObjects, take: TakeRef, file_type: FileType) -> Option<Uri> {
        let token = self.signer?.sign(take.question.to_bytes(), &answers.rendition_name(take, file_type));
        let take = self.take(answers, take);
        match file_type {
            FileType::Jpeg => Some(take.join("thumb").join(token)),
            _ => Some(Uri::new(format!("{take}video/{token}.{}", file_type.extension()))),
        }
    }

    /// The URL of the captions of an answer in a language; `None` without a signer.
    pub fn answer_captions(
        &self,
        answers: &AnswerObjects,
        question: QuestionId,
        language: Language,
    ) -> Option<Uri> {
        let token = self.signer?.sign(question.to_bytes(), &answers.captions_name(question, language));
        Some(self.answer(answers, question).join("captions").join(language.as_str()).join(token))
    }

    /// The URL of a rendition of a video; `None` before its conversion, or without a signer.
    pub fn rendition(&self, video: &Video, rendition: Rendition) -> Option<Uri> {
        let signer = self.signer?;
        let _ = video.conversion.converted?;
        let token = signer.sign(video.id.to_bytes(), &rendition_key(&video.company, video.id, rendition));
        let video = self.uri(&video.company, video.id);
        match rendition {
            Rendition::Thumbnail => Some(video.join("thumb").join(token)),
            Rendition::Mp4 | Rendition::Flv => {
                Some(Uri::new(format!("{video}video/{token}.{}", rendition.extension())))
            }
        }
    }

    /// The URL of the captions of a video in a language; `None` without a signer.
    pub fn captions(&self, video: &Video, language: Language) -> Option<Uri> {
        let Video { company, id, .. } = video;
        let token = self.signer?.sign(id.to_bytes(), &captions_name(company, *id, language));
        Some(self.uri(company, *id).join("captions").join(language.as_str()).join(token))
    }

    /// A resource with a history; questions and criteria are parts of their project.
    pub fn resource(&self, c: &CompanyId, resource: ResourceRef) -> Uri {
        match resource {
            ResourceRef::Company => self.company(c),
            ResourceRef::Retention => self.company(c).join("retention"),
            ResourceRef::SignIn => self.company(c).join("sign-in"),
            ResourceRef::Customer { customer } => self.uri(c, customer),
            ResourceRef::Project { project } => self.uri(c, project),
            ResourceRef::Candidate { project, candidate } => self.uri_in_project(c, project, candidate),
            ResourceRef::Interview { project, candidate } => {
                self.uri_in_project(c, project, candidate).join("interview")
            }
            ResourceRef::Video { video } => self.uri(c, video),
            ResourceRef::Label { label } => self.uri(c, label),
            ResourceRef::Token { token } => self.uri(c, token),
            ResourceRef::Webhook { webhook } => self.uri(c, webhook),
            ResourceRef::Export { export } => self.uri(c, export),
        }
    }

    /// The page that shows a project to staff: that of the web application, or else the service's own.
    pub fn project_page(&self, c: &CompanyId, p: ProjectId) -> Uri {
        if self.has_suite {
            self.suite_page(&self.uri(c, p))
        } else {
            self.own_page(format_args!("project/{c}/{p}"))
        }
    }

    /// The page that shows a candidate to staff: that of the web application, or else the service's own.
    // The URL holds no credential and never changes, so that others may store it. A person who opens it has to log in.
    pub fn candidate_page(&self, c: &CompanyId, p: ProjectId, k: CandidateId) -> Uri {
        if self.has_suite {
            self.suite_page(&self.uri_in_project(c, p, k))
        } else {
            self.own_page(format_args!("result/{c}/{p}/{k}"))
        }
    }

    /// The page of the candidate that the resource is or belongs to; `None` for other resources.
    pub fn page_of_resource(&self, c: &CompanyId, resource: ResourceRef) -> Option<Uri> {
        match resource {
            ResourceRef::Candidate { project, candidate } | ResourceRef::Interview { project, candidate } => {
                Some(self.candidate_page(c, project, candidate))
            }
            _ => None,
        }
    }

    /// The page about the accessibility of the service's pages; `None` if candidates take their interview in a web application.
    pub fn accessibility_page(&self, c: &CompanyId) -> Option<Uri> {
        (!self.has_suite).then(|| self.own_page(format_args!("accessibility/{c}")))
    }

    /// The page of the web application that shows the resource at `reference`.
    fn suite_page(&self, reference: &Uri) -> Uri {
        let reference = reference.as_str();
        let path = reference.strip_prefix(self.base.as_str()).unwrap_or(reference);
        Uri::new(format!("{}{path}", self.suite.as_str().trim_end_matches('/')))
    }

    /// The page at this path of the service, which stands beside the API. Identifiers need no escapes.
    fn own_page(&self, path: fmt::Arguments<'_>) -> Uri {
        write_uri(format_args!("{}/{path}/", self.suite.as_str().trim_end_matches('/')))
    }

    /// The application where the staff of the company work: its own, else that of the deployment; `None` for none.
    pub fn application<'b>(&'b self, company: &'b Company) -> Option<&'b str> {
        match company.app_url.as_str() {
            "" => self.app.map(Url::as_str),
            own => Some(own),
        }
    }

    /// The link that opens the candidate's interview; `None` once it is over, or if their key is not among the opened ones.
    pub fn interview_url(&self, candidate: &Candidate, project: &Project, keys: &OpenedKeys) -> Option<Uri> {
        let key = keys.of(candidate);
        // Lists show many candidates, of whom most have none: the link is not made for them. One without the key would lead a
        // candidate who has no password to a login.
        let has_link = candidate.has_open_interview() && candidate.access_key.is_some() == key.is_some();
        has_link.then(|| {
            let link = InterviewLink::new(self.suite, candidate, project, key);
            Uri::new(link.url().to_owned())
        })
    }

    /// The identifier of the resource right below company `c` at `reference`.
    pub fn parse<K>(&self, c: &CompanyId, reference: &str) -> Result<Id<K>, String>
    where
        K: ResourceKind<Parent = CompanyMark>,
    {
        parse_below(&self.company(c).join(K::SEGMENT), reference)
    }

    /// The identifier of the resource right below project `p` of company `c` at `reference`.
    pub fn parse_in_project<K>(&self, c: &CompanyId, p: ProjectId, reference: &str) -> Result<Id<K>, String>
    where
        K: ResourceKind<Parent = ProjectMark>,
    {
        parse_below(&self.uri(c, p).join(K::SEGMENT), reference)
    }

    /// The resource with a history of company `c` at `reference`.
    pub fn parse_resource(&self, c: &CompanyId, reference: &str) -> Result<ResourceRef, String> {
        let company = self.company(c);
        let path = reference.strip_prefix(company.as_str());
        // Many clients drop the last slash.
        let segments: Vec<&str> = path.map(|path| path.split_terminator('/').collect()).unwrap_or_default();
        let resource = match segments[..] {
            [] => path.map(|_| ResourceRef::Company).ok_or(InvalidId),
            ["retention"] => Ok(ResourceRef::Retention),
            ["sign-in"] => Ok(ResourceRef::SignIn),
            ["customers", id] => id.parse().map(|customer| ResourceRef::Customer { customer }),
            ["projects", id] => id.parse().map(|project| ResourceRef::Project { project }),
            ["projects", project, "candidates", id] => project
                .parse()
                .and_then(|project| Ok(ResourceRef::Candidate { project, candidate: id.parse()? })),
            ["projects", project, "candidates", id, "interview"] => project
                .parse()
                .and_then(|project| Ok(ResourceRef::Interview { project, candidate: id.parse()? })),
            ["videos", id] => id.parse().map(|video| ResourceRef::Video { video }),
            ["labels", id] => id.parse().map(|label| ResourceRef::Label { label }),
            ["tokens", id] => id.parse().map(|token| ResourceRef::Token { token }),
            ["webhooks", id] => id.parse().map(|webhook| ResourceRef::Webhook { webhook }),
            ["exports", id] => id.parse().map(|export| ResourceRef::Export { export }),
            _ => Err(InvalidId),
        };
        resource.map_err(|_| format!("\"{reference}\" is not the URL of a resource under {company}."))
    }

    /// The URL of a creator.
    pub fn creator(&self, company: &CompanyId, creator: Creator) -> Uri {
        match creator {
            Creator::Customer(customer) => self.uri(company, customer),
            Creator::NamedToken { token } => self.uri(company, token),
        }
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

    /// The company at `reference`, or the named token there with its company; `None` for anything else.
    pub fn parse_company_or_token(&self, reference: &str) -> Option<(CompanyId, Option<TokenId>)> {
        let path = reference.strip_prefix(self.base.as_str()).unwrap_or_default();
        let segments: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
        match segments[..] {
            ["", "companies", company] => Some((company.parse().ok()?, None)),
            ["", "companies", company, "tokens", token] => {
                Some((company.parse().ok()?, Some(token.parse().ok()?)))
            }
            _ => None,
        }
    }

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
}

fn write_uri(uri: fmt::Arguments<'_>) -> Uri {
    // Most URLs fit. `format!` would let the text grow several times, for dozens of URLs in a list.
    let mut text = String::with_capacity(192);
    // Writing to a text does not fail.
    let _ = text.write_fmt(uri);
    Uri::new(text)
}

fn parse_below<K>(list: &Uri, reference: &str) -> Result<Id<K>, String> {
    let id = reference.strip_prefix(list.as_str()).map(|id| id.strip_suffix('/').unwrap_or(id));
    id.and_then(|id| id.parse().ok()).ok_or_else(|| format!("\"{reference}\" is not a URL under {list}."))
}
