/** Sets of policies to compare, and what comes of them by every vote in every order: that knows nothing of the analysis. */
import fc from 'fast-check'
import type { PolicySet } from '../../src/analysis/index.ts'
import { apiKeyFacts, type User, votersOf } from '../../src/authority/index.ts'
import { authorize, compilePolicy, mayVote, type PolicyContext, type PolicyText } from '../../src/policy/index.ts'
import { remembered } from '../remembered.ts'

export const NOW = Date.parse('2026-06-30T12:00:00Z')
const WALLETS = [
  { id: 'w-cold', label: 'cold' },
  { id: 'w-hot', label: 'hot' },
]
const [TO, OTHER] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]

function user(name: string, tags: readonly string[]): User {
  const facts = apiKeyFacts({ id: `${name}-key`, userId: name, type: 'P256', publicKey: name })
  return { id: name, name, alias: name, email: `${name}@acme.test`, tags, credentials: [{ name: 'k', facts }] } as never
}

/** Policies of three people of operations and one of the treasury; `root` makes a quorum of two. */
export function setOf(policies: readonly Partial<PolicyText>[], root = ['root', 'alice']): PolicySet {
  return {
    policies: policies.map((one, index) => ({ id: `p${index}`, name: `p${index}`, effect: 'EFFECT_ALLOW', ...one })),
    organization: {
      users: [user('alice', ['ops']), user('bob', ['ops']), user('carol', ['treasury']), user('root', [])],
      rootQuorum: { userIds: root, threshold: 2 },
    } as PolicySet['organization'],
    wallets: WALLETS,
  }
}

const clauses = [
  "activity.kind == 'SIGN_TRANSACTION'",
  "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'",
  "activity.action == 'EXPORT'",
  "wallet.id == 'w-cold'",
  "wallet.label in ['hot', 'warm']",
  "wallet.label[0..1] == 'c'",
  'wallet.exported',
  'eth.tx.value > 5',
  'eth.tx.value <= 9',
  'eth.tx.value == 10',
  `eth.tx.to == '${TO.toUpperCase().replace('0X', '0x')}'`,
  `eth.tx.to in ['${TO}', '${OTHER}']`,
  "eth.tx.data[0..10] == '0xa9059cbb'",
  "eth.tx.data[2..10] == 'a9059cbb' && eth.tx.data[10..12] == '07'",
  "eth.tx.contract_call_args['amount'] < 7",
  "solana.tx.transfers.all(t, t.to == 'A' && t.amount < 4)",
  'solana.tx.transfers.any(t, t.amount >= 4)',
  'solana.tx.transfers.count() > 1',
  "activity.params.encoding == 'PAYLOAD_ENCODING_EIP712'",
  'true',
] as const
const expression: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...clauses),
    fc.tuple(tie('node'), fc.constantFrom('&&', '&&', '||'), tie('node')).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    tie('node').map((a) => `!(${a})`),
  ),
})).node
export const policy: fc.Arbitrary<Partial<PolicyText>> = fc.record({
  effect: fc.constantFrom('EFFECT_ALLOW' as const, 'EFFECT_ALLOW' as const, 'EFFECT_DENY' as const),
  condition: expression,
  consensus: fc.constantFrom(
    undefined,
    "approvers.any(u, u.tags.contains('ops'))",
    'approvers.count() >= 2',
    "approvers.all(u, u.id != 'bob')",
    "approvers[0].id == 'carol'",
  ),
})

/** Requests of some types with every value on both sides of what the clauses say. */
export function* requests(): Generator<Partial<PolicyContext>> {
  const of = (type: string, params = {}) => ({ activity: { type, params } })
  const wallets = [...WALLETS, { id: 'w-warm', label: 'warm' }]
    .flatMap((one) => [true, false].map((exported) => ({ ...one, exported, imported: false })))
    .map((wallet) => ({ wallet, wallet_account: { address: TO } }))
  for (const wallet of wallets) {
    yield { ...of('ACTIVITY_TYPE_EXPORT_WALLET', { target_public_key: '' }), wallet: wallet.wallet }
    yield {
      ...of('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', { encoding: 'PAYLOAD_ENCODING_EIP712' }),
      ...wallet,
      eth: { eip_712: {} },
    }
    for (const type of ['ACTIVITY_TYPE_SIGN_TRANSACTION', 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2']) {
      for (const value of [5n, 9n, 10n])
        for (const to of [TO, OTHER, ''])
          for (const data of ['0x', `0xa9059cbb07`, '0xa9059cbb08'])
            for (const args of [undefined, { amount: 6n }, { amount: 7n }]) {
              const named = args === undefined ? {} : { contract_call_args: args }
              yield { ...of(type), ...wallet, eth: { tx: { value, to, data, ...named } } }
            }
      for (const transfers of [[], [3n], [4n], [3n, 3n], [3n, 4n]])
        for (const to of ['A', 'B'])
          yield { ...of(type), ...wallet, solana: { tx: { transfers: transfers.map((amount) => ({ to, amount })) } } }
    }
  }
}

/** What all requests of a set have in common. */
const tried = remembered(({ policies, organization }: PolicySet) => ({
  compiled: policies.map(compilePolicy),
  voters: votersOf(organization, NOW),
}))

/** The people of all sets that get the request executed, by every order of their votes; asks the evaluator alone. */
export function trials(set: PolicySet, request: Partial<PolicyContext>): readonly (readonly string[])[] {
  const { compiled, voters } = tried(set)
  const found: (readonly string[])[] = []
  const vote = (context: PolicyContext, names: readonly string[]) => {
    for (const { name, approver, credentials: [credential] = [] } of voters) {
      if (names.includes(name) || (names.length > 0 && !mayVote(compiled, context, approver, credential))) continue
      const { approvers, credentials = [] } = context
      const next = { ...context, approvers: [...approvers, approver], credentials: [...credentials, credential!] }
      const { outcome } = authorize(compiled, next)
      if (outcome === 'OUTCOME_ALLOW') found.push([...names, name])
      else if (outcome === 'OUTCOME_REQUIRES_CONSENSUS') vote(next, [...names, name])
    }
  }
  const { rootQuorum } = set.organization
  const start = { now: BigInt(NOW) * 1_000_000n, activity: { type: '' }, approvers: [], credentials: [], rootQuorum }
  vote({ ...start, ...request }, [])
  return found
}

/** Whether each set of the one has a set of the other within it. */
export const covers = (wide: readonly (readonly string[])[], narrow: readonly (readonly string[])[]) =>
  narrow.every((set) => wide.some((some) => some.every((name) => set.includes(name))))
