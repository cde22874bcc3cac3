/**
 * What the search for worst bodies found (`npm run bench worst`), by counting: which jobs of a request the main thread does
 * itself, and how large they are. The threads have a table of their own, which nobody looks into here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Transaction as Psbt, p2wpkh } from '@scure/btc-signer'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { generateP256KeyPair, uncompressP256 } from '../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { type JobName, jobs } from '../../src/service/work/jobs.ts'
import { newKey, newUser } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { makeOperators } from '../spark/operators.ts'

let service: TestService
let signers: Readonly<
  Record<'ethereum' | 'bitcoin' | 'spark', { readonly address: string; readonly publicKey: string }>
>
beforeAll(async () => {
  service = await startTestService()
  const { accounts } = await makeWallet(
    service.root,
    ETHEREUM,
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', "m/84'/0'/0'/0/0"],
    ['CURVE_SECP256K1', 'ADDRESS_FORMAT_SPARK_REGTEST', "m/8797555'/0'/0'"],
  )
  signers = { ethereum: accounts[0]!, bitcoin: accounts[1]!, spark: accounts[2]! }
  // Mutable at run time alone: the functions that the main thread finds are counted.
  for (const name of Object.keys(jobs) as JobName[]) vi.spyOn(jobs as never, name)
})
afterEach(() => vi.clearAllMocks())
afterAll(() => service.close())

/** The jobs that the main thread did, and how many characters they had to read. */
function doneHere(): { readonly jobs: readonly string[]; readonly characters: number } {
  const calls = (Object.keys(jobs) as JobName[]).flatMap((name) =>
    vi.mocked(jobs[name]).mock.calls.map(([, input]) => ({ name, characters: JSON.stringify(input).length })),
  )
  return {
    jobs: [...new Set(calls.map(({ name }) => name))],
    characters: calls.reduce((sum, { characters }) => sum + characters, 0),
  }
}

/** A PSBT that spends many outputs of a key. */
function psbt(publicKey: string, inputs: number): string {
  const { script } = p2wpkh(decodeHex(publicKey))
  const made = new Psbt()
  for (let at = 0; at < inputs; at++) {
    const txid = at.toString(16).padStart(64, '0')
    made.addInput({ txid, index: 0, witnessUtxo: { script, amount: 1_000n } })
  }
  made.addOutput({ script, amount: 500n })
  return encodeHex(made.toPSBT(0))
}

const typed = (values: number) =>
  JSON.stringify({
    types: { EIP712Domain: [], T: [{ name: 'list', type: 'uint256[]' }] },
    primaryType: 'T',
    domain: {},
    message: { list: Array.from({ length: values }, (_, at) => 1_000 + at) },
  })

const frost = (count: number) => {
  const { request } = makeOperators(1, { userPublicKey: decodeHex(signers.spark.publicKey) })
  const operatorCommitments = request.operatorCommitments.map((one) =>
    Object.fromEntries(Object.entries(one).map(([name, bytes]) => [name, encodeHex(bytes)])),
  )
  const [message, verifyingKey] = [encodeHex(request.message), encodeHex(request.verifyingKey)]
  return Array.from({ length: count }, () => ({
    derivation: { identity: {} },
    message,
    verifyingKey,
    operatorCommitments,
  }))
}

