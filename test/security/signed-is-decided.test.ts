/**
 * What a policy was asked about is what is signed: bytes that nobody wrote by hand are read as facts, signed, and read again by
 * libraries of others, which share no code with the readers here. Seeded, so that what fails can be run again.
 */
import { VersionedTransaction } from '@solana/web3.js'
import { Psbt } from 'bitcoinjs-lib'
import fc from 'fast-check'
import { parseTransaction, recoverTransactionAddress, toHex } from 'viem'
import { expect, test } from 'vitest'
import { ChainError, type Facts, signTransaction } from '../../src/chain/index.ts'
import { encodeHex } from '../../src/encoding/index.ts'
import { ethereumAddress, secp256k1Key } from '../chain/signing/keys.ts'
import { corpus, edit, interfaces, spoil } from '../chain/transactions/fuzz-inputs.ts'
import { type Kind, read } from '../chain/transactions/harness.ts'
import { runs } from '../runs.ts'

const SEED = 11_22

const spoiled = (kind: Kind) =>
  fc
    .tuple(fc.constantFrom(...corpus[kind]), fc.array(edit, { maxLength: 3 }))
    .map(([bytes, edits]) => spoil(bytes, edits))

/** The facts of bytes; undefined for what is refused. */
function factsOf(kind: Kind, bytes: Uint8Array): Facts | undefined {
  try {
    return read(kind, bytes, { interfaces, signer: ethereumAddress })
  } catch (error) {
    if (error instanceof ChainError) return undefined
    throw error
  }
}

/**
 * What the other library reads; nothing for an authorization whose parity is neither 0 nor 1: the chain takes the transaction
 * and passes over the authorization (EIP-7702), the library refuses both.
 */
function parsed(serialized: `0x${string}`) {
  try {
    return parseTransaction(serialized)
  } catch (error) {
    if (error instanceof Error && error.name === 'InvalidYParityError') return undefined
    throw error
  }
}

test('signed is decided: an Ethereum transaction is to others what policies read, by the sender that they read', async () => {
  let signed = 0
  await fc.assert(
    fc.asyncProperty(spoiled('ETHEREUM'), async (bytes) => {
      const facts = factsOf('ETHEREUM', bytes)
      if (facts === undefined) return
      const serialized = toHex(signTransaction('TRANSACTION_TYPE_ETHEREUM', bytes, secp256k1Key))
      const other = parsed(serialized)
      if (other === undefined) return
      signed++
      const { to, value, nonce, gas, data, chainId, gasPrice, maxFeePerGas } = other
      expect({
        to: to?.toLowerCase() ?? '',
        value: value ?? 0n,
        nonce: BigInt(nonce ?? 0),
        gas: gas ?? 0n,
        data: data ?? '0x',
        chain: chainId === undefined ? undefined : BigInt(chainId),
        price: gasPrice ?? maxFeePerGas ?? 0n,
      }).toEqual({
        to: facts['to'],
        value: facts['value'],
        nonce: facts['nonce'],
        gas: facts['gas'],
        data: facts['data'],
        chain: facts['chain_id'],
        price: facts['gas_price'] ?? facts['max_fee_per_gas'],
      })
      const from = await recoverTransactionAddress({ serializedTransaction: serialized as never })
      expect(from.toLowerCase()).toBe(facts['from'])
    }),
    { seed: SEED, numRuns: runs(800) },
  )
  expect(signed).toBeGreaterThan(100)
})

test('signed is decided: a Solana transaction is to others what policies read', () => {
  let readable = 0
  fc.assert(
    fc.property(spoiled('SOLANA'), (bytes) => {
      const facts = factsOf('SOLANA', bytes)
      if (facts === undefined) return
      let other: VersionedTransaction
      try {
        other = VersionedTransaction.deserialize(bytes)
      } catch {
        // A bare message, which the other library takes for nothing.
        return
      }
      readable++
      const { message } = other
      const keys = message.staticAccountKeys.map((key) => key.toBase58())
      expect((facts['account_keys'] as readonly string[]).slice(0, keys.length)).toEqual(keys)
      expect(facts['recent_blockhash']).toBe(message.recentBlockhash)
      const instructions = facts['instructions'] as readonly Record<string, unknown>[]
      expect(instructions.map((one) => [one['program_key'], one['instruction_data_hex']])).toEqual(
        message.compiledInstructions.map(({ programIdIndex, data }) => [keys[programIdIndex], encodeHex(data)]),
      )
      const accounts = instructions.map((one) =>
        (one['accounts'] as readonly { signer: boolean; writable: boolean }[]).map(({ signer, writable }) => [
          signer,
          writable,
        ]),
      )
      expect(accounts).toEqual(
        message.compiledInstructions.map(({ accountKeyIndexes }) =>
          accountKeyIndexes.map((index) => [message.isAccountSigner(index), message.isAccountWritable(index)]),
        ),
      )
    }),
    { seed: SEED, numRuns: runs(800) },
  )
  expect(readable).toBeGreaterThan(100)
})

test('signed is decided: a PSBT pays to others what policies read', () => {
  let readable = 0
  fc.assert(
    fc.property(spoiled('BITCOIN'), (bytes) => {
      const facts = factsOf('BITCOIN', bytes)
      if (facts === undefined) return
      let other: Psbt
      try {
        other = Psbt.fromBuffer(bytes)
      } catch {
        return
      }
      readable++
      const outputs = facts['outputs'] as readonly { value: bigint; script_pubkey: string }[]
      expect(outputs.map(({ value, script_pubkey }) => [value, script_pubkey])).toEqual(
        other.txOutputs.map(({ value, script }) => [BigInt(value), encodeHex(script)]),
      )
      const inputs = facts['inputs'] as readonly { tx_id: string; vout: bigint; sequence: bigint }[]
      expect(inputs.map(({ tx_id, vout, sequence }) => [tx_id, vout, sequence])).toEqual(
        other.txInputs.map(({ hash, index, sequence }) => [
          encodeHex(Uint8Array.from(hash).reverse()),
          BigInt(index),
          BigInt(sequence ?? 0xffffffff),
        ]),
      )
    }),
    { seed: SEED, numRuns: runs(800) },
  )
  expect(readable).toBeGreaterThan(100)
})
