//! Bodies that nobody should send.

use serde_json::{Value, json};
use shared::http::MAX_FILES_BYTES;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::files::Form;
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::auth::sign_in::Acme;

const MIB: usize = 1024 * 1024;

/// Posts bytes as a new candidate of a project.
async fn post(owner: &Staff, project: &str, content_type: &str, body: impl Into<Vec<u8>>) -> Response {
    owner.send(Request::post(&format!("{project}candidates/")).body(content_type, body)).await
}

#[tokio::test]
async fn malformed_json_is_described() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let deep = format!("{{\"partner_data\": {}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for body in [
        &b""[..],
        b"{",
        b"{\"first_name\": }",
        b"{'first_name': 'Ada'}",
        b"{\"first_name\": \"Ada\",}",
        b"first_name=Ada",
        b"{} {}",
        b"{\"n\": 1e999}",
        b"{\"n\": NaN}",
        b"{\"first_name\": \"A\nda\"}",
        b"{\"first_name\": \"\\ud800\"}",
        b"{\"first_name\": \"\xff\"}",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
        b"{}\xef\xbb\xbf",
        deep.as_bytes(),
    ] {
        let response = post(&owner, &project, "application/json", body).await.expect(400);
        let answer = response.json();
        let detail = answer["detail"].as_str().unwrap_or_default();
        assert!(detail.starts_with("JSON parse error - "), "{response}");
        assert_eq!(answer["code"], "parse_error", "{response}");
    }
}

#[tokio::test]
async fn json_that_is_no_object_is_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for body in ["[]", "[{\"first_name\": \"Ada\"}]", "null", "7", "\"Ada\"", "true"] {
        assert_refusal!(post(&owner, &project, "application/json", body).await, @r#"400 {"non_field_errors":["Invalid data. Expected an object."]}"#);
    }
}

