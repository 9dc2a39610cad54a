//! Drafts of written answers, which the page saves while candidates type.

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

/// Replaces the draft by `text`, once the former one has been stored for two seconds. Returns what is left to commit, and the text
/// that is then stored: that of a later request, if there is one.
// The function itself waits, since functions share nothing but the table: of the requests that wait, the last one writes. Each is
// answered once its text is stored, so a function that is stopped while it waits has promised nothing.
async fn replace(
    access: &Admitted<Draft, AnswerQuestions>,
    text: Option<AnswerText>,
) -> Result<(Transaction, Option<AnswerText>)> {
    let WrittenTarget { answer, written: before } = &access.target;
    let all = &answer.all;
    let received_at = access.received_at();
    // A request that came before the end of the interview may wait beyond it.
    all.candidate.may_begin_answer(received_at)?;
    Answers::may_write(&answer.question, all.candidate.adjusted().may_write)?;
    let stored = before.draft.as_ref();
    let is_stored = before.draft_text() == text.as_ref();
    // The later one of two concurrent requests counts, whichever is stored first. One that names the stored text is later, whatever
    // the clocks of two functions say.
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

/// Reads the body of a draft: the text, `None` if nothing in it can be seen.
pub(crate) fn read_draft(mut body: BodyFields) -> Result<Option<AnswerText>> {
    let text = body.required("text", DraftText::parse);
    body.finish(|| text.map(DraftText::into_answer))
}
