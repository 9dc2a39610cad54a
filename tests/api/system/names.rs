//! Names of people and things: how they are stored, compared and looked up.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::{assert_refusal, assert_refusals};

#[tokio::test]
async fn usernames_cannot_be_taken_for_others() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidates = format!("{project}candidates/");
    let ada = |username: &str| json!({ "first_name": "Ada", "last_name": "Byron", "username": username });
    let grace = |username: &str| {
        json!({ "first_name": "Grace", "last_name": "Hopper", "account_type": "recruiter",
            "preferred_language": "en", "email": "grace@acme.example", "username": username })
    };
    let uri = owner.candidate(&project, json!({ "username": "Anna.Müller" })).await;
    let mut refusals = Vec::new();
    for bad in
        ["аnna", "асе", "ann\u{200d}a", "ann\u{200c}a", "ann\u{2060}a", "😀", "ⓐnna", "annɑ", "a\u{3000}b"]
    {
        refusals.push(owner.post(&candidates, ada(bad)).await);
        refusals.push(owner.patch(&uri, json!({ "username": bad })).await);
        refusals.push(owner.post("/companies/acme/customers/", grace(bad)).await);
        let mut entry = grace(bad);
        entry["pk_attribute"] = json!("username");
        let import = owner.post("/companies/acme/customers/batch-import/", json!([entry])).await;
        refusals.push(import);
        let import = owner.post(&format!("{candidates}import/"), json!([ada(bad)])).await.expect(200).json();
        assert_eq!(import["objects"][0]["status"], "failed");
    }
    assert_refusals!(refusals, @r#"
        9 x 400 {"username":["This username could be mistaken for another. Use letters of one script."]}
        3 x 400 {"[0].username":["This username could be mistaken for another. Use letters of one script."]}
        12 x 400 {"username":["Use only letters, digits and ASCII punctuation."]}
        4 x 400 {"[0].username":["Use only letters, digits and ASCII punctuation."]}
        3 x 400 {"username":["Control characters are not allowed."]}
        400 {"[0].username":["Control characters are not allowed."]}
        3 x 400 {"username":["A username may not contain spaces."]}
        400 {"[0].username":["A username may not contain spaces."]}
        "#);
    // Names with the same folded form are the same.
    for same in ["anna.müller", "ANNA.MÜLLER", "Anna.Mu\u{308}ller", "ａｎｎａ.müller"] {
        assert_refusal!(owner.post(&candidates, ada(same)).await, @r#"400 {"username":["This username is already in use."]}"#);
    }
    for good in ["анна", "李明", "taro太郎", "יוסי", "grace+hopper@x"] {
        owner.post(&candidates, ada(good)).await.expect(201);
    }
}

#[tokio::test]
async fn names_are_stored_in_one_form_and_shown_as_text() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let uri = owner.candidate(&project, json!({})).await;
    for (sent, shown) in [
        ("  Zoe\u{308} ", "Zoë"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("Robert'); DROP TABLE candidates;--", "Robert'); DROP TABLE candidates;--"),
        ("{{7*7}} ${7*7} %s #pk :v", "{{7*7}} ${7*7} %s #pk :v"),
        ("COMPANY#globex", "COMPANY#globex"),
        ("李 明", "李 明"),
    ] {
        let candidate = owner.patch(&uri, json!({ "first_name": sent })).await.expect(200).json();
        assert_eq!(candidate["first_name"], shown);
        owner.get(&uri).await.expect_json(200, candidate);
    }
}

#[tokio::test]
async fn names_that_look_like_keys_lead_nowhere_else() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    app.owner_of("globex").await;
    let project = owner.project(json!({})).await;
    for (username, email) in
        [("globex#owner", "acme#owner@acme.example"), ("USERNAME", "#@b.co"), ("#", "a#b@c.de")]
    {
        owner.candidate(&project, json!({ "username": username, "email": email })).await;
    }
    app.anonymous().log_in("acme", "owner", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn names_that_grow_when_their_spelling_is_folded_stay_within_the_keys() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    // One character, of which the compatible form has eighteen.
    let long = "\u{fdfa}".repeat(150);
    app.anonymous().log_in("acme", &long, PASSWORD).await.expect(401);
    let names = json!({ "first_name": long, "last_name": long });
    owner.post(&format!("{project}candidates/"), names).await.expect(201);
    let named = json!({ "first_name": "Ada", "last_name": "Lovelace", "username": long });
    assert_refusal!(owner.post(&format!("{project}candidates/"), named).await, @r#"400 {"username":["This username is too long."]}"#);
}
