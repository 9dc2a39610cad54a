//! Bodies that create things.

use axum::http::Method;
use image::ImageFormat;
use serde_json::{Value, json};
use tests::caller::{Caller, PASSWORD, last_segment};
use tests::files::{Form, photo};
use tests::issuer::{CLIENT, CLIENT_SECRET};
use tests::takes::{captions_of, signed_part};

use super::given::AccessFixture;

pub(super) fn legal_text(kind: &str) -> Value {
    json!({ "kind": kind, "texts": { "en": "We keep what you send." } })
}

pub(super) fn veto() -> Value {
    json!({ "comment": "The certificates are forged." })
}

pub(super) fn question() -> Value {
    json!({ "text": "Why us?" })
}

/// The body of a link with which a guest watches the answers of a candidate.
pub(super) fn guest_link() -> Value {
    json!({ "recipient": "Head of sales" })
}

pub(super) fn criterion() -> Value {
    json!({ "name": "Listening" })
}

/// The settings of sign-in by a provider.
pub(super) fn sign_in(issuer: &str) -> Value {
    json!({ "issuer": issuer, "client_id": CLIENT, "client_secret": CLIENT_SECRET, "domains": ["acme.example"] })
}

/// The body that announces the upload of a photo to the bucket.
pub(super) fn announcement() -> Value {
    json!({ "field": "photo", "content_type": "image/png", "size": 10 })
}

