//! The workspace's functions by their names in the template.

use std::collections::HashMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::RouteReader;
use shared::app::App;
use shared::http::MakeService;

use crate::{Function, in_process, in_process_event};

/// The template's functions by logical id, run in this process. `app_of` returns the application for a logical id.
pub fn functions(app_of: impl Fn(&str) -> App) -> HashMap<String, Function> {
    let over_http = services().map(|(name, make_service)| {
        let id = logical_id(name);
        let service = make_service(app_of(&id));
        (id, in_process(service))
    });
    let started_by_events = [
        started_by_event("OutboxFunction", &app_of, async |app: App, event| {
            outbox::handle(&app, event).await
        }),
        started_by_event("WebhookSenderFunction", &app_of, async |app: App, event| {
            webhook_sender::handle(&app, event).await
        }),
        started_by_event("DeadlineExpiryFunction", &app_of, async |app: App, event| {
            deadline_expiry::handle(&app, event).await
        }),
        started_by_event("RetentionFunction", &app_of, async |app: App, event| {
            retention::handle(&app, event).await
        }),
        started_by_event("ExportWriterFunction", &app_of, async |app: App, event| {
            export_writer::handle(&app, event).await
        }),
        started_by_event("PlatformEventsFunction", &app_of, async |app: App, event| {
            platform_events::process(&app, event).await
        }),
        started_by_event("UploadsFunction", &app_of, async |app: App, event| {
            uploads::process(&app, event).await
        }),
        started_by_event("VideoConversionFunction", &app_of, async |app: App, event| {
            video_conversion::process(&app, event).await
        }),
    ];
    over_http.into_iter().chain(started_by_events).collect()
}

fn started_by_event<E, A, F>(
    id: &str,
    app_of: &impl Fn(&str) -> App,
    handle: impl Fn(App, E) -> F + Clone + Send + Sync + 'static,
) -> (String, Function)
where
    E: DeserializeOwned + Send,
    A: Serialize,
    F: Future<Output = shared::Result<A>> + Send + 'static,
{
    (id.to_owned(), in_process_event(&app_of(id), handle))
}

