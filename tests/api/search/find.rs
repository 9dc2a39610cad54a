//! The search of candidates by name and email: what is found, in which order, and by whom.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff, last_segment};

const SEARCH: &str = "/companies/acme/search/";

fn target(text: &str) -> String {
    let query: String = url::form_urlencoded::Serializer::new(String::new()).append_pair("q", text).finish();
    format!("{SEARCH}?{query}")
}

/// The names of those whom `caller` finds, in order.
async fn find(caller: &impl Caller, text: &str) -> Vec<String> {
    let found = caller.get(&target(text)).await.expect(200).json();
    let name = |one: &Value| {
        format!("{} {}", one["first_name"].as_str().unwrap(), one["last_name"].as_str().unwrap())
    };
    found.as_array().unwrap().iter().map(name).collect()
}

async fn given(owner: &Staff, project: &str, people: &[(&str, &str, &str)]) -> Vec<String> {
    let mut uris = Vec::new();
    for (first, last, email) in people {
        let fields = json!({ "first_name": first, "last_name": last, "email": email });
        uris.push(owner.candidate(project, fields).await);
    }
    uris
}

#[tokio::test]
async fn a_result_is_a_candidate_in_short_with_its_project() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "name": "Backend engineer" })).await;
    let ada = given(&owner, &project, &[("Ada", "Byron", "ada@mail.example")]).await.remove(0);
    let expected = json!([{
        "id": last_segment(&ada),
        "resource_uri": ada,
        "first_name": "Ada",
        "last_name": "Byron",
        "email": "ada@mail.example",
        "status": "new",
        "photo": "",
        "project": { "id": last_segment(&project), "resource_uri": project, "name": "Backend engineer", "status": "40-running" },
    }]);
    owner.get(&target("byron")).await.expect_json(200, expected.clone());
    owner.get("/companies/acme/search?q=by").await.expect_json(200, expected);
    owner.get(&target("nobody")).await.expect_json(200, json!([]));
    let nameless = owner.candidate(&project, json!({ "first_name": "Grace" })).await;
    assert_eq!(owner.get(&target("grace")).await.expect(200).json()[0]["email"], "");
    owner.delete(&nameless).await.expect(204);
    assert_eq!(find(&owner, "grace").await, [""; 0]);
}

#[tokio::test]
async fn something_to_look_for_is_required() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    given(&owner, &owner.project(json!({})).await, &[("Ada", "Byron", "ada@mail.example")]).await;
    let required = json!({ "q": ["This field is required."] });
    owner.get(SEARCH).await.expect_json(400, required);
    owner.get(&format!("{SEARCH}?query=ada")).await.expect_code(400, "unknown_parameter");
    for blank in ["", " ", "\t", "-", "@", "\u{301}"] {
        owner.get(&target(blank)).await.expect_json(200, json!([]));
    }
    owner.get(&target(&"x".repeat(200))).await.expect_json(200, json!([]));
    assert_refusal!(owner.get(&target(&"x".repeat(201))).await, @r#"400 {"q":["Ensure this field has no more than 200 characters."]}"#);
    owner.get(&format!("{SEARCH}?q=%FF%00ada")).await.expect(200);
}

#[tokio::test]
async fn words_are_found_by_their_beginnings_ignoring_case_and_accents() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let people = [
        ("Zoë", "Strauß", ""),
        ("Anne-Marie", "O’Neil", "am.oneil+jobs@Mail.example.com"),
        ("IŞIL", "Yıldız", ""),
        ("小明", "王", ""),
        ("Ὀδυσσεύς", "Łukasz", ""),
    ];
    for (first, last, email) in people {
        let mut fields = json!({ "first_name": first, "last_name": last });
        if !email.is_empty() {
            fields["email"] = email.into();
        }
        owner.candidate(&project, fields).await;
    }
    for (who, texts) in [
        (0, &["zoe", "ZOË", "Zoe\u{308}", "strauss", "STRAUSS", "STRAUẞ", "strauß zo", " z "][..]),
        (
            1,
            &[
                "anne",
                "marie",
                "anne-marie",
                "marie, anne",
                "ANNE‐M",
                "o'neil",
                "O’Neil",
                "neil",
                "am.one",
                "oneil",
                "jobs",
                "am.oneil+jobs@mail.example.com",
                "mail.exa",
                "am.oneil+jobs@",
                "neil mail",
                "(anne)",
            ],
        ),
        (2, &["isil", "ışıl", "İŞİL", "yildiz", "YILDIZ"]),
        (3, &["小", "王", "王 小明"]),
        (4, &["οδυσσευσ", "ΟΔΥΣΣΕΥΣ", "lukasz"]),
    ] {
        let expected = format!("{} {}", people[who].0, people[who].1);
        for text in texts {
            assert_eq!(find(&owner, text).await, [expected.as_str()], "{text:?}");
        }
    }
    // Not in the middle of a word, nor one of several terms alone, nor other parts of the domain.
    for text in ["eil", "oe", "zoe anne", "example", "com", "明", "anne%"] {
        assert_eq!(find(&owner, text).await.len(), usize::from(text == "anne%"), "{text:?}");
    }
}

