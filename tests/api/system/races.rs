//! Several callers on the same candidate at once: whatever comes of it, it is a history that could have been.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::effort;
use tests::http::Response;
use tokio::task::JoinSet;

const LANES: usize = 4;

/// A request of one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RaceStep {
    Advance,
    AdvanceItself,
    Skip,
    Deadline(i64),
    Remind,
}

const EIGHT: [RaceStep; 8] = [
    RaceStep::Advance,
    RaceStep::Advance,
    RaceStep::AdvanceItself,
    RaceStep::Skip,
    RaceStep::Skip,
    RaceStep::Deadline(8),
    RaceStep::Deadline(9),
    RaceStep::Remind,
];

/// The outcome for one candidate.
struct RaceOutcome {
    uri: String,
    was_invited: bool,
    statuses: Vec<(RaceStep, u16)>,
}

impl RaceOutcome {
    /// How many of the deeds that are `like` this one were done.
    fn done(&self, like: impl Fn(RaceStep) -> bool) -> usize {
        self.statuses.iter().filter(|(deed, status)| *status == 200 && like(*deed)).count()
    }
}

async fn act(deed: RaceStep, owner: Staff, candidate: Invited) -> (RaceStep, Response) {
    let uri = &candidate.uri;
    let response = match deed {
        RaceStep::Advance => owner.advance(uri).await,
        RaceStep::AdvanceItself => candidate.advance(uri).await,
        RaceStep::Skip => owner.skip(uri).await,
        RaceStep::Deadline(days) => owner.set_deadline(uri, &owner.app().clock().in_days(days)).await,
        RaceStep::Remind => owner.remind(uri).await,
    };
    (deed, response)
}

/// Lets eight callers at each of some candidates, of whom every other has an invitation already.
async fn race(owner: Staff, project: String, numbers: impl Iterator<Item = usize>) -> Vec<RaceOutcome> {
    let mut outcomes = Vec::new();
    for number in numbers {
        let was_invited = number.is_multiple_of(2);
        let candidate = if was_invited {
            owner.invite(&project, json!({})).await
        } else {
            let ready = json!({ "email": "ada@mail.example", "deadline": owner.app().clock().in_days(7) });
            let uri = owner.candidate(&project, ready).await;
            // It has been told no key yet.
            Invited::new(owner.app(), &uri, "ivk_", "ada@mail.example")
        };
        let mut callers = JoinSet::new();
        for deed in EIGHT {
            callers.spawn(act(deed, owner.clone(), candidate.clone()));
        }
        let mut statuses = Vec::new();
        for (deed, response) in callers.join_all().await {
            let status = response.status.as_u16();
            // A key opens nothing before the invitation and after a skip.
            let is_legal =
                [200, 400, 409].contains(&status) || (deed == RaceStep::AdvanceItself && status == 401);
            assert!(is_legal, "{deed:?}: {response}");
            statuses.push((deed, status));
        }
        outcomes.push(RaceOutcome { uri: candidate.uri, was_invited, statuses });
    }
    outcomes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_callers_at_once_on_each_of_two_hundred_candidates_make_legal_histories() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let count = effort::count(200) as usize;
    let mut lanes = JoinSet::new();
    for lane in 0..LANES {
        lanes.spawn(race(owner.clone(), project.clone(), (lane..count).step_by(LANES)));
    }
    let outcomes: Vec<RaceOutcome> = lanes.join_all().await.into_iter().flatten().collect();
    assert_eq!(outcomes.len(), count);

    let items = app.table().snapshot().await;
    let mut candidates = BTreeMap::new();
    let mut mails: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for ((pk, sk), item) in &items {
        if sk == "EFFECT" {
            let of = (item["task"]["candidate"].as_str().unwrap(), item["task"]["mail"].as_str().unwrap());
            *mails.entry(of).or_default() += 1;
        } else if let Some(id) = sk.strip_prefix("CANDIDATE#").filter(|_| pk.starts_with("COMPANY#")) {
            candidates.insert(id, item);
        }
    }
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for outcome in &outcomes {
        let id = last_segment(&outcome.uri);
        let item: &Value = candidates[id];
        let case = format!("{:?} made {item}", outcome.statuses);
        let status = item["status"].as_str().unwrap();
        *ends.entry(status.to_owned()).or_default() += 1;

        // From new to invited to confirmed to skipped: each step at most once, and the last one done is the end.
        let [invited, confirmed, skipped] = [RaceStep::Advance, RaceStep::AdvanceItself, RaceStep::Skip]
            .map(|one| outcome.done(|deed| deed == one));
        assert!(invited + usize::from(outcome.was_invited) <= 1, "{case}");
        assert!(confirmed <= usize::from(outcome.was_invited) && skipped <= 1, "{case}");
        let is_invited = outcome.was_invited || invited == 1;
        let end = match (skipped, confirmed, is_invited) {
            (1, ..) => "skipped",
            (_, 1, _) => "confirmed",
            (.., true) => "invited",
            (.., false) => "new",
        };
        assert_eq!(status, end, "{case}");
        assert_eq!(item["invited_at"].is_null(), !is_invited, "{case}");
        assert_eq!(item["confirmed_at"].is_null(), confirmed == 0, "{case}");
        assert_eq!(item["session_epoch"], skipped, "{case}");
        assert_eq!(item["access_key"].is_null(), !is_invited || skipped == 1, "{case}");

        // Every answer of 200 is one write, and no other is.
        let done = outcome.done(|_| true);
        assert!(done > 0, "somebody is always first: {case}");
        assert_eq!(item["version"], 1 + usize::from(outcome.was_invited) + done, "{case}");
        let mail = |name: &str| mails.get(&(id, name)).copied().unwrap_or_default();
        assert_eq!(mail("invitation"), usize::from(is_invited), "{case}");
        assert_eq!(mail("reminder"), outcome.done(|deed| deed == RaceStep::Remind), "{case}");
        assert!(
            mail("deadline-changed") <= outcome.done(|deed| matches!(deed, RaceStep::Deadline(_))),
            "{case}"
        );
    }
    let shown = owner.get(&project).await.expect(200).json();
    assert_eq!(shown["candidates_count"], count);
    for status in ["invited", "confirmed", "skipped"] {
        let count = ends.get(status).copied().unwrap_or_default();
        assert_eq!(shown[format!("{status}_candidates_count")], count, "{status}");
    }
}
