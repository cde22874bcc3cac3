/**
 * Moves: activities that change who may decide, what each gains, and as whom policies see those who have gained it
 * (`indirect.ts` follows them).
 */
import { apiKeyFacts, loginFacts, passkeyFacts } from '../authority/index.ts'
import {
  type Approver,
  authorize,
  type CredentialFacts,
  childrenOf,
  type Expression,
  readsOf,
  type Voter,
} from '../policy/index.ts'
import type { organizationOf } from '../resources/index.ts'
import { FAMILIES, type Gain, type MoveInput, type Unfollowed } from './families.ts'
import { type AnswerLine, contextFor, everySubset } from './power-lines.ts'
import { type AddressedWorld, EVERY_REQUEST } from './power-table.ts'
import type { PolicyRule, PowerQuestion } from './questions.ts'

export type Gains = ReadonlySet<Gain>

/** What lets people add credentials of their own, and which. */
const OWN_WAYS: readonly (readonly [activity: string, made: (userId: string) => readonly CredentialFacts[]])[] = [
  ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', (userId) => madeCredentials(userId, new Set(['keys']))],
  ['ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', (userId) => madeCredentials(userId, new Set(['passkeys']))],
  // A provider logs its user in.
  ['ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2', (userId) => madeCredentials(userId, new Set(['providers']))],
  // A login of one's own gives a key of its own sort.
  ['ACTIVITY_TYPE_STAMP_LOGIN', (userId) => [sessionKey(userId, 'LOGIN')]],
  ['ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', (userId) => [sessionKey(userId, 'READ_WRITE_SESSION_KEY_P256')]],
]
const MOST_VIEWS = 64
const MOST_NEW_USERS = 6

/** An activity that gains something. */
export interface Move {
  readonly question: PowerQuestion
  readonly activity: string
  readonly gains: readonly Gain[]
  /** Whether what it gains comes together with what it takes: then what follows is told as possible. */
  readonly isConditional: boolean
  /** Whether a member of the root quorum has to submit it. */
  readonly isMembers: boolean
}

/** What gains something of some users alone: the first version names them by their e-mail addresses. */
const PERHAPS: ReadonlySet<string> = new Set(['ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION'])
const ACTING = ['others', 'keys', 'passkeys', 'codes', 'providers', 'sessions'] as const satisfies readonly Gain[]

/** Whether some can act for any user. */
export function actsForOthers(gains: Gains): boolean {
  return ACTING.some((gain) => gains.has(gain))
}

/** The moves that gain something. */
export function movesOf(input: MoveInput) {
  const rows = EVERY_REQUEST.flatMap((request) => {
    const row = FAMILIES[request.row.family]
    const gains = 'gains' in row ? row.gains(input) : []
    return gains.length === 0 ? [] : [{ request, gains, isMembers: 'isMembers' in row }]
  })
  let asked: readonly Move[]
  return {
    /** Moves with the same question and gains once. */
    asked: (ask: (world: AddressedWorld) => PowerQuestion) => {
      asked ??= [
        ...new Map(
          rows.map(({ request, gains, isMembers }) => {
            const question = ask(request)
            const activity = request.row.type
            const isConditional = gains.includes('untags') || PERHAPS.has(activity)
            const key = `${question.key} ${gains} ${isConditional} ${isMembers}`
            return [key, { question, activity, gains, isConditional, isMembers }] as const
          }),
        ).values(),
      ]
      return asked
    },
  }
}

/** Moves that are not followed, with the requests that make each. */
export const UNFOLLOWED: readonly (Unfollowed & { readonly requests: readonly AddressedWorld[] })[] = Object.entries(
  FAMILIES,
).flatMap(([family, row]) =>
  'unfollowed' in row
    ? [{ ...row.unfollowed, requests: EVERY_REQUEST.filter((one) => one.row.family === family) }]
    : [],
)

