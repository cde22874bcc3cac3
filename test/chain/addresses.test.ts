import { base32nopad, base58, base58xrp, bech32, bech32m, createBase58check } from '@scure/base'
import { Address, NETWORK, TEST_NETWORK } from '@scure/btc-signer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AddressFormat,
  addressFormatByName,
  addressFormatRow,
  addressFormats,
  type Curve,
  checkAccount,
  curveByName,
  curves,
  openWallet,
} from '../../src/chain/index.ts'
import { sha256 } from '../../src/crypto/index.ts'
import type { Wire } from '../../src/protocol/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'

const FORMATS = Object.keys(addressFormats) as AddressFormat[]
const CURVES = Object.keys(curves) as Curve[]

const wallet = openWallet(
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
)

describe('vectors', () => {
  const vectors = readVectors<{
    readonly format: string
    readonly curve: string
    readonly path: string
    readonly address: string
    readonly publicKey: string
  }>('addresses/abandon-about.jsonl')

  for (const { format, curve, path, address, publicKey } of vectors) {
    test(`address: ${format} of ${path} is the known one`, () => {
      const account = { curve: curveByName(curve)!, path, addressFormat: `ADDRESS_FORMAT_${format}` }
      expect(wallet.derive(account)).toEqual({ address, publicKey })
    })
  }

  test('address: every format but those whose form another one shares is among the vectors', () => {
    const seen = new Set(vectors.map(({ format }) => `ADDRESS_FORMAT_${format}`))
    expect(FORMATS.filter((format) => !seen.has(format))).toEqual([
      'ADDRESS_FORMAT_UNCOMPRESSED',
      'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH',
      'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH',
      'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH',
    ])
  })

  test('address: the uncompressed form of the generator is the one of SEC 2, and an Ed25519 key stays as it is', () => {
    const { write } = addressFormatRow('ADDRESS_FORMAT_UNCOMPRESSED')
    const x = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
    const y = '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8'
    expect(write({ curve: 'CURVE_SECP256K1', bytes: Buffer.from(`02${x}`, 'hex') })).toBe(`04${x}${y}`)
    expect(write({ curve: 'CURVE_ED25519', bytes: Buffer.from(x, 'hex') })).toBe(x)
    const px = '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296'
    const py = '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5'
    expect(write({ curve: 'CURVE_P256', bytes: Buffer.from(`03${px}`, 'hex') })).toBe(`04${px}${py}`)
  })

  // BIP-173's own example has another key; the script is ours, so its hash is compared across networks instead.
  test('address: P2WSH differs between networks in its prefix alone', () => {
    const programs = (['MAINNET', 'TESTNET', 'SIGNET', 'REGTEST'] as const).map((network) => {
      const addressFormat = `ADDRESS_FORMAT_BITCOIN_${network}_P2WSH`
      const { address } = wallet.derive({ curve: 'CURVE_SECP256K1', path: "m/48'/0'/0'/2'/0/0", addressFormat })
      const { prefix, words } = bech32.decode(address as `${string}1${string}`)
      return { prefix, program: words.join(' ') }
    })
    expect(programs.map(({ prefix }) => prefix)).toEqual(['bc', 'tb', 'tb', 'bcrt'])
    expect(new Set(programs.map(({ program }) => program)).size).toBe(1)
  })
})

