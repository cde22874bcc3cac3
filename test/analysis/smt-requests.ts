/** The requests of two powers and the fields that policies read of them, as formulas: what docs/protocol/policies.md says, told by hand. */

export type SolvedPower = 'sign' | 'export'

export interface Field {
  readonly path: string
  /** What must be there for it to be read. */
  readonly root: string
  readonly sort: 'Bool' | 'Int' | 'Text'
  readonly folds: 'none' | 'hex' | 'address'
  /** A request that has the root may lack the field, or have a number there that does not fit. */
  readonly mayErr: boolean
}

type Row = Pick<Field, 'sort'> & Partial<Field>
const [text, number, flag] = [{ sort: 'Text' }, { sort: 'Int' }, { sort: 'Bool' }] as const satisfies readonly Row[]
const FIELDS: Readonly<Record<string, Row>> = {
  'activity.type': text,
  'activity.kind': text,
  'activity.resource': { ...text, root: 'activity.resource' },
  'activity.action': text,
  'activity.params.type': { ...text, root: 'activity.params.type' },
  'activity.params.encoding': { ...text, root: 'activity.params.encoding' },
  'activity.params.hash_function': { ...text, root: 'activity.params.encoding' },
  'activity.params.target_public_key': { ...text, root: 'activity.params.target_public_key' },
  'wallet.id': text,
  'wallet.label': text,
  'wallet.imported': flag,
  'wallet.exported': flag,
  'wallet_account.address': { ...text, folds: 'address' },
  'private_key.id': text,
  'private_key.label': text,
  'private_key.exported': flag,
  // Up to 2^256 - 1 on chain, and 2^127 - 1 here (U-overflow).
  'eth.tx.value': { ...number, mayErr: true },
  // A legacy transaction may be for no chain.
  'eth.tx.chain_id': { ...number, mayErr: true },
  'eth.tx.max_fee_per_gas': { ...number, mayErr: true },
  'eth.tx.nonce': number,
  'eth.tx.gas': number,
  'eth.tx.to': { ...text, folds: 'hex' },
  'eth.tx.data': { ...text, folds: 'hex' },
  'eth.eip_712.primary_type': text,
  'eth.eip_712.domain.name': { ...text, mayErr: true },
  'eth.eip_712.domain.chain_id': { ...number, mayErr: true },
  'eth.eip_7702_authorization.address': { ...text, folds: 'hex' },
  'bitcoin.tx.fee': number,
  'tron.tx.fee_limit': number,
  'tempo.tx.gas_limit': number,
  'solana.tx.recent_blockhash': text,
  'time.now': { ...number, root: 'activity' },
}
const WALLET_FIELDS = ['wallet.id', 'wallet.label'] as const

export function fieldOf(path: string): Field {
  const row = FIELDS[path]
  if (row === undefined) throw new TypeError(`the formulas do not know ${path}`)
  const [root, below] = path.split('.')
  return { path, root: root === 'eth' ? `eth.${below}` : root!, folds: 'none', mayErr: false, ...row }
}

/** What holds of every value of a name. */
export function domainOf(name: string, sort: string): readonly string[] {
  const row = FIELDS[name]
  if (row?.sort === 'Int') return name === 'time.now' ? [] : [`(and (>= |${name}| 0) (< |${name}| ${2n ** 127n}))`]
  if (sort !== 'String' || row?.folds !== 'hex') return []
  const hex = `(str.prefixof "0x" |${name}|)`
  return name === 'eth.tx.data' ? [hex] : [`(or (= |${name}| "") (and (= (str.len |${name}|) 42) ${hex}))`]
}

export type KnownWallets = readonly { readonly id: string; readonly label: string }[]

interface Words {
  readonly has: (root: string) => string
  readonly equal: (path: string, text: string) => string
  readonly wallets: KnownWallets
}

interface Kind {
  readonly type: string
  readonly kind: string
  readonly resource?: string
  readonly action: string
  readonly roots: readonly string[]
  readonly params?: Readonly<Record<string, string>>
}

