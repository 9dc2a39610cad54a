//! Drafts of written answers, which the candidate's page saves while they type.

use shared::Result;
use shared::auth::access::{Admitted, WrittenTarget};
use shared::domain::answers::{AnswerText, Answers, Draft, DraftText, WrittenAnswer};
use shared::domain::policy::AnswerQuestions;
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, NoContent, NoContentTagged};
use shared::store::Transaction;

use crate::view::draft_tag;

/// PUT …/answers/{questionId}/draft/
pub(crate) async fn save(
    access: Admitted<Draft, AnswerQuestions>,
    body: BodyFields,
) -> Result<CommittedResponse<NoContentTagged>> {
    let (writes, stored) = replace(&access, read_draft(body)?).await?;
    access.commit(writes, NoContentTagged(draft_tag(stored.as_ref()))).await
}

/// DELETE …/answers/{questionId}/draft/
pub(crate) async fn delete(access: Admitted<Draft, AnswerQuestions>) -> Result<CommittedResponse<NoContent>> {
    let (writes, _) = replace(&access, None).await?;
    access.commit(writes, NoContent).await
}

/// Replaces the draft by `text`, after the former draft has been stored for two seconds. Returns the writes to commit,
/// and the text that is stored then, which may be that of a later request.
// The function itself waits, because functions share only the table: of several waiting requests, the last one writes.
// Each request is answered only after its text is stored, so if the function is stopped while waiting, no confirmed
// text is lost.
async fn replace(
    access: &Admitted<Draft, AnswerQuestions>,
    text: Option<AnswerText>,
) -> Result<(Transaction, Option<AnswerText>)> {
    let WrittenTarget { answer, written: before } = &access.target;
    let all = &answer.all;
    let received_at = access.received_at();
    // Compare with the time of receipt: a request that arrived before the end of the interview may still wait after it.
    all.candidate.may_begin_answer(received_at)?;
    Answers::may_write(&answer.question, all.candidate.adjusted().may_write)?;
    let stored = before.draft.as_ref();
    let is_stored = before.draft_text() == text.as_ref();
    // The later received of two concurrent requests counts, in whatever order they are stored. A request whose
    // `If-Match` names the stored text is later, whatever the clocks of the functions say.
    let is_outdated =
        !access.names_revision() && stored.is_some_and(|stored| stored.received_at > received_at);
    if is_stored || is_outdated {
        return Ok((access.store.empty_transaction(), before.draft_text().cloned()));
    }
    let saved_at = match stored {
        Some(stored) => access.wait_until(stored.replaceable_at(received_at)).await,
        None => access.now,
    };
    let draft = Draft {
        text: text.clone(),
        wording: answer.question.wording(),
        received_at: stored.map_or(received_at, |stored| received_at.max(stored.received_at)),
        saved_at,
    };
    let after = WrittenAnswer { draft: Some(draft), ..WrittenAnswer::clone(before) };
    if stored.is_some() {
        access.store.replace_draft(before, &after).await?;
        return Ok((access.store.empty_transaction(), text));
    }
    let begun = Answers::clone(&all.answers).begin_draft(answer.question.id);
    let texts = (before, &after);
    let writes = access.store.save_written_answer(&all.candidate, &all.answers, &begun, texts, access.now);
    Ok((writes, text))
}

/// Reads the text of a draft; `None` if it has no visible character.
pub(crate) fn read_draft(mut body: BodyFields) -> Result<Option<AnswerText>> {
    let text = body.required("text", DraftText::parse);
    body.finish(|| text.map(DraftText::into_answer))
}
