/** Organizations as the API would answer for them, read by the converters of the kinds. */
import { createHash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import fc from 'fast-check'
import {
  type Actual,
  apiKeyFromWire,
  authenticatorFromWire,
  organizationFromWire,
  policyFromWire,
  type Resource,
  rootQuorumFromWire,
  tagFromWire,
  userFromWire,
  walletAccountFromWire,
  walletFromWire,
} from '../../src/resources/index.ts'

export interface Shape {
  readonly tags: readonly string[]
  readonly users: readonly {
    readonly name: string
    readonly email?: string | undefined
    readonly tags: readonly number[]
    readonly keys: readonly string[]
    readonly passkeys: readonly string[]
  }[]
  readonly policies: readonly {
    readonly name: string
    readonly effect: 'allow' | 'deny'
    readonly consensus?: string | undefined
    readonly condition?: string | undefined
    readonly notes?: string | undefined
  }[]
  readonly wallets: readonly { readonly name: string; readonly accounts: number }[]
  readonly threshold: number
}

/** The same id for the same place, so that a thing keeps its id when the rest changes. */
function idFor(place: string): string {
  const hex = createHash('sha256').update(place).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

const keyCache = new Map<string, string>()
function publicKey(seed: string): string {
  const known = keyCache.get(seed)
  if (known !== undefined) return known
  const secret = createHash('sha256').update(seed).digest()
  const key = Buffer.from(p256.getPublicKey(secret, true)).toString('hex')
  keyCache.set(seed, key)
  return key
}

const ORGANIZATION = idFor('organization')

type Ids = Readonly<Record<'TAG' | 'USER' | 'WALLET', readonly string[]>>

/** `TAG0`, `USER0` and `WALLET0` in expressions become ids; what there is none of keeps one that nothing has. */
export function withIds(text: string, ids: Ids = { TAG: [], USER: [], WALLET: [] }): string {
  return text.replace(
    /(TAG|USER|WALLET)(\d+)/g,
    (_, kind: keyof Ids, index: string) => ids[kind][Number(index)] ?? idFor(`${kind.toLowerCase()}${index}`),
  )
}

export function liveOrganization({ tags, users, policies, wallets, threshold }: Shape): Actual {
  const organization = organizationFromWire({ organizationId: ORGANIZATION, organizationName: 'Acme: holding #1' })
  const people = users.flatMap(({ name, email, tags: carried, keys, passkeys }, index): Resource[] => {
    const user = userFromWire({
      userId: idFor(`user${index}`),
      userName: name,
      ...(email === undefined ? {} : { userEmail: email }),
      userTags: carried.map((tag) => idFor(`tag${tag}`)),
    })
    return [
      user,
      ...keys.flatMap(
        (keyName, at) =>
          apiKeyFromWire(
            {
              apiKeyId: idFor(`key${index}.${at}`),
              apiKeyName: keyName,
              credential: { type: 'CREDENTIAL_TYPE_API_KEY_P256', publicKey: publicKey(`${index}.${at}`) },
            },
            user,
          ) ?? [],
      ),
      ...passkeys.map((passkey, at) =>
        authenticatorFromWire(
          {
            authenticatorId: idFor(`passkey${index}.${at}`),
            authenticatorName: passkey,
            credentialId: `credential-${index}-${at}`,
          },
          user,
        ),
      ),
    ]
  })
  const money = wallets.flatMap(({ name, accounts }, index): Resource[] => {
    const wallet = walletFromWire({ walletId: idFor(`wallet${index}`), walletName: name })
    const held = Array.from({ length: accounts }, (_, at) =>
      walletAccountFromWire(
        {
          walletAccountId: idFor(`account${index}.${at}`),
          walletId: wallet.id,
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: `m/44'/60'/0'/0/${at}`,
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
          address: '0x0',
        },
        wallet,
      ),
    )
    return [wallet, ...held]
  })
  return {
    organizationId: ORGANIZATION,
    organizationName: 'Acme: holding #1',
    actor: { userId: idFor('user0'), userName: users[0]!.name, publicKey: publicKey('0.0') },
    resources: [
      organization,
      rootQuorumFromWire({ threshold, userIds: users.slice(0, threshold).map((_, index) => idFor(`user${index}`)) }),
      ...tags.map((name, index) => tagFromWire({ tagId: idFor(`tag${index}`), tagName: name })),
      ...people,
      ...policies.map(({ name, effect, consensus, condition, notes }, index) =>
        policyFromWire({
          policyId: idFor(`policy${index}`),
          policyName: name,
          effect: `EFFECT_${effect.toUpperCase()}`,
          consensus: consensus && withIds(consensus),
          condition: condition && withIds(condition),
          notes,
        }),
      ),
      ...money,
    ],
  }
}

/** Names that YAML reads as something else, or that look like more than a name. */
const names = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/),
  fc.stringMatching(/^[!-~][ -~]{0,14}[!-~]$/),
  fc.constantFrom(
    'null',
    'true',
    '~',
    '12',
    '0x1f',
    '1e5',
    '- a',
    'a: b',
    '# c',
    '"',
    "it's",
    '{}',
    '[x]',
    'ünï',
    '日本',
    '&a',
    '*a',
    '__proto__',
    '<<',
    'a, b',
    '@x',
    '%y',
    '`z',
    'constructor',
    '?',
    '2001-01-01',
  ),
)

