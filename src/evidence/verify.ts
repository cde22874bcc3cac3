import { createRecordedJudge, recordedOutcome } from '../analysis/index.ts'
import { canonicalJson, decodeBase64, encodeBase64Url, encodeUtf8, isHex } from '../encoding/index.ts'
import { findActivity, fingerprintOf, fromTimestamp, type Wire } from '../protocol/index.ts'
import { factsOfActivity } from '../scenarios/index.ts'
import { isScheme, readStamp, type Stamp, verifyStamp, verifyWebAuthnStamp } from '../stamp/index.ts'
import type { ActivityEvidence, EvidenceVote, SignedEvidence } from './model.ts'
import { textOf } from './text.ts'

export type CheckVerdict = 'holds' | 'broken' | 'unknown'

/** One thing that was checked again. */
export interface EvidenceCheck {
  readonly what: string
  readonly verdict: CheckVerdict
  /** In a sentence: what holds, what does not, or why it cannot be told. */
  readonly said: string
}

/** What came of checking evidence. */
export interface VerifiedEvidence {
  /** The public key that signed the whole, lower-case hex; absent where nothing can be read of it. */
  readonly collector?: string
  readonly checks: readonly EvidenceCheck[]
}

/**
 * Checks evidence again, by itself: asks nobody. Whose key the collector's is, its reader has to know.
 * @param collector the public key that must have signed it; any without
 */
export function verifyEvidence(
  { evidence, signature }: SignedEvidence,
  { collector }: { readonly collector?: string } = {},
): VerifiedEvidence {
  const stamp = stampOf(signature)
  const isSigned = stamp !== undefined && verifyStamp(stamp, textOf(evidence))
  const signer = stamp?.publicKey
  const isExpected = collector === undefined || collector.toLowerCase() === signer
  const bundle = check('bundle', isSigned && isExpected, {
    holds: `signed as it stands with the key ${shown(signer ?? '')} of ${evidence.collectedBy?.userName}`,
    broken: isSigned ? `signed with the key ${signer}, not ${collector}` : 'it is not what its collector signed',
  })
  return { ...(signer === undefined ? {} : { collector: signer }), checks: [bundle, ...partChecks(evidence)] }
}

function partChecks(evidence: ActivityEvidence): readonly EvidenceCheck[] {
  try {
    const votes = [...evidence.activity.votes].sort((a, b) => fromTimestamp(a.createdAt) - fromTimestamp(b.createdAt))
    return [
      requestCheck(evidence, votes[0]),
      ...votes.flatMap((vote, index) => voteChecks(evidence, vote, index === 0)),
      decisionCheck(evidence),
    ]
  } catch {
    // What was collected has all of its parts, so this was not.
    return [{ what: 'parts', verdict: 'broken', said: 'a part is missing, or is not of its form' }]
  }
}

function check(
  what: string,
  holds: boolean,
  { holds: yes, broken }: { readonly holds: string; readonly broken: string },
): EvidenceCheck {
  return { what, verdict: holds ? 'holds' : 'broken', said: holds ? yes : broken }
}

function unknown(what: string, said: string): EvidenceCheck {
  return { what, verdict: 'unknown', said }
}

/** Whether the submitter's bytes are what the activity is. */
function requestCheck(
  { activity, organization }: ActivityEvidence,
  submitted: EvidenceVote | undefined,
): EvidenceCheck {
  const what = 'request'
  if (!submitted || submitted.message === '') return unknown(what, 'the bytes that were submitted are not kept')
  const row = findActivity(activity.type)?.row
  const body = parse(submitted.message)
  const intent = row && (activity.intent as Readonly<Record<string, unknown>>)[row.intentKey]
  const isIt =
    fingerprintOf(submitted.message) === activity.fingerprint &&
    body?.['type'] === activity.type &&
    body['organizationId'] === activity.organizationId &&
    activity.organizationId === organization.id &&
    isSame(body['parameters'], intent)
  return check(what, isIt, {
    holds: `the bytes that ${submitted.user.userName} submitted are ${activity.type} as it is recorded, fingerprint ${shown(activity.fingerprint, 'sha256:'.length)}`,
    broken: 'the bytes that were submitted are not the activity that is recorded',
  })
}