/// The functions that answer HTTP requests.
fn services() -> [(&'static str, MakeService); 12] {
    [
        ("auth", auth::service),
        ("companies", companies::service),
        ("customers", customers::service),
        ("projects", projects::service),
        ("candidates", candidates::service),
        ("videos", videos::service),
        ("evaluations", evaluations::service),
        ("interviews", interviews::service),
        ("events", events::service),
        ("search", search::service),
        ("docs", docs::service),
        ("page", page::service),
    ]
}

/// A route table, for a reader of type `R`.
type RouteTable<R> = fn(R) -> R;

/// Each group of API routes: the name of its function, and its route table.
pub fn groups<R: RouteReader>() -> [(&'static str, RouteTable<R>); 11] {
    [
        ("auth", auth::routes),
        ("companies", companies::routes),
        ("customers", customers::routes),
        ("projects", projects::routes),
        ("candidates", candidates::routes),
        ("videos", videos::routes),
        ("evaluations", evaluations::routes),
        ("interviews", interviews::routes),
        ("events", events::routes),
        ("search", search::routes),
        ("docs", docs::routes),
    ]
}

/// The function's logical id in the template: `AuthFunction` for `auth`.
fn logical_id(function: &str) -> String {
    let (initial, rest) = function.split_at(1);
    format!("{}{rest}Function", initial.to_uppercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;
    use shared::http::serve::mounts::{LINK_ROOTS, MOUNTS, PAGE_ROOTS, ROOT_FUNCTION, WELL_KNOWN_FILES};

    use super::*;
    use crate::template::{RouteTarget, RuleTrigger};
    use crate::{RouteKey, Template};

    #[test]
    fn the_template_routes_every_mount_to_its_function_and_nothing_else() {
        let mounted = MOUNTS.iter().flat_map(|(group, roots)| {
            let function = logical_id(group);
            roots.iter().flat_map(move |root| {
                let key = format!("ANY /api/v3{root}");
                ["", "/", "/{proxy+}"].map(|end| (format!("{key}{end}"), function.clone()))
            })
        });
        let pages = PAGE_ROOTS.iter().map(|root| (format!("ANY {root}/{{proxy+}}"), logical_id("page")));
        let links = LINK_ROOTS
            .iter()
            .flat_map(|root| ["", "/"].map(|end| (format!("ANY {root}{end}"), logical_id("page"))));
        let files = WELL_KNOWN_FILES.iter().map(|path| (format!("ANY {path}"), logical_id("page")));
        let root = ["", "/"].map(|end| (format!("ANY /api/v3{end}"), logical_id(ROOT_FUNCTION)));
        let default = [("$default".to_owned(), "AuthFunction".to_owned())];
        let expected: BTreeSet<_> =
            mounted.chain(pages).chain(links).chain(files).chain(root).chain(default).collect();
        let template = Template::of_workspace().unwrap();
        let routes = [template.routes().unwrap(), template.slash_routes().unwrap()].concat();
        let routes: BTreeSet<_> = routes.into_iter().map(|route| (route.route_key, route.function)).collect();
        assert_eq!(routes, expected);
    }

    /// AWS does not say whether `/x/{proxy+}` matches `/x/`. If it does not, the request reaches a function that
    /// redirects it (308), unless the parameter `SlashRoutes` adds a route.
    #[test]
    fn a_gateway_whose_greedy_routes_do_not_take_the_final_slash_needs_the_slash_routes() {
        let function_of = |routes: &[RouteTarget], path: &str| {
            let matching = routes.iter().filter_map(|route| {
                let key = RouteKey::parse(&route.route_key).unwrap();
                let parameters = key.parameters("GET", path)?;
                parameters.values().all(|value| *value != "").then_some((key.rank(), route))
            });
            matching.max_by(|route, other| route.0.cmp(&other.0)).unwrap().1.function.clone()
        };
        let template = Template::of_workspace().unwrap();
        let routes = template.routes().unwrap();
        let with_slash = [routes.clone(), template.slash_routes().unwrap()].concat();
        for (group, roots) in MOUNTS {
            for root in *roots {
                let path = format!("/api/v3{root}/");
                assert_eq!(function_of(&with_slash, &path), logical_id(group), "{path}");
                // `auth` serves the `$default` route, and thus also its own paths, unless they are below a root of
                // another function. Other functions' routes match everything below their roots.
                let is_within =
                    |roots: &[&str]| roots.iter().any(|outer| root.starts_with(&format!("{outer}/")));
                let others = MOUNTS.iter().filter(|(other, _)| other != group);
                let is_taken = *group != "auth" || others.into_iter().any(|(_, roots)| is_within(roots));
                let is_lost = function_of(&routes, &path) != logical_id(group);
                assert_eq!(is_lost, is_taken && !is_within(roots), "{path}");
            }
        }
    }

    #[test]
    fn links_reach_the_page_with_and_without_a_final_slash() {
        let routes = Template::of_workspace().unwrap().routes().unwrap();
        let keys: Vec<_> = routes.iter().map(|route| RouteKey::parse(&route.route_key).unwrap()).collect();
        for path in [
            "/register/k",
            "/interview/acme/k",
            "/interview/acme",
            "/reset-password/k",
            "/activate/k",
            "/review/k",
            "/staff/acme",
            "/project/acme/p",
            "/result/acme/p/k",
            "/accessibility/acme",
        ] {
            for path in [path.to_owned(), format!("{path}/")] {
                let matching =
                    keys.iter().filter_map(|key| Some((key.rank(), key.parameters("GET", &path)?)));
                let (_, parameters) = matching.max_by_key(|(rank, _)| rank.clone()).unwrap();
                // Every gateway matches this with a greedy parameter, because the parameter does not begin with the
                // final slash.
                assert_eq!(parameters["proxy"], path.splitn(3, '/').last().unwrap(), "{path}");
            }
        }
    }

    #[test]
    fn the_template_starts_functions_by_stream_schedule_and_rule() {
        let triggers = Template::of_workspace().unwrap().triggers().unwrap();
        let streams: Vec<_> = triggers.streams.iter().map(|stream| stream.function.as_str()).collect();
        let schedules: Vec<_> =
            triggers.schedules.iter().map(|schedule| schedule.function.as_str()).collect();
        let rules: Vec<_> = triggers.rules.iter().map(|rule| rule.function.as_str()).collect();
        assert_eq!(streams, ["OutboxFunction", "WebhookSenderFunction"]);
        assert_eq!(
            schedules,
            [
                "DeadlineExpiryFunction",
                "ExportWriterFunction",
                "OutboxFunction",
                "RetentionFunction",
                "WebhookSenderFunction"
            ]
        );
        assert_eq!(
            rules,
            [
                "PlatformEventsFunction",
                "PlatformEventsFunction",
                "UploadsFunction",
                "VideoConversionFunction"
            ]
        );

        let inserted = |pk: &str| json!({ "eventName": "INSERT", "dynamodb": { "Keys": { "pk": { "S": pk }, "sk": { "S": "EFFECT" } } } });
        let filter = &triggers.streams[0].filters[0];
        assert!(filter.matches(&inserted("EFFECT#1")) && !filter.matches(&inserted("COMPANY#a")));
        let written = |sk: &str| json!({ "dynamodb": { "Keys": { "pk": { "S": "x" }, "sk": { "S": sk } } } });
        let wakes = |sk: &str| triggers.streams[1].filters.iter().any(|filter| filter.matches(&written(sk)));
        assert_eq!(["SEQUENCE", "CURSOR", "EFFECT", "TALLY"].map(wakes), [true, true, false, false]);
        for kind in ["interview.completed", "interview.aborted", "evaluation.recorded"] {
            let event = json!({ "source": "interview.platform", "detail-type": kind });
            assert!(triggers.rules.iter().any(|rule| rule.pattern.matches(&event)), "{kind}");
        }
        let put = |bucket: &str, key: &str| {
            let detail = json!({ "bucket": { "name": bucket }, "object": { "key": key } });
            json!({ "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
        };
        let uploads = |rule: &&RuleTrigger| rule.function == "UploadsFunction";
        let pattern = &triggers.rules.iter().find(uploads).unwrap().pattern;
        assert!(pattern.matches(&put("MediaBucket", "uploads/files/1")));
        assert!(!pattern.matches(&put("Other", "uploads/files/1")));
        assert!(!pattern.matches(&put("MediaBucket", "media/acme/1")));
    }
}