const TRANSACTIONS = { ETHEREUM: 'eth.tx', SOLANA: 'solana', BITCOIN: 'bitcoin', TRON: 'tron', TEMPO: 'tempo' }
const PAYLOADS = {
  HEXADECIMAL: [],
  TEXT_UTF8: [],
  EIP712: ['eth.eip_712'],
  EIP7702_AUTHORIZATION: ['eth.eip_7702_authorization'],
}
const signed = (type: string, roots: readonly string[], params?: Kind['params']): readonly Kind[] =>
  [['wallet', 'wallet_account'], ['private_key']].map((holder) => ({
    type,
    kind: type.replace(/_V[0-9]+$/, ''),
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    roots: [...holder, ...roots],
    ...(params && { params }),
  }))
const exported = (kind: string, resource: string, roots: readonly string[]): Kind => ({
  ...{ type: kind, kind, resource, action: 'EXPORT' },
  roots: [...roots, 'activity.params.target_public_key'],
})
const KINDS: Readonly<Record<SolvedPower, readonly Kind[]>> = {
  sign: [
    ...Object.entries(TRANSACTIONS).flatMap(([chain, root]) => [
      ...signed('SIGN_TRANSACTION', [root]),
      ...signed('SIGN_TRANSACTION_V2', [root, 'activity.params.type'], {
        'activity.params.type': `TRANSACTION_TYPE_${chain}`,
      }),
    ]),
    ...['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOAD_V2', 'SIGN_RAW_PAYLOADS'].flatMap((type) =>
      Object.entries(PAYLOADS).flatMap(([encoding, roots]) =>
        signed(type, [...roots, 'activity.params.encoding'], {
          'activity.params.encoding': `PAYLOAD_ENCODING_${encoding}`,
        }),
      ),
    ),
    ...signed('SPARK_SIGN_FROST', []),
  ],
  export: [
    exported('EXPORT_WALLET', 'WALLET', ['wallet']),
    exported('EXPORT_WALLET_ACCOUNT', 'WALLET', ['wallet', 'wallet_account']),
    exported('EXPORT_PRIVATE_KEY', 'PRIVATE_KEY', ['private_key']),
    { type: 'EXPORT_SECRETS', kind: 'EXPORT_SECRETS', action: 'EXPORT', roots: ['secret'] },
  ],
}
const ROOTS = new Set(Object.values(KINDS).flatMap((kinds) => kinds.flatMap(({ roots }) => roots)))

/** That a request is one of a power. */
export function requestsIn(power: SolvedPower, words: Words): string {
  const kinds = KINDS[power].map(({ type, kind, resource, action, roots, params = {} }) => {
    const said = {
      'activity.type': `ACTIVITY_TYPE_${type}`,
      'activity.kind': kind,
      'activity.action': action,
      ...(resource && { 'activity.resource': resource }),
      ...params,
    }
    const there = [...ROOTS].map((root) => (roots.includes(root) ? words.has(root) : `(not ${words.has(root)})`))
    const named = resource === undefined ? `(not ${words.has('activity.resource')})` : words.has('activity.resource')
    const equal = Object.entries(said).map(([path, value]) => words.equal(path, value))
    return `(and ${[...there, named, ...equal].join(' ')})`
  })
  const [byId, byLabel] = WALLET_FIELDS.map((path) =>
    words.wallets.map((wallet) => words.equal(path, wallet[path === 'wallet.id' ? 'id' : 'label'])),
  )
  // A wallet that is known by its id has its label; others have neither the id nor the label of one that is.
  const wallets = words.wallets.map((_, index) => `(and ${byId![index]} ${byLabel![index]})`)
  const another = [...byId!, ...byLabel!].map((one) => `(not ${one})`)
  return `(and ${words.has('activity')} (or ${kinds.join(' ')}) (or ${wallets.join(' ')} (and true ${another.join(' ')})))`
}
