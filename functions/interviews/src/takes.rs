//! Takes: beginning them, uploading their parts, and finishing them.

use std::cell::Cell;
use std::collections::BTreeSet;

use axum::Json;
use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::{Admitted, AnswersTarget};
use shared::domain::answers::{
    Answers, FinishedTake, MAX_PART_BYTES, MAX_PARTS, QuestionAnswer, RecordedPart, TAKE_CLOSED, Take,
    TakeSource, TakeTerms,
};
use shared::domain::id::TakeRef;
use shared::domain::media::upload::PART_URL_LIFETIME;
use shared::domain::parse_enum;
use shared::domain::policy::AnswerQuestions;
use shared::domain::questionnaire::Question;
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created};
use shared::media::{AnswerObjects, HashedUpload, ObjectStore, recorded_parts};

use crate::view::{BegunTakeView, FinishedTakeView, InterviewViewer, SignedPartView, SignedPartsView};

/// The maximum number of parts in one request.
const MAX_SIGNED: usize = 8;
/// The maximum reported length, in seconds. Longer than any take: a client may measure a little more than the time to
/// answer.
const MAX_RECORDED_SECONDS: u32 = 3600;

/// POST …/answers/{questionId}/takes/
pub(crate) async fn begin(
    access: Admitted<QuestionAnswer, AnswerQuestions>,
) -> Result<CommittedResponse<Created<BegunTakeView>>> {
    let all = &access.target.all;
    let question = &access.target.question;
    all.candidate.may_begin_answer(access.now)?;
    let open = access.target.question_answer().and_then(QuestionAnswer::open_take);
    let found = match open {
        Some(open) => {
            let take = open.reference(question.id);
            parts_of(&access.objects()?, &all.answers, take).await?
        }
        None => Vec::new(),
    };
    let video_seconds = video_seconds(&access, question).await?;
    let terms = TakeTerms { video_seconds, ..TakeTerms::of(&all.candidate) };
    let after = Answers::clone(&all.answers).begin_take(question, &terms, &found, access.now)?;
    let viewer = InterviewViewer::of(all, access.references());
    let begun = Created(BegunTakeView::new(question, after.answer_to(question.id), &viewer));
    let writes = access.store.save_answers(&all.candidate, &all.answers, &after, access.now);
    access.commit(writes, begun).await
}

/// How many seconds the question's video adds to the preparation time: the candidate sees it only now.
// 0 for a question without preparation time, whose video could be watched before.
async fn video_seconds(
    access: &Admitted<QuestionAnswer, AnswerQuestions>,
    question: &Question,
) -> Result<u32> {
    let Some(video) = question.video.filter(|_| question.has_preparation()) else { return Ok(0) };
    let video = access.store.video(&access.target.all.candidate.company, video).await?;
    // An unconverted video cannot be watched.
    let converted = video.and_then(|video| video.conversion.converted);
    Ok(converted.map_or(0, |converted| converted.seconds))
}