/** Whether a vote is on this activity, by its signature, and whether the key was its user's. */
function voteChecks(
  { activity, state }: ActivityEvidence,
  vote: EvidenceVote,
  isSubmission: boolean,
): readonly EvidenceCheck[] {
  const { userName } = vote.user
  const what = `${isSubmission ? 'submission' : vote.selection === 'VOTE_SELECTION_REJECTED' ? 'rejection' : 'approval'} by ${userName}`
  if (vote.message === '' || vote.signature === '') return [unknown(what, 'what was signed is not kept')]
  const isOn = isSubmission ? vote.selection === 'VOTE_SELECTION_APPROVED' : isVoteOn(activity, vote)
  const signed = isOn && isSignedBy(vote)
  const made = check(what, signed && vote.activityId === activity.id, {
    holds: `signed with ${shown(vote.publicKey)} at ${new Date(fromTimestamp(vote.createdAt)).toISOString()}`,
    broken: isOn
      ? 'its signature is not by its key over these bytes'
      : 'what was signed is no such vote on this activity',
  })
  if (made.verdict === 'broken') return [made]
  const user = state.find(({ kind, id }) => kind === 'user' && id === vote.userId)
  const keys = state.filter(({ parentId, parent }) => parent !== undefined && parentId === vote.userId)
  const isTheirs = keys.some((one) => isKey(one, vote.publicKey))
  const whose = `key of ${userName}`
  if (!isTheirs) {
    const owner = ownerOf(state, vote.publicKey)
    if (owner !== undefined)
      return [made, check(whose, false, { holds: '', broken: `${shown(vote.publicKey)} is a key of ${owner}` })]
    return [made, unknown(whose, `${shown(vote.publicKey)} is among nobody’s credentials when this was collected`)]
  }
  return [
    made,
    check(whose, user?.name === userName, {
      holds: `${shown(vote.publicKey)} is a credential of ${userName}`,
      broken: `the user of this key is called ${user?.name}`,
    }),
  ]
}

function ownerOf(state: ActivityEvidence['state'], publicKey: string): string | undefined {
  const owned = state.find((one) => one.parentId !== undefined && isKey(one, publicKey))
  return state.find(({ kind, id }) => kind === 'user' && id === owned?.parentId)?.name
}

/** Hex in any case; the key of a passkey is base64url. */
function isKey({ fields, known }: ActivityEvidence['state'][number], publicKey: string): boolean {
  return [fields['publicKey'], known?.publicKey].some(
    (one) =>
      typeof one === 'string' && (one === publicKey || (isHex(one) && one.toLowerCase() === publicKey.toLowerCase())),
  )
}

function isVoteOn(activity: ActivityEvidence['activity'], { message, selection }: EvidenceVote): boolean {
  const body = parse(message)
  const wanted =
    selection === 'VOTE_SELECTION_REJECTED' ? 'ACTIVITY_TYPE_REJECT_ACTIVITY' : 'ACTIVITY_TYPE_APPROVE_ACTIVITY'
  const parameters = body?.['parameters'] as { readonly fingerprint?: unknown } | undefined
  // A factor that was added to a submission is the same bytes, stamped anew.
  if (fingerprintOf(message) === activity.fingerprint) return selection === 'VOTE_SELECTION_APPROVED'
  return (
    body?.['type'] === wanted &&
    body['organizationId'] === activity.organizationId &&
    parameters?.fingerprint === activity.fingerprint
  )
}

/** As a reader of the record can (docs/protocol/stamps.md#what-a-vote-keeps). */
function isSignedBy({ scheme, publicKey, signature, message }: EvidenceVote): boolean {
  const body = encodeUtf8(message)
  try {
    if (scheme === 'SIGNATURE_SCHEME_TK_WEBAUTHN') {
      const stamp = readStamp({ 'x-stamp-webauthn': signature }, { accept: ['webauthn'] })
      return verifyWebAuthnStamp(stamp, { body, publicKeyCose: decodeBase64(publicKey) }).verified
    }
    const named = scheme === 'SIGNATURE_SCHEME_TK_ATTESTED_P256' ? 'SIGNATURE_SCHEME_TK_API_P256' : scheme
    return isScheme(named) && verifyStamp({ kind: 'api-key', scheme: named, publicKey, signature }, body)
  } catch {
    return false
  }
}

