/** Small organizations to plan against: made of plain fields, with ids that say what they are. */
import { createHash } from 'node:crypto'
import type { Lock } from '../../src/plan/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  formatAddress,
  type KindName,
  parentOf,
  parseAddress,
  type Resource,
  type Value,
} from '../../src/resources/index.ts'

export const ORGANIZATION = '0a0a0a0a-0000-4000-8000-000000000001'

/** A live id that is the same on every run. */
export function idFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function publicKey(name: string): string {
  return `02${createHash('sha256').update(name).digest('hex')}`
}

export function ref(address: Address): Value {
  return { $ref: address }
}

/** A text with references: `text('a == \'', ref, '\'')`. */
export function text(...pieces: readonly (string | Value)[]): Value {
  return { $text: pieces as never }
}

type Fields = Readonly<Record<string, Value>>
interface Marks {
  readonly tombstone?: boolean
  readonly renamedFrom?: string
}

/** A declared resource. */
export function declare(address: Address, fields: Fields = {}, marks: Marks = {}): Resource {
  const { kind, names } = parseAddress(address)!
  const parent = parentOf(address)
  return { address, kind, name: names.at(-1) ?? kind, ...(parent ? { parent } : {}), fields, ...marks }
}

/** A live resource; its id is made of its address unless given. */
export function live(address: Address, fields: Fields = {}, id?: string): Resource {
  const { kind, names } = parseAddress(address)!
  const name = names.at(-1) ?? kind
  const parent = parentOf(address)
  const own =
    kind === 'rootQuorum' || kind === 'feature' ? name : kind === 'organization' ? ORGANIZATION : idFor(address)
  const named = kind === 'user' || kind === 'tag' || kind === 'policy' || kind === 'wallet'
  return {
    address,
    kind,
    name,
    ...(parent ? { parent, parentId: idFor(parent) } : {}),
    fields: named ? { name, ...fields } : fields,
    id: id ?? own,
  }
}

export function desiredOf(resources: readonly Resource[], manageAll: readonly KindName[] = []): Desired {
  const digest = createHash('sha256').update(JSON.stringify(resources)).digest('hex')
  return { organization: 'acme', organizationId: ORGANIZATION, resources, manageAll: new Set(manageAll), digest }
}

export function actualOf(resources: readonly Resource[]): Actual {
  return {
    organizationId: ORGANIZATION,
    organizationName: 'Acme',
    resources,
    actor: { userId: idFor('user.alice'), userName: 'alice', publicKey: publicKey('alice laptop') },
  }
}

export const key = (name: string): Fields => ({ curve: 'P256', publicKey: publicKey(name) })
export const policy = (consensus: Value, condition: Value, effect = 'allow'): Fields => ({
  effect,
  consensus,
  condition,
  time: null,
  notes: '',
})

/** What `serve` leaves: alice alone, with her key. */
export function bootstrap(): readonly Resource[] {
  return [
    live('organization', { name: 'Acme' }),
    live('rootQuorum', { threshold: 1, users: [idFor('user.alice')] }),
    live('user.alice', { email: 'alice@acme.test', tags: [] }),
    live('apiKey.alice.laptop', key('alice laptop')),
  ]
}

/** The demo organization: three people, quorum 2 of 3, tags, policies, two wallets, a feature. */
export function acme(): readonly Resource[] {
  const inTreasury = text("approvers.any(user, user.tags.contains('", ref('tag.treasury'), "'))")
  return [
    declare('rootQuorum', { threshold: 2, users: [ref('user.alice'), ref('user.bob'), ref('user.carol')] }),
    declare('tag.treasury'),
    declare('tag.engineering'),
    declare('user.alice', { email: 'alice@acme.test', tags: [ref('tag.treasury')] }),
    declare('apiKey.alice.laptop', key('alice laptop')),
    declare('user.bob', { email: 'bob@acme.test', tags: [ref('tag.treasury')] }),
    declare('apiKey.bob.laptop', key('bob laptop')),
    declare('user.carol', { email: 'carol@acme.test', tags: [ref('tag.engineering')] }),
    declare('apiKey.carol.laptop', key('carol laptop')),
    declare('policy.treasury-signs', policy(inTreasury, text("wallet.id == '", ref('wallet.treasury'), "'"))),
    declare('policy.no-exports', policy(null, "activity.action == 'EXPORT'", 'deny')),
    declare('policy.engineering-wallets', policy(inTreasury, "activity.resource == 'WALLET'")),
    declare('wallet.treasury', { mnemonicLength: 24 }),
    declare(formatAddress('walletAccount', 'treasury', "m/44'/60'/0'/0/0 ethereum"), {
      path: "m/44'/60'/0'/0/0",
      curve: 'secp256k1',
      format: 'ethereum',
    }),
    declare('wallet.payroll', { mnemonicLength: 12 }),
    declare('feature.AUTH_PROXY'),
  ]
}

/** The lock of somebody who has applied what is declared here as it lives; what only lives is not in it. */
export function lockOfDeclared(living: readonly Resource[], declared: readonly Resource[] = []): Lock {
  const names = new Set(
    declared.flatMap(({ address, kind, renamedFrom }) => [
      address,
      ...(renamedFrom === undefined ? [] : [formatAddress(kind, renamedFrom)]),
    ]),
  )
  const own = ({ id, name, kind }: Resource) => id !== name && kind !== 'organization'
  const rows = living
    .filter(({ address }) => names.has(address))
    .map((one) => [one.address, own(one) ? { id: one.id! } : {}])
  return { [ORGANIZATION]: Object.fromEntries(rows) }
}
