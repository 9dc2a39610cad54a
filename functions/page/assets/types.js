// The shapes of the API's responses that the page uses. functions/docs/openapi.json describes them.

/**
 * @typedef {"new" | "invited" | "confirmed" | "interviewing" | "interviewed" | "expired" | "aborted" | "skipped"} CandidateStatus
 *
 * @typedef {{ person: string, email: string }} Contact whom candidates ask; empty texts for what is not known
 *
 * @typedef {object} HelpRequest what a candidate has last asked the company for
 * @property {"time" | "adjustment" | "technical" | "decline"} kind
 * @property {string} text
 * @property {string} asked_at
 * @property {string | null} answered_at
 * @property {string} answer
 *
 * @typedef {object} EndedKey the response of `whoami/candidate/` to a key that opens nothing any more
 * @property {string} code
 * @property {string} resource_uri
 * @property {{ resource_uri: string, name: string, logo: string | null }} company
 * @property {Contact} contact
 * @property {string} return_url where the candidate goes on when the interview is complete; empty for none, and for other codes
 * @property {string | null} interviewdate
 * @property {number | null} answers
 * @property {boolean} ended_by_time
 * @property {string | null} ended_at
 * @property {HelpRequest | null} help_request
 *
 * @typedef {object} CompanyLogin
 * @property {string} company
 * @property {string} name
 * @property {string | null} logo
 * @property {Contact} contact
 * @property {string} app_url
 * @property {string | null} sign_in_url the address to sign in by the provider of the company
 *
 * @typedef {{ kind: "customer" | "candidate", username: string, email: string, company: string }} KeyHolder
 *
 * @typedef {object} Candidate the response of `whoami/candidate/`
 * @property {string} resource_uri
 * @property {string} first_name
 * @property {string} email
 * @property {string} username
 * @property {CandidateStatus} status
 * @property {string | null} deadline
 * @property {{ time_factor: number, may_write: boolean } | null} adjustments
 * @property {HelpRequest | null} help_request
 * @property {boolean} receive_mails
 * @property {string | null} language
 * @property {{ resource_uri: string, name: string, logo: string | null }} company
 * @property {Contact} contact
 * @property {string} return_url where the candidate goes on when the interview is complete; empty for none
 * @property {{ resource_uri: string, name: string, job_url: string, support_lang: string, language: string, interview_platform: "builtin" | "external",
 *   videos: { uri: string, position: number }[] }} project
 *
 * @typedef {object} Take
 * @property {string} resource_uri
 * @property {number} number
 * @property {string} status
 * @property {string} begun_at
 * @property {string} record_from
 * @property {string} record_until
 * @property {boolean} is_interrupted
 *
 * @typedef {object} Answer
 * @property {string} resource_uri
 * @property {string} question
 * @property {"awaiting-upload" | "pending" | "processing" | "successful" | "failed" | null} status
 * @property {string | null} text
 * @property {number} takes_begun
 * @property {number} takes_left
 * @property {{ mp4: string | null } | null} streams
 * @property {Take | null} open_take
 * @property {Take | null} take
 * @property {boolean} unanswerable
 * @property {{ text: string, saved_at: string, tag: string } | null} draft
 *
 * @typedef {object} Interview
 * @property {CandidateStatus} status
 * @property {string} now
 * @property {string | null} started_at
 * @property {string | null} ends_at
 * @property {string | null} closes_at
 * @property {boolean} is_reopened
 * @property {string | null} message what the company tells about the reopening
 * @property {boolean} ended_by_time
 * @property {string | null} ended_at
 * @property {number | null} limit_seconds
 * @property {number} questions
 * @property {number} answer_seconds
 * @property {string[]} missing
 * @property {Answer[]} answers
 *
 * @typedef {object} Question
 * @property {string} resource_uri
 * @property {string | null} text
 * @property {"video" | "text"} kind
 * @property {string | null} video
 * @property {number | null} preparation_seconds
 * @property {number} answer_seconds
 * @property {number | null} takes
 * @property {boolean} is_required
 *
 * @typedef {object} LegalText
 * @property {string} kind
 * @property {number} version
 * @property {boolean} is_required
 * @property {Record<string, string>} texts
 */

export {};
