import { type Hex, hashTypedData, parseTransaction, serializeTransaction, type TypedDataDefinition } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  encodeSignedEthereum,
  ethereumDigest,
  openWallet,
  payloadBytes,
  translateMnemonic,
} from '../../../src/chain/index.ts'
import { decodeHex, encodeHex } from '../../../src/encoding/index.ts'
import { readVectors } from '../../vectors/read-vectors.ts'

describe('signing: published values', () => {
  const transactions = readVectors<{ readonly type: string; readonly hash: Hex; readonly signed: Hex }>(
    'ethereum-transactions/signed.jsonl',
  )

  test('signing: there are twelve signed transactions', () => {
    expect(transactions).toHaveLength(12)
  })

  test.each(transactions)('signing: $type $hash is hashed and put together as published', ({ hash, signed }) => {
    const {
      r,
      s,
      yParity,
      v: _,
      ...fields
    } = parseTransaction(signed) as ReturnType<typeof parseTransaction> & {
      r: Hex
      s: Hex
      yParity: number
    }
    const unsigned = decodeHex(serializeTransaction(fields as Parameters<typeof serializeTransaction>[0]))
    const half = (text: Hex) => decodeHex(text.slice(2).padStart(64, '0'))
    const made = encodeSignedEthereum(unsigned, { r: half(r), s: half(s), recovery: yParity })
    expect(`0x${encodeHex(made)}`).toBe(signed)
    expect(`0x${encodeHex(ethereumDigest(unsigned))}`).toBe(hash)
  })

  const messages = readVectors<{ readonly name: string; readonly valid: boolean; readonly data: TypedDataDefinition }>(
    'eip712/messages.jsonl',
  )
  const digestOf = (data: unknown) =>
    `0x${encodeHex(
      payloadBytes(
        {
          payload: JSON.stringify(data),
          encoding: 'PAYLOAD_ENCODING_EIP712',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        },
        'CURVE_SECP256K1',
      ),
    )}`

  test.each(messages.filter(({ valid }) => valid))('signing: EIP-712 $name has the digest of viem', ({ data }) => {
    expect(digestOf(data)).toBe(hashTypedData(data))
  })

  test('signing: the mail of EIP-712 has the digest of the standard', () => {
    const person = [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ]
    const mail = {
      types: {
        Person: person,
        Mail: [
          { name: 'from', type: 'Person' },
          { name: 'to', type: 'Person' },
          { name: 'contents', type: 'string' },
        ],
      },
      primaryType: 'Mail',
      domain: {
        name: 'Ether Mail',
        version: '1',
        chainId: 1,
        verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
      },
      message: {
        from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
        to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
        contents: 'Hello, Bob!',
      },
    }
    expect(digestOf(mail)).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2')
  })

  describe('signing: typed data made to keep the service busy', () => {
    const signed = (types: object, message: object) => digestOf({ types, domain: {}, primaryType: 'M', message })
    const ring = (size: number) =>
      Object.fromEntries(
        Array.from({ length: size }, (_, index) => [`T${index}`, [{ name: 'next', type: `T${(index + 1) % size}[]` }]]),
      )

    test.each<[string, object, object, string]>([
      [
        'a type of brackets',
        { M: [{ name: 'a', type: `${'[]'.repeat(100_000)}x` }] },
        { a: [] },
        `there is no type \`${'[]'.repeat(40)}\` for \`a\` of \`M\``,
      ],
      [
        'a length that is none',
        { M: [{ name: 'a', type: 'uint8[x][]' }] },
        { a: [] },
        'there is no type `uint8[x][]` for `a` of `M`',
      ],
      [
        'many types, each of which is made of all',
        {
          M: Array.from({ length: 1_000 }, (_, index) => ({ name: `f${index}`, type: `T${index}` })),
          ...ring(1_000),
        },
        Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, { next: [] }])),
        'its types are longer than 1000000 characters written out',
      ],
      [
        'many values',
        { M: [{ name: 'a', type: 'uint8[][]' }] },
        { a: Array.from({ length: 300_000 }, () => []) },
        'it has more than 16384 values',
      ],
    ])('signing: %s is refused at once', (_, types, message, reason) => {
      const started = process.cpuUsage()
      expect(() => signed(types, message)).toThrow(`failed to parse payload: ${reason}`)
      expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
    })

    test('signing: types in a long row, and many values of one, are hashed', () => {
      const long = { M: [{ name: 'a', type: 'T0[]' }], ...ring(10_000) }
      expect(signed(long, { a: [] })).toMatch(/^0x[0-9a-f]{64}$/)
      const many = { a: Array.from({ length: 2_000 }, () => ({ next: [] })) }
      const started = process.cpuUsage()
      expect(signed({ M: [{ name: 'a', type: 'T0[]' }], ...ring(1_000) }, many)).toMatch(/^0x[0-9a-f]{64}$/)
      expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
    })
  })

  test('signing: BIP-39: 192 mnemonics are translated as published', () => {
    const cases = readVectors<{ readonly language: 'CZECH'; readonly english: string; readonly mnemonic: string }>(
      'bip39/languages.jsonl',
    )
    expect(cases).toHaveLength(192)
    for (const { language, english, mnemonic } of cases) {
      const translated = translateMnemonic(english, `MNEMONIC_LANGUAGE_${language}`)
      expect(translated.normalize('NFKD'), language).toBe(mnemonic.normalize('NFKD'))
    }
  })

  test('signing: BIP-44, -49, -84 and -86: 85 addresses of one wallet are as published', () => {
    const wallet = openWallet(`${'abandon '.repeat(11)}about`)
    const cases = readVectors<{ readonly format: string; readonly path: string; readonly address: string }>(
      'addresses/bip44-49-84-86.jsonl',
    )
    expect(cases).toHaveLength(85)
    for (const { format, path, address } of cases) {
      const account = { curve: 'CURVE_SECP256K1', path, addressFormat: `ADDRESS_FORMAT_${format}` }
      expect(wallet.derive(account).address, `${format} ${path}`).toBe(address)
    }
  })
})
