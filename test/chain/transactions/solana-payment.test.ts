import {
  address,
  getAddressEncoder,
  getCompiledTransactionMessageDecoder,
  getProgramDerivedAddress,
  getTransactionDecoder,
  isOffCurveAddress,
  lamports,
} from '@solana/kit'
import { Keypair, PublicKey, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import { describe, expect, test } from 'vitest'
import {
  encodeSolanaPayment,
  isOnCurve,
  NO_BLOCKHASH,
  readSolanaDraft,
  readSolanaPayment,
  type SolanaPayment,
  type SolanaToken,
  solanaBudgetWithin,
  solanaFee,
  tokenAccountOf,
} from '../../../src/chain/index.ts'
import { programAddress } from '../../../src/chain/solana-address.ts'
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAMS } from '../../../src/chain/transactions/solana-programs.ts'
import { encodeUtf8 } from '../../../src/encoding/index.ts'
import { draftOf, transferOf } from '../../service/sends/solana-drafts.ts'
import { refusal } from './harness.ts'

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1))
const from = payer.publicKey.toBase58()
const to = Keypair.fromSeed(new Uint8Array(32).fill(2)).publicKey.toBase58()
const mint = Keypair.fromSeed(new Uint8Array(32).fill(3)).publicKey.toBase58()
const token = (program: SolanaToken['program']): SolanaToken => ({ mint, decimals: 6, program })

describe('addresses that follow from others on Solana', () => {
  // spl-token's `index.test.ts`, and the holders of PYUSD that micro-sol-signer's tests name.
  test.each([
    [
      'B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj',
      '7o36UsWR1JQLpZ9PE2gn9L4SQ69CNNiWAXd4Jt7rqz9Z',
      'token',
      'DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n',
    ],
    [
      'DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n',
      '7o36UsWR1JQLpZ9PE2gn9L4SQ69CNNiWAXd4Jt7rqz9Z',
      'token',
      'F3DmXZFqkfEWFA7MN2vDPs813GeEWPaT6nLk4PSGuWJd',
    ],
    [
      '22Wnk8PwyWZV7BfkZGJEKT9jGGdtvu7xY6EXeRh7zkBa',
      '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
      'token-2022',
      '5nu6HDY7t1Ds8oPNsArrhb1rzvRqmGubyteyAUncFyNb',
    ],
    [
      'BNXnu85Kt1VXSYYYNMXtRfRrscyETxcdsEiTLSToQYZa',
      '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
      'token-2022',
      '8Ycmt6GTtXcmaTXXRZVLATBQHKKFRaFpD6DD4wx81M4',
    ],
  ] as const)('the account of %s for %s of %s', (owner, ofMint, program, account) => {
    expect(tokenAccountOf(owner, { mint: ofMint, program })).toBe(account)
  })

  test('of many seeds, each is where @solana/kit finds it, and off the curve where it says so', async () => {
    for (let byte = 0; byte < 64; byte++) {
      const seeds = [new Uint8Array(32).fill(byte), encodeUtf8(`seed ${byte}`)]
      const [expected] = await getProgramDerivedAddress({ programAddress: address(ASSOCIATED_TOKEN_PROGRAM), seeds })
      expect(programAddress(seeds, ASSOCIATED_TOKEN_PROGRAM)).toBe(expected)
      // Half of these are points, and some are written in a second way.
      const bytes = new PublicKey(new Uint8Array(32).fill(byte * 4 + 3)).toBase58()
      expect([bytes, isOnCurve(bytes)]).toEqual([bytes, !isOffCurveAddress(address(bytes))])
    }
  })
})

