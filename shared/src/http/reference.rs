//! Makes the URLs of resources from the configured base URL, and parses them.

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

/// Makes the URLs of resources, files and pages, and parses the URLs of resources.
#[derive(Clone, Copy)]
pub struct ReferenceUris<'a> {
    base: &'a Url,
    suite: &'a Url,
    has_suite: bool,
    app: Option<&'a Url>,
    signer: Option<&'a FileUrlSigner>,
}

impl<'a> ReferenceUris<'a> {
    /// URLs below the base URL of these settings. Without a signer: methods for file URLs return `None`.
    pub fn new(config: &'a Config) -> Self {
        let Config { base_url: base, suite_url: suite, has_suite, app_url, .. } = config;
        Self { base, suite, has_suite: *has_suite, app: app_url.as_ref(), signer: None }
    }

    /// URLs below `base`, in a deployment without a web application; the service's pages are below `suite`.
    pub(crate) fn below(base: &'a Url, suite: &'a Url) -> Self {
        Self { base, suite, has_suite: false, app: None, signer: None }
    }

    /// Whether `authority` (the host, and the port unless it is the scheme's default) is that of the base URL.
    pub fn is_own(&self, authority: &str) -> bool {
        self.base.authority() == authority
    }

    /// Makes URLs of files too, valid for the signer's caller.
    pub fn signed_by(self, signer: &'a FileUrlSigner) -> Self {
        Self { signer: Some(signer), ..self }
    }

    /// The URL of an owner's file; `None` without a file or a signer.
    pub fn file(
        &self,
        c: &CompanyId,
        owner: Account,
        kind: FileKind,
        file: Option<StoredFile>,
    ) -> Option<Uri> {
        // Events and mails have no signer, because file URLs are valid for one session only.
        let signer = self.signer?;
        let file = file?;
        let token = signer.sign(file.id.to_bytes(), &object_key(c, owner, file.id));
        Some(self.files(c, owner, kind).join(token))
    }

    /// The prefix of the URLs of an owner's files of this kind.
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

    /// The callback: the URL to which a company's provider redirects people after a sign-in.
    // One callback for each company: with a common one, a malicious provider could obtain the codes of another company's provider
    // (mix-up attack, RFC 9700 §4.4).
    pub fn sign_in_callback(&self, c: &CompanyId) -> Uri {
        self.sign_in_url(c).join("callback")
    }

    /// The URL that starts a sign-in by the company's provider.
    pub fn sign_in_url(&self, c: &CompanyId) -> Uri {
        write_uri(format_args!("{}/sign-in/{c}/", self.base))
    }

    /// The service's page for a company's staff.
    pub fn staff_page(&self, c: &CompanyId) -> Uri {
        self.own_page(format_args!("staff/{c}"))
    }

    /// The page that shows why a sign-in failed.
    pub fn sign_in_page(&self, failure: SignInFailure, company: Option<&CompanyId>) -> Uri {
        let page = self.own_page(format_args!("sign-in"));
        let company = company.map(|company| format!("&company={company}")).unwrap_or_default();
        Uri::new(format!("{page}?code={}{company}", failure.as_str()))
    }

    pub fn company(&self, c: &CompanyId) -> Uri {
        write_uri(format_args!("{}/companies/{c}/", self.base))
    }

    /// The public URL of a company's logo; `None` without a logo.
    pub fn logo(&self, company: &Company) -> Option<Uri> {
        company.logo.as_ref().map(|logo| self.company(&company.id).join("logo").join(logo.id))
    }

    /// The URL of a resource directly below company `c`.
    pub fn uri<K: ResourceKind<Parent = CompanyMark>>(&self, c: &CompanyId, id: Id<K>) -> Uri {
        write_uri(format_args!("{}/companies/{c}/{}/{id}/", self.base, K::SEGMENT))
    }

    /// The URL of a resource directly below project `p` of company `c`.
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

    /// The page where guests watch a candidate's answers; `key` is the guest link's key.
    pub fn review_page(&self, key: &str) -> Uri {
        // Always a page of the service: a deployment's web application may lack it.
        let mut origin = self.base.clone();
        origin.set_path("");
        Uri::new(review_link(&origin, key))
    }

    pub fn legal_text(&self, c: &CompanyId, id: LegalTextId) -> Uri {
        self.company(c).join("legal").join(id)
    }

    /// The URL of a candidate's answer to a question.
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

    /// The URL of a resource with a history.
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

    /// The page that shows a project to staff: in the web application if there is one, else in the service.
    pub fn project_page(&self, c: &CompanyId, p: ProjectId) -> Uri {
        if self.has_suite {
            self.suite_page(&self.uri(c, p))
        } else {
            self.own_page(format_args!("project/{c}/{p}"))
        }
    }

