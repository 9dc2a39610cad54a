//! The documentation of the routes of named tokens.

use chrono::DateTime;
use serde_json::json;
use shared::domain::outgoing::AllowedTargets;
use shared::domain::staff::named_token::{MadeByToken, TOO_MANY_TOKENS};
use shared::domain::staff::trust::TOO_MANY_TRUSTS;
use shared::http::example_uri;
use shared::openapi::OperationDoc;

use super::{NewToken, TokenView, WITH};

pub(crate) fn list_named_tokens(operation: OperationDoc) -> OperationDoc {
    operation.text("Without their values. Tokens that have expired are listed for 30 days.")
}

pub(crate) fn create_named_token(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "Creates a token for a service that acts for the company. By default it has an owner's permissions, except for \
             actions that need a person, and no end. Only this answer contains the value. Tokens never change: to replace one, create another and delete \
             the first. A token outlives the owner who created it.\n\nIf the answer is lost, the value is lost: a retry with the same \
             `Idempotency-Key` returns the token without it, so that you can delete that token and create another one with a new key. \
             Without a key, a retry creates a second token; find the first one in the list by its `name`. A `value` of your own is not \
             lost: send one if you cannot repeat the request by hand.\n\nGive a token the fewest rights that its service needs:\n\n\
             | `account_type` | rights |\n|---|---|\n\
             | `owner`, the default | Everything that needs no person. Creates and changes admins too |\n\
             | `admin` | The same for staff below admins |\n\
             | `recruiter` | In the company, as recruiters do: creates, changes and deletes hiring managers, labels and welcome \
             videos, and creates projects. It sees no project |\n\
             | `recruiter` or `hiring-manager`, with `projects` | Manages these projects, and nothing else. The narrowest choice |\n\n\
             A token with `projects` is limited to these, whatever its `account_type`. There it may do what an interview manager may, \
             reads the events of one project at a time (`…/events/?project=`) and has webhooks for them. Of the company it only reads: \
             labels, welcome videos, and the customers with a role in its projects. It manages no people, labels, videos or settings, \
             and creates no projects. It gives roles and shares to these customers alone.\n\n\
             Only tokens with the rights of owners or admins save evaluations for evaluators. `read_only` narrows any of these to \
             GET and HEAD, files included; other requests return 403 `read_only_token`. A read-only token sees no keys of \
             candidates and no links to their interviews. `GET /whoami/` shows a token what it may do.\n\n\
             `expires_at` must be at least an hour and at most ten years ahead. Then the token stops working at once, with the \
             URLs of files that it was shown. The list shows it for 30 days more; its deletion is an event of the system.\n\n\
             With `trust`, the token has no value and nothing to keep: a workload of GitHub Actions, AWS, Google Cloud or GitLab \
             exchanges a JWT of its platform (`POST /api-token-exchange/`). The issuer is asked once: what answers otherwise than an issuer \
             is refused; one that cannot be reached now stands in `last_problem` of the answer. Keys are kept for ten minutes, so a key that \
             the issuer has withdrawn works for so long, and for up to an hour while the issuer fails. The page *Without a secret* of the \
             guide has the claims to pin.",
        )
        .is_limited(
            "For a company, at most ten issuers are asked within 15 minutes because tokens are created that trust them; those whose keys \
             are known do not count.",
        )
        .body_with_references::<TokenView, _>(|body, company, references| {
            NewToken::read(body, DateTime::UNIX_EPOCH, AllowedTargets::Public, company, references)
        })
        .field("value", "32 to 256 visible ASCII characters, hard to guess. By default generated.")
        .field(
            "trust",
            "The workload that may act by the token, in place of a value: the `issuer` (a URL without a query, as `iss` has it), the \
             `subject` (`sub`), and up to ten further `claims`, texts that are compared character by character. Pin a single workload.",
        )
        .refuses(&[TOO_MANY_TOKENS, TOO_MANY_TRUSTS])
        .example("token", json!({ "name": "Applicant tracking" }))
        .example(
            "pipeline",
            json!({
                "name": "CI", "account_type": "hiring-manager", "projects": [example_uri::PROJECT],
                "trust": {
                    "issuer": "https://token.actions.githubusercontent.com",
                    "subject": "repo:acme/ats:environment:prod",
                    "claims": { "repository_id": "123456" },
                },
            }),
        )
        .example(
            "report",
            json!({
                "name": "Weekly report", "account_type": "hiring-manager", "projects": [example_uri::PROJECT],
                "read_only": true, "expires_at": "2027-03-31T22:00:00Z",
            }),
        )
}

pub(crate) fn get_named_token(operation: OperationDoc) -> OperationDoc {
    operation.text("Without its value.")
}

pub(crate) fn delete_named_token(operation: OperationDoc) -> OperationDoc {
    operation
        .text(
            "The token stops working at once, with the URLs of files that it was shown. What it has made stays, unless `with` names \
             it: then the service deletes it within a minute or so, with the same events as if the caller had.",
        )
        .query_list(
            WITH,
            "Comma-separated names of what to delete of what the token has made. Other names are refused, and nothing is deleted.",
            &MadeByToken::ALL.map(MadeByToken::as_str),
        )
}
