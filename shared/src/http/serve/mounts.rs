//! The paths at which the gateway mounts each group of routes.
//!
//! The template gives every mount two routes: the path itself and the path followed by `/{proxy+}`. A request that differs
//! from a mount only by its final slash may match neither and reach another function, which recognises it by [`is_mounted`].
//! The template's parameter `SlashRoutes` adds a third route for such a gateway.

/// For each function, the path prefixes below `/api/v3` that the gateway routes to it.
pub const MOUNTS: &[(&str, &[&str])] = &[
    (
        "auth",
        &[
            "/api-token-auth",
            "/api-token-exchange",
            "/api-token-invalidate",
            "/api-session-auth",
            "/api-session-invalidate",
            "/whoami",
            "/api-activate",
            "/api-password-reset",
            "/candidate-links",
            "/api-email-confirm",
            "/api-email-restore",
            "/companies/{companyId}/tokens",
            "/companies/{companyId}/sign-in",
            "/companies/{companyId}/customers/{customerId}/sign-in",
            "/sign-in",
        ],
    ),
    ("companies", &["/companies/{companyId}"]),
    ("customers", &["/companies/{companyId}/customers"]),
    (
        "projects",
        &["/companies/{companyId}/projects", "/companies/{companyId}/customers/{customerId}/projects"],
    ),
    ("videos", &["/companies/{companyId}/videos"]),
    (
        "candidates",
        &[
            "/companies/{companyId}/projects/{projectId}/candidates",
            "/companies/{companyId}/projects/{projectId}/help-requests",
            "/companies/{companyId}/candidates",
        ],
    ),
    (
        "evaluations",
        &[
            "/companies/{companyId}/projects/{projectId}/questions",
            "/companies/{companyId}/projects/{projectId}/criteria",
            "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/evaluations",
            "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/vetos",
            "/companies/{companyId}/projects/{projectId}/vetos",
            "/companies/{companyId}/projects/{projectId}/results",
        ],
    ),
    (
        "interviews",
        &[
            "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/interview",
            "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/answers",
            // Listed although it is within the mount above, because the gateway has a rate limit of its own for drafts.
            "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/answers/{questionId}/draft",
            "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/guest-links",
            "/review",
        ],
    ),
    ("events", &["/companies/{companyId}/events", "/companies/{companyId}/webhooks", "/receipt-keys"]),
    ("search", &["/companies/{companyId}/search"]),
    ("docs", &["/openapi.json", "/docs"]),
];

/// The function that answers `/api/v3` itself. The template gives it the path with and without a final slash, but no
/// `/{proxy+}`: that would take unknown paths away from `$default`.
pub const ROOT_FUNCTION: &str = "docs";

/// The first path segments that the gateway routes to the function `page`, outside `/api/v3`. The template gives each a
/// route with `/{proxy+}`.
pub const PAGE_ROOTS: &[&str] = &[
    "/register",
    "/interview",
    "/reset-password",
    "/activate",
    "/confirm-email",
    "/restore-email",
    "/review",
    "/staff",
    "/project",
    "/result",
    "/sign-in",
    "/accessibility",
    "/page",
];
/// The roots with which links begin. Each also has a route for the bare segment, with and without a final slash, because a
/// truncated link may end there.
pub const LINK_ROOTS: &[&str] = &[
    "/register",
    "/interview",
    "/reset-password",
    "/activate",
    "/confirm-email",
    "/restore-email",
    "/review",
    "/staff",
    "/project",
    "/result",
    "/sign-in",
    "/accessibility",
];
/// Files that the function `page` serves at the paths where programs look for them. The template gives each one route.
pub const WELL_KNOWN_FILES: &[&str] = &["/.well-known/security.txt", "/llms.txt"];

/// Whether `path`, without `/api/v3` and without a final slash, is exactly the root of a mount.
pub fn is_mounted(path: &str) -> bool {
    MOUNTS.iter().flat_map(|(_, roots)| *roots).any(|root| {
        let mut segments = path.split('/');
        root.split('/').all(|expected| {
            segments.next().is_some_and(|actual| {
                if expected.starts_with('{') { !actual.is_empty() } else { expected == actual }
            })
        }) && segments.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_roots_are_mounted() {
        for path in
            ["/whoami", "/companies/acme", "/companies/acme/projects", "/companies/a/projects/p/candidates"]
        {
            assert!(is_mounted(path), "{path}");
        }
        for path in
            ["", "/", "/companies", "/companies/", "/companies/acme/projects/p", "/companies//projects", "/x"]
        {
            assert!(!is_mounted(path), "{path}");
        }
    }
}