const BODIES: readonly (readonly [string, ActivityType, () => object])[] = [
  [
    'a PSBT of 300 inputs, signed',
    'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    () => ({
      signWith: signers.bitcoin.address,
      type: 'TRANSACTION_TYPE_BITCOIN',
      unsignedTransaction: psbt(signers.bitcoin.publicKey, 300),
    }),
  ],
  [
    'typed data of 15,000 values',
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    () => ({
      signWith: signers.ethereum.address,
      payload: typed(15_000),
      encoding: 'PAYLOAD_ENCODING_EIP712',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    }),
  ],
  [
    'a payload of 900 kB that is hashed',
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    () => ({
      signWith: signers.ethereum.address,
      payload: 'ab'.repeat(450_000),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    }),
  ],
  [
    'forty shares of FROST',
    'ACTIVITY_TYPE_SPARK_SIGN_FROST',
    () => ({ signWith: signers.spark.address, signatures: frost(40) }),
  ],
  [
    'a hundred private keys',
    'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    () => ({
      privateKeys: Array.from({ length: 100 }, (_, at) => ({
        privateKeyName: `k${at}`,
        curve: 'CURVE_SECP256K1',
        privateKeyTags: [],
        addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
      })),
    }),
  ],
  [
    'a quorum key of 254 holders',
    'ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY',
    () => ({
      threshold: 128,
      operatorEncryptKeys: Array.from({ length: 254 }, () => uncompressP256(generateP256KeyPair().publicKey)),
    }),
  ],
  [
    'two hundred API keys',
    'ACTIVITY_TYPE_CREATE_USERS_V4',
    () => ({
      users: Array.from({ length: 20 }, () => newUser({ apiKeys: Array.from({ length: 10 }, () => newKey()) })),
    }),
  ],
  [
    'an interface of 390 kB',
    'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE',
    () => ({
      smartContractAddress: `0x${'11'.repeat(20)}`,
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'large',
      smartContractInterface: JSON.stringify(
        Array.from({ length: 5_000 }, (_, at) => ({ type: 'function', name: `f${at}`, inputs: [], outputs: [] })),
      ),
    }),
  ],
  [
    'eight passkeys whose browsers have much to say',
    'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
    () => ({
      userId: service.rootUserId,
      authenticators: Array.from({ length: 8 }, () => createPasskey().register({ client: { x: 'x'.repeat(80_000) } })),
    }),
  ],
  [
    'sixty policies of 15 kB',
    'ACTIVITY_TYPE_CREATE_POLICIES',
    () => ({
      policies: Array.from({ length: 60 }, (_, at) => ({
        policyName: `p${at}`,
        effect: 'EFFECT_DENY',
        condition: `false${" && activity.kind == 'x'".repeat(600)}`,
        notes: '',
      })),
    }),
  ],
]

describe('worst bodies', () => {
  test.each(BODIES)('worst bodies: %s is done in threads', async (_, type, parameters) => {
    const { status } = await service.root.submit(type, parameters())
    expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(doneHere()).toEqual({ jobs: [], characters: 0 })
  })

  test('worst bodies: of somebody whom nobody allows it is read in threads, and not signed at all', async () => {
    const { client } = await createTestUser(service, 'nobody')
    vi.clearAllMocks()
    const [, type, parameters] = BODIES[0]!
    const { path, text } = service.body(type, parameters())
    expect((await client.raw(path, text)).status).toBe(403)
    expect(doneHere()).toEqual({ jobs: [], characters: 0 })
  })

  test('worst bodies: an ordinary request is done at once', async () => {
    const [, type, parameters] = BODIES[1]!
    const { status } = await service.root.submit(type, { ...parameters(), payload: typed(3) })
    expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(doneHere().jobs).toEqual(['signPayloads', 'checkPayloads', 'readPayloads'])
  })

  /** Functions that are given texts as long as a request, or many keys, and what they are made of. */
  const DEAR =
    /\b(?:readTransactionFacts|readSendFacts|readPayloadFacts|payloadBytes|signTransaction|checkSigner|checkInterface|writeRefusal|compilePolicy|createPrivateKey|signFrostShare|prepareTransfer|claimTransfer|readCbor|decodeCbor|parseCoseKey)\b|@noble\/curves|@scure\/\w+/g
  /** Where one is called outside of the table of jobs, and why that may be. */
  const ELSEWHERE: Readonly<Record<string, string>> = {
    'engine/policy-cache.ts compilePolicy': 'one a step',
    'engine/judgement.ts compilePolicy': 'one, a step of its own',
    'resources/sends/eth-send-raw.ts readSendFacts': 'once, outside of the transaction, before a node is asked',
    'resources/sends/sol-send.ts checkSigner': 'after the size has been checked: 1,232 bytes',
  }

  test('worst bodies: nothing dear is called but through the table of jobs', () => {
    const service = new URL('../../src/service/', import.meta.url)
    const files = ['engine', 'resources', 'signing', 'webauthn', 'verification', 'login'].flatMap((room) =>
      readdirSync(new URL(room, service), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${room}/${file}`),
    )
    const found = files.flatMap((file) => {
      const text = readFileSync(new URL(file, service), 'utf8')
      const imported = [...text.matchAll(/^import [^;]*?from '[^']*'/gms)].map(([line]) => line).join('\n')
      return [...new Set(imported.match(DEAR))].map((name) => `${file} ${name}`)
    })
    expect(found.sort()).toEqual(Object.keys(ELSEWHERE).sort())
  })
})
