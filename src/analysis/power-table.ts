/**
 * The powers that lead to funds, or to who may decide about them, and the requests that use each: every version of every activity, in
 * each kind of request that its type can be, for each wallet and private key that it is about.
 */
import { allWorlds, type PossibleRequest } from '../policy/index.ts'
import { type ActivityRow, activities } from '../protocol/index.ts'
import type { Address } from '../resources/index.ts'
import type { Holder, PowerWorld } from './possible.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** The powers, in the order in which they are shown, and the activities that use each. */
export const POWERS = {
  sign: ({ action, family }) => action === 'SIGN' && SIGNS.has(family),
  send: ({ action, family }) => action === 'SIGN' && !SIGNS.has(family),
  export: ({ action }) => action === 'EXPORT',
  import: ({ action }) => action === 'IMPORT',
  policies: ({ resource }) => resource === 'POLICY',
  quorum: ({ family }) => family === 'UPDATE_ROOT_QUORUM',
  users: ({ resource, family }) => resource === 'USER' || resource === 'INVITATION' || family === 'ACCEPT_INVITATION',
  credentials: ({ resource }) => CREDENTIALS.has(resource ?? ''),
  features: ({ family, resource }) => family.endsWith('_ORGANIZATION_FEATURE') || resource === 'AUTH_PROXY',
  wallets: ({ resource, action }) => HOLDERS.has(resource ?? '') && CHANGES.has(action ?? ''),
  organizations: ({ resource, family }) => resource === 'ORGANIZATION' || family === 'CREATE_ORGANIZATION',
} as const satisfies Readonly<Record<string, (row: ActivityRow) => boolean>>
export type PowerName = keyof typeof POWERS

export const POWER_NAMES = Object.keys(POWERS) as readonly PowerName[]

/** What a plan calls each power. */
export const POWER_WORDS = {
  sign: 'sign',
  send: 'send',
  export: 'export',
  import: 'import',
  policies: 'change policies',
  quorum: 'change the root quorum',
  users: 'change users',
  credentials: 'change credentials',
  features: 'change features',
  wallets: 'change wallets',
  organizations: 'change organizations',
} as const satisfies Readonly<Record<PowerName, string>>

const SIGNS = new Set(['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS', 'SIGN_TRANSACTION', 'SPARK_SIGN_FROST'])
const CREDENTIALS = new Set(['CREDENTIAL', 'MFA_POLICY', 'AUTH', 'OTP', 'RECOVERY', 'SESSION_PROFILE'])
const HOLDERS = new Set(['WALLET', 'PRIVATE_KEY'])
const CHANGES = new Set(['CREATE', 'UPDATE', 'DELETE'])

export type HolderRoot = Holder['root']

/** A request of some kind, with its place in `EVERY_REQUEST`. */
export interface PowerRequest extends PossibleRequest {
  readonly index: number
  /** Whether it is about a wallet, or about a private key; of neither where absent. */
  readonly root?: HolderRoot
}

export interface AddressedHolder extends Holder {
  readonly address: Address
}

/** A request about one wallet or private key, or about none. */
export interface AddressedWorld extends PowerWorld, PowerRequest {
  readonly holder?: AddressedHolder
}

/** Those in which policies are asked, and those of what the root quorum alone may do. */
export const EVERY_REQUEST: readonly PowerRequest[] = [
  ...allWorlds(),
  ...Object.values(activities)
    .filter(({ rootOnly }) => rootOnly)
    .map((row): PossibleRequest => ({ row, defined: new Set(), params: {} })),
].map((request, index) => {
  const root = (['wallet', 'private_key'] as const).find((one) => request.defined.has(one))
  return { ...request, index, ...(root === undefined ? {} : { root }) }
})

const BY_POWER = new Map(
  POWER_NAMES.map((power) => [power, EVERY_REQUEST.filter(({ row }) => POWERS[power](row))] as const),
)

/** The requests that use a power. */
export function requestsOf(power: PowerName): readonly PowerRequest[] {
  return BY_POWER.get(power)!
}

