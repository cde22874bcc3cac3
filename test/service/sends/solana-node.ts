/**
 * A Solana node of a test's own: the chain's runtime (litesvm) runs the transactions, and around it are blocks, what they
 * forget, and the JSON-RPC methods as nodes word them (Solana's documentation, "RPC HTTP methods").
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  type Address,
  address,
  type EncodedAccount,
  getAddressEncoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  lamports,
  type MaybeEncodedAccount,
  type Transaction,
} from '@solana/kit'
import { FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm'
import { readSolanaDraft, solanaSignatureOf } from '../../../src/chain/index.ts'
import { decodeBase58, decodeBase64, encodeBase58, encodeBase64 } from '../../../src/encoding/index.ts'

const SYSTEM_PROGRAM = '1'.repeat(32)
const TOKEN_PROGRAM = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
const TABLE_PROGRAM = address('AddressLookupTab1e1111111111111111111111111')
export const DEVNET_GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
/** So many transactions the runtime knows again. */
const HISTORY = 32n
/** A block's hash may be used in so many after it. */
export const MAX_AGE = 150
/** What nodes say of a transaction that they do not even try (agave, `sanitize_transaction`), by the runtime's word for it. */
const UNSANITARY: Readonly<Record<string, string>> = {
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
}
/** Nodes answer for so many slots without looking into what they keep on disk. */
const RECENT_SLOTS = 300

interface Block {
  readonly slot: number
  readonly height: number
  readonly hash: string
}

interface Landed {
  readonly bytes: Uint8Array
  readonly slot: number
  readonly err: unknown
  readonly fee: number
  readonly meta: TransactionMetadata
}

export interface SolanaNodeOptions {
  /** @default that of devnet */
  readonly genesisHash?: string
  /** @default a block each 40 ms */
  readonly blocks?: 'on-request'
  /** What transactions have paid for a unit of late. @default nothing */
  readonly unitPrices?: readonly number[]
}

