/**
 * Who could do what, before a plan and after it: for every wallet the power to sign and to export, and for the
 * organization the power to change its rules. The evaluator is asked about sets of people; what a policy's condition
 * wants to know of a request that does not exist yet is left open, and the power is then one *under condition*.
 *
 * A condition is taken apart at its outermost `&&`. A part that is false makes it false, parts that are true go, and
 * the rest is *open*. An open ALLOW allows under its condition. An open DENY is taken to apply to powers without a
 * condition, and not to apply to powers under one, which names it.
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

/** Roots that only a request can define. A condition that asks for anything else that is not there errs, and never holds. */
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
  const rules = createRules(now)
  const [had, has] = [createAccess(before, { rules, now, namesById }), createAccess(after, { rules, now, namesById })]
  const isSame = createSameness(had, has)
  const walletsBefore = new Map(thingsOf(before, 'wallet').map((one) => [one.id!, one]))
  const walletsAfter = new Map(thingsOf(after, 'wallet').map((one) => [one.id!, one]))
  const wallets = [...new Map([...walletsBefore, ...walletsAfter]).values()].sort((a, b) =>
    a.address < b.address ? -1 : a.address > b.address ? 1 : 0,
  )
  const side = (access: AccessOf, power: Power, wallet: Resource | undefined, there: boolean) => {
    const asked = there ? access.ask(power, wallet) : undefined
    return { asked, access: () => (asked ? access.answer(asked) : NOBODY) }
  }
  const changes = (wallet: Resource | undefined): readonly AccessChange[] =>
    POWERS.filter(({ perWallet }) => perWallet === (wallet !== undefined)).flatMap((power) => {
      const [was, is] = [wallet && walletsBefore.get(wallet.id!), wallet && walletsAfter.get(wallet.id!)]
      const old = side(had, power, was, !wallet || was !== undefined)
      const now_ = side(has, power, is, !wallet || is !== undefined)
      if (old.asked && now_.asked && isSame(old.asked, now_.asked)) return []
      const [then, later] = [old.access(), now_.access()]
      if (JSON.stringify(then) === JSON.stringify(later)) return []
      return [{ power: power.power, ...(wallet ? { wallet: wallet.address } : {}), before: then, after: later }]
    })
  return [...wallets.flatMap(changes), ...changes(undefined)]
}

/**
 * Makes the question of whether an answer cannot have changed, which spares working it out: the same policies apply, and
 * of the people who are not as they were none may vote on it, so that they are in no set.
 */
function createSameness(had: AccessOf, has: AccessOf): (old: Question, now: Question) => boolean {
  const text = (value: unknown) => JSON.stringify(value)
  const sameQuorum = text(had.rootQuorum) === text(has.rootQuorum)
  const [then, later] = [had, has].map(({ people }) => new Map(people.map((one) => [text(one), one])))
  const moved = [
    ...[...then!].filter(([key]) => !later!.has(key)),
    ...[...later!].filter(([key]) => !then!.has(key)),
  ].map(([, person]) => person)
  // Policies of one effect, consensus and time have the same voters, whatever they are about.
  const votersBy = remember((key: string) => {
    const [effect, consensus, time] = JSON.parse(key) as [PolicyText['effect'], string | null, string | null]
    return compilePolicy({ id: '', name: '', effect, consensus: consensus ?? undefined, time: time ?? undefined })
  })
  const votersOf = ({ effect, consensus, time }: PolicyText) => votersBy(text([effect, consensus, time]))
  return (old, now) => {
    if (!sameQuorum || old.key !== now.key || old.texts.some((one, index) => one !== now.texts[index])) return false
    if (moved.length === 0) return true
    const policies = now.texts.map(votersOf)
    return moved.every(
      (person) => !mayVote(policies, withPeople(now.base, [person]), person.approver, person.credential),
    )
  }
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
}

type Verdict = 'true' | 'false' | 'open'

/** A policy reduced to one power: the open part of its condition; '' when the condition holds. */
interface Applying {
  readonly policy: PolicyText
  readonly open: string
}

/** A row as far as a power goes, whatever the wallet. */
interface Narrowed {
  readonly row: Row
  readonly open: readonly string[]
}

