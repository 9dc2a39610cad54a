//! Reads a change of the sign-in settings.

use shared::Result;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::issuer::IssuerUrl;
use shared::domain::outgoing::AllowedTargets;
use shared::domain::staff::sign_in::{
    ClientSecret, MAX_BREAK_GLASS, MAX_DOMAINS, MailDomain, SignInProvider,
};
use shared::domain::staff::trust::ClaimText;
use shared::http::BodyFields;
use shared::http::reference::ReferenceUris;

pub(crate) struct SetSignIn {
    /// The provider. Its secret is added later, after it is encrypted.
    pub(super) provider: SignInProvider,
    /// `None` keeps the secret.
    pub(super) client_secret: Option<ClientSecret>,
}

impl SetSignIn {
    pub(crate) fn read(
        mut body: BodyFields,
        targets: AllowedTargets,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<Self> {
        let issuer = body.required("issuer", |text| IssuerUrl::parse(text, targets));
        let client_id = body.required("client_id", ClaimText::parse);
        let client_secret = body.text("client_secret", ClientSecret::parse);
        body.require("domains");
        let domains: Option<Vec<MailDomain>> = body.list("domains", MAX_DOMAINS, |item| {
            MailDomain::parse(item.text().ok_or("Expected a list of domains.")?)
        });
        if domains.as_ref().is_some_and(Vec::is_empty) {
            body.refuse("domains", "List at least one domain.");
        }
        let trusts_addresses = body.flag("trusts_addresses").unwrap_or_default();
        let required = body.flag("required").unwrap_or_default();
        let break_glass: Option<Vec<CustomerId>> =
            body.list("break_glass", MAX_BREAK_GLASS, |item| references.parse(company, item.reference()?));
        let break_glass = break_glass.unwrap_or_default().into_iter().collect();
        body.finish(|| {
            let provider = SignInProvider {
                issuer: issuer?,
                client_id: client_id?,
                client_secret: None,
                domains: domains?.into_iter().collect(),
                trusts_addresses,
                required,
                break_glass,
            };
            Some(Self { provider, client_secret })
        })
    }
}
