/** An organization of a given size: its definitions, its lock, and the answers of an API in which it lives unchanged. */
import { createHash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { type BenchApi, ORGANIZATION } from './plan-client.ts'

/** Of ten resources: a tag, two users with a key each, three policies, a wallet with an account. */
const TEN = 10

export interface Made {
  readonly files: Readonly<Record<string, string>>
  /** Files of the same definitions with one change in them. */
  readonly changed: Readonly<Record<string, string>>
  readonly api: BenchApi
}

export function idFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function publicKeyOf(n: number): string {
  const secret = createHash('sha256').update(`key ${n}`).digest()
  return Buffer.from(p256.getPublicKey(secret, true)).toString('hex')
}

/** Makes it; the same on every run. */
export function makeOrganization(size: number): Made {
  const groups = Array.from({ length: Math.round(size / TEN) }, (_, n) => n)
  const people = groups.flatMap((n) =>
    [`p${n}a`, `p${n}b`].map((name, i) => ({ name, n, key: publicKeyOf(n * 2 + i) })),
  )
  const condition = (n: number, kind: string) => `activity.kind == '${kind}' && wallet.id == '${idFor(`w${n}`)}'`
  const consensus = (n: number) => `approvers.any(user, user.tags.contains('${idFor(`t${n}`)}'))`
  const kinds = ['SIGN_TRANSACTION', 'SIGN_RAW_PAYLOAD', 'EXPORT_WALLET']
  const policies = groups.flatMap((n) => kinds.map((kind) => ({ name: `${kind.toLowerCase()}-${n}`, n, kind })))

  const users = people.map(
    ({ name, n, key }) =>
      `  ${name}:\n    email: ${name}@acme.test\n    tags: [t${n}]\n    apiKeys:\n      laptop: { curve: P256, publicKey: ${key} }\n`,
  )
  const rules = policies.map(
    ({ name, n, kind }) =>
      `  ${name}:\n    effect: allow\n    consensus: approvers.any(user, user.tags.contains('\${tag.t${n}}'))\n    condition: activity.kind == '${kind}' && wallet.id == '\${wallet.w${n}}'\n    notes: Wallet ${n} is for its own people.\n`,
  )
  const wallets = groups.map(
    (n) => `  w${n}:\n    accounts:\n      - { path: "m/44'/60'/0'/0/0", curve: secp256k1, format: ethereum }\n`,
  )
  const account = "walletAccount.w%[\"m/44'/60'/0'/0/0 ethereum\"]"
  const lock = [
    ...groups.map((n) => `  tag.t${n}: ${idFor(`t${n}`)}\n`),
    ...people.flatMap(({ name }) => [
      `  user.${name}: ${idFor(name)}\n`,
      `  apiKey.${name}.laptop: ${idFor(`${name} key`)}\n`,
    ]),
    ...policies.map(({ name }) => `  policy.${name}: ${idFor(name)}\n`),
    ...groups.flatMap((n) => [
      `  wallet.w${n}: ${idFor(`w${n}`)}\n`,
      `  ${account.replace('%', String(n))}: ${idFor(`account ${n}`)}\n`,
    ]),
  ]

  const answers = new Map<string, unknown>([
    ['whoami', { organizationId: ORGANIZATION, organizationName: 'Acme', userId: idFor('p0a'), username: 'p0a' }],
    ['get_organization_configs', { configs: { quorum: { threshold: 1, userIds: [idFor('p0a')] }, features: [] } }],
    [
      'list_user_tags',
      { userTags: groups.map((n) => ({ tagId: idFor(`t${n}`), tagName: `t${n}`, tagType: 'TAG_TYPE_USER' })) },
    ],
    [
      'list_users',
      {
        users: people.map(({ name, n, key }) => ({
          userId: idFor(name),
          userName: name,
          userEmail: `${name}@acme.test`,
          userTags: [idFor(`t${n}`)],
          authenticators: [],
          oauthProviders: [],
          mfaPolicies: [],
          apiKeys: [
            {
              apiKeyId: idFor(`${name} key`),
              apiKeyName: 'laptop',
              credential: { type: 'CREDENTIAL_TYPE_API_KEY_P256', publicKey: key },
            },
          ],
        })),
      },
    ],
    [
      'list_policies',
      {
        policies: policies.map(({ name, n, kind }) => ({
          policyId: idFor(name),
          policyName: name,
          effect: 'EFFECT_ALLOW',
          consensus: consensus(n),
          condition: condition(n, kind),
          notes: `Wallet ${n} is for its own people.`,
        })),
      },
    ],
    ['list_wallets', { wallets: groups.map((n) => ({ walletId: idFor(`w${n}`), walletName: `w${n}` })) }],
  ])
  for (const n of groups) {
    answers.set(`list_wallet_accounts ${idFor(`w${n}`)}`, {
      accounts: [
        {
          walletAccountId: idFor(`account ${n}`),
          walletId: idFor(`w${n}`),
          path: "m/44'/60'/0'/0/0",
          curve: 'CURVE_SECP256K1',
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        },
      ],
    })
  }
  const peopleFile = `tags:\n${groups.map((n) => `  t${n}: {}\n`).join('')}users:\n${users.join('')}`
  return {
    files: {
      'organization.yaml': `organization: acme\nid: ${ORGANIZATION}\nrootQuorum: { threshold: 1, users: [p0a] }\n`,
      'people.yaml': peopleFile,
      'policies.yaml': `policies:\n${rules.join('')}`,
      'wallets.yaml': `wallets:\n${wallets.join('')}`,
      'quorate.lock.yaml': `${ORGANIZATION}:\n${lock.sort().join('')}`,
    },
    changed: { 'people.yaml': peopleFile.replace('p0b@acme.test', 'other@acme.test') },
    api: {
      answers: Object.fromEntries([...answers].map(([query, answer]) => [query, JSON.stringify(answer)])),
      publicKey: people[0]!.key,
    },
  }
}