/** What policies say, apart from any state: worked out once for all states that hold them. */
interface Rules {
  readonly rowOf: (policy: Resource) => Row
  /** Undefined when it cannot apply. */
  readonly narrow: (row: Row, power: Power) => Narrowed | undefined
  readonly verdictOf: (part: Part, power: Power, context: PolicyContext) => Verdict
  /** The policy without its condition. */
  readonly consensusOf: (policy: PolicyText) => CompiledPolicy
}

function createRules(now: bigint): Rules {
  // A condition's part holds a request when it holds: an ALLOW without consensus.
  const compiledOf = remember((condition: string) =>
    compilePolicy({ id: '', name: '', effect: 'EFFECT_ALLOW', condition }),
  )
  const verdictOf = (part: Part, power: Power, context: PolicyContext) =>
    judge(part, { power, context, compiled: () => compiledOf(part.text) })
  const narrowBy = remember((power: Power) => {
    const context: PolicyContext = { now, activity: { type: power.type, params: {} }, approvers: [] }
    return remember((row: Row): Narrowed | undefined => {
      const parts = row.parts.filter(({ aboutWallet }) => !aboutWallet)
      const verdicts = parts.map((part) => ({ part, verdict: verdictOf(part, power, context) }))
      if (verdicts.some(({ verdict }) => verdict === 'false')) return undefined
      return { row, open: verdicts.flatMap(({ part, verdict }) => (verdict === 'open' ? [part.text] : [])) }
    })
  })
  return {
    rowOf: remember((policy) => takeApart(policyText(policy))),
    verdictOf,
    narrow: (row, power) => narrowBy(power)(row),
    consensusOf: remember(({ condition: _condition, ...policy }) => compilePolicy(policy)),
  }
}

/** The function, which does its work once for each argument. */
function remember<Argument, Result>(work: (argument: Argument) => Result): (argument: Argument) => Result {
  const known = new Map<Argument, Result>()
  return (argument) => {
    if (!known.has(argument)) known.set(argument, work(argument))
    return known.get(argument)!
  }
}

/** A power over a wallet, or over the organization, with the policies that apply to it. */
interface Question {
  readonly applying: readonly Applying[]
  /** Equal for questions to which policies of the same ids apply in the same way. */
  readonly key: string
  /** The policies themselves: one that was changed has the id that it had. */
  readonly texts: readonly PolicyText[]
  readonly base: PolicyContext
  readonly consensusOf: Rules['consensusOf']
}

interface AccessOf {
  readonly people: readonly Person[]
  readonly rootQuorum: PolicyContext['rootQuorum']
  readonly ask: (power: Power, wallet: Resource | undefined) => Question
  readonly answer: (question: Question) => Access
}

function createAccess(
  state: OrganizationState,
  {
    rules,
    now,
    namesById,
  }: { readonly rules: Rules; readonly now: bigint; readonly namesById: ReadonlyMap<string, string> },
): AccessOf {
  const rows = thingsOf(state, 'policy').map(rules.rowOf)
  const people = peopleOf(state)
  const rootQuorum = quorumOf(state)
  const known = new Map<string, Access>()
  /** Policies that some wallet could meet, by the wallet where they name one. */
  const candidatesFor = remember((power: Power) => {
    const all = rows.flatMap((row, index) => {
      const narrowed = rules.narrow(row, power)
      return narrowed ? [{ ...narrowed, index }] : []
    })
    return Map.groupBy(all, ({ row }) => row.parts.find(({ walletId }) => walletId !== undefined)?.walletId)
  })
  const ask = (power: Power, wallet: Resource | undefined): Question => {
    const { type } = power
    const plain: PolicyContext = { now, activity: { type, params: {} }, approvers: [], rootQuorum }
    const base = wallet ? { ...plain, wallet: { id: wallet.id!, label: wallet.name } } : plain
    const named = candidatesFor(power)
    const candidates = wallet
      ? [...(named.get(undefined) ?? []), ...(named.get(wallet.id!) ?? [])]
      : [...named.values()].flat()
    const applying = candidates
      .sort((a, b) => a.index - b.index)
      .flatMap(({ row, open }): readonly Applying[] => {
        const left = [...open]
        for (const part of row.parts.filter(({ aboutWallet }) => aboutWallet)) {
          const verdict = rules.verdictOf(part, power, base)
          if (verdict === 'false') return []
          if (verdict === 'open') left.push(part.text)
        }
        return [{ policy: row.policy, open: left.join(' && ') }]
      })
    const key = JSON.stringify([type, applying.map(({ policy, open }) => [policy.id, open])])
    return { applying, key, texts: applying.map(({ policy }) => policy), base, consensusOf: rules.consensusOf }
  }
  const answer = (question: Question): Access => {
    const found = known.get(question.key) ?? accessOf(question, { people, namesById })
    known.set(question.key, found)
    return found
  }
  return { people, rootQuorum, ask, answer }
}

