//! A project's statistics: the numbers that remain after candidates are erased.

use std::collections::BTreeMap;

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::CandidateStatus;
use shared::domain::policy::ReadProject;
use shared::domain::retention::erased_ratings::RatingHistogram;
use shared::domain::transition::project_counts::{CounterName, ProjectCounts};
use shared::http::exchange::respond::CommittedResponse;

/// Statistics of a project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectStatistics")]
pub(crate) struct StatisticsView {
    /// The number of deleted candidates by their last status.
    #[schemars(example = erased_example())]
    erased: BTreeMap<&'static str, i64>,
    /// The ratings of deleted candidates; null for fewer than ten. Ratings are added ten at a time after erasure, so
    /// that the difference between two responses never reveals one person's rating.
    erased_ratings: Option<ErasedRatingsView>,
}

/// Ratings of deleted candidates who had completed the interview and been rated.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErasedRatings")]
struct ErasedRatingsView {
    /// The number of candidates, a multiple of ten.
    #[schemars(example = 30)]
    count: i64,
    /// The number of candidates by rating, in tenths of the scale from 0 to 10. A candidate's rating is the mean over
    /// all completed evaluations of each evaluation's mean, rounded half up.
    #[schemars(example = [0, 0, 1, 0, 2, 4, 6, 9, 5, 2, 1])]
    histogram: RatingHistogram,
}

fn erased_example() -> BTreeMap<&'static str, i64> {
    let example = StatisticsView::new(&ProjectCounts::default()).erased.into_iter();
    example.map(|(status, _)| (status, if status == "expired" { 12 } else { 0 })).collect()
}

impl StatisticsView {
    fn new(counts: &ProjectCounts) -> Self {
        let erased = CandidateStatus::ALL.into_iter();
        let erased = erased.map(|status| (status.as_str(), counts.get(CounterName::Erased(status))));
        let ratings = counts.shown_ratings();
        let erased_ratings =
            ratings.map(|histogram| ErasedRatingsView { count: histogram.iter().sum(), histogram });
        Self { erased: erased.collect(), erased_ratings }
    }
}

/// GET …/projects/{projectId}/statistics/
pub(crate) async fn read(
    access: Admitted<ProjectCounts, ReadProject>,
) -> Result<CommittedResponse<Json<StatisticsView>>> {
    access.show(StatisticsView::new(&access.target.counts))
}