export interface TestSolanaNode {
  readonly url: string
  /** Whether the producer of blocks leaves transactions out. */
  drops: boolean
  /** The code with which it refuses a transaction, whatever it is asked to do with it. */
  refuses: (transaction: Uint8Array) => number | undefined
  /** By how many slots statuses are behind everything else, as of another node behind the same address. */
  statusLag: number
  /** The slot of the first block that it has not thrown away. */
  firstAvailableBlock: number
  /** How often it was asked, by method. */
  readonly asked: ReadonlyMap<string, number>
  /** How often each transaction was handed over, by its signature. */
  readonly offered: ReadonlyMap<string, number>
  /** What the next block may have, by signature. */
  readonly waiting: ReadonlyMap<string, Uint8Array>
  /** What is in blocks, by signature. */
  readonly landed: ReadonlyMap<string, Landed>
  fund(to: string, sol: number): void
  balance(of: string): bigint
  /** Gives a key, or takes of it, so that it has so many lamports. */
  setBalance(of: string, amount: bigint): void
  /** Makes a token of the SPL token program. */
  makeToken(mint: string, decimals: number): void
  /** Gives an owner one more account of a token, with so much in it, and says its address. @default at any address */
  giveToken(mint: string, owner: string, amount: bigint, at?: string): string
  data(of: string): Uint8Array
  /** Makes an account with a nonce, and says that. */
  makeNonce(at: string, authority: string): string
  /** Makes a table that transactions name accounts by. */
  makeTable(at: string, addresses: readonly string[]): void
  /** Leaves so many slots without a block. */
  skip(slots: number): void
  /** Takes so many of the newest blocks back, with what was in them: other blocks come in their place. */
  takeBack(blocks: number): void
  /** Makes so many blocks, the first with what waits. @default 1 */
  produce(count?: number): void
  /** A hash that is in use now. */
  blockhash(): string
  /** Ends it as a crash would, which forgets what waits, and starts it again at the same address. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** An answer of the node that is an error. */
class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

type Methods = Readonly<Record<string, (...parameters: never[]) => unknown>>

export async function startSolanaNode(options: SolanaNodeOptions = {}): Promise<TestSolanaNode> {
  const { genesisHash = DEVNET_GENESIS, unitPrices = [] } = options
  const runtime = new LiteSVM().withBlockhashCheck(false)
  const waiting = new Map<string, Uint8Array>()
  const offered = new Map<string, number>()
  const asked = new Map<string, number>()
  const landed = new Map<string, Landed>()
  const blocks: Block[] = []

  let skipped = 0
  const newBlock = () => {
    const { slot = 1_000, height = 900 } = blocks.at(-1) ?? {}
    // Slots without a block are what makes the two numbers differ.
    blocks.push({ slot: slot + 1 + skipped, height: height + 1, hash: encodeBase58(randomBytes(32)) })
    skipped = 0
  }
  for (let count = 0; count < 5; count++) newBlock()

  /** As of a commitment: one block behind is confirmed, two are finalized. */
  const blockOf = (commitment = 'finalized') =>
    blocks.at(-1 - { processed: 0, confirmed: 1, finalized: 2 }[commitment as 'finalized'])!
  const isRecent = (hash: string) => {
    const block = blocks.find((each) => each.hash === hash)
    return block !== undefined && blocks.at(-1)!.height - block.height <= MAX_AGE
  }
  const isDated = (bytes: Uint8Array) => {
    const { blockhash, nonceAccount } = readSolanaDraft(bytes)
    if (nonceAccount === undefined) return isRecent(blockhash)
    return encodeBase58(node.data(nonceAccount).subarray(40, 72)) === blockhash
  }

  function produce(count = 1): void {
    for (let made = 0; made < count; made++) {
      newBlock()
      runtime.expireBlockhash()
      const bytes = [...waiting.values()]
      waiting.clear()
      if (node.drops) continue
      for (const each of bytes) if (isDated(each)) include(each)
    }
  }

  /** A transaction whose payer can pay is in the block, even when it fails. */
  function include(bytes: Uint8Array): void {
    // The runtime has forgotten it where a block was taken back since; a chain has not.
    if (landed.has(solanaSignatureOf(bytes))) return
    const before = holdingsOf(bytes)
    const accounts = messageOf(bytes).accountKeys.map(accountAsItIs)
    const outcome = runtime.sendTransaction(decode(bytes))
    const failed = outcome instanceof FailedTransactionMetadata
    const err = failed ? errorOf(outcome) : null
    if (typeof err === 'string') return
    accountsBefore.set(solanaSignatureOf(bytes), accounts)
    const after = holdingsOf(bytes)
    const sum = (balances: readonly number[]) => balances.reduce((total, balance) => total + balance, 0)
    // The fee is what nobody has any more.
    const fee = sum(before.balances) - sum(after.balances)
    shown.set(solanaSignatureOf(bytes), {
      fee,
      preBalances: before.balances,
      postBalances: after.balances,
      preTokenBalances: before.tokens,
      postTokenBalances: after.tokens,
    })
    landed.set(solanaSignatureOf(bytes), {
      bytes,
      slot: blocks.at(-1)!.slot,
      err,
      fee,
      meta: failed ? outcome.meta() : outcome,
    })
  }

  const accountsBefore = new Map<string, readonly EncodedAccount[]>()
  function accountAsItIs(at: Address): EncodedAccount {
    const account = runtime.getAccount(at)
    const none = { executable: false, lamports: lamports(0n), programAddress: address(SYSTEM_PROGRAM), space: 0n }
    return account.exists ? account : { address: at, data: new Uint8Array(), ...none }
  }

  function simulate(
    bytes: Uint8Array,
    { addresses, isDatedAnew }: { readonly addresses: readonly string[] | undefined; readonly isDatedAnew: boolean },
  ) {
    checkTaken(bytes)
    if (!isDatedAnew && !isDated(bytes)) return { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 }
    runtime.withSigverify(false)
    const outcome = runtime.simulateTransaction(decode(bytes))
    runtime.withSigverify(true)
    const failed = outcome instanceof FailedTransactionMetadata
    const meta = outcome.meta()
    const err = failed ? errorOf(outcome) : null
    if (typeof err === 'string' && UNSANITARY[err] !== undefined) {
      throw new RpcError(-32_602, `invalid transaction: ${UNSANITARY[err]}`)
    }
    const after = failed ? [] : outcome.postAccounts()
    const accountAfter = (of: string) => after.find((each) => each.address === of) ?? runtime.getAccount(address(of))
    return {
      err,
      logs: meta.logs(),
      unitsConsumed: Number(meta.computeUnitsConsumed()),
      innerInstructions: parsedInnerInstructions(bytes, meta),
      accounts: addresses?.map((of) => (failed ? null : accountJson(accountAfter(of) as MaybeEncodedAccount))) ?? null,
    }
  }
  const accountJson = (account: MaybeEncodedAccount) =>
    !('data' in account)
      ? null
      : { data: [encodeBase64(new Uint8Array(account.data)), 'base64'], lamports: Number(account.lamports) }
  const checkTaken = (bytes: Uint8Array) => {
    const MAX_BYTES = 1_232
    if (bytes.length > MAX_BYTES) {
      throw new RpcError(-32_602, `base64 encoded solana_transaction::versioned::VersionedTransaction too large`)
    }
    const code = node.refuses(bytes)
    if (code !== undefined) throw new RpcError(code, 'not now')
  }

  /** What a node keeps of a transaction: who signed it, and what everybody had before it and after. */
  const shown = new Map<string, object>()
  const messageOf = (bytes: Uint8Array) => {
    const message = getCompiledTransactionMessageDecoder().decode(decode(bytes).messageBytes)
    const { numSignerAccounts, numReadonlySignerAccounts } = message.header
    const header = {
      numRequiredSignatures: numSignerAccounts,
      numReadonlySignedAccounts: numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: message.header.numReadonlyNonSignerAccounts,
    }
    return { accountKeys: [...message.staticAccounts], header }
  }
  const holdingsOf = (bytes: Uint8Array) => {
    const keys: readonly string[] = messageOf(bytes).accountKeys
    const tokens = keys.flatMap((key, accountIndex) => {
      if (!tokenAccounts.includes(key)) return []
      const data = dataOf(key)
      const [mint, owner] = [data.subarray(0, 32), data.subarray(32, 64)].map((part) => encodeBase58(part))
      return [{ accountIndex, mint, owner, uiTokenAmount: tokenAmount(data.readBigUInt64LE(64), mint!) }]
    })
    return { balances: keys.map((key) => Number(node.balance(key))), tokens }
  }

  const statusOf = (signature: string, history: boolean) => {
    const found = landed.get(signature)
    const latest = blocks.at(-1)!.slot - node.statusLag
    if (found === undefined || found.slot > latest || (!history && latest - found.slot > RECENT_SLOTS)) return null
    const { slot, err } = found
    const isAt = (commitment: string) => blockOf(commitment).slot >= slot
    const confirmationStatus = isAt('finalized') ? 'finalized' : isAt('confirmed') ? 'confirmed' : 'processed'
    return { slot, confirmations: confirmationStatus === 'finalized' ? null : latest - slot, err, confirmationStatus }
  }

  const inContext = (commitment: string | undefined, value: unknown) => ({
    context: { slot: blockOf(commitment).slot, apiVersion: '2.3.0' },
    value,
  })
  const tokenAccounts: string[] = []
  const dataOf = (of: string) => Buffer.from(node.data(of))
  const tokenAmount = (amount: bigint, mint: string) => ({ amount: amount.toString(), decimals: dataOf(mint)[44] })
  const putData = (at: string, data: Uint8Array, programAddress: Address = TOKEN_PROGRAM, amount = 1_000_000_000n) =>
    runtime.setAccount({
      address: address(at),
      data,
      executable: false,
      lamports: lamports(amount),
      programAddress,
      space: BigInt(data.length),
    })
  /** Slots take 400 ms. */
  const timeOf = (slot: number) => 1_700_000_000 + Math.floor(slot * 0.4)
  type At = { readonly commitment?: string } | undefined
  const methods: Methods = {
    getGenesisHash: () => genesisHash,
    getLatestBlockhash(at: At) {
      const { hash: blockhash, height } = blockOf(at?.commitment)
      return inContext(at?.commitment, { blockhash, lastValidBlockHeight: height + MAX_AGE })
    },
    isBlockhashValid: (hash: string, at: At) => inContext(at?.commitment, isRecent(hash)),
    getEpochInfo(at: At) {
      const { slot: absoluteSlot, height: blockHeight } = blockOf(at?.commitment)
      return { absoluteSlot, blockHeight, epoch: 0, slotIndex: absoluteSlot, slotsInEpoch: 432_000 }
    },
    getFirstAvailableBlock: () => node.firstAvailableBlock,
    getRecentPrioritizationFees: () =>
      unitPrices.map((prioritizationFee, index) => ({ slot: blocks[0]!.slot + index, prioritizationFee })),
    getBalance: (of: string, at: At) => inContext(at?.commitment, Number(runtime.getBalance(address(of)) ?? 0n)),
    getAccountInfo(of: string, at: At) {
      return inContext(at?.commitment, accountJson(runtime.getAccount(address(of))))
    },
    getMinimumBalanceForRentExemption: (size: number) => Number(runtime.minimumBalanceForRentExemption(BigInt(size))),
    getTokenSupply(mint: string, at: At) {
      const data = dataOf(mint)
      if (data.length !== 82) throw new RpcError(-32_602, 'Invalid param: not a Token mint')
      return inContext(at?.commitment, tokenAmount(data.readBigUInt64LE(36), mint))
    },
    getTokenAccountsByOwner(owner: string, { mint }: { readonly mint: string }, at: At) {
      const value = tokenAccounts.flatMap((pubkey) => {
        const data = dataOf(pubkey)
        const [itsMint, itsOwner] = [data.subarray(0, 32), data.subarray(32, 64)].map((bytes) => encodeBase58(bytes))
        if (itsMint !== mint || itsOwner !== owner) return []
        const info = { mint, owner, state: 'initialized', tokenAmount: tokenAmount(data.readBigUInt64LE(64), mint) }
        return [{ pubkey, account: { data: { program: 'spl-token', parsed: { type: 'account', info } } } }]
      })
      return inContext(at?.commitment, value)
    },
    simulateTransaction(
      text: string,
      {
        accounts,
        replaceRecentBlockhash: isDatedAnew = false,
        commitment,
      }: {
        readonly accounts?: { readonly addresses: readonly string[] }
        readonly replaceRecentBlockhash?: boolean
        readonly commitment?: string
      },
    ) {
      const addresses = accounts?.addresses
      return inContext(commitment, simulate(decodeBase64(text), { addresses, isDatedAnew }))
    },
    sendTransaction(text: string, { skipPreflight }: { readonly skipPreflight?: boolean }) {
      if (skipPreflight !== true) throw new RpcError(-32_603, 'this node tries nothing before it takes it')
      const bytes = decodeBase64(text)
      checkTaken(bytes)
      const signature = solanaSignatureOf(bytes)
      offered.set(signature, (offered.get(signature) ?? 0) + 1)
      waiting.set(signature, bytes)
      return signature
    },
    getSignatureStatuses: (
      signatures: readonly string[],
      { searchTransactionHistory = false }: { readonly searchTransactionHistory?: boolean } = {},
    ) => ({
      context: { slot: blocks.at(-1)!.slot - node.statusLag },
      value: signatures.map((each) => statusOf(each, searchTransactionHistory)),
    }),
    getSignaturesForAddress(of: string, at: At & { readonly limit?: number; readonly before?: string }) {
      const { commitment, limit = 1_000, before } = at ?? {}
      const newest = blockOf(commitment).slot
      const naming = [...landed]
        .toReversed()
        .filter(([, { bytes, slot }]) => slot <= newest && messageOf(bytes).accountKeys.some((key) => key === of))
      const from = before === undefined ? 0 : naming.findIndex(([signature]) => signature === before) + 1
      return naming.slice(from, from + limit).map(([signature, { slot, err }]) => {
        const { confirmationStatus } = statusOf(signature, true)!
        return { signature, slot, err, memo: null, blockTime: timeOf(slot), confirmationStatus }
      })
    },
    getTransaction(signature: string, at: At & { readonly encoding?: string }) {
      const found = landed.get(signature)
      if (found === undefined || blockOf(at?.commitment).slot < found.slot) return null
      const { slot, err, meta } = found
      if (at?.encoding === 'base64') {
        return { slot, blockTime: timeOf(slot), transaction: [encodeBase64(found.bytes), 'base64'], meta: { err } }
      }
      const logMessages = meta.logs()
      const computeUnitsConsumed = Number(meta.computeUnitsConsumed())
      const run = { err, logMessages, computeUnitsConsumed, innerInstructions: innerInstructionsOf(meta) }
      const transaction = { signatures: [signature], message: messageOf(found.bytes) }
      return { slot, blockTime: timeOf(slot), transaction, meta: { ...run, ...shown.get(signature) } }
    },
    getSlot: (at: At) => blockOf(at?.commitment).slot,
    getBlocks(first: number, last: number, at: At) {
      const newest = Math.min(last, blockOf(at?.commitment).slot)
      return blocks.map(({ slot }) => slot).filter((slot) => slot >= first && slot <= newest)
    },
    getBlock(slot: number, at: At & { readonly transactionDetails?: string }) {
      if (slot > blockOf(at?.commitment).slot) throw new RpcError(-32_004, `Block not available for slot ${slot}`)
      const index = blocks.findIndex((each) => each.slot === slot)
      if (index === -1) throw new RpcError(-32_007, `Slot ${slot} was skipped, or missing due to ledger jump`)
      const { hash, height } = blocks[index]!
      const head = {
        ...{ blockhash: hash, previousBlockhash: blocks[index - 1]?.hash ?? hash },
        ...{ blockHeight: height, parentSlot: blocks[index - 1]?.slot ?? slot, blockTime: timeOf(slot) },
      }
      if (at?.transactionDetails !== 'accounts') return head
      const inIt = [...landed].filter(([, each]) => each.slot === slot)
      const transactions = inIt.map(([signature, { bytes, err }]) => {
        const accountKeys = messageOf(bytes).accountKeys.map((pubkey) => ({ pubkey }))
        return { transaction: { signatures: [signature], accountKeys }, meta: { err, ...shown.get(signature) } }
      })
      return { ...head, transactions }
    },
  }

  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse((await buffer(request)).toString()) as {
      readonly id: number
      readonly method: string
      readonly params: never[]
    }
    asked.set(method, (asked.get(method) ?? 0) + 1)
    const answer = () => {
      const run = methods[method]
      if (run === undefined) return { error: { code: -32_601, message: 'Method not found' } }
      try {
        return { result: run(...params) }
      } catch (error) {
        const { message } = error as Error
        return { error: { code: error instanceof RpcError ? error.code : -32_602, message } }
      }
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer() }))
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  const timer = options.blocks === 'on-request' ? undefined : setInterval(() => produce(), 40)

  const node: TestSolanaNode = {
    url: `http://127.0.0.1:${port}`,
    drops: false,
    refuses: () => undefined,
    statusLag: 0,
    firstAvailableBlock: 0,
    asked,
    offered,
    waiting,
    landed,
    fund: (to, sol) => void runtime.airdrop(address(to), lamports(BigInt(sol * 1e9))),
    setBalance: (of, amount) => putData(of, new Uint8Array(), address(SYSTEM_PROGRAM), amount),
    balance: (of) => runtime.getBalance(address(of)) ?? 0n,
    makeToken(mint, decimals) {
      const data = Buffer.alloc(82)
      data.writeUInt8(decimals, 44)
      data.writeUInt8(1, 45)
      putData(mint, data)
    },
    giveToken(mint, owner, amount, at = encodeBase58(randomBytes(32))) {
      const bytesOf = (of: string) => Uint8Array.from(getAddressEncoder().encode(address(of)))
      const data = Buffer.concat([bytesOf(mint), bytesOf(owner), Buffer.alloc(101)])
      data.writeBigUInt64LE(amount, 64)
      data.writeUInt8(1, 108)
      putData(at, data)
      tokenAccounts.push(at)
      return at
    },
    makeNonce(at, authority) {
      // The current version, in use; then the authority, the nonce, and lamports for each signature.
      const nonce = randomBytes(32)
      const data = Buffer.concat([
        Buffer.from([1, 0, 0, 0, 1, 0, 0, 0]),
        decodeBase58(authority),
        nonce,
        Buffer.alloc(8),
      ])
      putData(at, data, address(SYSTEM_PROGRAM))
      return encodeBase58(nonce)
    },
    makeTable(at, addresses) {
      // Behind the kind come: that it is not deactivated, the slot it was extended in, and no authority.
      const header = Buffer.alloc(56)
      header.writeUInt32LE(1, 0)
      header.writeBigUInt64LE(2n ** 64n - 1n, 4)
      const data = Buffer.concat([header, ...addresses.map((each) => decodeBase58(each))])
      putData(at, data, TABLE_PROGRAM)
    },
    data(of) {
      const account = runtime.getAccount(address(of))
      return account.exists ? new Uint8Array(account.data) : new Uint8Array()
    },
    skip(slots) {
      skipped += slots
    },
    takeBack(count) {
      const gone = blocks.splice(-count)
      for (const [signature, { slot }] of [...landed].toReversed()) {
        if (!gone.some((block) => block.slot === slot)) continue
        for (const account of accountsBefore.get(signature)!) runtime.setAccount(account)
        landed.delete(signature)
      }
      // The runtime forgets them too, which may come again.
      runtime.withTransactionHistory(0n).withTransactionHistory(HISTORY)
      // Its slots are not used again: what comes has other numbers, as after votes for another block.
      skipped += gone.at(-1)!.slot - blocks.at(-1)!.slot
    },
    produce,
    blockhash: () => blockOf('confirmed').hash,
    async restart() {
      await stop()
      waiting.clear()
      await listen(port)
    },
    async close() {
      clearInterval(timer)
      await stop()
    },
  }
  return node
}

