/** What comes back from a thread is what would have been made here. */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ChainError, UnsupportedTransaction } from '../../../src/chain/index.ts'
import { encodeHex } from '../../../src/encoding/index.ts'
import { fromFault, toFault } from '../../../src/service/work/job-fault.ts'
import { jobs } from '../../../src/service/work/jobs.ts'
import { createWorkPool, JobNotDone } from '../../../src/service/work/pool.ts'
import { SparkError } from '../../../src/spark/index.ts'
import { corpus, interfaces } from '../../chain/transactions/fuzz-inputs.ts'
import { kinds } from '../../chain/transactions/harness.ts'

describe('jobs', () => {
  test.each(kinds)('jobs: the facts of %s transactions are the same after they were handed over', (kind) => {
    for (const bytes of corpus[kind]) {
      const transaction = { type: `TRANSACTION_TYPE_${kind}`, unsignedTransaction: encodeHex(bytes), interfaces }
      const facts = jobs.readTransaction(new Uint8Array(), transaction)
      expect(structuredClone(facts)).toStrictEqual(facts)
    }
  })

  test('jobs: so are those of typed data, whatever its members are called', () => {
    const payload = `{"types":{"T":[{"name":"__proto__","type":"uint256"},{"name":"constructor","type":"string[]"}]},
      "primaryType":"T","domain":{"chainId":1},"message":{"__proto__":"9","constructor":["a"]}}`
    const facts = jobs.readPayloads(new Uint8Array(), { encoding: 'PAYLOAD_ENCODING_EIP712', payloads: [payload] })
    const message = facts[0]!.eth!['eip_712'] as { readonly message: object }
    expect(Object.keys(message.message)).toEqual(['__proto__', 'constructor'])
    // What is called `constructor` is no constructor, which the matchers of tests take it for.
    expect(isDeepStrictEqual(structuredClone(facts), facts)).toBe(true)
  })

  test.each([new ChainError('c'), new UnsupportedTransaction('u'), new SparkError('s')])(
    'jobs: a refusal is of the same kind after it was handed over: %s',
    (error) => {
      const told = fromFault(structuredClone(toFault(error)))
      expect([told.constructor, told.message]).toEqual([error.constructor, error.message])
    },
  )

  test('jobs: one whose thread ends, with the secret that was moved there, is not done, and nothing else comes of it', async () => {
    const pool = createWorkPool({ size: 1 })
    const secret = new TextEncoder().encode(`${'abandon '.repeat(11)}about`)
    const path = "m/44'/60'/0'/0/0"
    const account = { curve: 'CURVE_SECP256K1', path, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' } as const
    const share = { treeId: 'o', organizationId: 'o' }
    const job = pool.run('deriveAccounts', { secret, input: Array(200).fill(account) }, share)
    const ended = expect(job).rejects.toBeInstanceOf(JobNotDone)
    await pool.close()
    await ended
    expect(secret.every((byte) => byte === 0)).toBe(true)
  })

  test('jobs: of any other error nothing is said', () => {
    expect(JSON.stringify(toFault(new Error('the secret')))).toBe('{"fault":true}')
    expect(fromFault({ fault: true })).not.toBeInstanceOf(ChainError)
  })
})
