//! The requests of the page of staff, sent by callers without a part in the project.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::http::{Request, Response};

use crate::interviews::{begin, project, write};

/// In everything that only those see who have a part in the project.
const CANARY: &str = "canary";

fn text_of(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

#[tokio::test]
async fn those_without_a_part_in_a_project_see_and_judge_nothing_of_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let hire = async || app.staff("hiring-manager").await;
    let (evaluator, outsider, sharee) = (hire().await, hire().await, hire().await);
    let settings = |name: &str, evaluator: &str| json!({ "name": name, "interview_platform": "builtin", "evaluators": [evaluator], "veto_enabled": true });
    let asked = json!({ "text": format!("{CANARY} question?"), "kind": "text" });
    let (canary, questions) =
        project(&owner, settings(&format!("{CANARY} project"), &evaluator.uri), std::slice::from_ref(&asked))
            .await;
    let (other, own_questions) = project(&owner, settings("Other", &outsider.uri), &[asked]).await;
    let candidate = begin(&owner, &canary).await;
    write(&candidate, &questions[0], &format!("{CANARY} answer")).await.expect(201);
    candidate.advance(&candidate.uri).await.expect(200);
    let about = &candidate.uri;
    owner.post(&format!("{about}shares/"), json!({ "customer": sharee.uri })).await.expect(201);
    let guest =
        owner.post(&format!("{about}guest-links/"), json!({ "recipient": "Guest" })).await.expect(201);
    let guest = guest.uri("url");
    let rights = json!({ "account_type": "recruiter", "projects": [other] });
    let (_, token) = owner.named_token_with(rights).await;
    let stranger = app.owner_of("globex").await;
    let signed = |scheme: &'static str, secret: &str| {
        let credential = format!("{scheme} {secret}");
        move |request: Request| request.header("authorization", &credential)
    };

    let evaluation = |customer: &str| format!("{about}evaluations/{}/", last_segment(customer));
    let remark = json!({ "ratings": [{ "question": questions[0], "value": null, "comment": "Mine." }] });
    let requests = |own: &str| {
        let put = |customer: &str| Request::put(&evaluation(customer)).json(&remark);
        [
            Request::get(about),
            Request::get(&format!("{about}interview/")),
            Request::get(&format!("{canary}?expand=questions,criteria")),
            Request::get(&format!("{canary}?expand=evaluators")),
            Request::get(&format!("{canary}candidates/?status=interviewed&my_evaluation_status=pending")),
            Request::get(&format!("{canary}results/?page_size=100")),
            Request::get(&format!("{canary}results/{}/", last_segment(about))),
            Request::get(&evaluation(own)),
            Request::get(&evaluation(&evaluator.uri)),
            put(own).header("if-none-match", "*"),
            put(own).header("if-match", "*"),
            put(&evaluator.uri).header("if-none-match", "*"),
            put(&evaluator.uri).header("if-match", "\"0-\""),
            Request::post(&format!("{about}vetos/"))
                .json(&json!({ "comment": "The certificates are forged." })),
        ]
    };
    // The token's first request of a day is noted.
    token.get("/whoami/").await.expect(200);
    app.app().finish_background().await;
    let before = app.table().snapshot().await;
    let callers = [
        ("evaluator of another project", &outsider.uri, signed("Token", outsider.secret())),
        ("with whom the candidate is shared", &sharee.uri, signed("Token", sharee.secret())),
        ("token of another project", &outsider.uri, signed("Token", &token.secret)),
        ("owner of another company", &stranger.uri, signed("Token", stranger.secret())),
        ("guest", &outsider.uri, signed("GuestKey", last_segment(&guest))),
    ];
    for (name, own, sign) in callers {
        for (place, request) in requests(own).into_iter().enumerate() {
            let answer = app.send(sign(request)).await;
            // The candidate and the interview.
            if *own == sharee.uri && place < 2 {
                answer.expect(200);
                continue;
            }
            let is_refused = matches!(answer.status.as_u16(), 401 | 403 | 404);
            assert!(is_refused && !text_of(&answer).contains(CANARY), "{name}: {answer}");
        }
    }
    assert!(app.table().snapshot().await == before, "something was written");

    // Sharees are shown the answers, and told nothing of an evaluation.
    let shown = sharee.get(about).await.expect(200).json();
    assert_eq!((&shown["my_evaluation"], &shown["my_evaluation_status"]), (&Value::Null, &Value::Null));
    let shown = sharee.get(&format!("{about}interview/")).await.expect(200).json();
    assert_eq!(shown["project_name"], format!("{CANARY} project"));

    // A rating of another project's question is none in one's own project either, with a value or without one.
    let own = begin(&owner, &other).await;
    write(&own, &own_questions[0], "Because.").await.expect(201);
    own.advance(&own.uri).await.expect(200);
    let save = format!("{}evaluations/{}/", own.uri, outsider.id());
    for value in [Value::Null, json!(3)] {
        let body = json!({ "ratings": [{ "question": questions[0], "value": value, "comment": "Mine." }] });
        let refused = outsider.send(Request::put(&save).json(&body)).await.expect(400);
        let message = refused.json()["ratings"][0].as_str().unwrap().to_owned();
        assert!(
            message.contains("is not a URL under") && message.contains(last_segment(&other)),
            "{message}"
        );
    }
}
