/** What goes and what is made beside it, where both may be one thing under a new name. */
import { describe, expect, test } from 'vitest'
import { makePlan } from '../../src/plan/index.ts'
import { formatAddress, type Resource } from '../../src/resources/index.ts'
import { bootstrap, declare, key, live, lockOfDeclared, policy } from './organization.ts'
import { planInput, planOf, rows } from './planning.ts'

const ACCOUNTS = { ethereum: "m/44'/60'/0'/0/0", second: "m/44'/60'/0'/0/1" }
const account = (wallet: string, path: string) => formatAddress('walletAccount', wallet, `${path} ethereum`)
const fields = (path: string) => ({ path, curve: 'secp256k1', format: 'ethereum' })
const liveWallet = (name: string, ...paths: readonly string[]) => [
  live(`wallet.${name}`),
  ...paths.map((path) => live(account(name, path), fields(path))),
]
const newWallet = (name: string, ...paths: readonly string[]) => [
  declare(`wallet.${name}`),
  ...paths.map((path) => declare(account(name, path), fields(path))),
]
const liveUser = (name: string, email: string | null, ...keys: readonly string[]) => [
  live(`user.${name}`, { email, tags: [] }),
  ...keys.map((one) => live(`apiKey.${name}.${one}`, key(one))),
]
const newUser = (name: string, email: string | null, ...keys: readonly string[]) => [
  declare(`user.${name}`, email === null ? {} : { email }),
  ...keys.map((one) => declare(`apiKey.${name}.${one}`, key(one))),
]
const text = policy('approvers.count() >= 2', "activity.action == 'SIGN'")

interface Case {
  readonly name: string
  /** What lives; all of it was managed here. */
  readonly lives: readonly Resource[]
  readonly defined: readonly Resource[]
  /** `former -> made: what both have: what is to be written`. */
  readonly expected: readonly string[]
}

