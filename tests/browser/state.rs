//! The pure module that decides which screen a candidate sees.

use serde_json::{Value, json};
use tests::caller::merge;

use crate::devtools::Page;

/// The module, which imports none.
const STATE: &str = include_str!("../../functions/page/assets/state.js");

const QUESTION: &str = "/questions/Q/";

/// The page's model of a candidate who is in an interview with one question, with these differences.
fn model(differences: Value) -> Value {
    let mut model = json!({
        "link": { "kind": "interview", "company": "acme", "key": "K" },
        "candidate": candidate("interviewing", "builtin"),
        "interview": interview("interviewing", true),
        "questions": [{ "resource_uri": QUESTION }],
        "takes": [],
        "drafts": [],
        "isLoaded": true,
        "isLoggedOut": false,
        "isOtherWindow": false,
        "step": { "name": "welcome" },
        "now": 0,
    });
    merge(&mut model, differences);
    model
}

fn candidate(status: &str, platform: &str) -> Value {
    json!({ "status": status, "project": { "interview_platform": platform } })
}

fn interview(status: &str, is_missing: bool) -> Value {
    let missing = if is_missing { json!([QUESTION]) } else { json!([]) };
    json!({ "status": status, "ends_at": "1970-01-01T00:00:10Z", "closes_at": "1970-01-01T01:00:10Z", "missing": missing, "answers": [] })
}

fn step(name: &str) -> Value {
    json!({ "name": name, "question": QUESTION })
}

/// A take that this browser holds.
fn take(slices: usize, is_ended: bool, refusal: Option<&str>) -> Value {
    let record = json!({ "question": QUESTION, "isEnded": is_ended, "refusal": refusal });
    json!([{ "record": record, "slices": vec![0; slices], "parts": [] }])
}

/// A file that is being read.
fn file() -> Value {
    json!([{ "record": { "question": QUESTION, "isEnded": false, "source": "file" }, "slices": [0], "parts": [] }])
}