function takeApart(policy: PolicyText): Row {
  const { condition } = policy
  if (condition === undefined || condition === null) return { policy, parts: [] }
  const { tree } = parse(condition)
  const texts =
    tree?.kind === 'logic' && tree.operator === '&&'
      ? tree.operands.map(({ start, end }) => condition.slice(start, end))
      : [condition]
  return {
    policy,
    parts: texts.map((text) => ({ text, aboutWallet: /\bwallet\b/.test(text), ...walletIdIn(text) })),
  }
}

function walletIdIn(text: string): Pick<Part, 'walletId'> {
  const walletId = /^wallet\.id == '([0-9a-f-]{36})'$/.exec(text)?.[1]
  return walletId === undefined ? {} : { walletId }
}

function judge(
  { text, walletId }: Part,
  {
    power: { open },
    context,
    compiled,
  }: { readonly power: Power; readonly context: PolicyContext; readonly compiled: () => CompiledPolicy },
): Verdict {
  const { wallet } = context
  if (walletId !== undefined && wallet) return wallet['id'] === walletId ? 'true' : 'false'
  // Who approves is what is being asked.
  if (/\b(?:approvers|credentials)\b/.test(text)) return 'open'
  const { rootQuorum: _rootQuorum, ...plain } = context
  const outcome = authorize([compiled()], plain).policies[0]?.outcome
  if (outcome === 'OUTCOME_ALLOW') return 'true'
  return outcome === 'OUTCOME_ERROR' && open.test(text) ? 'open' : 'false'
}

interface Asked {
  readonly people: readonly Person[]
  readonly namesById: ReadonlyMap<string, string>
}

/** Who has the power with these policies: always, and under each condition that is left open. */
function accessOf(question: Question, { people, namesById }: Asked): Access {
  const { applying } = question
  const waysOf = (some: readonly Applying[]) => findWays(some, question, people)
  const denials = applying.filter(({ policy, open }) => policy.effect === 'EFFECT_DENY' && open !== '')
  const allowances = applying.filter(({ policy, open }) => policy.effect === 'EFFECT_ALLOW' && open !== '')
  const always = waysOf(applying.filter((one) => !allowances.includes(one)))
  if (!always) return { ways: [], unknown: 'there are too many sets of people to try them all' }
  const conditions = [...new Set(allowances.map(({ open }) => open)), ...(denials.length > 0 ? [''] : [])].sort()
  const under = conditions.flatMap((condition) => {
    const here = allowances.filter(({ open }) => open === condition)
    const ways = waysOf(
      applying.filter(({ open }) => open === '' || open === condition).filter((one) => !denials.includes(one)),
    )
    const more = ways?.filter((way) => !always.some((one) => JSON.stringify(one) === JSON.stringify(way)))
    if (!more || more.length === 0) return []
    const all = [...(condition === '' ? [] : [condition]), ...denials.map(({ open }) => `!(${open})`)]
    const names = [...here, ...denials].map(({ policy }) => policy.name).sort()
    return [{ condition: String(nameValue(all.join(' && '), namesById)), policies: names, ways: more }]
  })
  return { ways: always, ...(under.length > 0 ? { under } : {}) }
}

function findWays(
  applying: readonly Applying[],
  { base, consensusOf }: Question,
  people: readonly Person[],
): Access['ways'] | undefined {
  const policies = applying.map(({ policy }) => consensusOf(policy))
  const context = (some: readonly Person[]) => withPeople(base, some)
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
  // A person who may not vote adds nothing to any set.
  const classes = alike(people, policies, base).filter(([first]) =>
    mayVote(policies, context([first!]), first!.approver, first!.credential),
  )
  return coalitions(classes, suffices)
}

function withPeople(base: PolicyContext, people: readonly Person[]): PolicyContext {
  return {
    ...base,
    approvers: people.map(({ approver }) => approver),
    credentials: people.map(({ credential }) => credential),
  }
}

/** Classes of people that no policy can tell apart. */
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
