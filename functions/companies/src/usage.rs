//! The company's monthly usage.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::company::usage::{ClosedUsage, Month, UsageByMonth, UsageCounts};
use shared::domain::policy::ReadUsage;
use shared::http::QueryParameters;
use shared::http::exchange::respond::CommittedResponse;

/// The maximum number of months in one request.
pub(crate) const MAX_MONTHS: usize = 36;

/// The usage of a company.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Usage")]
pub(crate) struct UsageView {
    /// Whether the operator of the service has marked the company as a test.
    #[schemars(example = false)]
    is_test: bool,
    /// Each month of the request, the earliest first.
    objects: Vec<MonthlyUsageView>,
}

/// The usage of a company in a month.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MonthlyUsage")]
struct MonthlyUsageView {
    /// The calendar month, in UTC.
    #[schemars(example = &"2026-11", extend("pattern" = "^[0-9]{4}-(0[1-9]|1[0-2])$"))]
    month: String,
    /// How often candidates were invited: the events `candidate.invited`. A further invitation of a candidate counts again.
    #[schemars(example = 120)]
    candidates_invited: u64,
    /// How often candidates have completed an interview: the events `candidate.interviewed`.
    #[schemars(example = 84)]
    interviews_completed: u64,
    /// How many recorded answers were converted: the events `answer.converted`. An answer that is converted again, because more of it has
    /// arrived or the operator has retried it, counts again.
    #[schemars(example = 331)]
    answers_converted: u64,
    /// The total length of these recordings, in seconds; a repeated conversion counts again. The sum of `seconds` of
    /// these events.
    #[schemars(example = 28797)]
    seconds_converted: u64,
    /// Whether these numbers are final, i.e. three days after the end of the month.
    #[schemars(example = false)]
    is_final: bool,
}

/// GET …/companies/{companyId}/usage/
pub(crate) async fn read(
    access: Admitted<ClosedUsage, ReadUsage>,
    mut query: QueryParameters,
) -> Result<CommittedResponse<Json<UsageView>>> {
    let months = read_months(&mut query);
    query.finish()?;
    let usage = access.store.usage_up_to(&access.target.sequence).await?;
    let view = |month: Month| MonthlyUsageView::new(month, &usage, month.is_final(access.now));
    let objects = months.into_iter().map(view).collect();
    access.show(UsageView { is_test: access.target.company.is_test, objects })
}

/// The months from `from` to `to`; empty if either parameter is missing or invalid.
fn read_months(query: &mut QueryParameters) -> Vec<Month> {
    let from = query.required("from", str::parse::<Month>);
    let to = query.required("to", str::parse::<Month>);
    let Some((from, to)) = from.zip(to) else { return Vec::new() };
    let months: Vec<Month> = from.up_to(to).take(MAX_MONTHS + 1).collect();
    if months.is_empty() {
        query.refuse("to", "Must not be before `from`.");
    } else if months.len() > MAX_MONTHS {
        query.refuse("to", format!("Ask for at most {MAX_MONTHS} months at a time."));
    }
    months
}

impl MonthlyUsageView {
    fn new(month: Month, usage: &UsageByMonth, is_final: bool) -> Self {
        let UsageCounts { candidates_invited, interviews_completed, answers_converted, seconds_converted } =
            usage.of_month(month);
        Self {
            month: month.to_string(),
            candidates_invited,
            interviews_completed,
            answers_converted,
            seconds_converted,
            is_final,
        }
    }
}
