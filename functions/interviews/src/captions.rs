//! The captions of a recorded answer. Managers put and delete them; clients fetch them from the URLs in the answer's
//! view.

use axum::Json;
use axum::response::Response;
use shared::auth::access::{Admitted, AnswerCaptionsAccess, AnswerCaptionsTarget};
use shared::domain::answers::{AnswerCaptions, Answers, TAKE_REPLACED};
use shared::domain::media::captions::CaptionText;
use shared::domain::policy::{ChangeProject, ReadCandidate};
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::{BodyFields, FormFields};
use shared::{Error, Result};

use crate::view::{AnswerView, InterviewViewer};

/// The maximum number of a take in a request.
const MAX_TAKE: u32 = 999_999_999;

/// PUT …/answers/{questionId}/captions/{language}/
pub(crate) async fn put(
    access: Admitted<AnswerCaptionsTarget, ChangeProject>,
    FormFields(body): FormFields,
) -> Result<CommittedResponse<Json<AnswerView>>> {
    let sent = read_captions(body)?;
    let AnswerCaptionsTarget { answer, language } = &access.target;
    let all = &answer.all;
    let take = all.answers.captioned_take(&answer.question)?;
    // Another take may have become the answer since the client fetched the recording, so the request must name the
    // take.
    if take.number != sent.take {
        return Err(TAKE_REPLACED.into());
    }
    let after = Answers::clone(&all.answers).with_captions(take, *language, sent.text.digest());
    let captions = AnswerCaptions::of(&all.answers, take, *language, sent.text);
    let viewer = InterviewViewer::of(all, access.references());
    let shown = AnswerView::new(&answer.question, after.answer_to(take.question), None, &viewer);
    let writes =
        access.store.put_answer_captions(&all.candidate, &all.answers, &after, &captions, access.now);
    access.commit(writes, Json(shown)).await
}

/// The captions in a request.
pub(crate) struct SentCaptions {
    /// The number of the captioned take.
    take: u32,
    text: CaptionText,
}

/// Reads the captions.
pub(crate) fn read_captions(mut body: BodyFields) -> Result<SentCaptions> {
    body.require("take");
    let take = body.integer("take", 1, MAX_TAKE);
    let text = body.required_captions("file");
    body.finish(|| Some(SentCaptions { take: take?, text: text? }))
}

/// DELETE …/answers/{questionId}/captions/{language}/
pub(crate) async fn delete(
    access: Admitted<AnswerCaptionsTarget, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let AnswerCaptionsTarget { answer, language } = &access.target;
    let all = &answer.all;
    let take = all.answers.captioned_take(&answer.question)?;
    let after = Answers::clone(&all.answers).without_captions(take, *language);
    if after == *all.answers {
        return Err(Error::NotFound);
    }
    let place = (take, *language);
    let writes = access.store.delete_answer_captions(&all.candidate, &all.answers, &after, place, access.now);
    access.commit(writes, NoContent).await
}

/// GET …/answers/{questionId}/captions/{language}/{token}/
pub(crate) async fn read(access: AnswerCaptionsAccess<ReadCandidate>) -> Result<Response> {
    access.show().await
}
