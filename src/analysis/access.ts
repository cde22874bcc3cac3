/**
 * Who could do what, before a plan and after it: for every wallet the power to sign and to export, and for the
 * organization the power to change its rules. The evaluator is asked about sets of people; what a policy's condition
 * wants to know of a request that does not exist yet is left open, and the power is then one *under condition*.
 *
 * A condition is taken apart at its outermost `&&`. A part that is false makes it false, parts that are true go, and
 * what is left cannot be told. An ALLOW that is open allows under its condition; a DENY that is open is taken to apply
 * to what is said without condition, and not to apply to what is said under one, which names it.
 */
import type { Access, AccessChange } from '../plan/index.ts'
import {
  authorize,
  type CompiledPolicy,
  compilePolicy,
  mayVote,
  type PolicyContext,
  type PolicyText,
  parse,
} from '../policy/index.ts'
import { nameValue, type Resource } from '../resources/index.ts'
import { coalitions } from './coalitions.ts'
import { type Person, peopleOf, quorumOf } from './people.ts'
import { policyText } from './policies.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** What only a request can say. A condition that asks for anything else that is not there errs, and never holds. */
const OF_ANY_REQUEST = /\bactivity\s*\.\s*params\b/
const OF_SIGNING = /\b(?:eth|solana|tron|bitcoin|tempo|wallet_account|params)\b/

