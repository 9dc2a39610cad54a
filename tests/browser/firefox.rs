//! Interviews in Firefox, which records in another format than Chromium.

use crate::marionette::FirefoxPage;
use crate::options::new_profile;
use crate::visit::{Visit, has_kept, recorded_seconds};

async fn record(visit: &Visit, page: &mut FirefoxPage) {
    page.go(&visit.link).await;
    page.on("welcome").await;
    for text in ["Continue to the camera test", "Turn on camera and microphone", "It works: continue"] {
        page.press(text).await;
    }
    page.press("Begin the interview").await;
    page.press("Answer question 1").await;
    page.press("Record answer").await;
    page.on("record").await;
    page.until(&has_kept(8)).await;
}

async fn complete(page: &mut FirefoxPage) {
    page.on("review").await;
    page.press("Keep this answer").await;
    page.press("Complete the interview").await;
    page.press("Yes, complete it now").await;
    page.on("done").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_candidate_answers_in_firefox() {
    let visit = Visit::with_one_question().await;
    let mut page = FirefoxPage::open(&new_profile()).await;
    record(&visit, &mut page).await;
    page.press("Stop recording").await;
    complete(&mut page).await;
    assert_eq!(visit.status().await, "interviewed");
    let answers = visit.answers().await;
    let (seconds, recorded) = (answers[0]["seconds"].as_u64().unwrap(), recorded_seconds(&answers[0]));
    assert!(recorded >= 8 && seconds as usize + 1 >= recorded, "{}", answers[0]);
    assert!(visit.sounding_seconds(&answers[0]).await >= seconds as usize);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_firefox_keeps_what_it_has_recorded() {
    let visit = Visit::with_one_question().await;
    let profile = new_profile();
    let mut page = FirefoxPage::open(&profile).await;
    record(&visit, &mut page).await;
    page.kill().await;

    let mut page = FirefoxPage::open(&profile).await;
    page.go(&visit.link).await;
    complete(&mut page).await;
    let answers = visit.answers().await;
    assert!(answers[0]["seconds"].as_u64() >= Some(7), "{}", answers[0]);
    assert_eq!(answers[0]["takes_begun"], 1);
}
