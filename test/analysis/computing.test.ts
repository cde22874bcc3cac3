/** Every analysis that may take long says what it computes, at each turn of its loops. */
import { afterEach, expect, test, vi } from 'vitest'
import {
  accessBetween,
  comparePolicies,
  indirectPowersOf,
  listenToComputing,
  planWithForecast,
  powersOf,
  uselessPolicies,
} from '../../src/analysis/index.ts'
import { policyText } from '../../src/analysis/policies.ts'
import { organizationOf, type Resource } from '../../src/resources/index.ts'
import { acme, actualOf, bootstrap, declare, idFor, key, live, policy } from '../plan/organization.ts'
import { planInput } from '../plan/planning.ts'

afterEach(() => void vi.restoreAllMocks())

/** What is told where each breath is a second after the one before it. */
function told(work: () => unknown): ReadonlySet<string> {
  const all = new Set<string>()
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1_000))
  const stop = listenToComputing((what) => all.add(what.replace(/\d+/g, 'N')))
  work()
  stop()
  return all
}

const carol = `approvers.any(user, user.id == '${idFor('user.carol')}')`
const before: readonly Resource[] = [
  ...bootstrap(),
  live('user.carol'),
  live('apiKey.carol.k', key('carol')),
  live('wallet.cold'),
  live('policy.p', policy(carol, "activity.action == 'SIGN'")),
  live('policy.q', policy(carol, "activity.resource == 'POLICY'")),
]
const after = before.filter(({ address }) => address !== 'policy.p')
const nowMs = Date.UTC(2026, 0, 1)
const set = (resources: readonly Resource[]) => ({
  policies: resources.filter(({ kind }) => kind === 'policy').map(policyText),
  organization: organizationOf(resources),
  wallets: [],
})

test.each([
  {
    name: 'a plan',
    work: () => planWithForecast(planInput({ desired: [...acme(), declare('wallet.more')], allow: ['deletes=9'] })),
    expected: ['what comes of each activity', 'who gains or loses power', 'who could take the plan back'],
  },
  {
    name: 'a difference in power',
    work: () => accessBetween(before, after, { nowMs }),
    expected: ['who gains or loses power'],
  },
  { name: 'powers', work: () => powersOf(actualOf(before), { nowMs }), expected: ['who can sign', 'who can send'] },
  {
    name: 'indirect powers',
    work: () => indirectPowersOf(actualOf(before), { nowMs }),
    expected: ['what people could gain by moves, N ways so far', 'who can sign by moves'],
  },
  {
    name: 'a comparison',
    work: () => comparePolicies(set(before), set(after), { nowMs }),
    expected: ['who could sign by either'],
  },
  {
    name: 'policies of no use',
    work: () => uselessPolicies(set(before), { nowMs }),
    expected: ['of what use policy p is', 'of what use policy q is'],
  },
])('computing: $name says what it is at', ({ work, expected }) => {
  expect([...told(work)]).toEqual(expect.arrayContaining(expected))
})