/// POST …/answers/{questionId}/takes/{take}/parts/
pub(crate) async fn sign_parts(
    access: Admitted<Take, AnswerQuestions>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<SignedPartsView>>> {
    let most = access.target.take.as_ref().map_or(MAX_PARTS, Take::most_parts);
    let parts = read_parts(body, most)?;
    require_accepting(&access.target.all, access.target.take_ref, access.now)?;
    let objects = access.objects()?;
    let answers = AnswerObjects::of(&access.target.all.answers);
    let asked: Vec<(u32, u64)> = parts.iter().map(|(number, upload)| (*number, upload.size)).collect();
    // Check only takes that could exceed their limit: few can, and listing parts costs as much as an upload.
    if let Some(take) = access.target.take.as_ref().filter(|take| take.can_outgrow_by(&asked)) {
        let found = parts_of(&objects, &access.target.all.answers, access.target.take_ref).await?;
        take.may_grow_by(&asked, &found)?;
    }
    let expires_at = access.now + PART_URL_LIFETIME;
    let mut signed = Vec::with_capacity(parts.len());
    for (number, upload) in parts {
        let key = answers.part(access.target.take_ref, number);
        let request = objects.upload_once_to(&key, &upload, PART_URL_LIFETIME).await?;
        signed.push(SignedPartView::new(number, request, expires_at));
    }
    access.commit(access.store.empty_transaction(), Json(SignedPartsView { parts: signed })).await
}

/// PATCH …/answers/{questionId}/takes/{take}/
pub(crate) async fn finish(
    access: Admitted<Take, AnswerQuestions>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<FinishedTakeView>>> {
    let most = access.target.take.as_ref().map_or(MAX_PARTS, Take::most_parts);
    let finished = read_finished(body, most)?;
    let all = &access.target.all;
    let take_ref = access.target.take_ref;
    let viewer = InterviewViewer::of(all, access.references());
    // A repeated request: its first response may have been lost, and the interview closed since.
    if let Some(take) = access.target.take.as_ref().filter(|take| !take.is_open() && !take.is_interrupted) {
        let shown = FinishedTakeView::new(take_ref, take, Vec::new(), &viewer);
        return access.commit(access.store.empty_transaction(), Json(shown)).await;
    }
    require_accepting(all, take_ref, access.now)?;
    let found = parts_of(&access.objects()?, &all.answers, take_ref).await?;
    let missing = finished.missing(&found);
    let after = Answers::clone(&all.answers).finish_take(take_ref, finished, &found, access.now)?;
    let after = after.unwrap_or_else(|| Answers::clone(&all.answers));
    // Show a take that was given up in its former state.
    let take = after.take(take_ref).or(access.target.take.as_ref()).ok_or(TAKE_CLOSED)?;
    let shown = Json(FinishedTakeView::new(take_ref, take, missing, &viewer));
    access.commit(access.store.save_answers(&all.candidate, &all.answers, &after, access.now), shown).await
}

/// Refuses requests for a take that a later take or the end of the interview has closed.
fn require_accepting(all: &AnswersTarget, take_ref: TakeRef, now: DateTime<Utc>) -> Result<()> {
    all.candidate.may_finish_answer(now).map_err(|_| TAKE_CLOSED)?;
    let is_last =
        all.answers.answer_to(take_ref.question).is_some_and(|answer| answer.last_number == take_ref.number);
    if is_last && all.answers.take(take_ref).is_some_and(|take| take.is_open() || take.is_interrupted) {
        Ok(())
    } else {
        Err(TAKE_CLOSED.into())
    }
}

async fn parts_of(objects: &ObjectStore<'_>, answers: &Answers, take: TakeRef) -> Result<Vec<RecordedPart>> {
    Ok(recorded_parts(&objects.list(&AnswerObjects::of(answers).parts(take)).await?))
}

/// Reads the parts to sign. Their numbers are at most `most`.
pub(crate) fn read_parts(mut body: BodyFields, most: u32) -> Result<Vec<(u32, HashedUpload)>> {
    body.require("parts");
    let sent = Cell::new(0);
    let parts = body.objects("parts", MAX_SIGNED, |mut part| {
        sent.set(sent.get() + 1);
        for name in ["number", "size", "sha256"] {
            part.require(name);
        }
        let number = part.integer("number", 1, most);
        let size = part.integer("size", 1, MAX_PART_BYTES);
        let sha256 = part.text("sha256", HashedUpload::check_digest);
        part.finish(|| Some((number?, HashedUpload { size: size?.into(), sha256: sha256? })))
    })?;
    if let Some(parts) = &parts {
        let numbers: BTreeSet<u32> = parts.iter().map(|(number, _)| *number).collect();
        if sent.get() == 0 {
            body.refuse("parts", "Send at least one part.");
        } else if numbers.len() < parts.len() {
            body.refuse("parts", "Each number may appear only once.");
        }
    }
    body.finish(|| parts)
}

/// Reads what the client reports about a take of at most `most` parts.
pub(crate) fn read_finished(mut body: BodyFields, most: u32) -> Result<FinishedTake> {
    body.require("parts");
    let parts = body.clearable_integer("parts", 0, most);
    let recorded_seconds = body.clearable_integer("recorded_seconds", 0, MAX_RECORDED_SECONDS).flatten();
    let source = body.text("source", parse_enum).unwrap_or(TakeSource::Recorder);
    body.finish(|| Some(FinishedTake { parts: parts?, recorded_seconds, source }))
}
