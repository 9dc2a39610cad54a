//! The page that an invitation leads to in the local run: candidates read the legal texts, accept them and confirm.

use std::net::Ipv4Addr;

use embedded::{Local, Options, Storage};
use serde_json::{Value, json};

use crate::devtools::Page;

/// Publishes two texts and invites a candidate, by requests of the page.
fn invite(local: &Local) -> String {
    let demo = local.demo();
    let login = json!({ "company": demo.company, "username": demo.username, "password": demo.password });
    format!(
        r#"(async () => {{
            let token;
            const send = async (method, url, body) => {{
                const headers = {{ "Content-Type": "application/json", ...(token && {{ Authorization: `Token ${{token}}` }}) }};
                const response = await fetch(url, {{ method, headers, body: JSON.stringify(body) }});
                const answer = await response.json();
                if (!response.ok) throw new Error(JSON.stringify(answer));
                return answer;
            }};
            const api = "{api}", company = `${{api}}/companies/{company}/`;
            ({{ token }} = await send("POST", `${{api}}/api-token-auth/`, {login}));
            await send("POST", `${{company}}legal/`, {{
                kind: "privacy_policy", texts: {{ en: "http://plain.example/", de: "https://demo.example/datenschutz" }},
            }});
            await send("POST", `${{company}}legal/`, {{
                kind: "consent", texts: {{ de: "<b>Ja</b>,\n<script>alert(1)</script>" }}, is_required: true,
            }});
            const project = await send("POST", `${{company}}projects/`, {{ name: "Data engineer", support_lang: "de" }});
            await send("PATCH", `${{project.resource_uri}}status/`, {{ status: "40-running" }});
            const candidate = await send("POST", `${{project.resource_uri}}candidates/`, {{
                first_name: "Ada", last_name: "Byron", email: "ada@mail.example",
                deadline: new Date(Date.now() + 864e5).toISOString(),
            }});
            const {{ activation_key: key }} = await send("PATCH", `${{candidate.resource_uri}}status/advance/`);
            return {{ key, token, candidate: candidate.resource_uri }};
        }})()"#,
        api = local.base_url(),
        company = demo.company,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_reads_and_accepts_the_texts_and_confirms() {
    let options = Options {
        address: Ipv4Addr::LOCALHOST.into(),
        port: 0,
        storage: Storage::Memory,
        allowed_origins: vec![],
    };
    let local = Local::start(&options).await.unwrap();
    let api = local.base_url();
    let origin = api.strip_suffix("/api/v3").unwrap();
    // Who has no invitation is told so, and can do nothing.
    let mut stranger = Page::open().await;
    stranger.go(&format!("{origin}/register/nothing")).await;
    stranger.until("document.querySelector('[role=status].fails')").await;
    let offered =
        "[...document.querySelectorAll('.next, .texts section')].some(one => one.checkVisibility())";
    assert_eq!(stranger.evaluate(offered).await, json!(false));

    // Its page may call the API.
    let given = stranger.evaluate(&invite(&local)).await;
    let mut page = Page::open().await;
    page.go(&format!("{origin}/register/{}", given["key"].as_str().unwrap())).await;
    page.until("document.querySelectorAll('.texts section').length === 2").await;
    let shown = "[...document.querySelectorAll('.wording')].map(one => [one.textContent, one.lang, one.innerHTML.includes('href')])";
    let expected = json!([
        ["https://demo.example/datenschutz", "de", true],
        ["<b>Ja</b>,\n<script>alert(1)</script>", "de", false],
    ]);
    assert_eq!(page.evaluate(shown).await, expected);
    for width in [390, 1440] {
        page.resize(width, 1000).await;
        let fits = format!("document.documentElement.scrollWidth <= {width}");
        assert_eq!(page.evaluate(&fits).await, json!(true), "{width}");
    }

    // What is required is required before anything is sent.
    page.evaluate("document.querySelector('input[type=password]').value = 'correct horse battery'").await;
    assert_eq!(page.evaluate("document.querySelector('#invitation').checkValidity()").await, json!(false));
    page.evaluate("document.querySelector('input[data-kind=consent]').click()").await;
    page.evaluate("document.querySelector('#invitation button').click()").await;
    page.until("document.querySelector('[role=status]').textContent.startsWith('You are confirmed.')").await;
    assert_eq!(page.complaints(), Vec::<&Value>::new());

    let read = format!(
        "fetch('{}consents/', {{ headers: {{ Authorization: 'Token {}' }} }}).then(response => response.json())",
        given["candidate"].as_str().unwrap(),
        given["token"].as_str().unwrap(),
    );
    let consents = page.evaluate(&read).await["objects"].take();
    let brief = [&consents[0]["kind"], &consents[0]["version"], &consents[0]["language"], &consents[1]];
    assert_eq!(brief, [&json!("consent"), &json!(1), &json!("de"), &Value::Null]);
    local.stop().await;
}