describe('table', () => {
  test("address: the formats and curves are the wire's, all of them", () => {
    // Fails to type-check when either side has one that the other has not.
    const formats: Record<Wire.AddressFormat, unknown> = addressFormats
    const wireFormats: Record<AddressFormat, unknown> = {} as Record<Wire.AddressFormat, unknown>
    const wireCurves: Record<Curve, unknown> = {} as Record<Wire.Curve, unknown>
    expect([wireFormats, wireCurves]).toEqual([{}, {}])
    expect(Object.keys(formats)).toHaveLength(38)
  })

  test('address: short names are the words in lower case, and lead back', () => {
    for (const format of FORMATS) {
      const { name } = addressFormatRow(format)
      expect(name).toBe(format.replace('ADDRESS_FORMAT_', '').toLowerCase().replaceAll('_', '-'))
      expect(addressFormatByName(name)).toBe(format)
    }
    for (const curve of CURVES) expect(curveByName(curves[curve].name)).toBe(curve)
    expect([addressFormatByName('bitcoin'), curveByName('constructor')]).toEqual([undefined, undefined])
  })

  test('address: every default path is one that the format can be derived at', () => {
    for (const format of FORMATS) {
      const { defaultPath, curves: fitting } = addressFormatRow(format)
      if (defaultPath === undefined) continue
      expect(defaultPath).toMatch(/\/i'/)
      const account = { curve: fitting[0]!, path: defaultPath.replace('i', '7'), addressFormat: format }
      expect(checkAccount({ ...account, pathFormat: 'PATH_FORMAT_BIP32' }), format).toBeUndefined()
    }
  })

  test('address: the formats without a default path are those that no preset names', () => {
    expect(FORMATS.filter((format) => !addressFormatRow(format).defaultPath)).toEqual([
      'ADDRESS_FORMAT_UNCOMPRESSED',
      'ADDRESS_FORMAT_COMPRESSED',
      'ADDRESS_FORMAT_TON_V5R1',
    ])
  })

  test('address: only chains with a namespace of the API have a CAIP-2 prefix', () => {
    const named = FORMATS.map((format) => addressFormatRow(format).caip2Prefix).filter(Boolean)
    expect(named).toEqual(['eip155', 'solana'])
  })
})

describe('form', () => {
  const base58check = createBase58check(sha256)
  const sized = (bytes: Uint8Array, length: number) => bytes.length === length
  const regtest = { ...TEST_NETWORK, bech32: 'bcrt' }
  const bech = (text: string) => text as `${string}1${string}`

  /** An independent reader of each form: whether an address has the checksum, version and length that it must. */
  const readers: { readonly [format: string]: (address: string) => boolean } = {
    ETHEREUM: (a) => /^0x[0-9a-fA-F]{40}$/.test(a),
    TRON: (a) => a.startsWith('T') && sized(base58check.decode(a), 21),
    SOLANA: (a) => sized(base58.decode(a), 32),
    COSMOS: (a) => sized(bech32.decodeToBytes(a).bytes, 20),
    SEI: (a) => sized(bech32.decodeToBytes(a).bytes, 20),
    DOGE_MAINNET: (a) => a.startsWith('D') && sized(base58check.decode(a), 21),
    DOGE_TESTNET: (a) => a.startsWith('n') && sized(base58check.decode(a), 21),
    XRP: (a) => a.startsWith('r') && sized(base58xrp.decode(a), 25),
    SUI: (a) => /^0x[0-9a-f]{64}$/.test(a),
    APTOS: (a) => /^0x[0-9a-f]{64}$/.test(a),
    XLM: (a) => a.startsWith('G') && sized(base32nopad.decode(a), 35),
    TON_V3R2: (a) => a.startsWith('UQ') && a.length === 48,
    TON_V4R2: (a) => a.startsWith('UQ') && a.length === 48,
    TON_V5R1: (a) => a.startsWith('UQ') && a.length === 48,
    SPARK_MAINNET: (a) => sized(bech32m.fromWords(bech32m.decode(bech(a), false).words), 35),
    SPARK_REGTEST: (a) => sized(bech32m.fromWords(bech32m.decode(bech(a), false).words), 35),
    ...Object.fromEntries(
      Object.entries({ MAINNET: NETWORK, TESTNET: TEST_NETWORK, SIGNET: TEST_NETWORK, REGTEST: regtest }).flatMap(
        ([name, network]) =>
          Object.entries({ P2PKH: 'pkh', P2SH: 'sh', P2WPKH: 'wpkh', P2WSH: 'wsh', P2TR: 'tr' }).map(
            ([script, type]) => [`BITCOIN_${name}_${script}`, (a: string) => Address(network).decode(a).type === type],
          ),
      ),
    ),
    COMPRESSED: (a) => /^(0[23])?[0-9a-f]{64}$/.test(a),
    UNCOMPRESSED: (a) => /^(04[0-9a-f]{128}|[0-9a-f]{64})$/.test(a),
  }

  const index = fc.nat({ max: 2 ** 31 - 1 })
  for (const format of FORMATS) {
    test(`address: ${format} of any path on each of its curves has its form`, () => {
      fc.assert(
        fc.property(index, fc.constantFrom(...addressFormatRow(format).curves), (i, curve) => {
          const { address } = wallet.derive({ curve, path: `m/44'/0'/${i}`, addressFormat: format })
          return readers[format.replace('ADDRESS_FORMAT_', '')]!(address)
        }),
        { numRuns: 8 },
      )
    })
  }
})
