//! The demo company of a new data folder, and its owner's login.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared::app::App;

use crate::Error;

const COMPANY: &str = "demo";
/// A verified domain, so that a project's `email_alias` can be used as the sender.
const SENDER: &str = "example.com";
const FILE: &str = "demo.json";

/// 32 distinguishable letters and digits. With 32, a random byte chooses each with equal probability.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The login of the demo company's owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demo {
    /// The company's identifier.
    pub company: String,
    /// The owner's user name.
    pub username: String,
    /// The user's password, chosen at random for each data folder.
    pub password: String,
}

impl Demo {
    /// The login stored in `folder`. Without one, creates an owner, and the company unless an earlier run has created
    /// it.
    pub(crate) async fn of(folder: &Path, app: &App) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let failed = || format!("cannot keep the demo login in {}", path.display());
        if path.exists() {
            let text = std::fs::read(&path).map_err(Error::because(failed()))?;
            return serde_json::from_slice(&text).map_err(Error::because(failed()));
        }
        let mut demo =
            Self { company: COMPANY.to_owned(), username: "demo".to_owned(), password: random(app, 16) };
        let listed = operate(app, json!({ "command": "list-companies" })).await?;
        let is_listed = |company: &Value| company["company"] == COMPANY;
        if listed["companies"].as_array().is_some_and(|companies| companies.iter().any(is_listed)) {
            demo.username = format!("demo-{}", random(app, 6));
            let create = json!({ "command": "create-customer", "company": COMPANY, "account_type": "owner",
                "customer": demo.person() });
            operate(app, create).await?;
        } else {
            demo.create(app).await?;
        }
        let text = serde_json::to_vec(&demo).map_err(Error::because(failed()))?;
        std::fs::write(&path, text).map_err(Error::because(failed()))?;
        Ok(demo)
    }

    async fn create(&self, app: &App) -> Result<(), Error> {
        let create = json!({ "command": "create-company", "company": self.company, "name": "Demo Company",
            "owner": self.person() });
        operate(app, create).await?;
        let verify = json!({ "command": "verify-senders", "company": self.company, "senders": [SENDER] });
        operate(app, verify).await.map(drop)
    }

    fn person(&self) -> Value {
        json!({
            "first_name": "Dana",
            "last_name": "Demo",
            "email": format!("{}@example.com", self.username),
            "username": self.username,
            "password": self.password,
        })
    }
}

async fn operate(app: &App, command: Value) -> Result<Value, Error> {
    let failed = "cannot create the demo company (deleting the data folder starts anew)";
    let command = serde_json::from_value(command).map_err(Error::because(failed))?;
    let output = admin::handle(app, command).await.map_err(Error::because(failed))?;
    serde_json::to_value(output).map_err(Error::because(failed))
}

fn random(app: &App, length: usize) -> String {
    let mut bytes = vec![0; length];
    app.entropy().fill(&mut bytes);
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}
