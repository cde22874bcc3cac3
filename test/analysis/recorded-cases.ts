/** Activities on record, and what two states make of them: `recorded-mutants.long.ts` looks for mistakes by them. */
import type { backtest, proposalsOf, usageOf } from '../../src/analysis/index.ts'
import { type ActivityType, activities, type Wire } from '../../src/protocol/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { idFor, key, live, policy } from '../plan/organization.ts'
import { is, type NAMES, NOW, office } from './office.ts'

const kind = (name: string) => `activity.kind == '${name}'`
const allow = (name: string, who: string, condition: string) => live(`policy.${name}`, policy(who, condition))
const deny = (name: string, who: string | null, condition: string) =>
  live(`policy.${name}`, policy(who, condition, 'deny'))
/** Nobody of whom activities are is a member of the root quorum. */
const withRoot = (policies: readonly Resource[], extra: readonly Resource[] = []) =>
  office(
    {},
    [live('rootQuorum', { threshold: 1, users: [idFor('user.root')] }), ...policies],
    [live('user.root', { tags: [] }), live('apiKey.root.k', key('root')), ...extra],
  )

const bothWallets = `${is('bob')} && ${is('carol')}`
const BEFORE = withRoot([
  allow('tags', is('bob'), "activity.resource == 'USER'"),
  allow('one', is('carol'), kind('CREATE_SMART_CONTRACT_INTERFACE')),
  allow('other', is('carol'), kind('CREATE_SMART_CONTRACT_INTERFACE')),
  allow('wallets', bothWallets, kind('CREATE_WALLET')),
  allow('begin', `${is('bob')} && ${is('alice')}`, kind('CREATE_PRIVATE_KEYS')),
  allow('end', is('carol'), kind('CREATE_PRIVATE_KEYS')),
  allow('exports', is('carol'), `${kind('EXPORT_WALLET')} && wallet.label == 'cold'`),
  deny('never', null, kind('DELETE_WALLETS')),
])
const AFTER = withRoot([
  allow('tags', is('alice'), "activity.resource == 'USER'"),
  allow('bob-alone', is('bob'), kind('CREATE_WALLET')),
  allow('with-alice', `${is('bob')} && ${is('alice')}`, kind('CREATE_PRIVATE_KEYS')),
  allow('with-carol', bothWallets, kind('CREATE_PRIVATE_KEYS')),
  deny('not-carol', is('carol'), kind('CREATE_PRIVATE_KEYS')),
  allow('exports', is('carol'), `${kind('EXPORT_WALLET')} && wallet.label == 'warm' && !wallet.imported`),
  allow(
    'keys',
    "credentials.any(c, c.type == 'CREDENTIAL_TYPE_API_KEY_P256')",
    kind('CREATE_SMART_CONTRACT_INTERFACE'),
  ),
]).map((one) => (one.kind === 'wallet' ? { ...one, name: 'warm' } : one))

type By = (typeof NAMES)[number] | 'nobody'
const at = (minute: number) => ({ seconds: String(NOW / 1000 + minute * 60), nanos: '0' })
let minutes = 0
function recorded(
  id: string,
  type: ActivityType,
  by: readonly By[],
  more: { readonly status?: string; readonly failure?: { readonly code: number }; readonly publicKey?: string } = {},
): Wire.Activity {
  const { publicKey, ...rest } = more
  const start = minutes
  minutes += 10
  const votes = by.map((name, index) => ({
    ...{ id: `${id}-${index}`, activityId: id, userId: idFor(`user.${name}`), user: { userName: name } },
    publicKey: publicKey ?? String(key(name)['publicKey']),
    ...{ selection: 'VOTE_SELECTION_APPROVED', createdAt: at(start + index) },
  }))
  const times = { createdAt: at(start), updatedAt: at(start + 9) }
  const intent = { [activities[type].intentKey]: {} }
  return { id, type, intent, votes, status: 'ACTIVITY_STATUS_COMPLETED', ...times, ...rest } as unknown as Wire.Activity
}

const TAG = 'ACTIVITY_TYPE_CREATE_USER_TAG'
const RECORDED = [
  recorded('a tag', TAG, ['bob']),
  recorded('a tag by a stranger', TAG, ['carol']),
  recorded('a tag by who is gone', TAG, ['nobody']),
  recorded('a tag that failed', TAG, ['bob'], {
    status: 'ACTIVITY_STATUS_FAILED',
    failure: { code: 3 },
  }),
  recorded('a wallet', 'ACTIVITY_TYPE_CREATE_WALLET', ['bob', 'carol']),
  recorded('a wallet that waits', 'ACTIVITY_TYPE_CREATE_WALLET', ['bob'], {
    status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  }),
  recorded('a deletion', 'ACTIVITY_TYPE_DELETE_WALLETS', ['bob'], {
    status: 'ACTIVITY_STATUS_FAILED',
    failure: { code: 7 },
  }),
  recorded('keys', 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', ['bob', 'carol']),
  recorded('keys by three', 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', ['bob', 'carol', 'alice']),
  recorded('an export', 'ACTIVITY_TYPE_EXPORT_WALLET', ['carol']),
  recorded('an export of what is not on record', 'ACTIVITY_TYPE_EXPORT_WALLET', ['carol']),
  recorded('a contract', 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', ['carol'], { publicKey: '02ab' }),
]
const factsOf: Parameters<typeof backtest>[0]['factsOf'] = ({ id, type }, things) => {
  if (id === 'an export of what is not on record') return undefined
  const wallet = things.find((one) => one.kind === 'wallet')!
  return type.includes('EXPORT') ? { wallet: { id: wallet.id!, label: wallet.name } } : {}
}
const RECORDINGS = { activities: RECORDED.toReversed(), factsOf, nowMs: NOW + 12 * 3_600_000 }

/** What tells of records. */
export interface TellingOfRecords {
  readonly backtest: typeof backtest
  readonly usageOf: typeof usageOf
  readonly proposalsOf: typeof proposalsOf
}

/** All that is told of them, in short lines. */
export function toldOfRecords(telling: TellingOfRecords) {
  const decision = ({ outcome, policies, needed }: ReturnType<typeof backtest>[number]['after']) => {
    const who = needed === undefined ? '' : typeof needed === 'string' ? `: ${needed}` : `: ${needed.sets.join(' or ')}`
    return `${outcome}${policies.length > 0 ? ` by ${policies.join(', ')}` : ''}${who}`
  }
  const usage = telling.usageOf(RECORDINGS, BEFORE)
  return {
    rows: telling
      .backtest(RECORDINGS, { before: BEFORE, after: AFTER })
      .map((row) => `${row.activityId}: ${row.recorded}; ${decision(row.before)}; ${decision(row.after)}`),
    counts: [usage.counted, usage.changed, usage.unknown],
    usage: usage.policies.map((one) => `${one.policy} ${one.tookPart} ${one.decisive} ${one.last?.activityId ?? '-'}`),
    proposals: telling
      .proposalsOf(RECORDINGS, BEFORE)
      .proposals.map((one) => `${one.change} ${one.policy}${one.change === 'narrow' ? `: ${one.condition}` : ''}`),
  }
}