#[tokio::test]
async fn names_are_found_as_they_are_written_and_from_each_of_their_parts_on() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let people = [
        ("Sean", "O'Neil-Smith", "first.last+tag@mail.example"),
        ("Anna-Mary-Jane", "D´Arcy", "x@mail.example"),
        ("小明", "王", "y@mail.example"),
        ("민수", "김", "z@mail.example"),
    ];
    given(&owner, &project, &people).await;
    for (who, texts) in [
        (
            0,
            &[
                "neil-smith",
                "Neil-Sm",
                "o'neil-smith",
                "oneil-smith",
                "oneil",
                "O`Neil",
                "o neil smith",
                "last+tag",
                "first.last+tag@mail",
                "smith,sean",
                "sean oneil",
            ][..],
        ),
        (1, &["mary-jane", "MARY‐J", "darcy", "d'arcy", "D’Arcy", "arcy", "mary-jane darcy", "d arcy jane"]),
        (2, &["王小明", "王小", "小明王", "王 小明", "小明"]),
        (3, &["김민수", "김민", "민수"]),
    ] {
        let expected = format!("{} {}", people[who].0, people[who].1);
        for text in texts {
            assert_eq!(find(&owner, text).await, [expected.as_str()], "{text:?}");
        }
    }
    for text in ["eil-smith", "ary-jane", "ast+tag", "smith-neil", "明王", "rcy"] {
        assert_eq!(find(&owner, text).await, [""; 0], "{text:?}");
    }
}

#[tokio::test]
async fn names_come_before_addresses_whole_words_before_longer_ones_and_the_newest_first() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (one, other) = (owner.project(json!({})).await, owner.project(json!({})).await);
    given(&owner, &one, &[("Old", "Ann", "x1@mail.example"), ("Ms", "Annika", "x2@mail.example")]).await;
    given(&owner, &other, &[("By", "Address", "ann@mail.example"), ("New", "Ann", "ann@mail.example")]).await;
    given(&owner, &one, &[("Ms", "Anna", "x3@mail.example")]).await;
    assert_eq!(find(&owner, "ann").await, ["New Ann", "Old Ann", "Ms Anna", "Ms Annika", "By Address"]);
    assert_eq!(find(&owner, "ann@mail.example").await, ["New Ann", "By Address"]);
    assert_eq!(find(&owner, "an ms").await, ["Ms Anna", "Ms Annika"]);
    given(&owner, &other, &[("Annabel", "Ms", "x4@mail.example")]).await;
    assert_eq!(find(&owner, "ms anna").await, ["Ms Anna", "Annabel Ms"], "either order");
    assert_eq!(find(&owner, "ms an").await, ["Ms Anna", "Annabel Ms", "Ms Annika"]);
}

#[tokio::test]
async fn changed_candidates_are_found_by_their_new_words() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let uri = given(&owner, &project, &[("Ada", "Byron", "ada@mail.example")]).await.remove(0);
    let changed = json!({ "last_name": "King", "email": "byron@king.example" });
    owner.patch(&uri, changed).await.expect(200);
    for (text, count) in
        [("king", 1), ("ada king", 1), ("ada mail", 0), ("ada king.example", 1), ("byron", 1)]
    {
        assert_eq!(find(&owner, text).await.len(), count, "{text}");
    }
}

#[tokio::test]
async fn users_find_candidates_of_the_projects_that_they_may_read() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [recruiter, stranger] = [app.staff("recruiter").await, app.staff("hiring-manager").await];
    let evaluator = app.staff("hiring-manager").await;
    let own = recruiter.project(json!({ "evaluators": [evaluator.uri] })).await;
    let other = owner.project(json!({ "reviewers": [evaluator.uri] })).await;
    given(&owner, &own, &[("Ada", "Own", "ada@mail.example")]).await;
    let uri = given(&owner, &other, &[("Ada", "Other", "ada@mail.example")]).await.remove(0);
    let globex = app.owner_of("globex").await;
    let project = globex.project(json!({})).await;
    given(&globex, &project, &[("Ada", "Globex", "ada@mail.example")]).await;
    // A share lets its customer read a candidate, but not its project.
    owner.post(&format!("{uri}shares/"), json!({ "customer": stranger.uri })).await.expect(201);

    let all = ["Ada Other", "Ada Own"];
    assert_eq!(find(&owner, "ada").await, all);
    assert_eq!(find(&app.staff("admin").await, "ada").await, all);
    assert_eq!(find(&owner.named_token("Payroll").await.1, "ada").await, all);
    assert_eq!(find(&evaluator, "ada").await, all);
    assert_eq!(find(&recruiter, "ada").await, ["Ada Own"]);
    assert_eq!(find(&stranger, "ada").await, [""; 0]);
    assert_refusal!(globex.get(&target("ada")).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
    owner.patch(&other, json!({ "reviewers": [] })).await.expect(200);
    assert_eq!(find(&evaluator, "ada").await, ["Ada Own"]);
}

#[tokio::test]
async fn at_most_fifty_are_found_and_other_projects_hide_none() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let own = owner.project(json!({ "evaluators": [evaluator.uri] })).await;
    given(&owner, &own, &[("Byron", "First", "first@mail.example")]).await;
    let crowd = owner.project(json!({})).await;
    app.fill(&crowd, 1_700, "2027-01-01T00:00:00Z".parse().unwrap()).await;

    let found = owner.get(&target("byron")).await.expect(200);
    assert_eq!(found.json().as_array().unwrap().len(), 50);
    assert_eq!(found.json()[0]["last_name"], "Byron 1699", "the newest");
    assert_eq!(find(&evaluator, "byron").await, ["Byron First"]);
    // The longest of several terms leads: the first 1,600 candidates that it finds are looked at.
    assert_eq!(find(&owner, "byron fi").await, ["Byron First"], "by the full name");
    assert_eq!(find(&owner, "byro first").await, ["Byron First"]);
    assert_eq!(find(&owner, "byro fi").await, [""; 0]);
    assert_eq!(find(&owner, "byro 0").await, [""; 0]);
    assert_eq!(find(&owner, "byro 150").await.len(), 11);
    assert_eq!(find(&evaluator, "byron fi").await, ["Byron First"]);
}