/** Whether the state decides as it is recorded, and by the policies that the service names. */
function decisionCheck({
  activity,
  state,
  changedSince,
  isCut,
  evaluations,
  collectedAt,
}: ActivityEvidence): EvidenceCheck {
  const what = 'decision'
  const recorded = { ...activity, result: {}, canApprove: false, canReject: false } as unknown as Wire.Activity
  const outcome = recordedOutcome(recorded)
  const judge = createRecordedJudge(state, { nowMs: Date.parse(collectedAt) })
  const decided = judge.decide(recorded, factsOfActivity(recorded, { resources: state }))
  const [changed] = changedSince
  if (decided.outcome === 'unknown') return unknown(what, `${decided.reason}`)
  const by = decided.policies.length === 0 ? '' : `, by ${decided.policies.join(', ')}`
  const named = namesAllowing(evaluations, { state, activity })
  const isAlike =
    decided.outcome === outcome && (outcome !== 'executed' || named === undefined || isSame(named, decided.policies))
  if (changed || isCut) {
    const why = changed
      ? `who and what decides was changed afterwards, by ${changed.id === activity.id ? 'this activity itself' : `${changed.type} ${changed.id}`}${changedSince.length > 1 ? ` and ${changedSince.length - 1} more` : ''}`
      : 'more activities may have changed what decides than were looked through'
    return unknown(what, `${why}; the state that was collected decides it ${isAlike ? 'alike' : 'otherwise'}`)
  }
  const endedBy = activity.status === 'ACTIVITY_STATUS_REJECTED' ? 'rejected, which ended it; until then ' : ''
  return check(what, isAlike, {
    holds: `${endedBy}${WORDS[outcome]} by these votes under these policies${by}`,
    broken:
      decided.outcome === outcome
        ? `the service says that ${named?.join(', ') || 'no policy'} allowed it, and these policies say ${decided.policies.join(', ') || 'none'}`
        : `recorded as ${WORDS[outcome]}, and ${WORDS[decided.outcome]} by these votes under these policies`,
  })
}

const WORDS = { executed: 'allowed', waits: 'waiting for approvals', denied: 'denied', unknown: 'unknown' } as const

/** Names of the policies that the service says allowed the last approval, sorted; undefined where it tells of none. */
function namesAllowing(
  evaluations: ActivityEvidence['evaluations'],
  { state, activity }: Pick<ActivityEvidence, 'state' | 'activity'>,
): readonly string[] | undefined {
  const order = new Map(activity.votes.map(({ id, createdAt }) => [id, fromTimestamp(createdAt)]))
  const [last] = evaluations
    .filter(({ voteId }) => order.has(voteId))
    .sort((a, b) => order.get(b.voteId)! - order.get(a.voteId)!)
  if (!last || last.policyEvaluations.length === 0) return undefined
  const allowing = last.policyEvaluations.filter(({ outcome }) => outcome === 'OUTCOME_ALLOW')
  return allowing.map(({ policyId }) => state.find(({ id }) => id === policyId)?.name ?? `${policyId}`).sort()
}

function stampOf(text: string): Stamp | undefined {
  try {
    const stamp = readStamp({ 'x-stamp': text })
    const { publicKey, scheme, signature } = stamp
    // Hex in capitals and other ends of base64url would mean the same: what was written is written in one way.
    const written = encodeBase64Url(
      encodeUtf8(JSON.stringify({ publicKey, scheme, signature: signature.toLowerCase() })),
    )
    return written === text ? stamp : undefined
  } catch {
    return undefined
  }
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null)
}

/** The first 12 digits, after so many characters that all have. */
function shown(text: string, head = 0): string {
  const end = head + 12
  return text.length <= end ? text : `${text.slice(0, end)}…`
}