function unique<T>(make: (name: string) => fc.Arbitrary<T>, least: number, most: number) {
  return fc
    .uniqueArray(names, { minLength: least, maxLength: most, selector: (name) => name.normalize('NFC') })
    .chain((list) => (list.length === 0 ? fc.constant([] as T[]) : fc.tuple(...list.map(make))))
}

const expressions = fc.constantFrom(
  undefined,
  'true',
  "activity.kind == 'SIGN_TRANSACTION'",
  "wallet.id == 'WALLET0' && eth.tx.value < 1000",
  "wallet.id in ['WALLET0', 'WALLET1']\n  && activity.action == 'SIGN'",
  "activity.kind == 'SIGN_TRANSACTION' && wallet.id == 'WALLET0' && eth.tx.value < 1000000000000000000 && eth.tx.to == '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'",
  "wallet.label  ==  'A  B'",
  "wallet.label == '${wallet.x}'",
  "wallet.label == '# no comment: at all'",
)
const approvals = fc.constantFrom(
  undefined,
  "approvers.any(user, user.id == 'USER0')",
  "approvers.filter(user, user.tags.contains('TAG0')).count() >= 2",
)
const notes = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom('two\nlines\n', ' blank ', '${x}', '- a', '\ttab', 'a  b', 'long '.repeat(40)),
  fc.string({ maxLength: 20 }),
)

export const arbitraryOrganization: fc.Arbitrary<Shape> = fc
  .record({
    tags: unique((name) => fc.constant(name), 0, 3),
    users: unique(
      (name) =>
        fc.record({
          name: fc.constant(name),
          email: fc.constantFrom(undefined, 'a@acme.test', 'B@acme.test'),
          tags: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
          keys: fc.array(names, { maxLength: 2 }),
          passkeys: fc.array(names, { maxLength: 1 }),
        }),
      1,
      4,
    ),
    policies: unique(
      (name) =>
        fc.record({
          name: fc.constant(name),
          effect: fc.constantFrom('allow' as const, 'deny' as const),
          consensus: approvals,
          condition: expressions,
          notes,
        }),
      0,
      3,
    ),
    wallets: unique((name) => fc.record({ name: fc.constant(name), accounts: fc.nat(2) }), 0, 2),
  })
  .map((shape) => ({
    ...shape,
    users: shape.users.map((user) => ({ ...user, tags: user.tags.filter((tag) => tag < shape.tags.length) })),
    threshold: 1,
  }))
