//! The links that staff get by mail.

use image::ImageFormat;
use serde_json::json;
use tests::caller::{Caller, PASSWORD};
use tests::files::{Form, photo};
use tests::http::Request;

use crate::devtools::Page;
use crate::links::{contact_of, visit};

#[tokio::test(flavor = "multi_thread")]
async fn staff_learn_which_account_they_activate_and_where_to_log_in() {
    let visit = visit(true).await;
    let colleague = visit.owner.colleague("recruiter", json!({ "username": "grace" })).await;
    visit.app.settle().await;
    let link = format!("{}/activate/{}", visit.origin, visit.app.mailed_key(&colleague.email));
    let facts = "[...document.querySelectorAll('.facts > div')].map(one => [...one.children].map(part => part.textContent))";
    let mut page = Page::open().await;
    let logo = Form::new().file("file", "logo.png", "image/png", &photo(ImageFormat::Png, 300, 100));
    visit.owner.send(Request::put("/companies/acme/logo/").form(logo)).await.expect(200);
    page.go(&link).await;
    page.on("password").await;
    // The company has named no application, so staff work on the page of the service.
    let own = format!("{}/staff/acme/", visit.origin);
    let mut told = json!([
        ["Company", "Acme & Sons"],
        ["Company identifier", "acme"],
        ["User name", "grace"],
        ["Log in at", own],
    ]);
    assert_eq!(page.evaluate(facts).await, told);
    let app_url = format!("{}/api/v3/docs/", visit.origin);
    visit.owner.patch("/companies/acme/", json!({ "app_url": app_url })).await.expect(200);
    told[3][1] = json!(app_url);
    page.go(&link).await;
    page.on("password").await;
    assert_eq!(page.evaluate(facts).await, told);
    assert!(page.text().await.contains("For the account grace with Acme & Sons."));
    let shown = "(image => image && [image.naturalWidth, image.alt])(document.querySelector('header img'))";
    page.until_promised("document.querySelector('header img').decode().then(() => true)").await;
    assert_eq!(page.evaluate(shown).await, json!([300, "Acme & Sons"]));
    // The contact is there for candidates.
    assert_eq!(contact_of(&mut page).await, "");
    page.fill("password", PASSWORD).await;
    page.press("Save password").await;
    page.until("document.querySelector('a.main')").await;
    assert!(page.text().await.contains("with the user name grace"));
    assert_eq!(page.evaluate("document.querySelector('a.main').href").await, app_url.as_str());
    page.go(&link).await;
    page.on("over").await;
    assert!(page.text().await.contains("This link has been used or has expired"));
    // It tells as much, but for the name of the account: it need not prove who has it.
    told.as_array_mut().unwrap().remove(2);
    assert_eq!(page.evaluate(facts).await, told);
    assert_eq!(page.evaluate("document.querySelector('main a.main').href").await, app_url.as_str());
    page.until_promised("document.querySelector('header img').decode().then(() => true)").await;
    assert!(!page.text().await.contains("Questions? Ask"));

    // The candidates' login is not theirs, and leaves no session.
    page.go(&format!("{}/interview/acme/", visit.origin)).await;
    page.log_in(&colleague.email, PASSWORD).await;
    page.until("document.querySelector('main a.main')").await;
    assert!(page.text().await.contains("This login is for candidates."));
    assert_eq!(page.evaluate("document.querySelector('main a.main').href").await, app_url.as_str());
    let status = "fetch('/api/v3/whoami/').then(({ status }) => status)";
    assert_eq!(page.evaluate(status).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_is_in_sight_however_long_the_name_of_the_company_is() {
    let visit = visit(true).await;
    let name = "Gesellschaft für Personalvermittlung ".repeat(4);
    visit.owner.patch("/companies/acme/", json!({ "name": name.trim() })).await.expect(200);
    let colleague = visit.owner.colleague("recruiter", json!({})).await;
    visit.app.settle().await;
    let mut page = Page::open().await;
    page.go(&format!("{}/activate/{}", visit.origin, visit.app.mailed_key(&colleague.email))).await;
    page.on("password").await;
    page.fit([390, 844]).await;
    let bottom = "document.querySelector('form button.main').getBoundingClientRect().bottom <= innerHeight";
    assert_eq!(page.evaluate(bottom).await, true, "{}", page.text().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_confirm_a_new_address_and_put_the_former_one_back() {
    let visit = visit(true).await;
    let staff = visit.app.staff("recruiter").await;
    let email = visit.app.next_email();
    visit.owner.patch(&staff.uri, json!({ "email": email })).await.expect(200);
    visit.app.settle().await;
    let link =
        |path: &str, address: &str| format!("{}/{path}/{}", visit.origin, visit.app.mailed_key(address));
    let is_confirmed =
        async || visit.owner.get(&staff.uri).await.expect(200).json()["email_confirmed"].clone();
    let confirm = link("confirm-email", &email);
    let mut page = Page::open().await;
    page.go(&confirm).await;
    page.on("address").await;
    let about =
        format!("{email} is to become the address of the account {} with Acme & Sons.", staff.username);
    assert!(page.text().await.contains(&about));
    assert_eq!(contact_of(&mut page).await, "");
    page.fill("password", "wrong horse battery").await;
    page.press("Confirm the address").await;
    page.until("document.body.innerText.includes('This is not the password of the account.')").await;
    // Opening the page and a wrong password have changed nothing.
    assert_eq!(is_confirmed().await, false);
    page.fill("password", PASSWORD).await;
    page.press("Confirm the address").await;
    page.until("document.body.innerText.includes('Your address is confirmed')").await;
    assert_eq!(is_confirmed().await, true);

    visit.app.settle().await;
    let restore = link("restore-email", &staff.email);
    page.go(&restore).await;
    page.on("address").await;
    let about = format!("{} is to be the address of the account {}", staff.email, staff.username);
    assert!(page.text().await.contains(&about));
    assert_eq!(visit.owner.get(&staff.uri).await.expect(200).json()["email"], email.as_str());
    page.press("Keep this address").await;
    page.until("document.body.innerText.includes('Your account has this address again')").await;
    assert_eq!(visit.owner.get(&staff.uri).await.expect(200).json()["email"], staff.email.as_str());
    for ended in [&confirm, &restore] {
        page.go(ended).await;
        page.on("over").await;
        assert!(page.text().await.contains("ask the company to correct it"), "{ended}");
    }
}
