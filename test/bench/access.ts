/**
 * Who can, and by which moves, in an organization of 100 users, 100 policies and 100 wallets: CPU time and memory, with the consensus
 * that most write and with a nasty one; and two sets of 100 policies compared. Aims: 3 CPU-s directly, 10 with moves, 5 to compare, 300 MB; two runs on one state give the same bytes.
 */
import { resourceUsage } from 'node:process'
import { comparePolicies, indirectPowersOf, type PolicySet, powersOf } from '../../src/analysis/index.ts'
import { policyText } from '../../src/analysis/policies.ts'
import { tuneForOnePass } from '../../src/cli/one-pass.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import { actualOf, idFor, live, publicKey } from '../plan/organization.ts'

const [USERS, POLICIES, WALLETS] = [100, 100, 100]
const AIMS = { direct: 3, indirect: 10, compare: 5, megabytes: 300 }
const NOW_MS = Date.UTC(2026, 0, 1)

const tagged = (tag: string, least = 1) =>
  `approvers.filter(user, user.tags.contains('${idFor(`tag.${tag}`)}')).count() >= ${least}`
const person = (at: number) => `approvers.any(user, user.id == '${idFor(`user.u${at}`)}')`
/** Thirty who are named one by one. */
const BOARD = Array.from({ length: 30 }, (_, at) => `'${idFor(`user.u${at}`)}'`)
/** Ways to write a consensus; the last two are those that tell many people apart. */
const COMMON = [
  (at: number) => `${tagged('ops')} && ${tagged(at % 2 ? 'cfo' : 'risk')}`,
  () => `${tagged('ops', 2)} && approvers.count() >= 3`,
  (at: number) => `${person(at)} && ${tagged('ops')}`,
]
const NASTY = [
  () => `approvers.filter(user, user.id in [${BOARD}]).count() >= 3`,
  () => `${tagged('a', 5)} && ${tagged('b', 2)} && !approvers.any(user, user.tags.contains('${idFor('tag.c')}'))`,
]

function organization(kinds: readonly ((at: number) => string)[]): readonly Resource[] {
  const tags = ['ops', 'cfo', 'risk', 'a', 'b', 'c']
  const users = Array.from({ length: USERS }, (_, at) => `u${at}`)
  return [
    live('rootQuorum', { threshold: 2, users: users.slice(0, 3).map((name) => idFor(`user.${name}`)) }),
    ...tags.map((name) => live(`tag.${name}`)),
    ...users.flatMap((name, at) => [
      live(`user.${name}`, { tags: tags.filter((_, n) => (at + n) % 7 === 0).map((tag) => idFor(`tag.${tag}`)) }),
      live(`apiKey.${name}.laptop`, { publicKey: publicKey(name), curve: 'P256' }),
    ]),
    ...Array.from({ length: WALLETS }, (_, at) => live(`wallet.w${at}`)),
    ...Array.from({ length: POLICIES }, (_, at) =>
      live(`policy.p${at}`, {
        effect: at % 10 === 9 ? 'deny' : 'allow',
        consensus: at % 10 === 9 ? `approvers.count() < ${1 + (at % 3)}` : kinds[at % kinds.length]!(at),
        condition: [
          `activity.action == 'SIGN' && wallet.id == '${idFor(`wallet.w${at}`)}' && eth.tx.value < ${at}000`,
          `activity.kind == 'SIGN_TRANSACTION' && wallet.label == 'w${at}'`,
          `activity.resource == '${['POLICY', 'USER', 'USER_TAG', 'WALLET'][(at >> 2) % 4]}' && activity.action == 'CREATE'`,
        ][at % 3]!,
      }),
    ),
  ]
}

/** Its policies, each with the clauses of its condition in reverse: nothing is another, and no text is the same. */
function reversed({ policies, ...set }: PolicySet): PolicySet {
  const turned = policies.map((one) => ({ ...one, condition: one.condition!.split(' && ').reverse().join(' && ') }))
  return { ...set, policies: turned }
}

function policiesIn(resources: readonly Resource[]): PolicySet {
  const of = (kind: string) => resources.filter((one) => one.kind === kind)
  return {
    policies: of('policy').map(policyText),
    organization: organizationOf(resources),
    wallets: of('wallet').map(({ id, name }) => ({ id: id!, label: name })),
  }
}

/** Prints what each takes; the process exits with 1 when an aim is missed. */
export async function run(): Promise<void> {
  // As the command runs.
  tuneForOnePass('who-can')
  let missed = false
  const measure = (name: string, aim: number, work: () => unknown) => {
    const begun = process.cpuUsage()
    const text = JSON.stringify(work())
    const { user, system } = process.cpuUsage(begun)
    const seconds = (user + system) / 1e6
    const isSame = text === JSON.stringify(work())
    missed ||= seconds > aim || !isSame
    console.log(
      `  ${name.padEnd(28)}${seconds.toFixed(2).padStart(7)} CPU-s, aim ${aim}; ${(text.length / 1e3).toFixed(0)} kB, ${isSame ? 'the same twice' : 'NOT THE SAME TWICE'}${text.includes('unknown') ? ', some unknown' : ''}`,
    )
  }
  console.log(`${USERS} users, ${POLICIES} policies, ${WALLETS} wallets`)
  for (const [name, kinds] of [
    ['common', COMMON],
    ['nasty', [...COMMON, ...NASTY]],
  ] as const) {
    const actual = actualOf(organization(kinds))
    measure(`${name}, direct`, AIMS.direct, () => powersOf(actual, { nowMs: NOW_MS }))
    measure(`${name}, with moves`, AIMS.indirect, () => indirectPowersOf(actual, { nowMs: NOW_MS }))
  }
  const [set, other] = [policiesIn(organization(COMMON)), policiesIn(organization([...COMMON].reverse()))]
  const compare = (name: string, second: PolicySet) =>
    measure(name, AIMS.compare, () =>
      comparePolicies(set, second, { nowMs: NOW_MS }).map(({ power, relation, unknown: by }) => [
        power,
        relation,
        by.length,
      ]),
    )
  compare('compare, the same', reversed(set))
  compare('compare, another', other)
  const megabytes = (resourceUsage().maxRSS * 1024) / 1e6
  missed ||= megabytes > AIMS.megabytes
  console.log(`  ${megabytes.toFixed(0)} MB of memory at most, aim ${AIMS.megabytes}`)
  console.log(missed ? 'MISSED' : 'met')
  if (missed) process.exitCode = 1
}