describe('payments on Solana', () => {
  test('SOL is what the System Program’s own library writes', () => {
    const bytes = encodeSolanaPayment({ from, to, amount: 1_500_000_000n })
    const transfer = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: new PublicKey(to),
      lamports: 1_500_000_000,
    })
    expect(Buffer.from(bytes).toString('hex')).toBe(draftOf([transfer], { payer: payer.publicKey }).toString('hex'))
    expect(readSolanaDraft(bytes)).toMatchObject({ signers: [from], signedBy: [], blockhash: NO_BLOCKHASH, budget: {} })
  })

  test.each(['token', 'token-2022'] as const)(
    'of %s: the receiver’s account is made where there is none, and the runtime pays it',
    (program) => {
      const runtime = new LiteSVM().withBlockhashCheck(false)
      runtime.airdrop(address(from), lamports(1_000_000_000n))
      place(runtime, mint, program, mintData(6))
      place(runtime, tokenAccountOf(from, token(program)), program, accountData(mint, from, 20_000_000n))
      const payment = { from, to, amount: 12_500_000n, token: token(program) }
      const pay = (bytes: Uint8Array) => {
        runtime.expireBlockhash()
        const signed = VersionedTransaction.deserialize(bytes)
        signed.sign([payer])
        return runtime.sendTransaction(getTransactionDecoder().decode(signed.serialize()))
      }
      const first = pay(encodeSolanaPayment(payment))
      expect(first).not.toBeInstanceOf(FailedTransactionMetadata)
      const bounded = solanaBudgetWithin(6_000n, payment)!
      const again = encodeSolanaPayment({ ...payment, amount: 1n }, bounded)
      expect(solanaFee(again)).toBe(6_000n)
      expect(pay(again)).not.toBeInstanceOf(FailedTransactionMetadata)
      const balance = (owner: string) => {
        const account = runtime.getAccount(address(tokenAccountOf(owner, token(program))))
        return account.exists ? Buffer.from(account.data).readBigUInt64LE(64) : undefined
      }
      expect([balance(to), balance(from)]).toEqual([12_500_001n, 7_499_999n])
      const wrong = { ...payment, token: { ...token(program), decimals: 9 } }
      expect(pay(encodeSolanaPayment(wrong))).toBeInstanceOf(FailedTransactionMetadata)
    },
  )

  const payments: readonly SolanaPayment[] = [
    { from, to, amount: 0n },
    { from, to: from, amount: 2n ** 64n - 1n },
    { from, to, amount: 7n, token: token('token') },
    { from, to: from, amount: 7n, token: token('token-2022') },
  ]
  test.each(payments)('what is written is read, with a bound of its fee and without: %o', (payment) => {
    expect(readSolanaPayment(encodeSolanaPayment(payment))).toEqual(payment)
    const budget = solanaBudgetWithin(105_000n, payment)!
    const bounded = encodeSolanaPayment(payment, budget)
    expect(readSolanaPayment(bounded)).toEqual(payment)
    expect(readSolanaDraft(bounded).budget).toEqual(budget)
    expect(solanaFee(bounded)).toBeGreaterThan(104_900n)
    expect(solanaFee(bounded)).toBeLessThanOrEqual(105_000n)
    // Whatever else reads it finds the same accounts in the same places.
    const message = getTransactionDecoder().decode(bounded).messageBytes
    const { staticAccounts, header } = getCompiledTransactionMessageDecoder().decode(message)
    expect([staticAccounts[0], header.numSignerAccounts, header.numReadonlySignerAccounts]).toEqual([from, 1, 0])
  })

  test('one bit away, it is another payment or none', () => {
    // Behind the signature, and behind the header, which says who may write and not what is done.
    const START = 1 + 64 + 3
    for (const payment of [payments[0]!, payments[2]!]) {
      const bytes = encodeSolanaPayment(payment)
      // One of each byte: seven and eight have no divisor in common.
      for (let bit = START * 8; bit < bytes.length * 8; bit += 7) {
        const changed = Uint8Array.from(bytes)
        changed[bit >> 3]! ^= 1 << (bit & 7)
        expect([bit, outcomeOf(changed)]).not.toEqual([bit, payment])
      }
    }
  })

  test('a transaction that does more, or something else, is no payment', () => {
    const key = new PublicKey(to)
    const more = draftOf([transferOf(payer.publicKey, key, 1), transferOf(payer.publicKey, key, 1)], {
      payer: payer.publicKey,
    })
    const other = Keypair.fromSeed(new Uint8Array(32).fill(4)).publicKey
    const paidByOther = draftOf([transferOf(payer.publicKey, key, 1)], { payer: other })
    const assigned = SystemProgram.assign({ accountPubkey: payer.publicKey, programId: key })
    for (const bytes of [more, paidByOther, draftOf([assigned], { payer: payer.publicKey })]) {
      expect(readSolanaPayment(bytes)).toBeUndefined()
    }
  })

  test('what cannot be paid, or not within the fee, is refused', () => {
    expect(refusal(() => encodeSolanaPayment({ from, to, amount: 2n ** 64n }))).toContain('does not fit 64 bits')
    expect(refusal(() => encodeSolanaPayment({ from, to: NO_BLOCKHASH, amount: 1n }))).toContain('is a program')
    expect(solanaBudgetWithin(4_999n, {})).toBeUndefined()
    expect(solanaBudgetWithin(5_000n, {})).toEqual({ unitLimit: 450, unitPrice: 0n })
  })
})

/** The blockhash is none of what a payment says. */
function outcomeOf(bytes: Uint8Array): SolanaPayment | undefined {
  try {
    const payment = readSolanaPayment(bytes)
    return readSolanaDraft(bytes).blockhash === NO_BLOCKHASH ? payment : undefined
  } catch {
    return undefined
  }
}

function place(runtime: LiteSVM, at: string, program: SolanaToken['program'], data: Uint8Array): void {
  runtime.setAccount({
    address: address(at),
    data,
    executable: false,
    lamports: lamports(1_000_000_000n),
    programAddress: address(TOKEN_PROGRAMS[program]),
    space: BigInt(data.length),
  })
}

/** As the token programs lay them out: `Mint` in 82 bytes, `Account` in 165. */
function mintData(decimals: number): Uint8Array {
  const data = Buffer.alloc(82)
  data.writeUInt8(decimals, 44)
  data.writeUInt8(1, 45)
  return data
}

function accountData(ofMint: string, owner: string, amount: bigint): Uint8Array {
  const bytesOf = (of: string) => Uint8Array.from(getAddressEncoder().encode(address(of)))
  const data = Buffer.concat([bytesOf(ofMint), bytesOf(owner), Buffer.alloc(101)])
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(1, 108)
  return data
}