#[tokio::test]
async fn only_json_is_understood_and_forms_where_there_are_files() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = json!({ "first_name": "Ada", "last_name": "Lovelace" }).to_string();
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "text/json", ""] {
        let response = post(&owner, &project, content_type, ada.clone()).await;
        assert_refusal!(response, @r#"415 {"code":"unsupported_media_type","detail":"Send the body as application/json, or as multipart/form-data with files."}"#);
    }
    let form = Request::post("/companies/acme/projects/").form(Form::new().text("name", "Another"));
    assert_refusal!(owner.send(form).await, @r#"415 {"code":"unsupported_media_type","detail":"Send the body as application/json."}"#);
    for content_type in
        ["application/json", "Application/JSON; charset=utf-8", "application/json;charset=UTF-8"]
    {
        post(&owner, &project, content_type, ada.clone()).await.expect(201);
    }
}

#[tokio::test]
async fn a_body_has_at_most_one_mebibyte_or_four_and_a_half_where_there_are_files() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let padded = |json: Value, length: usize| {
        let json = json.to_string();
        format!("{json}{}", " ".repeat(length - json.len()))
    };
    let label = |length| {
        let label = padded(json!({ "text": "Senior" }), length);
        Request::post("/companies/acme/labels/").body("application/json", label)
    };
    assert_refusal!(owner.send(label(MIB + 1)).await, @r#"413 {"code":"too_large","detail":"The request body is too large."}"#);
    owner.send(label(MIB)).await.expect(201);
    let candidate = |length| {
        let ada = padded(json!({ "first_name": "Ada", "last_name": "Lovelace" }), length);
        post(&owner, &project, "application/json", ada)
    };
    candidate(MAX_FILES_BYTES).await.expect(201);
    assert_refusal!(candidate(MAX_FILES_BYTES + 1).await, @r#"413 {"code":"too_large","detail":"The request body is too large. POST the file's metadata as JSON to …/uploads/ (videos: …/videos/), then upload the file to the URL in the answer."}"#);
    // More than a function takes is refused before it.
    candidate(11 * MIB).await.expect(413);
    assert_eq!(owner.get(&project).await.expect(200).json()["candidates_count"], 1);
}

#[tokio::test]
async fn line_breaks_and_what_shows_nothing_do_not_get_into_lines() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for (character, shown) in [
        ("\n", "a b"),
        (" \r\n\t", "a b"),
        ("\u{b}", "a b"),
        ("\u{c}", "a b"),
        ("\u{85}", "a b"),
        ("\u{2028}", "a b"),
        ("\u{2029}", "a b"),
        ("\0", "ab"),
        ("\u{7f}", "ab"),
        ("\u{1b}", "ab"),
        ("\u{202e}", "ab"),
        ("\u{200b}", "ab"),
        ("\u{2060}", "ab"),
        ("\u{feff}", "ab"),
        ("\u{200d}", "a\u{200d}b"),
    ] {
        let text = format!("a{character}b");
        for (uri, fields) in [
            (candidate.as_str(), &["first_name", "last_name", "gender"][..]),
            (project.as_str(), &["name", "internal_id", "contact_person"]),
            (owner.uri.as_str(), &["position"]),
            ("/companies/acme/", &["city"]),
        ] {
            for field in fields {
                let stored = owner.patch(uri, json!({ *field: text })).await.expect(200).json();
                assert_eq!(stored[field], shown, "{character:?} {field}");
            }
        }
    }
}

#[tokio::test]
async fn control_characters_and_headers_do_not_get_in() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let mut refusals = Vec::new();
    for character in
        ["\0", "\n", "\r\n", "\t", "\u{7f}", "\u{85}", "\u{1b}[31m", "\u{202e}", "\u{2028}", "\u{200b}"]
    {
        let text = format!("a{character}b");
        refusals.push(owner.patch(&candidate, json!({ "username": text })).await);
        refusals.push(owner.patch(&candidate, json!({ "external_id": text })).await);
        // Control characters that are pasted along with a number are dropped.
        if !["\u{202e}", "\u{200b}"].contains(&character) {
            refusals.push(owner.patch(&candidate, json!({ "phone": text })).await);
        }
    }
    assert_refusals!(refusals, @r#"
        10 x 400 {"username":["Control characters are not allowed."]}
        10 x 400 {"external_id":["Control characters are not allowed."]}
        8 x 400 {"phone":["Control characters are not allowed."]}
        "#);
    let mut refusals = Vec::new();
    for email in [
        "ada@example.com\r\nBcc: everybody@example.com",
        "ada@example.com\nSubject: x",
        "ada@example.com,eve@example.com",
        "ada@example.com;eve@example.com",
        "\"Ada\" <ada@example.com>",
        "ada@example.com>",
        "ada@example.com\0",
        "jörg@example.com",
        "=?utf-8?q?eve=40evil.example?=@example.com",
        "ada@exä mple.com",
        "ada@exä\u{200d}mple.com",
        "ada\u{2028}@example.com",
        "ada @example.com",
        "ada@localhost",
        "ada@.com",
        &format!("{}@example.com", "a".repeat(65)),
        &format!("a@{}.com", "a".repeat(64)),
        &format!("a@{}com", "aaaaaaaaa.".repeat(25)),
    ] {
        refusals.push(owner.patch(&candidate, json!({ "email": email })).await);
        refusals.push(owner.patch(&project, json!({ "email_alias": email })).await);
    }
    assert_refusals!(refusals, @r#"
        4 x 400 {"email":["Control characters are not allowed."]}
        4 x 400 {"email_alias":["Control characters are not allowed."]}
        12 x 400 {"email":["Enter a valid email address."]}
        12 x 400 {"email_alias":["Enter a valid email address."]}
        400 {"email":["Mail cannot be sent to this address. Use one with only ASCII characters before the @."]}
        400 {"email_alias":["Mail cannot be sent to this address. Use one with only ASCII characters before the @."]}
        400 {"email":["Ensure this field has no more than 254 characters."]}
        400 {"email_alias":["Ensure this field has no more than 254 characters."]}
        "#);
}

#[tokio::test]
async fn an_address_that_is_sent_back_is_no_change() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let sent = json!({ "address": "Bahnhofstrasse 1 \r\n8001 Zürich\n" });
    let uri = owner.candidate(&project, sent).await;
    let candidate = owner.get(&uri).await.expect(200).json();
    assert_eq!(candidate["address"], "Bahnhofstrasse 1\n8001 Zürich");
    owner.patch(&uri, candidate.clone()).await.expect_json(200, candidate);
}

#[tokio::test]
async fn text_is_bounded_in_characters() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let mut refusals = Vec::new();
    for (field, most) in [
        ("first_name", 150),
        ("last_name", 150),
        ("username", 254),
        ("phone", 50),
        ("gender", 20),
        ("address", 500),
    ] {
        // A mathematical letter is none of a username.
        for character in ["x", "ä", "𝒜"].into_iter().filter(|one| field != "username" || *one != "𝒜") {
            let longest = character.repeat(most);
            let stored = owner.patch(&candidate, json!({ field: longest })).await.expect(200).json();
            assert_eq!(stored[field], longest);
            let longer = format!("{longest}{character}");
            refusals.push(owner.patch(&candidate, json!({ field: longer })).await);
        }
    }
    assert_refusals!(refusals, @r#"
        3 x 400 {"first_name":["Ensure this field has no more than 150 characters."]}
        3 x 400 {"last_name":["Ensure this field has no more than 150 characters."]}
        2 x 400 {"username":["Ensure this field has no more than 254 characters."]}
        3 x 400 {"phone":["Ensure this field has no more than 50 characters."]}
        3 x 400 {"gender":["Ensure this field has no more than 20 characters."]}
        3 x 400 {"address":["Ensure this field has no more than 500 characters."]}
        "#);
    assert_refusal!(owner.patch(&candidate, json!({ "address": "x".repeat(MIB / 2) })).await, @r#"400 {"address":["Ensure this field has no more than 500 characters."]}"#);
}

#[tokio::test]
async fn an_internationalised_domain_is_stored_and_written_to_in_ascii() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let domain = format!("müller-{}", app.next_email().split('@').next().unwrap_or_default());
    let ada = owner.invite(&project, json!({ "email": format!("Ada@{domain}.Example") })).await;
    let address = owner.get(&ada.uri).await.expect(200).uri("email");
    assert!(address.starts_with("Ada@xn--mller-candidate-") && address.is_ascii(), "{address}");
    app.settle().await;
    assert_eq!(app.mails_to(&address).len(), 1);
    let found =
        owner.get(&format!("{project}candidates/?email=ada@{}.example", domain.replace('ü', "%C3%BC"))).await;
    assert_eq!(found.expect(200).json()["objects"][0]["resource_uri"], ada.uri);
    ada.register().await;
    for name in [address, format!("ada@{domain}.example"), format!("ADA@{}.EXAMPLE", domain.to_uppercase())] {
        app.anonymous().log_in("acme", &name, PASSWORD).await.expect(200);
    }
    // One address, however it is spelled.
    let grace = |email: &str| {
        json!({ "first_name": "Grace", "last_name": "Hopper", "account_type": "recruiter",
            "preferred_language": "de", "email": email })
    };
    let customers = "/companies/acme/customers/";
    let created = owner.post(customers, grace("grace@müller.example")).await.expect(201).json();
    assert_eq!(created["email"], "grace@xn--mller-kva.example");
    assert_eq!(created["username"], "grace@xn--mller-kva.example");
    let again = owner.post(customers, grace("GRACE@MÜLLER.example")).await;
    assert_refusal!(again, @r#"400 {"email":["A customer with this email already exists."],"username":["This username is already in use."]}"#);
    assert_refusal!(owner.post(customers, grace("jörg@example.com")).await, @r#"400 {"email":["Mail cannot be sent to this address. Use one with only ASCII characters before the @."]}"#);
    owner.patch(&project, json!({ "email_alias": "jobs@müller.example" })).await.expect(200);
    app.settle().await;
}

#[tokio::test]
async fn moments_and_dates_come_in_every_form_of_iso_8601() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    for (sent, shown) in [
        ("20310101T000000Z", "2031-01-01T00:00:00Z"),
        ("20310101T0000+0130", "2030-12-31T22:30:00Z"),
        ("20310101T000000,75-01", "2031-01-01T01:00:00Z"),
        ("2031-001T00:00:00Z", "2031-01-01T00:00:00Z"),
        ("2031-W01-3T00:00Z", "2031-01-01T00:00:00Z"),
    ] {
        let set = owner.set_deadline(&candidate, sent).await.expect(200).json();
        assert_eq!(set["deadline"], shown, "{sent}");
        let changed = owner.patch(&candidate, json!({ "deadline": sent })).await.expect(200).json();
        assert_eq!(changed["deadline"], shown, "{sent}");
    }
    for wrong in ["20310101T000000", "20310101", "203101T000000Z", "20311301T000000Z", "20310101T000000 Z"] {
        assert_refusal!(owner.set_deadline(&candidate, wrong).await, @r#"400 {"deadline":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}"#);
    }
    for (sent, shown) in [("20310102", "2031-01-02"), ("2031-002", "2031-01-02")] {
        let changed = owner.patch(&project, json!({ "closedate": sent })).await.expect(200).json();
        assert_eq!(changed["closedate"], shown);
    }
}

#[tokio::test]
async fn of_a_name_that_is_there_twice_the_last_counts() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let twice = r#"{"first_name": "Ada", "last_name": "Byron", "last_name": "Lovelace"}"#;
    let created = post(&owner, &project, "application/json", twice).await.expect(201);
    assert_eq!(created.json()["last_name"], "Lovelace");
}

#[tokio::test]
async fn numbers_are_whole_and_of_the_right_size() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let uri = owner.project(json!({})).await;
    let scores =
        [json!(0), json!(-1), json!(1001), json!(1.5), json!("5"), json!(true), json!(1e300), Value::Null];
    let refusals = send_each(scores, |score| owner.patch(&uri, json!({ "maximum_score": score }))).await;
    assert_refusals!(refusals, @r#"
        3 x 400 {"maximum_score":["Ensure this value is from 1 to 1000."]}
        4 x 400 {"maximum_score":["A valid integer is required."]}
        400 {"maximum_score":["This field may not be null."]}
        "#);
    let mut refusals = Vec::new();
    for huge in ["99999999999999999999999999", "4294967297", "-9223372036854775809"] {
        let body = format!("{{\"maximum_score\": {huge}}}");
        let response = owner.send(Request::patch(&uri).body("application/json", body)).await;
        refusals.push(response);
    }
    assert_refusals!(refusals, @r#"
        2 x 400 {"maximum_score":["A valid integer is required."]}
        400 {"maximum_score":["Ensure this value is from 1 to 1000."]}
        "#);
    for right in [1, 1000] {
        owner.patch(&uri, json!({ "maximum_score": right })).await.expect(200);
    }
}

#[tokio::test]
async fn names_at_a_provider_are_bounded_and_hold_nothing_hostile() {
    let acme = Acme::new().await;
    // Another's, since a link ends the sessions of its holder.
    let colleague = acme.owner.colleague("recruiter", json!({})).await;
    let own = format!("{}sign-in/", colleague.uri);
    let link =
        async |subject: &str| acme.owner.send(Request::put(&own).json(&json!({ "subject": subject }))).await;
    let label = "a".repeat(63);
    let domain = |number: usize| format!("{label}.{label}.{label}.{number:061}");
    let domains: Vec<String> = (0..20).map(domain).collect();
    let longest = json!({
        "client_id": "𝒜".repeat(500), "client_secret": "~".repeat(1000), "domains": domains, "trusts_addresses": true,
    });
    let set = acme.set(longest.clone()).await.expect(200).json();
    assert_eq!((&set["client_id"], &set["domains"]), (&longest["client_id"], &longest["domains"]));
    assert_eq!(link(&"𝒜".repeat(500)).await.expect(200).json()["subject"], "𝒜".repeat(500));
    let too_many: Vec<String> = (0..21).map(domain).collect();
    let owner = &acme.owner.uri;
    for (changes, field) in [
        (json!({ "client_id": "x".repeat(501) }), "client_id"),
        (json!({ "client_id": "a\u{202e}b\nc" }), "client_id"),
        (json!({ "client_id": "inter*" }), "client_id"),
        (json!({ "client_secret": "x".repeat(1001) }), "client_secret"),
        (json!({ "client_secret": "a\r\nHost: evil.example" }), "client_secret"),
        (json!({ "client_secret": "gehëim" }), "client_secret"),
        (json!({ "domains": too_many }), "domains"),
        (json!({ "domains": [format!("{}a", domain(0))] }), "domains"),
        (json!({ "domains": [format!("{label}a.example")] }), "domains"),
        (json!({ "domains": ["acme.example\n"] }), "domains"),
        // Its first letter is Cyrillic.
        (json!({ "domains": ["\u{430}cme.example"] }), "domains"),
        (json!({ "domains": "acme.example" }), "domains"),
        (json!({ "break_glass": [owner, owner, owner] }), "break_glass"),
        (json!({ "required": "true" }), "required"),
        (json!({ "trusts_addresses": 1 }), "trusts_addresses"),
        (json!({ "issuer": format!("https://login.example/{}", "x".repeat(3000)) }), "issuer"),
    ] {
        let refused = acme.set(changes).await.expect(400);
        assert!(refused.json()[field].is_array(), "{field}: {refused}");
    }
    for subject in ["", "a\0b", &"x".repeat(501)] {
        let refused = link(subject).await.expect(400);
        assert!(refused.json()["subject"].is_array(), "{refused}");
    }
}

#[tokio::test]
async fn an_invalid_body_does_not_reveal_resources() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let stranger = app.owner_of("globex").await;
    let malformed = || Request::patch(&project).body("application/json", "{");
    app.send(malformed()).await.expect(401);
    stranger.send(malformed()).await.expect_code(404, "not_found");
    app.staff("hiring-manager").await.send(malformed()).await.expect_code(404, "not_found");
}
