//! How the page comes to its visitors: when the gateway refuses its files, and under a former address of the service.

use std::collections::BTreeSet;

use serde_json::json;

use crate::devtools::{BrowserOptions, Page};
use crate::interview::assert_whole;
use crate::visit::{Visit, has_kept};

const IS_STYLED: &str = "getComputedStyle(document.querySelector('header')).display === 'flex'";

#[tokio::test(flavor = "multi_thread")]
async fn a_first_visit_is_a_few_requests() {
    let visit = Visit::with_one_question().await;
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    let files: BTreeSet<_> = page
        .requested()
        .iter()
        .filter_map(|address| address.rsplit_once("/page/"))
        .map(|(_, file)| file.to_owned())
        .collect();
    let names: Vec<_> = files.iter().filter_map(|file| file.split_once('/')).map(|(_, name)| name).collect();
    assert!(
        names.iter().all(|name| ["icon.svg", "main.js", "candidate.css", "texts/en.js"].contains(name)),
        "{names:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_refused_once_are_asked_for_again() {
    let visit = Visit::with_one_question().await;
    visit.refuse_files_once();
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    page.until_promised(IS_STYLED).await;
    // Another language as well.
    page.evaluate(
        "document.querySelector('header select').value = 'de';
        document.querySelector('header select').dispatchEvent(new Event('change'))",
    )
    .await;
    page.until("document.querySelector('h1').textContent.startsWith('Guten Tag')").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_files_the_page_says_what_to_do() {
    let visit = Visit::with_one_question().await;
    visit.refuse_files();
    let mut page = Page::open().await;
    page.go(&visit.link).await;
    page.until("document.querySelectorAll('main p').length === 6").await;
    assert!(page.text().await.contains("If it does not appear, load it again."));
    visit.refuse_files_once();
    page.evaluate("document.querySelector('main a').click()").await;
    page.on("welcome").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_with_a_former_base_url_leads_through_the_interview() {
    let visit = Visit::invited(json!({}), &[json!({})]).await;
    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    visit.begin_by(&mut page, &visit.former_link()).await;
    page.record(1).await;
    page.until_promised(&has_kept(4)).await;
    page.stop_and_keep().await;
    page.reload().await;
    page.on("overview").await;
    page.complete().await;
    assert_whole(&visit, &visit.answers().await[0]).await;
}
