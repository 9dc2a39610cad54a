//! Results of evaluations: the scale, the order, pages, and who sees them.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus::Confirmed;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};
use tests::effort;
use tests::table::Contents;

use crate::evaluations::crud::{given, own, result_of, save, veto};

#[tokio::test]
async fn ratings_follow_the_scale_of_today_and_can_be_sent_back() {
    let given = given().await;
    let (owner, [one, _]) = (&given.owner, &given.evaluators);
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 3.3, 5.0).await.expect(201);
    for (maximum, values, overall) in [
        (10, [json!(6.6), json!(10)], 8.3),
        (3, [json!(2), json!(3)], 2.49),
        (5, [json!(3.3), json!(5)], 4.15),
    ] {
        owner.patch(&given.project, json!({ "maximum_score": maximum })).await.expect(200);
        let shown = one.get(&own(one, &candidate)).await.expect(200).json();
        assert_eq!([&shown["ratings"][0]["value"], &shown["ratings"][1]["value"]], [&values[0], &values[1]]);
        let result = owner.get(&result_of(&given.project, &candidate)).await.expect(200).json();
        assert_eq!((&result["overall_rating"], &result["maximum_score"]), (&json!(overall), &json!(maximum)));
    }
    owner.patch(&given.project, json!({ "maximum_score": 3 })).await.expect(200);
    let shown = one.get(&own(one, &candidate)).await.expect(200).json();
    save(one, &candidate, shown.clone()).await.expect(200);
    one.get(&own(one, &candidate)).await.expect_json(200, shown.clone());
    // Ratings that were read before the scale changed still mean the same.
    owner.patch(&given.project, json!({ "maximum_score": 6 })).await.expect(200);
    let saved = save(one, &candidate, shown).await.expect(200).json();
    assert_eq!((&saved["maximum_score"], &saved["ratings"][0]["value"]), (&json!(6), &json!(4)));
    for wrong in [0, 1001] {
        assert_refusal!(save(one, &candidate, json!({ "maximum_score": wrong })).await, @r#"400 {"maximum_score":["Ensure this value is from 1 to 1000."]}"#);
    }
}