/** Credentials that somebody has to whom these may be added. */
export function madeCredentials(userId: string, by: Gains = new Set(['others'])): readonly CredentialFacts[] {
  const key = (type: string) => apiKeyFacts({ id: `${userId} new ${type}`, userId, type, publicKey: `new ${type}` })
  const has = (gain: Gain) => by.has('others') || by.has(gain)
  const credentialId = `${userId} new passkey`
  return [
    ...(has('keys') ? ['P256', 'SECP256K1', 'ED25519'].map(key) : []),
    ...(has('passkeys') ? [passkeyFacts({ id: credentialId, userId, credentialId })] : []),
    ...(by.has('codes') ? [loginFacts(userId, 'code')] : []),
    ...(by.has('providers') ? [loginFacts(userId, 'oauth')] : []),
    ...(by.has('sessions') ? [sessionKey(userId, 'READ_WRITE_SESSION_KEY_P256')] : []),
  ]
}

/** The key of a session that a user begins (docs/protocol/sessions.md#login-keys). */
function sessionKey(userId: string, sort: 'LOGIN' | 'READ_WRITE_SESSION_KEY_P256'): CredentialFacts {
  const type = `CREDENTIAL_TYPE_${sort}`
  return apiKeyFacts({ id: `${userId} new ${type}`, userId, type, publicKey: `new ${type}` })
}

export const isDenial = ({ compiled }: PolicyRule): boolean => compiled.policy.effect === 'EFFECT_DENY'

/** An activity by which somebody may add credentials to their own. */
export interface OwnWay {
  readonly activity: string
  readonly made: readonly CredentialFacts[]
  /** What must not hold of it, and the names of the DENY policies that ask for it: those that hold for some requests or times alone. */
  readonly denial: Pick<AnswerLine, 'unless' | 'deniedBy'>
}

/**
 * Tells by which activities a user may add credentials to their own: by default by any, unless a policy says otherwise of it. A DENY that
 * holds for some requests or times alone is taken to hold by who has not gained `ownUnless`.
 */
export function createOwnRight(
  ask: (world: AddressedWorld) => PowerQuestion,
  { organization, nowMs }: { readonly organization: ReturnType<typeof organizationOf>; readonly nowMs: number },
): (voter: Voter, gains: Gains) => readonly OwnWay[] {
  const { rootQuorum: _, ...base } = contextFor(organization, nowMs, false)
  const ways = OWN_WAYS.map(([type, made]) => {
    const { applying } = ask(EVERY_REQUEST.find(({ row }) => row.type === type)!)
    const open = applying.filter((one) => one.open !== '' && isDenial(one.rule))
    const consensusOf = (some: typeof applying) => some.map(({ rule }) => rule.consensus)
    return {
      type,
      made,
      policies: consensusOf(applying),
      unlessOpen: consensusOf(applying.filter((one) => !open.includes(one))),
      denial: { unless: open.map((one) => one.open), deniedBy: open.map(({ rule }) => rule.name).sort() },
    }
  })
  return ({ approver, credentials = [] }, gains) =>
    ways.flatMap(({ type, made, policies, unlessOpen, denial }): readonly OwnWay[] => {
      const mayBy = (some: typeof policies) =>
        credentials.some((credential) => {
          const activity = { type, params: {} }
          const context = {
            ...base,
            activity,
            approvers: [approver],
            credentials: [credential],
            targetUserId: approver.id,
          }
          return authorize(some, context).outcome === 'OUTCOME_ALLOW'
        })
      const way = { activity: type, made: made(approver.id) }
      if (mayBy(policies)) return [{ ...way, denial: { unless: [], deniedBy: [] } }]
      const isOpen = gains.has('ownUnless') && unlessOpen.length < policies.length && mayBy(unlessOpen)
      return isOpen ? [{ ...way, denial }] : []
    })
}

/** How many new users are tried: one more than any policy counts to. */
export function newcomersFor(rules: readonly PolicyRule[], limits: Set<string>): number {
  const largest = Math.max(1, ...rules.map(({ compiled }) => largestIn(compiled.consensus?.tree)))
  if (largest < MOST_NEW_USERS) return largest + 1
  limits.add(`policies count to ${largest}; no more than ${MOST_NEW_USERS} new users were tried`)
  return MOST_NEW_USERS
}

/** The largest number in a tree, whatever its nodes. */
function largestIn(tree: unknown): number {
  if (typeof tree === 'bigint') return Number(tree)
  return typeof tree === 'object' && tree !== null ? Math.max(0, ...Object.values(tree).map(largestIn)) : 0
}

