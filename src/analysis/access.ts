/**
 * Who could do what, before a plan and after it: for every wallet the power to sign and to export, and for the
 * organization the power to change its rules. The evaluator is asked about sets of people; what a policy's condition
 * wants to know of a request that does not exist yet is left open, and the power is then one *under condition*.
 *
 * A condition is taken apart at its outermost `&&`. A part that is false makes it false, parts that are true go, and
 * the rest is *open*. An open ALLOW allows under its condition. An open DENY is taken to apply to powers without a
 * condition, and not to apply to powers under one, which names it.
 */
import { type Organization, votersOf } from '../authority/index.ts'
import type { Access, AccessChange } from '../plan/index.ts'
import {
  authorize,
  type Coalitions,
  type CompiledPolicy,
  compilePolicy,
  type Expression,
  mayVote,
  type PolicyContext,
  type PolicyText,
  parse,
  type Reads,
  readsOf,
  type Voter,
  whoCan,
  writeOut,
} from '../policy/index.ts'
import { nameValue, organizationOf, type Resource } from '../resources/index.ts'
import { createPolicyCompiler, type PolicyCompiler, policyText } from './policies.ts'
import { sameCoalitions } from './same-coalitions.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** Whether a part reads what only a request can define. A condition that asks for anything else that is not there errs, and never holds. */
const ofAnyRequest = ({ chains }: Reads) => [...chains.keys()].some((chain) => chain.startsWith('activity.params'))
/** Definitions say nothing of secrets. */
const ofSecret = (reads: Reads) => ofAnyRequest(reads) || reads.roots.has('secret')
const SIGNED = ['eth', 'solana', 'tron', 'bitcoin', 'tempo', 'wallet_account', 'params']
const ofSigning = (reads: Reads) => ofAnyRequest(reads) || SIGNED.some((root) => reads.roots.has(root))
/** Whether a condition reads parts of a wallet that the lists behind a plan do not tell. */
const ofWallet = ({ chains }: Reads) => ['wallet', 'wallet.imported', 'wallet.exported'].some((one) => chains.has(one))