function decode(bytes: Uint8Array): Transaction {
  return getTransactionDecoder().decode(bytes)
}

/** The runtime says an error as Rust writes it, such as `InstructionError(0, Custom(1))`; nodes say it in JSON. */
function errorOf(outcome: FailedTransactionMetadata): unknown {
  const [, text] = /\{ err: (.+?), meta: /s.exec(outcome.toString()) ?? []
  const [, index, reason] = /^InstructionError\((\d+), (.+)\)$/.exec(text!) ?? []
  if (index !== undefined) {
    const [, code] = /^Custom\((\d+)\)$/.exec(reason!) ?? []
    return { InstructionError: [Number(index), code === undefined ? reason : { Custom: Number(code) }] }
  }
  const [, name, account] = /^(\w+) \{ account_index: (\d+) \}$/.exec(text!) ?? []
  return name === undefined ? text : { [name]: { account_index: Number(account) } }
}

function innerInstructionsOf(meta: TransactionMetadata) {
  return meta.innerInstructions().flatMap((calls, index) => {
    const instructions = calls.map((call) => {
      const made = call.instruction()
      const data = encodeBase58(made.data())
      return {
        programIdIndex: made.programIdIndex(),
        accounts: [...made.accounts()],
        data,
        stackHeight: call.stackHeight(),
      }
    })
    return instructions.length === 0 ? [] : [{ index, instructions }]
  })
}

/** Trying a transaction, nodes tell of what programs they know in their own words (agave, `parse_system`). */
function parsedInnerInstructions(bytes: Uint8Array, meta: TransactionMetadata) {
  const keys: readonly string[] = getCompiledTransactionMessageDecoder().decode(
    decode(bytes).messageBytes,
  ).staticAccounts
  return innerInstructionsOf(meta).map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(({ programIdIndex, accounts, data, stackHeight }) => {
      const programId = keys[programIdIndex]!
      const named = accounts.map((place) => keys[place]!)
      const parsed = programId === SYSTEM_PROGRAM ? parseSystem(named, Buffer.from(decodeBase58(data))) : undefined
      return parsed === undefined
        ? { programId, accounts: named, data, stackHeight }
        : { program: 'system', programId, parsed, stackHeight }
    }),
  }))
}

function parseSystem([first, second]: readonly string[], data: Buffer) {
  const amount = (at: number) => Number(data.readBigUInt64LE(at))
  switch (data.readUInt32LE(0)) {
    case 0: {
      const sizes = { lamports: amount(4), space: amount(12), owner: encodeBase58(data.subarray(20, 52)) }
      return { type: 'createAccount', info: { source: first, newAccount: second, ...sizes } }
    }
    case 1:
      return { type: 'assign', info: { account: first, owner: encodeBase58(data.subarray(4, 36)) } }
    case 2:
      return { type: 'transfer', info: { source: first, destination: second, lamports: amount(4) } }
    case 8:
      return { type: 'allocate', info: { account: first, space: amount(4) } }
    default:
      return undefined
  }
}