describe('what may be a rename', () => {
  const cases: readonly Case[] = [
    {
      name: 'a user with the same e-mail address, in whatever case',
      lives: liveUser('ann', 'ann@acme.test', 'old'),
      defined: newUser('anna', 'Ann@Acme.test', 'new'),
      expected: ['user.ann -> user.anna: has the same `email`: renamedFrom: ann'],
    },
    {
      name: 'a user with the same API key and no address',
      lives: liveUser('ann', null, 'laptop', 'phone'),
      defined: newUser('anna', null, 'laptop'),
      expected: ['user.ann -> user.anna: has the same API key: renamedFrom: ann'],
    },
    {
      name: 'another user is no rename',
      lives: liveUser('ann', 'ann@acme.test', 'laptop'),
      defined: newUser('zoe', 'zoe@acme.test', 'other'),
      expected: [],
    },
    {
      name: 'a user of whom nothing is said is no rename',
      lives: liveUser('ann', 'ann@acme.test', 'laptop'),
      defined: newUser('zoe', null),
      expected: [],
    },
    {
      name: 'a user who is deleted by a definition',
      lives: liveUser('ann', 'ann@acme.test'),
      defined: [declare('user.ann', {}, { tombstone: true }), ...newUser('anna', 'ann@acme.test')],
      expected: ['user.ann -> user.anna: has the same `email`: renamedFrom: ann, and take'],
    },
    {
      name: 'a policy of the same text; the other one differs',
      lives: [live('policy.sign', text), live('policy.view', policy(null, "activity.action == 'EXPORT'"))],
      defined: [declare('policy.signers', text)],
      expected: ['policy.sign -> policy.signers: differs in nothing but its name: renamedFrom: sign'],
    },
    {
      name: 'a policy whose notes are others too',
      lives: [live('policy.sign', { ...text, notes: 'Who signs.' })],
      defined: [declare('policy.signers', { ...text, notes: 'Who signs, since July.' })],
      expected: ['policy.sign -> policy.signers: differs in nothing but its name and notes: renamedFrom: sign'],
    },
    {
      name: 'of two policies of the same text neither is proposed',
      lives: [live('policy.sign', text), live('policy.again', text)],
      defined: [declare('policy.signers', text)],
      expected: [],
    },
    {
      name: 'a wallet with the same accounts',
      lives: liveWallet('hot', ACCOUNTS.ethereum),
      defined: newWallet('warm', ACCOUNTS.ethereum),
      expected: ['wallet.hot -> wallet.warm: has the same wallet account: renamedFrom: hot'],
    },
    {
      name: 'a wallet with other accounts is no rename',
      lives: liveWallet('hot', ACCOUNTS.ethereum, ACCOUNTS.second),
      defined: newWallet('warm', ACCOUNTS.ethereum),
      expected: [],
    },
    {
      name: 'a name that YAML reads as something else stands in quotes',
      lives: [live('tag.on')],
      defined: [declare('tag.online')],
      expected: ['tag.on -> tag.online: differs in nothing but its name: renamedFrom: "on"'],
    },
  ]
  test.each(cases)('$name', ({ lives, defined, expected }) => {
    const actual = [...bootstrap(), ...lives]
    const lock = lockOfDeclared(actual, lives)
    const { plan, diagnostics } = makePlan(planInput({ actual, desired: defined, lock }))
    const said = diagnostics.filter(({ code }) => code === 'plan/perhaps-renamed')
    expect(said.map(({ severity }) => severity)).toEqual(said.map(() => 'warning'))
    const short = said.map(({ message, help }) => {
      const [, made, former, same] = /^`(.+)` would be made anew, and `(.+)`, which (.+), is /.exec(message)!
      const [, text, also] = /write `(.+)` into its definition here(, and take)?/.exec(help!)!
      return `${former} -> ${made}: ${same}: ${text}${also ?? ''}`
    })
    expect(short).toEqual(expected)
    const data = (plan.perhapsRenamed ?? []).map((one) => {
      return `${one.former} -> ${one.made}: ${one.same}: ${one.write}${one.isMarked ? ', and take' : ''}`
    })
    expect(data).toEqual(expected)
    expect(Object.keys(plan).includes('perhapsRenamed')).toBe(expected.length > 0)
    // It is said, and nothing is done for it.
    const made = defined.filter(({ tombstone, kind }) => !tombstone && (kind === 'user' || kind === 'wallet'))
    for (const { address } of made) expect(rows(plan)).toContain(`create ${address}`)
    const guards = plan.guards.map(({ message }) => message).join('\n')
    const isGuarded = expected.length > 0 && !defined.some(({ tombstone }) => tombstone)
    expect(guards.includes('under a new name, say there `renamedFrom: ')).toBe(isGuarded)
  })
  test('where several may be renamed, the guard says of each how, up to three, and how many more', () => {
    const called = (names: readonly string[]) =>
      names.map((name) => [`user.${name}`, { email: `${name.at(-1)}@acme.test` }] as const)
    const lives = called(['a1', 'a2', 'a3', 'a4']).map(([address, given]) => live(address, { ...given, tags: [] }))
    const defined = called(['b1', 'b2', 'b3', 'b4']).map(([address, given]) => declare(address, given))
    const actual = [...bootstrap(), ...lives]
    const messageOf = (most: number) => {
      const some = lives.slice(0, most)
      const given = {
        actual: [...bootstrap(), ...some],
        desired: defined.slice(0, most),
        lock: lockOfDeclared(actual, some),
      }
      return planOf(given)
        .guards.map(({ message }) => message)
        .join('\n')
    }
    const way = (at: number) =>
      `if \`user.b${at}\` is \`user.a${at}\` under a new name, say there \`renamedFrom: a${at}\``
    expect(messageOf(3)).toContain([way(1), way(2), way(3)].join('; '))
    expect(messageOf(3)).not.toContain('more may be renamed')
    expect(messageOf(4)).toContain(`${way(3)}; 1 more may be renamed too, as the warnings say`)
    expect(messageOf(4)).not.toContain(way(4))
  })
})