/** Makes the ways in which policies may see somebody who can choose: every set of the tags, and every name and address, that they ask for. */
export function createViews(rules: readonly PolicyRule[], tags: ReadonlySet<string>, limits: Set<string>) {
  const { chains } = readsOf(...rules.map(({ compiled }) => compiled.consensus?.tree))
  const asked = (chain: string): readonly string[] => {
    const use = chains.get(chain) ?? (chains.has('approvers') ? 'otherwise' : new Set<string>())
    if (use !== 'otherwise') return [...use]
    limits.add(`policies read \`${chain}\` in a way of which not every value was tried`)
    return chain === 'approvers.tags' ? [...tags] : []
  }
  const known = asked('approvers.tags').filter((tag) => tags.has(tag))
  const [aliases, emails] = [asked('approvers.alias'), asked('approvers.email')]
  const shown = new Set<Gain>([
    ...(known.length > 0 ? (['tags', 'untags'] as const) : []),
    ...(aliases.length > 0 ? (['name'] as const) : []),
    ...(emails.length > 0 ? (['email'] as const) : []),
    'users',
    'own',
    'ownUnless',
    ...ACTING,
  ])
  const of = (approver: Approver, gains: Gains): readonly Approver[] => {
    const worn = approver.tags ?? []
    const taken = gains.has('tags')
      ? known
      : gains.has('untags')
        ? known.filter((tag) => worn.includes(tag))
        : undefined
    const wearing = taken ? everySubset(taken.slice(0, 5)).map((some) => some.toSorted()) : [worn]
    const names = gains.has('name') ? [{}, ...aliases.map((alias) => ({ alias }))] : [{}]
    const addresses = gains.has('email') ? [{}, ...emails.map((email) => ({ email }))] : [{}]
    const profiles = names.flatMap((name) => addresses.map((address): Partial<Approver> => ({ ...name, ...address })))
    if (taken && taken.length > 5) limits.add(`of ${taken.length} tags that policies ask for five were combined`)
    const all = wearing.flatMap((some) =>
      profiles.map((profile): Approver => ({ ...approver, ...profile, tags: some })),
    )
    if (all.length > MOST_VIEWS) limits.add(`somebody could look in ${all.length} ways; ${MOST_VIEWS} were tried`)
    return all.slice(0, MOST_VIEWS)
  }
  return {
    of,
    /** Of these gains those that show in who votes and as whom, in one order. */
    telling: (gains: Gains): readonly Gain[] => [...shown].filter((gain) => gains.has(gain)),
  }
}

/** Whether a tag that is taken away may make somebody's votes count for more: by a DENY that asks for it, or an ALLOW that asks for its absence. */
export function tagsHoldBack(rules: readonly PolicyRule[]): boolean {
  return rules.some(({ compiled }) => {
    const tree = compiled.consensus?.tree
    return tree !== undefined && readsTags(tree) && (compiled.policy.effect === 'EFFECT_DENY' || !isRising(tree))
  })
}

function readsTags(tree: Expression): boolean {
  return (tree.kind === 'member' && tree.name.text === 'tags') || childrenOf(tree).some(readsTags)
}

/** Whether no tag that is taken away makes it true. What is not known to be so is taken not to be. */
function isRising(tree: Expression): boolean {
  if (!readsTags(tree)) return true
  switch (tree.kind) {
    case 'logic':
      return tree.operands.every(isRising)
    case 'quantifier':
      return (
        (tree.target.kind === 'quantifier' ? isRising(tree.target) : !readsTags(tree.target)) &&
        isRising(tree.predicate)
      )
    case 'method':
      // `approvers.filter(…).count()` becomes less, `user.tags.contains(…)` false.
      return !tree.args.some(readsTags) && ['contains', 'count'].includes(tree.name.text) && isRisingList(tree.target)
    case 'compare':
      if (tree.operator === 'in') return !readsTags(tree.left) && isRisingList(tree.right)
      if (['>', '>='].includes(tree.operator)) return isRising(tree.left) && !readsTags(tree.right)
      if (['<', '<='].includes(tree.operator)) return !readsTags(tree.left) && isRising(tree.right)
      return false
    default:
      return false
  }
}

/** Whether a list loses members and gains none where tags are taken away. */
function isRisingList(tree: Expression): boolean {
  if (tree.kind === 'member' && tree.name.text === 'tags') return !readsTags(tree.target)
  return tree.kind === 'quantifier' && tree.method === 'filter' && isRising(tree)
}