#[tokio::test(flavor = "multi_thread")]
async fn each_state_has_its_screen() {
    let mut page = Page::open().await;
    let late = 11_000;
    let rows = [
        ("overview", json!({})),
        ("over wrong", json!({ "link": { "kind": "wrong" }, "candidate": null, "isLoaded": false })),
        (
            "over offline",
            json!({ "link": { "kind": "reset", "key": "K" }, "candidate": null, "isLoaded": false }),
        ),
        (
            "password",
            json!({ "link": { "kind": "reset", "key": "K" }, "candidate": null, "holder": { "kind": "customer" } }),
        ),
        (
            "over used",
            json!({ "link": { "kind": "activate", "key": "K" }, "candidate": null, "holder": null }),
        ),
        ("over completed", json!({ "candidate": null, "ended": { "code": "interview_completed" } })),
        ("over completed", json!({ "isLoggedOut": true, "ended": { "code": "interview_completed" } })),
        ("over expired", json!({ "candidate": null, "ended": { "code": "deadline_passed" } })),
        (
            "over ended",
            json!({ "candidate": null, "ended": { "code": "deadline_passed", "ended_by_time": true } }),
        ),
        ("over skipped", json!({ "candidate": null, "ended": { "code": "withdrawn" } })),
        ("over replaced", json!({ "candidate": null, "ended": { "code": "key_replaced" } })),
        (
            "login",
            json!({ "candidate": null, "ended": { "code": "key_registered" }, "link": { "kind": "login", "company": "acme" } }),
        ),
        ("over offline", json!({ "isLoaded": false, "candidate": null })),
        ("over link", json!({ "candidate": null })),
        ("login", json!({ "candidate": null, "link": { "kind": "login", "company": "acme" } })),
        ("login", json!({ "isLoggedOut": true, "link": { "kind": "login", "company": "acme" } })),
        ("over link", json!({ "isLoggedOut": true })),
        // The service has closed the interview, and ended the session with it.
        (
            "over time",
            json!({ "isLoggedOut": true, "now": 7200 * 1000, "link": { "kind": "login", "company": "acme" } }),
        ),
        ("over external", json!({ "candidate": candidate("confirmed", "external"), "interview": null })),
        (
            "welcome",
            json!({ "candidate": candidate("invited", "builtin"), "interview": interview("invited", false) }),
        ),
        (
            "welcome",
            json!({ "candidate": candidate("confirmed", "builtin"), "interview": interview("confirmed", false) }),
        ),
        ("practice", json!({ "interview": interview("confirmed", false), "step": { "name": "practice" } })),
        ("over waiting", json!({ "candidate": candidate("confirmed", "builtin"), "interview": null })),
        ("done", json!({ "interview": interview("interviewed", false) })),
        ("done", json!({ "interview": interview("interviewed", false), "isLoggedOut": true })),
        ("over expired", json!({ "interview": interview("expired", false) })),
        ("over aborted", json!({ "interview": interview("aborted", true) })),
        ("over skipped", json!({ "candidate": candidate("skipped", "builtin"), "interview": null })),
        ("over window", json!({ "isOtherWindow": true })),
        ("check", json!({ "step": { "name": "check" } })),
        ("question", json!({ "step": step("question") })),
        ("write", json!({ "step": step("write") })),
        // A draft is an answer of the completed interview.
        ("overview", json!({ "step": step("complete") })),
        (
            "complete",
            json!({ "step": step("complete"), "drafts": [{ "question": QUESTION, "isDraft": true }] }),
        ),
        ("complete", json!({ "step": step("complete"), "interview": interview("interviewing", false) })),
        ("sending", json!({ "now": late, "drafts": [{ "question": QUESTION, "isDraft": true }] })),
        ("overview", json!({ "step": { "name": "question", "question": "/questions/gone/" } })),
        // A recording goes on, whatever happens meanwhile.
        (
            "record",
            json!({ "step": step("record"), "isLoggedOut": true, "takes": take(1, false, None), "now": late }),
        ),
        // An earlier page has left an open take.
        ("prepare", json!({ "takes": take(0, false, None) })),
        ("review", json!({ "takes": take(3, false, None) })),
        ("review", json!({ "takes": take(3, false, None), "now": late })),
        ("question", json!({ "takes": take(3, false, None), "step": step("question") })),
        ("connect", json!({ "takes": take(0, false, None), "step": step("connect") })),
        ("connect", json!({ "step": step("connect") })),
        ("prepare", json!({ "takes": take(0, false, None), "step": step("question") })),
        ("overview", json!({ "takes": take(3, true, None) })),
        ("prepare", json!({ "takes": file(), "step": step("prepare") })),
        ("question", json!({ "takes": file(), "step": step("question") })),
        ("overview", json!({ "takes": take(3, false, Some("take_closed")) })),
        // The end.
        ("sending", json!({ "takes": take(3, true, None), "step": { "name": "sending" } })),
        ("sending", json!({ "interview": interview("interviewing", false), "step": { "name": "sending" } })),
        ("overview", json!({ "step": { "name": "sending" } })),
        ("overview", json!({ "takes": take(3, true, Some("too_large")), "step": { "name": "sending" } })),
        ("sending", json!({ "takes": take(3, true, None), "now": late })),
        ("sending", json!({ "interview": interview("interviewing", false), "now": late })),
        ("over time", json!({ "now": late })),
        ("over time", json!({ "now": late, "step": step("question") })),
    ];
    page.evaluate(&format!("{}; undefined", STATE.replace("export ", ""))).await;
    for (expected, differences) in rows {
        let shown = page
            .evaluate(&format!(
                "[screenOf({})].map(({{ name, reason }}) => reason ? `${{name}} ${{reason}}` : name)[0]",
                model(differences.clone()),
            ))
            .await;
        assert_eq!(shown, expected, "{differences}");
    }
}