    /// The page that shows a candidate to staff: in the web application if there is one, else in the service.
    // The URL contains no credential and never changes, so other systems may store it. A person who opens it has to log in.
    pub fn candidate_page(&self, c: &CompanyId, p: ProjectId, k: CandidateId) -> Uri {
        if self.has_suite {
            self.suite_page(&self.uri_in_project(c, p, k))
        } else {
            self.own_page(format_args!("result/{c}/{p}/{k}"))
        }
    }

    /// The page of the candidate, for a candidate or their interview; `None` for other resources.
    pub fn page_of_resource(&self, c: &CompanyId, resource: ResourceRef) -> Option<Uri> {
        match resource {
            ResourceRef::Candidate { project, candidate } | ResourceRef::Interview { project, candidate } => {
                Some(self.candidate_page(c, project, candidate))
            }
            _ => None,
        }
    }

    /// The statement on the accessibility of the service's pages; `None` if candidates use a web application instead.
    pub fn accessibility_page(&self, c: &CompanyId) -> Option<Uri> {
        (!self.has_suite).then(|| self.own_page(format_args!("accessibility/{c}")))
    }

    /// The page of the web application that shows the resource at `reference`.
    fn suite_page(&self, reference: &Uri) -> Uri {
        let reference = reference.as_str();
        let path = reference.strip_prefix(self.base.as_str()).unwrap_or(reference);
        Uri::new(format!("{}{path}", self.suite.as_str().trim_end_matches('/')))
    }

    /// The service's page at this path, outside the API. Identifiers need no escapes.
    fn own_page(&self, path: fmt::Arguments<'_>) -> Uri {
        write_uri(format_args!("{}/{path}/", self.suite.as_str().trim_end_matches('/')))
    }

    /// The application of the company's staff: the company's own, else that of the deployment; `None` if there is neither.
    pub fn application<'b>(&'b self, company: &'b Company) -> Option<&'b str> {
        match company.app_url.as_str() {
            "" => self.app.map(Url::as_str),
            own => Some(own),
        }
    }

    /// The link to the candidate's interview; `None` once the interview is over, or if `keys` lacks the candidate's key.
    pub fn interview_url(&self, candidate: &Candidate, project: &Project, keys: &OpenedKeys) -> Option<Uri> {
        let key = keys.of(candidate);
        // Checked first, because most candidates in lists have no link. If the candidate has a key, a link without it would
        // lead them to a login although they have no password.
        let has_link = candidate.has_open_interview() && candidate.access_key.is_some() == key.is_some();
        has_link.then(|| {
            let link = InterviewLink::new(self.suite, candidate, project, key);
            Uri::new(link.url().to_owned())
        })
    }

    /// Parses the URL of a resource directly below company `c`.
    pub fn parse<K>(&self, c: &CompanyId, reference: &str) -> Result<Id<K>, String>
    where
        K: ResourceKind<Parent = CompanyMark>,
    {
        parse_below(&self.company(c).join(K::SEGMENT), reference)
    }

    /// Parses the URL of a resource directly below project `p` of company `c`.
    pub fn parse_in_project<K>(&self, c: &CompanyId, p: ProjectId, reference: &str) -> Result<Id<K>, String>
    where
        K: ResourceKind<Parent = ProjectMark>,
    {
        parse_below(&self.uri(c, p).join(K::SEGMENT), reference)
    }

    /// Parses the URL of a resource with a history, in company `c`.
    pub fn parse_resource(&self, c: &CompanyId, reference: &str) -> Result<ResourceRef, String> {
        let company = self.company(c);
        let path = reference.strip_prefix(company.as_str());
        // Many clients omit the final slash.
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

    /// The URL of the customer or named token that has created a resource.
    pub fn creator(&self, company: &CompanyId, creator: Creator) -> Uri {
        match creator {
            Creator::Customer(customer) => self.uri(company, customer),
            Creator::NamedToken { token } => self.uri(company, token),
        }
    }

    /// Parses the author of changes: `system`, `operator`, or the URL of a customer, candidate or named token.
    pub fn parse_author(&self, c: &CompanyId, reference: &str) -> Result<ChangeAuthor, String> {
        match reference {
            // These two have no URL.
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

    /// Parses the URL of a company, or of a named token with its company; `None` for any other URL.
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
    // Most URLs fit. `format!` would reallocate several times for each of the dozens of URLs in a list.
    let mut text = String::with_capacity(192);
    // Writing to a string cannot fail.
    let _ = text.write_fmt(uri);
    Uri::new(text)
}

fn parse_below<K>(list: &Uri, reference: &str) -> Result<Id<K>, String> {
    let id = reference.strip_prefix(list.as_str()).map(|id| id.strip_suffix('/').unwrap_or(id));
    id.and_then(|id| id.parse().ok()).ok_or_else(|| format!("\"{reference}\" is not a URL under {list}."))
}
