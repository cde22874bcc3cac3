/**
 * Who could do what, before a plan and after it: for every wallet the power to sign and to export, and for the
 * organization the power to change its rules. The evaluator is asked about sets of people; what a policy's condition
 * wants to know of a request that does not exist yet is left open, and the power is then one *under condition*.
 *
 * A condition is taken apart at its outermost `&&` (`rules.ts`). A part that is false makes it false, parts that are true go, and
 * the rest is *open*. An open ALLOW allows under its condition. An open DENY is taken to apply to powers without a
 * condition, and not to apply to powers under one, which names it.
 */
import { type Organization, votersOf } from '../authority/index.ts'
import type { Access, AccessChange } from '../plan/index.ts'
import {
  authorize,
  type Coalitions,
  type CompiledPolicy,
  mayVote,
  type PolicyContext,
  type PolicyText,
  type Voter,
  whoCan,
  writeOut,
} from '../policy/index.ts'
import { nameValue, organizationOf, type Resource } from '../resources/index.ts'
import { createPolicyCompiler, type PolicyCompiler } from './policies.ts'
import { createRules, POWERS, type PolicyPower, type Rules, remember } from './rules.ts'
import { sameCoalitions, without } from './same-coalitions.ts'
import { type OrganizationState, thingsOf } from './state.ts'

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
  const side = (access: AccessOf, power: PolicyPower, wallet: Resource | undefined, there: boolean) => {
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

/** A policy reduced to one power: the open part of its condition; '' when the condition holds. */
interface Applying {
  readonly policy: PolicyText
  readonly open: string
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
  readonly ask: (power: PolicyPower, wallet: Resource | undefined) => Question
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
  const candidatesFor = remember((power: PolicyPower) => {
    const all = rows.flatMap((row, index) => {
      const narrowed = rules.narrow(row, power)
      return narrowed ? [{ ...narrowed, index }] : []
    })
    return Map.groupBy(all, ({ row }) => row.parts.find(({ walletId }) => walletId !== undefined)?.walletId)
  })
  const ask = (power: PolicyPower, wallet: Resource | undefined): Question => {
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
          const truth = rules.truthOf(part, power, base)
          if (truth === 'false') return []
          if (truth === 'open') left.push(part.text)
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
