/** `policy backtest` and `policy usage` with a mistake put into them: the cases find each. */
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import * as analysis from '../../src/analysis/index.ts'
import { mutated } from './mutated.ts'
import { type TellingOfRecords, toldOfRecords } from './recorded-cases.ts'

/** Each activity as it is on record, by the first state and by the second. */
const EXPECTED = {
  rows: [
    'a contract: executed; executed by one, other; unknown',
    'an export of what is not on record: executed; unknown; unknown',
    'an export: executed; executed by exports; unknown',
    'keys by three: executed; executed by end; executed by with-alice',
    'keys: executed; executed by end; waits: alice or root',
    'a deletion: denied; denied by never; denied',
    'a wallet that waits: waits; waits: carol or root; executed by bob-alone',
    'a wallet: executed; executed by wallets; executed by bob-alone',
    'a tag that failed: executed; executed by tags; denied',
    'a tag by who is gone: executed; unknown; unknown',
    'a tag by a stranger: executed; denied; denied',
    'a tag: executed; executed by tags; denied',
  ],
  counts: [9, 1, 2],
  // How often each took part and was decisive, and when last.
  usage: [
    'begin 2 2 keys by three',
    'end 2 1 keys',
    'exports 1 1 an export',
    'never 1 0 -',
    'one 1 0 -',
    'other 1 0 -',
    'tags 2 2 a tag that failed',
    'wallets 1 1 a wallet',
  ],
  // `begin` stays: without it bob could not ask for keys, which carol then lets through by `end`.
  proposals: ['remove one', "narrow tags: activity.kind == 'CREATE_USER_TAG' && (activity.resource == 'USER')"],
}

test('none: the cases come out as they are written', () => {
  expect(toldOfRecords(analysis)).toEqual(EXPECTED)
})

const recorded = (mistake: string, from: string, to: string) => ({ mistake, file: 'analysis/recorded.ts', from, to })
const backtest = (mistake: string, from: string, to: string) => ({ mistake, file: 'analysis/backtest.ts', from, to })

test.each([
  recorded(
    'what would be decided alike without a policy hangs on it',
    'return decideBy(others, organization, { activity, facts, nowMs }).outcome !== outcome',
    'return others.length >= 0',
  ),
  recorded(
    'who is no user any more is passed over',
    'if (!found) return unknown(`${user?.userName || userId} is no user any more`)',
    'if (!found) continue',
  ),
  recorded(
    'what is not on record is nothing',
    "if (!facts) return unknown('what policies read of it is not on record')",
    'if (!facts) return decideOnce(policies, organization, { activity, facts: {}, nowMs })',
  ),
  recorded(
    'of flags that are not on record the first values are taken',
    'return isSure ? first! : ',
    'return first ? first : ',
  ),
  recorded(
    'what was denied was carried out',
    "failure?.code === PERMISSION_DENIED ? 'denied' : 'executed'",
    "'executed'",
  ),
  recorded('what failed was denied', "failure?.code === PERMISSION_DENIED ? 'denied' : 'executed'", "'denied'"),
  recorded('a denied vote counts', 'if (!isDenied) context = joined', 'context = joined'),
  recorded(
    'a credential that is gone does not matter',
    'if (!used && readsCredentials(policies)) return',
    'if (!used && users.length === 0) return',
  ),
  recorded(
    'votes after the one that decides count',
    "if (outcome === 'OUTCOME_ALLOW') return {",
    "if (outcome === 'OUTCOME_ALLOW' && index === approvals.length - 1) return {",
  ),
  recorded(
    'who waits needs nobody',
    'whoVotes(policies, context, votersOf({ users }, lastMs))',
    "votersOf({ users }, lastMs).length > 0 ? 'nobody' : whoVotes(policies, context, [])",
  ),
  backtest(
    'the proposed policies are not asked',
    'createRecordedJudge(after, { nowMs })',
    'createRecordedJudge(before, { nowMs })',
  ),
  backtest(
    'what policies read is looked up in the first state',
    'factsOf(activity, judge.things)',
    'factsOf(activity, before)',
  ),
  backtest(
    'what is decided otherwise today counts',
    "outcome === recordedOutcome(activity) ? 'counted' : 'changed'",
    "'counted'",
  ),
  backtest('what is unknown is changed', "outcome === 'unknown' ? 'unknown' : outcome", 'outcome'),
  backtest('the last is the oldest', 'row.last ??= activity', 'row.last = activity'),
  backtest('what takes power away is proposed untried', 'if (!trial.isSame(next, proposal.policy)) return false', ''),
  backtest('who lets an activity begin is not needed', 'activity.votes.length < 2 && outcome', 'outcome'),
  backtest('each proposal is tried by itself', 'left = next', ''),
])('$mistake: found', async (mutant) => {
  const telling = await mutated<TellingOfRecords>(mutant, 'analysis/index.ts')
  const told = () => {
    try {
      return toldOfRecords(telling)
    } catch {
      return undefined
    }
  }
  expect(isDeepStrictEqual(told(), EXPECTED)).toBe(false)
})
