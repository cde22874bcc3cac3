import {
  type AddressWriter,
  aptos,
  bitcoin,
  compressed,
  cosmos,
  doge,
  ethereum,
  solana,
  spark,
  stellar,
  sui,
  tron,
  uncompressed,
  xrp,
} from './address.ts'
import { type Curve, curves } from './curves.ts'
import { tonAddress } from './ton-address.ts'

/** One address format. */
export interface AddressFormatRow {
  /** The short name in definitions. */
  readonly name: string
  readonly curves: readonly Curve[]
  readonly write: AddressWriter
  /** The namespace of the chain (CAIP-2), where the API names one. */
  readonly caip2Prefix?: string
  /**
   * The path that the published SDKs expand the format to; `i` stands for the account's index
   * (docs/protocol/keys.md#default-paths).
   */
  readonly defaultPath?: string
}

const ANY = Object.keys(curves) as Curve[]
const SECP256K1 = ['CURVE_SECP256K1'] as const
const ED25519 = ['CURVE_ED25519'] as const

/** Bitcoin's networks; signet's addresses look like testnet's. */
const BITCOIN_NETWORKS = {
  MAINNET: { network: 'mainnet', coin: 0 },
  TESTNET: { network: 'testnet', coin: 1 },
  SIGNET: { network: 'testnet', coin: 1 },
  REGTEST: { network: 'regtest', coin: 1 },
} as const

/** Bitcoin's scripts, and the default path of each by coin type. */
const BITCOIN_SCRIPTS = {
  P2PKH: { script: 'p2pkh', path: (coin: number) => `m/44'/${coin}'/i'/0/0` },
  P2SH: { script: 'p2sh', path: (coin: number) => `m/44'/${coin}'/i'/0/0` },
  P2WPKH: { script: 'p2wpkh', path: (coin: number) => `m/84'/${coin}'/i'/0/0` },
  P2WSH: { script: 'p2wsh', path: (coin: number) => `m/48'/${coin}'/i'/2'/0/0` },
  P2TR: { script: 'p2tr', path: (coin: number) => `m/86'/${coin}'/i'/0/0` },
} as const
type BitcoinFormat = `ADDRESS_FORMAT_BITCOIN_${keyof typeof BITCOIN_NETWORKS}_${keyof typeof BITCOIN_SCRIPTS}`

/** The formats of addresses by their word on the wire (docs/protocol/keys.md#address-formats). */
export const addressFormats = {
  ADDRESS_FORMAT_UNCOMPRESSED: { name: 'uncompressed', curves: ANY, write: uncompressed },
  ADDRESS_FORMAT_COMPRESSED: { name: 'compressed', curves: ANY, write: compressed },
  ADDRESS_FORMAT_ETHEREUM: {
    name: 'ethereum',
    curves: SECP256K1,
    write: ethereum,
    caip2Prefix: 'eip155',
    defaultPath: "m/44'/60'/i'/0/0",
  },
  ADDRESS_FORMAT_SOLANA: {
    name: 'solana',
    curves: ED25519,
    write: solana,
    caip2Prefix: 'solana',
    defaultPath: "m/44'/501'/i'/0'",
  },
  ADDRESS_FORMAT_COSMOS: on(SECP256K1, 'cosmos', cosmos('cosmos'), "m/44'/118'/i'/0/0"),
  // One published table gives Sei Ed25519; its network page, and its chain, say secp256k1.
  ADDRESS_FORMAT_SEI: on(SECP256K1, 'sei', cosmos('sei'), "m/44'/118'/i'/0'/0'"),
  ADDRESS_FORMAT_TRON: on(SECP256K1, 'tron', tron, "m/44'/195'/i'"),
  ...bitcoinFormats(),
  ADDRESS_FORMAT_DOGE_MAINNET: on(SECP256K1, 'doge-mainnet', doge(0x1e), "m/44'/3'/i'/0/0"),
  ADDRESS_FORMAT_DOGE_TESTNET: on(SECP256K1, 'doge-testnet', doge(0x71), "m/44'/3'/i'/0/0"),
  ADDRESS_FORMAT_XRP: on(SECP256K1, 'xrp', xrp, "m/44'/144'/i'/0'/0'"),
  ADDRESS_FORMAT_SUI: on(ED25519, 'sui', sui, "m/44'/784'/i'/0'/0'"),
  ADDRESS_FORMAT_APTOS: on(ED25519, 'aptos', aptos, "m/44'/637'/i'/0'/0'"),
  ADDRESS_FORMAT_XLM: on(ED25519, 'xlm', stellar, "m/44'/148'/i'"),
  ADDRESS_FORMAT_TON_V3R2: on(ED25519, 'ton-v3r2', ({ bytes }) => tonAddress('v3r2', bytes), "m/44'/607'/i'/0'/0'"),
  ADDRESS_FORMAT_TON_V4R2: on(ED25519, 'ton-v4r2', ({ bytes }) => tonAddress('v4r2', bytes), "m/44'/607'/i'/0'/0'"),
  ADDRESS_FORMAT_TON_V5R1: on(ED25519, 'ton-v5r1', ({ bytes }) => tonAddress('v5r1', bytes)),
  // The identity path that Spark itself uses; the SDKs' preset m/86' gives accounts that Spark cannot find.
  ADDRESS_FORMAT_SPARK_MAINNET: on(SECP256K1, 'spark-mainnet', spark('spark'), "m/8797555'/i'/0'"),
  ADDRESS_FORMAT_SPARK_REGTEST: on(SECP256K1, 'spark-regtest', spark('sparkrt'), "m/8797555'/i'/0'"),
} as const satisfies Record<`ADDRESS_FORMAT_${string}`, AddressFormatRow>
export type AddressFormat = keyof typeof addressFormats

/** Whether the text is a format's word on the wire. */
export function isAddressFormat(word: string): word is AddressFormat {
  return Object.hasOwn(addressFormats, word)
}

/** The row of a format. */
export function addressFormatRow(format: AddressFormat): AddressFormatRow {
  return addressFormats[format]
}

/** The format of a short name such as `bitcoin-mainnet-p2wpkh`, if there is one. */
export function addressFormatByName(name: string): AddressFormat | undefined {
  return (Object.keys(addressFormats) as AddressFormat[]).find((format) => addressFormats[format].name === name)
}

function bitcoinFormats(): Record<BitcoinFormat, AddressFormatRow> {
  const rows = Object.entries(BITCOIN_NETWORKS).flatMap(([net, { network, coin }]) =>
    Object.entries(BITCOIN_SCRIPTS).map(([kind, { script, path }]) => {
      const name = `bitcoin-${net}-${kind}`.toLowerCase()
      return [`ADDRESS_FORMAT_BITCOIN_${net}_${kind}`, on(SECP256K1, name, bitcoin(network, script), path(coin))]
    }),
  )
  return Object.fromEntries(rows) // every pair of the two tables
}

function on(curves: readonly Curve[], name: string, write: AddressWriter, defaultPath?: string): AddressFormatRow {
  return { name, curves, write, ...(defaultPath === undefined ? {} : { defaultPath }) }
}