/** The wallets and private keys of a state. */
export function holdersOf(state: OrganizationState): Readonly<Record<HolderRoot, readonly AddressedHolder[]>> {
  const holders = (kind: 'wallet' | 'privateKey', root: HolderRoot): readonly AddressedHolder[] =>
    thingsOf(state, kind).map(({ id, name, address }) => ({ root, id: id!, label: name, address }))
  return { wallet: holders('wallet', 'wallet'), private_key: holders('privateKey', 'private_key') }
}

/** The requests of a power, one for each holder where they are about one. */
export function worldsOf(power: PowerName, holders: ReturnType<typeof holdersOf>): readonly AddressedWorld[] {
  return requestsOf(power).flatMap((request): readonly AddressedWorld[] =>
    request.root === undefined ? [request] : holders[request.root].map((holder) => ({ ...request, holder })),
  )
}

/** Requests by their types, each type once where all of its requests are among them. */
export function activitiesOf(requests: readonly PossibleRequest[]): readonly string[] {
  const names = new Set(requests.map(requestName))
  const types = requests.map((request) => {
    const all = EVERY_REQUEST.filter(({ row }) => row === request.row)
    return all.every((one) => names.has(requestName(one))) ? request.row.type : requestName(request)
  })
  return [...new Set(types)].sort()
}

function requestName({ row, params }: PossibleRequest): string {
  const said = Object.values(params)
  return said.length === 0 ? row.type : `${row.type} (${said.join(', ')})`
}

/** Families whose names say nothing to who has not read their standard (docs/protocol/spark.md#frost-shares). */
const FAMILY_WORDS: Readonly<Record<string, string>> = {
  SPARK_SIGN_FROST: 'sign on Spark (its share of a FROST signature)',
}

function familyWords(family: string): string {
  return FAMILY_WORDS[family] ?? family.toLowerCase().replaceAll('_', ' ')
}

/** The power that a plan calls so, or that a request which it calls so is of: `change policies`, `sign transaction (solana)`. */
export function powerCalled(text: string): { readonly power: PowerName; readonly isWhole: boolean } | undefined {
  const whole = POWER_NAMES.find((power) => POWER_WORDS[power] === text)
  if (whole !== undefined) return { power: whole, isWhole: true }
  const called = (family: string) => text === familyWords(family) || text.startsWith(`${familyWords(family)} (`)
  const power = POWER_NAMES.find((one) => requestsOf(one).some(({ row }) => called(row.family)))
  return power && { power, isWhole: false }
}

/** Requests in words: `sign transaction` where all its versions are among them, `sign transaction (solana)`, or by the version's type. */
export function requestWords(requests: readonly PowerRequest[], root: HolderRoot | undefined): readonly string[] {
  const given = new Set(requests.map(({ index }) => index))
  const families = Map.groupBy(
    EVERY_REQUEST.filter((one) => one.root === root),
    ({ row }) => row.family,
  )
  const words = [...families].flatMap(([family, all]): readonly string[] => {
    const some = all.filter(({ index }) => given.has(index))
    if (some.length === 0) return []
    const name = familyWords(family)
    if (some.length === all.length) return [name]
    const byVariant = Map.groupBy(all, variantOf)
    return [...byVariant].flatMap(([variant, versions]) => {
      const here = versions.filter(({ index }) => given.has(index))
      const of = variant === '' ? '' : ` (${variant})`
      if (here.length === versions.length) return [`${name}${of}`]
      return here.map(({ row }) => `${row.type.replace('ACTIVITY_TYPE_', '')}${of}`)
    })
  })
  return words.sort()
}

/** `solana` of a transaction, `eip712` of a payload. */
function variantOf({ params }: PossibleRequest): string {
  return Object.values(params)
    .map((text) => text.replace(/^(TRANSACTION_TYPE|PAYLOAD_ENCODING)_/, '').toLowerCase())
    .join(' ')
}