/** The powers, in the order in which they are shown; each is asked as the activity that uses it. */
const POWERS = [
  { power: 'sign transactions', type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', perWallet: true, open: ofSigning },
  { power: 'sign raw payloads', type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', perWallet: true, open: ofSigning },
  { power: 'export', type: 'ACTIVITY_TYPE_EXPORT_WALLET', perWallet: true, open: ofAnyRequest },
  { power: 'export secrets', type: 'ACTIVITY_TYPE_EXPORT_SECRETS', perWallet: false, open: ofSecret },
  { power: 'add policies', type: 'ACTIVITY_TYPE_CREATE_POLICIES', perWallet: false, open: ofAnyRequest },
  { power: 'change policies', type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2', perWallet: false, open: ofAnyRequest },
  { power: 'delete policies', type: 'ACTIVITY_TYPE_DELETE_POLICIES', perWallet: false, open: ofAnyRequest },
  { power: 'change the root quorum', type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', perWallet: false, open: ofAnyRequest },
] as const

type Power = (typeof POWERS)[number]

const TOO_MANY = 'there are too many sets of people to try them all'

/** The sets of people with a power, before the list is shortened for display. */
interface Answer {
  readonly always: Coalitions | 'gave-up'
  readonly under: readonly {
    readonly condition: string
    readonly policies: readonly string[]
    readonly found: Coalitions | 'gave-up'
  }[]
}

const NOBODY: Answer = { always: { classes: [], found: [] }, under: [] }

/** The differences in power between two states, wallets by name; `namesById` writes the ids in open conditions as names. */
export function accessChanges(
  before: OrganizationState,
  after: OrganizationState,
  {
    now,
    namesById,
    compile = createPolicyCompiler(),
  }: {
    readonly now: bigint
    readonly namesById: ReadonlyMap<string, string>
    readonly compile?: PolicyCompiler
  },
): readonly AccessChange[] {
  const rules = createRules(now, compile)
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
      if (sameAnswer(then, later)) return []
      const of = wallet ? { wallet: wallet.address } : {}
      return [{ power: power.power, ...of, before: accessOf(then), after: accessOf(later) }]
    })
  return [...wallets.flatMap(changes), ...changes(undefined)]
}

/**
 * Makes the question of whether an answer cannot have changed, which spares working it out: the same policies apply, and
 * of the people who are not as they were none may vote on it, so that they are in no set.
 */
function createSameness(had: AccessOf, has: AccessOf): (old: Question, now: Question) => boolean {
  const text = (value: unknown) => JSON.stringify(value)
  const sameQuorum = text(had.organization.rootQuorum) === text(has.organization.rootQuorum)
  const [then, later] = [had, has].map(({ people }) => new Map(people.map((one) => [text(one), one])))
  const moved = [
    ...[...then!].filter(([key]) => !later!.has(key)),
    ...[...later!].filter(([key]) => !then!.has(key)),
  ].map(([, person]) => person)
  return (old, now) => {
    if (!sameQuorum || old.key !== now.key || old.texts.some((one, index) => one !== now.texts[index])) return false
    if (moved.length === 0) return true
    const policies = now.texts.map(now.consensusOf)
    return moved.every((person) => !countsIn(policies, now.base, person))
  }
}

/** Whether somebody could be in any set: they may vote on it, or ask for it. */
function countsIn(
  policies: readonly CompiledPolicy[],
  base: PolicyContext,
  { approver, credentials = [] }: Voter,
): boolean {
  return credentials.some((credential) => {
    const alone = { ...base, approvers: [approver], credentials: [credential] }
    if (mayVote(policies, alone, approver, credential)) return true
    const { outcome } = authorize(policies, alone)
    return outcome === 'OUTCOME_ALLOW' || outcome === 'OUTCOME_REQUIRES_CONSENSUS'
  })
}

/** A policy whose condition has been taken apart. */
interface Row {
  readonly policy: PolicyText
  readonly parts: readonly Part[]
}

interface Part {
  readonly text: string
  readonly reads: Reads
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

/** Facts about policies that no state changes: computed once for all states that hold them. */
interface Rules {
  readonly rowOf: (policy: Resource) => Row
  /** Undefined when it cannot apply. */
  readonly narrow: (row: Row, power: Power) => Narrowed | undefined
  readonly verdictOf: (part: Part, power: Power, context: PolicyContext) => Verdict
  /** The policy without its condition. */
  readonly consensusOf: (policy: PolicyText) => CompiledPolicy
}

function createRules(now: bigint, compile: PolicyCompiler): Rules {
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
    rowOf: remember((policy) => takeApart(compile(policyText(policy)))),
    verdictOf,
    narrow: (row, power) => narrowBy(power)(row),
    consensusOf: remember((policy) => ({
      ...compile(policy),
      policy: { ...policy, condition: undefined },
      condition: undefined,
    })),
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
  readonly people: readonly Voter[]
  readonly organization: Organization
  readonly ask: (power: Power, wallet: Resource | undefined) => Question
  readonly answer: (question: Question) => Answer
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
  const organization = organizationOf(state.things)
  const { rootQuorum } = organization
  const people = votersOf(organization, Number(now / 1_000_000n))
  const known = new Map<string, Answer>()
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
  const answer = (question: Question): Answer => {
    const found = known.get(question.key) ?? answerTo(question, { people, namesById })
    known.set(question.key, found)
    return found
  }
  return { people, organization, ask, answer }
}

function takeApart({ policy, condition: compiled }: CompiledPolicy): Row {
  const { condition } = policy
  if (condition === undefined || condition === null) return { policy, parts: [] }
  const tree = compiled?.tree ?? parse(condition).tree
  const trees = tree?.kind === 'logic' && tree.operator === '&&' ? tree.operands : tree ? [tree] : []
  const parts = trees.map((one): Part => {
    const reads = readsOf(one)
    const text = condition.slice(one.start, one.end)
    return {
      // The brackets around an operand are no part of it.
      text: trees.length > 1 && one.kind === 'logic' ? `(${text})` : text,
      reads,
      aboutWallet: reads.roots.has('wallet'),
      ...walletIdIn(one),
    }
  })
  // What cannot be read errs whatever is asked.
  return { policy, parts: tree ? parts : [{ text: condition, reads: readsOf(), aboutWallet: false }] }
}

function walletIdIn(tree: Expression): Pick<Part, 'walletId'> {
  if (tree.kind !== 'compare' || tree.operator !== '==' || tree.right.kind !== 'string') return {}
  const { left, right } = tree
  const isId = left.kind === 'member' && left.name.text === 'id' && left.target.kind === 'name'
  return isId && left.target.name === 'wallet' ? { walletId: right.value } : {}
}

function judge(
  { reads, walletId }: Part,
  {
    power: { open },
    context,
    compiled,
  }: { readonly power: Power; readonly context: PolicyContext; readonly compiled: () => CompiledPolicy },
): Verdict {
  const { wallet } = context
  if (walletId !== undefined && wallet) return wallet['id'] === walletId ? 'true' : 'false'
  // Who approves is what is being asked.
  if (reads.roots.has('approvers') || reads.roots.has('credentials')) return 'open'
  const { rootQuorum: _rootQuorum, ...plain } = context
  const outcome = authorize([compiled()], plain).policies[0]?.outcome
  if (outcome === 'OUTCOME_ALLOW') return 'true'
  return outcome === 'OUTCOME_ERROR' && (open(reads) || (wallet !== undefined && ofWallet(reads))) ? 'open' : 'false'
}

interface Asked {
  readonly people: readonly Voter[]
  readonly namesById: ReadonlyMap<string, string>
}

/** The sets of people with the power under these policies: always, and under each open condition. */
function answerTo(question: Question, { people, namesById }: Asked): Answer {
  const { applying, base, consensusOf } = question
  const find = (some: readonly Applying[]) =>
    whoCan(
      some.map(({ policy }) => consensusOf(policy)),
      base,
      people,
    )
  const denials = applying.filter(({ policy, open }) => policy.effect === 'EFFECT_DENY' && open !== '')
  const allowances = applying.filter(({ policy, open }) => policy.effect === 'EFFECT_ALLOW' && open !== '')
  const always = find(applying.filter((one) => !allowances.includes(one)))
  const conditions = [...new Set(allowances.map(({ open }) => open)), ...(denials.length > 0 ? [''] : [])].sort()
  const under = conditions.flatMap((condition) => {
    const here = allowances.filter(({ open }) => open === condition)
    const all = find(
      applying.filter(({ open }) => open === '' || open === condition).filter((one) => !denials.includes(one)),
    )
    const found = always === 'gave-up' || all === 'gave-up' ? all : without(all, always)
    if (found !== 'gave-up' && found.found.length === 0) return []
    const open = [...(condition === '' ? [] : [condition]), ...denials.map((one) => `!(${one.open})`)]
    const policies = [...here, ...denials].map(({ policy }) => policy.name).sort()
    return [{ condition: String(nameValue(open.join(' && '), namesById)), policies, found }]
  })
  return { always, under }
}

/** The sets of each size that are not those of the same size in the other. */
function without(all: Coalitions, other: Coalitions): Coalitions {
  const sizes = [...new Set(all.found.map(sizeOf))]
  const ofSize = ({ classes, found }: Coalitions, size: number): Coalitions => ({
    classes,
    found: found.filter((counts) => sizeOf(counts) === size),
  })
  const left = sizes.filter((size) => sameCoalitions(ofSize(all, size), ofSize(other, size)) !== true)
  return { classes: all.classes, found: all.found.filter((counts) => left.includes(sizeOf(counts))) }
}

function sizeOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Whether two answers are known to be the same. */
function sameAnswer(one: Answer, other: Answer): boolean {
  const same = (a: Coalitions | 'gave-up', b: Coalitions | 'gave-up') =>
    a !== 'gave-up' && b !== 'gave-up' && sameCoalitions(a, b) === true
  return (
    same(one.always, other.always) &&
    one.under.length === other.under.length &&
    one.under.every(({ condition, policies, found }, index) => {
      const also = other.under[index]!
      return condition === also.condition && policies.join('\n') === also.policies.join('\n') && same(found, also.found)
    })
  )
}

/** An answer as a plan tells it. */
function accessOf({ always, under }: Answer): Access {
  if (always === 'gave-up') return { ways: [], unknown: TOO_MANY }
  const known = under.flatMap(({ condition, policies, found }) =>
    found === 'gave-up' ? [] : [{ condition, policies, ways: writeOut(found) }],
  )
  const unknown = under.filter(({ found }) => found === 'gave-up').map(({ condition }) => condition)
  return {
    ways: writeOut(always),
    ...(known.length > 0 ? { under: known } : {}),
    ...(unknown.length > 0 ? { unknown: `under \`${unknown.join('`, `')}\`: ${TOO_MANY}` } : {}),
  }
}
