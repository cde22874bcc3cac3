import { hash } from 'node:crypto'
import { canonicalJson } from '../encoding/index.ts'
import { textsIn } from '../live/index.ts'
import { findActivity, fromTimestamp, isTerminal, type Wire } from '../protocol/index.ts'
import type { Actual, KindName, Resource } from '../resources/index.ts'
import { type ActivityEvidence, FORMAT } from './model.ts'

/** Kinds that decisions are made from. */
const DECIDING: ReadonlySet<KindName> = new Set<KindName>([
  'rootQuorum',
  'feature',
  'tag',
  'user',
  'apiKey',
  'authenticator',
  'oauthProvider',
  'mfaPolicy',
  'policy',
  'privateKeyTag',
  'privateKey',
  'wallet',
  'walletAccount',
  'smartContractInterface',
])

/** What was read for evidence, in this order. */
export interface EvidenceInput {
  readonly activity: Wire.Activity
  readonly evaluations: readonly Wire.PolicyEvaluation[]
  readonly actual: Actual
  /** Completed activities that change what decides, read after the state. */
  readonly changes: readonly Wire.Activity[]
  /** Whether there are older ones that were not read. */
  readonly isCut: boolean
  readonly baseUrl: string
  readonly nowMs: number
}

/** Puts evidence together; `key` of who collected it signs it afterwards. */
export function makeEvidence({
  activity,
  evaluations,
  actual,
  changes,
  isCut,
  baseUrl,
  nowMs,
}: EvidenceInput): ActivityEvidence {
  const { result, votes, canApprove: _, canReject: __, appProofs: ___, ...kept } = activity
  const row = findActivity(activity.type)?.row
  // The record of the activity may stand in its result once more (docs/protocol/activities.md#the-answer).
  const own = row?.resultKey ? (result as Readonly<Record<string, unknown>>)[row.resultKey] : undefined
  const made = row?.action === 'CREATE' ? textsIn(own) : new Set<string>()
  const isMade = ({ id, parentId }: Resource) => made.has(id ?? '') || made.has(parentId ?? '')
  const decidedMs = isTerminal(activity.status) ? fromTimestamp(activity.updatedAt) : nowMs
  const since = changes.filter(
    (one) =>
      !DECIDES_NOTHING.test(one.type) &&
      fromTimestamp(one.updatedAt) >= decidedMs &&
      // What it has made itself is taken out of the state; what else it has changed cannot be.
      (one.id !== activity.id || made.size === 0),
  )
  return {
    format: FORMAT,
    baseUrl,
    organization: { id: actual.organizationId, name: actual.organizationName },
    collectedAt: new Date(nowMs).toISOString(),
    collectedBy: { userId: actual.actor.userId, userName: actual.actor.userName },
    activity: {
      ...kept,
      votes: votes.map(({ user, ...vote }) => ({ ...vote, user: { userName: user?.userName ?? '' } })),
    },
    resultDigest: digestOf(own),
    state: actual.resources.filter((one) => DECIDING.has(one.kind) && !isMade(one)),
    changedSince: since.map(({ id, type, updatedAt }) => ({
      id,
      type,
      at: new Date(fromTimestamp(updatedAt)).toISOString(),
    })),
    isCut,
    evaluations,
  }
}

/** Webhook endpoints are in no state that decides. */
const DECIDES_NOTHING = /_WEBHOOK_ENDPOINT$/

/** Lower-case hex SHA-256 of the canonical JSON. */
function digestOf(value: unknown): string {
  return hash('sha256', canonicalJson(value ?? {}))
}
