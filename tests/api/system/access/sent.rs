//! What is sent to create things.

use serde_json::{Value, json};

/// What is sent to create a webhook.
pub(super) fn webhook() -> Value {
    json!({ "url": "https://hooks.example.com/in" })
}

/// What is sent to publish a legal text of this kind.
pub(super) fn legal_text(kind: &str) -> Value {
    json!({ "kind": kind, "texts": { "en": "We keep what you send." } })
}

/// What is sent to veto a candidate.
pub(super) fn veto() -> Value {
    json!({ "comment": "The certificates are forged." })
}

/// What is sent to ask a question.
pub(super) fn question() -> Value {
    json!({ "text": "Why us?" })
}

/// What is sent to add a criterion.
pub(super) fn criterion() -> Value {
    json!({ "name": "Listening" })
}

/// What is sent before a photo is put into the bucket.
pub(super) fn announcement() -> Value {
    json!({ "field": "photo", "content_type": "image/png", "size": 10 })
}

/// What is sent before a video is put into the bucket.
pub(super) fn video() -> Value {
    json!({ "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 })
}

/// What is sent to create a hiring manager.
pub(super) fn new_customer(name: &str) -> Value {
    json!({
        "first_name": "Grace",
        "last_name": "Hopper",
        "email": format!("{name}@acme.example"),
        "account_type": "hiring-manager",
        "preferred_language": "en",
    })
}