/// The body that announces the upload of a video to the bucket.
pub(super) fn video() -> Value {
    json!({ "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 })
}

/// The body of a new hiring manager.
pub(super) fn new_customer(name: &str) -> Value {
    json!({
        "first_name": "Grace",
        "last_name": "Hopper",
        "email": format!("{name}@acme.example"),
        "account_type": "hiring-manager",
        "preferred_language": "en",
    })
}

impl AccessFixture {
    pub(super) async fn body(&self, method: &Method, path: &str) -> Option<Value> {
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap();
        match (method.as_str(), last) {
            ("GET" | "DELETE", _) => None,
            (
                _,
                "api-token-invalidate"
                | "api-session-invalidate"
                | "advance"
                | "skip"
                | "reminder"
                | "reinvite"
                | "ping"
                | "takes"
                | "erasure-request"
                | "exports"
                | "opening",
            ) => None,
            ("POST", "guest-links") => Some(guest_link()),
            ("PUT", "help-request") => Some(json!({ "kind": "time", "text": "My exam is on the same day." })),
            ("POST", "answer") => Some(json!({ "text": "You have until Friday." })),
            ("POST", "cancel") => Some(json!({ "reason": "The position is filled." })),
            ("POST", "reopen") => Some(json!({ "reason": "No sound." })),
            ("PATCH", "deadline") => Some(json!({ "deadline": "2027-01-01T00:00:00Z" })),
            ("POST", "api-token-auth" | "api-session-auth") => {
                Some(json!({ "company": "acme", "username": "owner", "password": PASSWORD }))
            }
            ("POST", "api-token-exchange") => Some(self.exchanges.any_parameters(&self.app)),
            ("POST", "api-activate") => {
                Some(json!({ "activation_key": self.one_time_key().await, "password": PASSWORD }))
            }
            ("POST", "api-password-reset") => Some(json!({ "company": "acme", "username": "owner" })),
            ("POST", "candidate-links") => Some(json!({ "key": "ivk_unknown" })),
            ("POST", "api-email-confirm") => {
                let [key, _] = self.address_keys().await;
                Some(json!({ "key": key, "password": PASSWORD }))
            }
            ("POST", "api-email-restore") => {
                let [_, key] = self.address_keys().await;
                Some(json!({ "key": key }))
            }
            ("POST", "key") => Some(json!({ "key": self.one_time_key().await })),
            ("POST", "confirm") => Some(json!({ "key": self.one_time_key().await, "password": PASSWORD })),
            ("PATCH", "{companyId}") => Some(json!({ "phone": "123" })),
            ("PATCH", "{take}") => Some(json!({ "parts": 1 })),
            ("POST", "parts") => Some(signed_part(1, b"anything")),
            ("PUT", "draft") => Some(json!({ "text": "Because" })),
            ("PUT", "hold") => Some(json!({ "reason": "A lawsuit." })),
            ("POST", "shares") => Some(json!({ "customer": self.owner.uri })),
            ("POST", "uploads") => Some(announcement()),
            ("POST", "videos") => Some(video()),
            ("PATCH" | "PUT", "{videoId}") => Some(json!({ "name": "Another" })),
            ("POST", "roles") => Some(self.new_role().await),
            ("POST", "labels") => Some(json!({ "text": self.new_name() })),
            ("PATCH", "{labelId}") => Some(json!({ "text": self.new_name() })),
            ("POST", "legal") => Some(legal_text("privacy_policy")),
            ("PUT", "{kind}") => Some(json!({ "version": 1, "language": "en" })),
            ("POST", "webhooks") => Some(self.webhook()),
            ("PATCH", "{webhookId}") => Some(json!({ "is_enabled": false })),
            ("POST", "secret") => Some(json!({ "grace_hours": 1 })),
            ("POST", "position") => Some(json!({ "after": 0 })),
            ("POST", "deliveries") => Some(json!({ "event": self.event().await })),
            ("POST", "tokens") => Some(json!({ "name": "Another" })),
            ("POST", "customers") => Some(new_customer(&self.new_name())),
            ("PATCH", "{customerId}") => Some(json!({ "position": "Chief" })),
            ("POST", "batch-import") => Some(self.all_staff().await),
            ("POST", "projects") => {
                Some(json!({ "name": "Another", "interview_managers": [self.owner.uri] }))
            }
            ("POST", "candidates") => Some(json!({ "first_name": "Ada", "last_name": "Lovelace" })),
            ("POST", "import") => Some(json!([{ "first_name": "Ada", "last_name": "Lovelace" }])),
            ("POST", "bulk") => Some(json!({ "action": "skip", "status": "expired" })),
            ("PUT", "{customerId}") => Some(json!({ "comment": "Good." })),
            ("POST", "vetos") => Some(veto()),
            ("POST", "questions") | ("PUT" | "PATCH", "{questionId}") => Some(question()),
            ("POST", "criteria") | ("PUT" | "PATCH", "{criterionId}") => Some(criterion()),
            ("PUT", "sign-in") if path.contains("{customerId}") => {
                Some(json!({ "subject": self.new_name() }))
            }
            ("PUT", "sign-in") => Some(sign_in(&self.issuer.url)),
            ("PUT", "retention") => Some(json!({ "days": 180 })),
            ("PATCH", "status") => Some(json!({ "status": "40-running" })),
            ("PATCH", "{projectId}") => Some(json!({ "contact_person": "Grace Hopper" })),
            ("PATCH", "{candidateId}") => Some(json!({ "first_name": "Grace", "phone": "123" })),
            other => panic!("say what to send to {other:?}"),
        }
    }

    /// Captions that no video and no answer has yet.
    pub(super) async fn captions(&self, target: &str) -> Form {
        let text = format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{}\n", self.new_name());
        if target.contains("/answers/") {
            let answer = target.split("captions/").next().unwrap();
            let shown = self.owner.get(answer).await.expect(200).json();
            return captions_of(shown["take"]["number"].as_u64().unwrap(), &text);
        }
        Form::new().file("file", "captions.vtt", "text/vtt", text.as_bytes())
    }

    /// A logo that the company has not yet.
    pub(super) fn logo(&self) -> Form {
        let side = 1 + self.new_number() % 300;
        Form::new().file("file", "logo.png", "image/png", &photo(ImageFormat::Png, side, 8))
    }

    /// The body of a webhook for the project.
    pub(super) fn webhook(&self) -> Value {
        json!({ "url": "https://hooks.example.com/in", "projects": [self.project] })
    }

    /// The identifier of an event of the project.
    pub(super) async fn event(&self) -> String {
        let feed = format!("/companies/acme/events/?page_size=1&project={}", self.project);
        let feed = self.owner.get(&feed).await.expect(200).json();
        feed["objects"][0]["id"].as_str().unwrap().to_owned()
    }

    /// A new video.
    pub(super) async fn video(&self) -> String {
        self.owner.post("/companies/acme/videos/", video()).await.expect(201).uri("resource_uri")
    }

    /// A role for somebody new.
    pub(super) async fn new_role(&self) -> Value {
        let new = new_customer(&self.new_name());
        let created = self.owner.post("/companies/acme/customers/", new).await.expect(201);
        json!({ "customer": created.uri("resource_uri"), "role": "evaluator" })
    }

    /// A key to choose a password with, of somebody new.
    async fn one_time_key(&self) -> String {
        let name = self.new_name();
        let command = json!({
            "command": "create-customer",
            "company": "acme",
            "account_type": "hiring-manager",
            "customer": new_customer(&name),
        });
        let link = self.app.operate(command).await.unwrap()["activation_link"].clone();
        last_segment(link.as_str().unwrap()).to_owned()
    }

    /// The keys to confirm a new address of a new account, and to restore the former one.
    async fn address_keys(&self) -> [String; 2] {
        let staff = self.app.staff("hiring-manager").await;
        let email = self.app.next_email();
        self.owner.patch(&staff.uri, json!({ "email": email })).await.expect(200);
        self.app.settle().await;
        [&email, &staff.email].map(|address| self.app.mailed_key(address))
    }

    /// Everybody who works for the company, for an import that changes nothing.
    async fn all_staff(&self) -> Value {
        let (mut entries, mut next) =
            (Vec::new(), Some("/companies/acme/customers/?page_size=100".to_owned()));
        while let Some(page) = next {
            let list = self.owner.get(&page).await.expect(200).json();
            next = list["meta"]["next"].as_str().map(str::to_owned);
            entries.extend(list["objects"].as_array().unwrap().iter().map(|customer| {
                let mut entry = customer.clone();
                entry["pk_attribute"] = "username".into();
                entry
            }));
        }
        entries.into()
    }
}
