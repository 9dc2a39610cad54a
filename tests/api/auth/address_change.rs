//! Another address for an account: the requests that the tests of staff and of candidates have in common.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::http::Response;

pub(crate) const CONFIRM: &str = "/api-email-confirm/";
pub(crate) const RESTORE: &str = "/api-email-restore/";
pub(crate) const HOLDER: &str = "/whoami/key/";
const BAD_KEY: &str = r#"400 {"key":["This key is invalid or has expired."]}"#;

/// An account whose address an owner changes.
pub(crate) trait AddressChange {
    fn app(&self) -> &TestApp;
    fn owner(&self) -> &Staff;
    /// The URL of the account.
    fn uri(&self) -> &str;

    async fn change(&self, fields: Value) -> Response {
        self.owner().patch(self.uri(), fields).await
    }

    async fn confirm(&self, key: &str) -> Response {
        self.app().anonymous().post(CONFIRM, json!({ "key": key, "password": PASSWORD })).await
    }

    async fn restore(&self, key: &str) -> Response {
        self.app().anonymous().post(RESTORE, json!({ "key": key })).await
    }

    /// The status of a login by `name`.
    async fn log_in(&self, name: &str) -> u16 {
        self.app().anonymous().log_in("acme", name, PASSWORD).await.status.as_u16()
    }

    /// The number of mails that an address gets for a forgotten password of `name`.
    async fn resets(&self, name: &str, address: &str) -> usize {
        self.app().clock().advance(TimeDelta::minutes(6));
        // A mail about the change may still wait.
        self.app().settle().await;
        let before = self.app().mails_to(address).len();
        let forgotten = json!({ "company": "acme", "username": name });
        self.app().anonymous().post("/api-password-reset/", forgotten).await.expect(202);
        self.app().settle().await;
        self.app().mails_to(address).len() - before
    }

    /// The address that clients see, and whether it is confirmed.
    async fn shown(&self) -> (String, bool) {
        // The owner's session may have ended in the meantime.
        let shown = self.owner().new_token().await.get(self.uri()).await.expect(200);
        (shown.uri("email"), shown.json()["email_confirmed"] == true)
    }
}

#[track_caller]
pub(crate) fn assert_bad_key(response: &Response) {
    assert_eq!(format!("{} {}", response.status.as_u16(), response.json()), BAD_KEY);
}
