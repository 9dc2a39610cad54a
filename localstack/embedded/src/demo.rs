//! The company that a new data folder starts with, and its owner's login.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::app::App;

use crate::Error;

const COMPANY: &str = "demo";
/// The domain that the company's projects may have an `email_alias` of, so that it is seen as sender.
const SENDER: &str = "example.com";
const FILE: &str = "demo.json";

/// No letters or digits that look alike; 32 of them, so that a random byte picks each as often.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const PASSWORD_LENGTH: usize = 16;

/// The login of the demo company's owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demo {
    /// The company's identifier.
    pub company: String,
    /// The owner's user name.
    pub username: String,
    /// The password, random for each data folder.
    pub password: String,
}

impl Demo {
    /// The login remembered in `folder`. Where there is none, the company is created first.
    pub(crate) async fn of(folder: &Path, app: &App) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let failed = || format!("cannot keep the demo login in {}", path.display());
        if path.exists() {
            let text = std::fs::read(&path).map_err(Error::because(failed()))?;
            return serde_json::from_slice(&text).map_err(Error::because(failed()));
        }
        let demo = Self { company: COMPANY.to_owned(), username: "demo".to_owned(), password: password(app) };
        demo.create(app).await?;
        let text = serde_json::to_vec(&demo).map_err(Error::because(failed()))?;
        std::fs::write(&path, text).map_err(Error::because(failed()))?;
        Ok(demo)
    }

    async fn create(&self, app: &App) -> Result<(), Error> {
        let create = json!({
            "command": "create-company",
            "company": self.company,
            "name": "Demo Company",
            "owner": {
                "first_name": "Dana",
                "last_name": "Demo",
                "email": "demo@example.com",
                "username": self.username,
                "password": self.password,
            },
        });
        let verify = json!({ "command": "verify-senders", "company": self.company, "senders": [SENDER] });
        let failed = "cannot create the demo company (deleting the data folder starts anew)";
        for command in [create, verify] {
            let command = serde_json::from_value(command).map_err(Error::because(failed))?;
            admin::handle(app, command).await.map_err(Error::because(failed))?;
        }
        Ok(())
    }
}

fn password(app: &App) -> String {
    let mut bytes = [0; PASSWORD_LENGTH];
    app.entropy().fill(&mut bytes);
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}