/** The powers, in the order in which they are shown; each is asked as the activity that uses it. */
const POWERS = [
  { power: 'sign transactions', type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', perWallet: true, open: OF_SIGNING },
  { power: 'sign raw payloads', type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', perWallet: true, open: OF_SIGNING },
  { power: 'export', type: 'ACTIVITY_TYPE_EXPORT_WALLET', perWallet: true, open: OF_ANY_REQUEST },
  { power: 'add policies', type: 'ACTIVITY_TYPE_CREATE_POLICIES', perWallet: false, open: OF_ANY_REQUEST },
  { power: 'change policies', type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2', perWallet: false, open: OF_ANY_REQUEST },
  { power: 'delete policies', type: 'ACTIVITY_TYPE_DELETE_POLICIES', perWallet: false, open: OF_ANY_REQUEST },
  { power: 'change the root quorum', type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', perWallet: false, open: OF_ANY_REQUEST },
] as const

type Power = (typeof POWERS)[number]

const NOBODY: Access = { ways: [] }

/** What differs between two states, wallets by name; `namesById` writes the ids in open conditions as names. */
export function accessChanges(
  before: OrganizationState,
  after: OrganizationState,
  { now, namesById }: { readonly now: bigint; readonly namesById: ReadonlyMap<string, string> },
): readonly AccessChange[] {
  const [had, has] = [createAccess(before, now, namesById), createAccess(after, now, namesById)]
  const walletsBefore = new Map(thingsOf(before, 'wallet').map((one) => [one.id!, one]))
  const walletsAfter = new Map(thingsOf(after, 'wallet').map((one) => [one.id!, one]))
  const wallets = [...new Map([...walletsBefore, ...walletsAfter]).values()].sort((a, b) =>
    a.address < b.address ? -1 : a.address > b.address ? 1 : 0,
  )
  const changes = (wallet: Resource | undefined): readonly AccessChange[] =>
    POWERS.filter(({ perWallet }) => perWallet === (wallet !== undefined)).flatMap((row) => {
      const old = wallet && !walletsBefore.has(wallet.id!) ? NOBODY : had(row, wallet && walletsBefore.get(wallet.id!))
      const now_ = wallet && !walletsAfter.has(wallet.id!) ? NOBODY : has(row, wallet && walletsAfter.get(wallet.id!))
      if (JSON.stringify(old) === JSON.stringify(now_)) return []
      return [{ power: row.power, ...(wallet ? { wallet: wallet.address } : {}), before: old, after: now_ }]
    })
  return [...wallets.flatMap(changes), ...changes(undefined)]
}

/** A policy whose condition has been taken apart. */
interface Row {
  readonly policy: PolicyText
  readonly parts: readonly Part[]
}

interface Part {
  readonly text: string
  readonly aboutWallet: boolean
  /** When it is `wallet.id == '…'` and nothing else, as most are: then there is nothing to evaluate. */
  readonly walletId?: string
  /** Holds a request when it holds: an ALLOW without consensus. */
  readonly compiled: CompiledPolicy
}

type Verdict = 'true' | 'false' | 'open'

/** A policy as far as a power goes: what is left of its condition; '' when it holds. */
interface Applying {
  readonly policy: PolicyText
  readonly open: string
}

function createAccess(state: OrganizationState, now: bigint, namesById: ReadonlyMap<string, string>) {
  const rows = thingsOf(state, 'policy').map((resource) => rowOf(policyText(resource)))
  const people = peopleOf(state)
  const rootQuorum = quorumOf(state)
  const known = new Map<string, Access>()
  /** Policies that some wallet could meet, with the parts that ask for the wallet. */
  const narrowed = new Map<string, readonly { readonly row: Row; readonly open: readonly string[] }[]>()

  return (power: Power, wallet: Resource | undefined): Access => {
    const { type } = power
    const base: PolicyContext = { now, activity: { type, params: {} }, approvers: [], rootQuorum }
    const general = narrowed.get(type) ?? rows.flatMap((row) => narrow(row, power, base))
    narrowed.set(type, general)
    const context = wallet ? { ...base, wallet: { id: wallet.id!, label: wallet.name } } : base
    const applying = general.flatMap(({ row, open }): readonly Applying[] => {
      const left = [...open]
      for (const part of row.parts.filter(({ aboutWallet }) => aboutWallet)) {
        const verdict = verdictOf(part, power, context)
        if (verdict === 'false') return []
        if (verdict === 'open') left.push(part.text)
      }
      return [{ policy: row.policy, open: left.join(' && ') }]
    })
    const key = JSON.stringify([type, applying.map(({ policy, open }) => [policy.id, open])])
    const found = known.get(key) ?? accessOf(applying, { base: context, people, namesById })
    known.set(key, found)
    return found
  }
}

/** What of a policy is left for a kind of activity, whatever the wallet; nothing when it cannot apply. */
function narrow(
  row: Row,
  power: Power,
  base: PolicyContext,
): readonly { readonly row: Row; readonly open: readonly string[] }[] {
  const verdicts = row.parts
    .filter(({ aboutWallet }) => !aboutWallet)
    .map((part) => ({ part, verdict: verdictOf(part, power, base) }))
  if (verdicts.some(({ verdict }) => verdict === 'false')) return []
  return [{ row, open: verdicts.flatMap(({ part, verdict }) => (verdict === 'open' ? [part.text] : [])) }]
}

function rowOf(policy: PolicyText): Row {
  const { condition } = policy
  if (condition === undefined || condition === null) return { policy, parts: [] }
  const { tree } = parse(condition)
  const texts =
    tree?.kind === 'logic' && tree.operator === '&&'
      ? tree.operands.map(({ start, end }) => condition.slice(start, end))
      : [condition]
  const parts = texts.map((text) => ({
    text,
    aboutWallet: /\bwallet\b/.test(text),
    ...walletIdIn(text),
    compiled: compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition: text }),
  }))
  return { policy, parts }
}

function walletIdIn(text: string): Pick<Part, 'walletId'> {
  const walletId = /^wallet\.id == '([0-9a-f-]{36})'$/.exec(text)?.[1]
  return walletId === undefined ? {} : { walletId }
}

function verdictOf({ compiled, text, walletId }: Part, { open }: Power, context: PolicyContext): Verdict {
  const { wallet } = context
  if (walletId !== undefined && wallet) return wallet['id'] === walletId ? 'true' : 'false'
  // Who approves is what is being asked.
  if (/\b(?:approvers|credentials)\b/.test(text)) return 'open'
  const { rootQuorum: _rootQuorum, ...plain } = context
  const outcome = authorize([compiled], plain).policies[0]?.outcome
  if (outcome === 'OUTCOME_ALLOW') return 'true'
  return outcome === 'OUTCOME_ERROR' && open.test(text) ? 'open' : 'false'
}

interface Asked {
  readonly base: PolicyContext
  readonly people: readonly Person[]
  readonly namesById: ReadonlyMap<string, string>
}

/** Who has the power with these policies: always, and under each condition that is left open. */
function accessOf(applying: readonly Applying[], asked: Asked): Access {
  const denials = applying.filter(({ policy, open }) => policy.effect === 'EFFECT_DENY' && open !== '')
  const allowances = applying.filter(({ policy, open }) => policy.effect === 'EFFECT_ALLOW' && open !== '')
  const always = waysOf(
    applying.filter((one) => !allowances.includes(one)),
    asked,
  )
  if (!always) return { ways: [], unknown: 'there are too many sets of people to try them all' }
  const conditions = [...new Set(allowances.map(({ open }) => open)), ...(denials.length > 0 ? [''] : [])].sort()
  const under = conditions.flatMap((condition) => {
    const here = allowances.filter(({ open }) => open === condition)
    const ways = waysOf(
      applying.filter(({ open }) => open === '' || open === condition).filter((one) => !denials.includes(one)),
      asked,
    )
    const more = ways?.filter((way) => !always.some((one) => JSON.stringify(one) === JSON.stringify(way)))
    if (!more || more.length === 0) return []
    const all = [...(condition === '' ? [] : [condition]), ...denials.map(({ open }) => `!(${open})`)]
    const names = [...here, ...denials].map(({ policy }) => policy.name).sort()
    return [{ condition: String(nameValue(all.join(' && '), asked.namesById)), policies: names, ways: more }]
  })
  return { ways: always, ...(under.length > 0 ? { under } : {}) }
}

function waysOf(applying: readonly Applying[], { base, people }: Asked): Access['ways'] | undefined {
  const policies = applying.map(({ policy: { condition: _condition, ...policy } }) => compilePolicy(policy))
  const context = (some: readonly Person[]): PolicyContext => ({
    ...base,
    approvers: some.map(({ approver }) => approver),
    credentials: some.map(({ credential }) => credential),
  })
  /** Somebody can submit it, all the others may vote on it then, and with all of them it is allowed. */
  const suffices = (some: readonly Person[]) =>
    authorize(policies, context(some)).outcome === 'OUTCOME_ALLOW' &&
    some.some((first) => {
      const alone = context([first])
      const { outcome } = authorize(policies, alone)
      if (outcome === 'OUTCOME_ALLOW') return true
      return (
        outcome === 'OUTCOME_REQUIRES_CONSENSUS' &&
        some.every((one) => one === first || mayVote(policies, alone, one.approver, one.credential))
      )
    })
  // Whoever may not even vote adds nothing to any set.
  const classes = alike(people, policies, base).filter(([first]) =>
    mayVote(policies, context([first!]), first!.approver, first!.credential),
  )
  return coalitions(classes, suffices)
}

/** People whom no policy can tell apart. */
function alike(
  people: readonly Person[],
  policies: readonly CompiledPolicy[],
  { rootQuorum }: PolicyContext,
): readonly (readonly Person[])[] {
  const consensus = policies.map(({ policy }) => policy.consensus ?? '').join('\n')
  const personal = /\b(?:email|alias|credentials)\b/.test(consensus)
  // Tags that are only asked for by name matter only when they are named.
  const allTags = /\btags\b/.test(consensus.replace(/\.tags\.contains\(/g, ''))
  const named = new Set(consensus.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g))
  const members = new Set(rootQuorum?.userIds)
  const groups = Map.groupBy(people, ({ name, approver: { id, tags = [] } }) => {
    if (personal || named.has(id)) return `one ${name}`
    const told = tags.filter((tag) => allTags || named.has(tag))
    return `${members.has(id)} ${told.length > 1 ? told.sort().join(' ') : told}`
  })
  return [...groups.values()]
}