#[tokio::test]
async fn results_are_sorted_by_rating_and_paged_without_gaps() {
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    let mut candidates = Vec::new();
    for value in [Some(2.0), None, Some(4.0), Some(3.0), Some(4.0)] {
        let candidate = given.interviewed().await;
        match value {
            Some(value) => drop(given.rate(one, &candidate, value, value).await.expect(201)),
            None => given.app.evaluate(&candidate, &one.uri, true).await,
        }
        candidates.push(candidate);
        // Not among the results: not evaluated, a draft, and an evaluation by a reviewer.
        given.interviewed().await;
        save(two, &given.interviewed().await, json!({})).await.expect(201);
        given.app.evaluate(&given.interviewed().await, &given.reviewer.uri, true).await;
    }
    let order = |numbers: [usize; 5]| numbers.map(|number| json!(candidates[number])).to_vec();
    let seen = async |by: &Staff, query: &str| {
        let (mut seen, mut next) =
            (Vec::new(), Some(format!("{}results/?page_size=2&{query}", given.project)));
        while let Some(target) = next {
            let page = by.get(&target).await.expect(200).json();
            assert_eq!(page["meta"]["total_count"], 5);
            let rows = page["objects"].as_array().unwrap();
            next = page["meta"]["next"].as_str().map(str::to_owned);
            assert!(rows.len() == 2 || next.is_none());
            seen.extend(rows.iter().map(|row| row["candidate"].clone()));
        }
        seen
    };
    assert_eq!(seen(owner, "").await, order([0, 1, 2, 3, 4]));
    assert_eq!(seen(owner, "ordering=overall_rating").await, order([0, 3, 2, 4, 1]));
    assert_eq!(seen(owner, "ordering=-overall_rating").await, order([2, 4, 3, 0, 1]));
    // The order tells an evaluator nothing before their own evaluation.
    assert_eq!(seen(two, "ordering=-overall_rating").await, order([0, 1, 2, 3, 4]));
    given.rate(two, &candidates[3], 5.0, 5.0).await.expect(201);
    assert_eq!(seen(two, "ordering=-overall_rating").await, order([3, 0, 1, 2, 4]));
    assert_refusal!(owner.get(&format!("{}results/?page=9", given.project)).await, @r#"400 {"page":["The list ends before page 9."]}"#);
    // Without the criterion, means and order follow.
    let [low, high] = [&candidates[0], &candidates[2]];
    given.rate(one, low, 5.0, 0.0).await.expect(200);
    given.rate(one, high, 4.0, 4.0).await.expect(200);
    assert_eq!(seen(owner, "ordering=overall_rating").await, order([0, 2, 3, 4, 1]));
    owner.delete(&given.criterion).await.expect(204);
    assert_eq!(seen(owner, "ordering=overall_rating").await, order([2, 3, 4, 0, 1]));
    let result = owner.get(&result_of(&given.project, low)).await.expect(200).json();
    assert_eq!((&result["overall_rating"], &result["criteria_results"]), (&json!(5), &json!([])));
    let shown = one.get(&own(one, low)).await.expect(200).json();
    assert_eq!(shown["ratings"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn ratings_of_a_deleted_question_leave_the_result() {
    let given = given().await;
    let (owner, [one, _]) = (&given.owner, &given.evaluators);
    let candidate = owner.candidate_at(&given.project, Confirmed).await;
    let draft = json!({ "ratings": given.ratings(5.0, 1.0) });
    save(one, &candidate, draft).await.expect(201);
    owner.delete(&given.question).await.expect(204);
    given.app.complete(&candidate).await;
    veto(one, &candidate).await.expect(201);
    let result = owner.get(&result_of(&given.project, &candidate)).await.expect(200).json();
    assert_eq!((&result["overall_rating"], result["ratings"].as_array().unwrap().len()), (&json!(1), 1));
}

#[tokio::test]
async fn results_by_others_than_the_evaluators_do_not_slow_a_page() {
    let given = given().await;
    let (owner, [one, _], reviewer) = (&given.owner, &given.evaluators, &given.reviewer);
    let mut expected = Vec::new();
    for number in 0..36 {
        let candidate = given.interviewed().await;
        given.app.evaluate(&candidate, if number % 12 == 0 { &one.uri } else { &reviewer.uri }, true).await;
        expected.extend(Some(json!(candidate)).filter(|_| number % 12 == 0));
    }
    for (query, rows) in [("?page_size=2", &expected[..2]), ("?page_size=2&page=2", &expected[2..])] {
        let page = owner.get(&format!("{}results/{query}", given.project)).await.expect(200);
        let seen: Vec<Value> =
            page.json()["objects"].as_array().unwrap().iter().map(|row| row["candidate"].clone()).collect();
        assert_eq!(seen, rows);
        assert!(page.log().dynamodb_calls <= 6, "{}", page.log().dynamodb_calls);
    }
}

#[tokio::test]
async fn nothing_that_others_say_reaches_an_evaluator_before_their_own_evaluation() {
    const CANARY: &str = "Kanarienvogel";
    let given = given().await;
    let (owner, [one, two]) = (&given.owner, &given.evaluators);
    // An evaluator is blind whatever else they are.
    owner.patch(&given.project, json!({ "interview_managers": [two.uri] })).await.expect(200);
    let candidate = given.interviewed().await;
    let body = json!({
        "ratings": [
            { "question": given.question, "value": 4.9, "comment": CANARY },
            { "criterion": given.criterion, "value": null, "comment": CANARY },
        ],
        "recommendation": "strong_yes", "comment": CANARY, "completed": true,
    });
    save(one, &candidate, body).await.expect(201);
    let vetos = format!("{candidate}vetos/");
    let veto = one.post(&vetos, json!({ "comment": format!("{CANARY} {CANARY}") })).await.expect(201);
    let targets = [
        given.project.clone(),
        format!("{}?expand=questions,criteria,evaluators,roles", given.project),
        format!("{}candidates/", given.project),
        format!("{}results/", given.project),
        format!("{}results/?ordering=overall_rating", given.project),
        format!("{}vetos/", given.project),
        result_of(&given.project, &candidate),
        candidate.clone(),
        own(one, &candidate),
        format!("{candidate}evaluations/"),
        vetos,
        veto.uri("resource_uri"),
    ];
    let seen = async |by: &Staff| {
        let mut seen = 0;
        for target in &targets {
            let text = by.get(target).await.json().to_string();
            seen += usize::from([CANARY, "4.9", "strong_yes"].iter().any(|canary| text.contains(canary)));
        }
        seen
    };
    assert_eq!((seen(owner).await, seen(two).await), (8, 0));
    save(two, &candidate, json!({ "ratings": given.ratings(1.0, 1.0) })).await.expect(201);
    assert_eq!(seen(two).await, 0, "a draft opens nothing");
    given.rate(two, &candidate, 1.0, 1.0).await.expect(200);
    assert_eq!(seen(two).await, 8);
    two.delete(&own(two, &candidate)).await.expect(204);
    assert_eq!(seen(two).await, 0, "nor does one that was taken back");
    // An event completes an evaluation as well, and so does one's own veto.
    given.app.evaluate(&candidate, &two.uri, true).await;
    assert_eq!(seen(two).await, 8);
    given.app.evaluate(&candidate, &two.uri, false).await;
    assert_eq!(seen(two).await, 0);
    let reason = json!({ "comment": "Neither do I believe it." });
    two.post(&format!("{candidate}vetos/"), reason).await.expect(201);
    assert_eq!(seen(two).await, 8);
    // An evaluator sees nothing more, and again everything once they are none.
    let reviewer = &given.reviewer;
    assert_eq!(seen(reviewer).await, 8);
    let people = |evaluators: Vec<&Staff>, reviewers: Vec<&Staff>| {
        let uris = |people: Vec<&Staff>| people.iter().map(|one| one.uri.clone()).collect::<Vec<_>>();
        json!({ "evaluators": uris(evaluators), "reviewers": uris(reviewers) })
    };
    owner.patch(&given.project, people(vec![one, two, reviewer], vec![])).await.expect(200);
    assert_eq!(seen(reviewer).await, 0);
    owner.patch(&given.project, people(vec![one, two], vec![reviewer])).await.expect(200);
    assert_eq!(seen(reviewer).await, 8);
}

#[tokio::test]
async fn a_hundred_evaluations_of_one_candidate_take_the_calls_of_one() {
    let given = given().await;
    let owner = &given.owner;
    let candidate = given.interviewed().await;
    let mut everyone = Vec::new();
    let count = effort::count(100);
    for _ in 0..count {
        everyone.push(given.app.staff("hiring-manager").await);
    }
    for group in everyone.chunks(20) {
        let evaluators: Vec<&str> = group.iter().map(|one| one.uri.as_str()).collect();
        let people = json!({ "evaluators": evaluators, "reviewers": [] });
        owner.patch(&given.project, people).await.expect(200);
        for one in group {
            let saved = given.rate(one, &candidate, 4.0, 3.0).await.expect(201);
            assert_eq!(saved.log().dynamodb_calls, 2);
        }
    }
    let list = owner.get(&format!("{candidate}evaluations/?page_size=100")).await.expect(200);
    assert_eq!((list.log().dynamodb_calls, &list.json()["meta"]["total_count"]), (2, &json!(count)));
    let result = owner.get(&result_of(&given.project, &candidate)).await.expect(200);
    assert_eq!((result.log().dynamodb_calls, &result.json()["overall_rating"]), (2, &json!(3.5)));
    let of_today = everyone.chunks(20).last().unwrap().len();
    assert_eq!(result.json()["evaluations"].as_array().unwrap().len(), of_today);
}

#[tokio::test]
async fn a_recount_restores_the_summaries_of_results() {
    let given = given().await;
    let [one, _] = &given.evaluators;
    let candidate = given.interviewed().await;
    given.rate(one, &candidate, 4.0, 4.0).await.expect(201);
    let contents = given.app.table().contents().await;
    let key = contents.keys().find(|(_, sk)| sk.starts_with("RESULT#")).unwrap().clone();
    given.app.table().erase(&key).await;
    let command = json!({ "command": "recount", "company": "acme" });
    let recount = async |mended: u64| {
        let outcome = given.app.operate(command.clone()).await.unwrap();
        assert_eq!(serde_json::to_value(outcome).unwrap()["recount"]["results"], mended);
    };
    recount(1).await;
    recount(0).await;
    let shown = async || given.results(&given.owner, "").await["objects"].as_array().unwrap().len();
    assert_eq!(shown().await, 1);
    // One that is there too much goes.
    one.delete(&own(one, &candidate)).await.expect(204);
    given.app.table().put_back(&Contents::from([(key.clone(), contents[&key].clone())])).await;
    assert_eq!(shown().await, 1);
    recount(1).await;
    assert_eq!(shown().await, 0);
}
