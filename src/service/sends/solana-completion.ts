/**
 * From a request to a signed Solana transaction (docs/protocol/sends.md#solana-sends): blockhash and compute budget are
 * filled in where the caller has left them out. The signed bytes are in the store before anybody else has them.
 */

import {
  type ComputeBudget,
  MAX_COMPUTE_UNITS,
  mostOfUnitPrice,
  NO_BLOCKHASH,
  type Prefund,
  prefundsOf,
  readSolanaDraft,
  type SolanaDraft,
  signTransaction,
  solanaFee,
  solanaSignatureOf,
  sumOfPrefunds,
  unitPriceWithin,
  usualUnitPriceOf,
  withBlockhash,
  withComputeBudget,
  withFeePayer,
} from '../../chain/index.ts'
import { type Bytes, decodeBase64, encodeBase64 } from '../../encoding/index.ts'
import { createSolanaNode, NodeRefusal, otherCluster } from '../nodes/index.ts'
import {
  insertAttempt,
  isSentElsewhere,
  listSigned,
  type SendAttemptRow,
  type SendRow,
  updateSend,
} from '../resources/sends/store.ts'
import { lookForSigner, withSigningKey } from '../signing/index.ts'
import type { Transaction } from '../store/index.ts'
import { failure } from './failure.ts'
import type { CompletedSend } from './family.ts'
import { raiseGas } from './gas-usage.ts'
import { createGivingUp, isSendRefusal, type SendRefusal } from './giving-up.ts'
import { withRelayerKey } from './relayers.ts'
import { UNCONFIRMED_BLOCKS } from './solana-lane.ts'
import { readSolanaRequest, type SolanaTerms } from './solana-request.ts'
import type { SolanaTools } from './solana-tools.ts'
import { tryOut } from './solana-trial.ts'

/** What the two instructions that are added cost themselves, at 150 each. */
const BUDGET_UNITS = 300
/** A fifth more than the transaction has needed: what it meets may change until it is in a block. */
const withMargin = (units: number) => Math.min(MAX_COMPUTE_UNITS, Math.ceil((units * 6) / 5) + BUDGET_UNITS)

/** Millionths of a lamport for a unit. At most 0.0014 SOL for the largest transaction that there can be. */
const MAX_UNIT_PRICE = 1_000_000n
/** What is offered at least when a transaction was not included in time. */
const MIN_RAISED_PRICE = 1_000n

/** So many of the same content may be sent under one blockhash; one more waits for the next. */
const MAX_TWINS = 64

/** What a node says of one send, and may not say the next time, holds up none of the others. */
export function waitFor({ logger }: SolanaTools, { id, caip2 }: SendRow, { message: reason }: NodeRefusal): 'waits' {
  logger.warn('a send waits', { caip2, send: id, reason })
  return 'waits'
}

/**
 * Creates what completes and signs a send for the first time (1), or anew when what was signed before can never be included. Nothing comes
 * of it while the node lags behind its own blockhash; others need not wait for that. Throws `NodeUnreachable`.
 */
export function createSolanaCompletion(tools: SolanaTools) {
  const givingUp = createGivingUp(tools, {
    head: () => tools.node.slot('confirmed'),
    prepare: (row, witness) => prepare({ ...tools, node: createSolanaNode(witness) }, row, 1),
  })
  return async (row: SendRow, number: number): Promise<CompletedSend | 'waits'> => {
    try {
      const prepared = await prepare(tools, row, number)
      if (isSendRefusal(prepared)) return await givingUp.judge(row, prepared)
      givingUp.drop(row)
      return prepared === 'waits' ? prepared : await tools.database.write((tx) => signOnce(tools, tx, row, prepared))
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      return waitFor(tools, row, error)
    }
  }
}

async function prepare(tools: SolanaTools, row: SendRow, number: number): Promise<Form | SendRefusal | 'waits'> {
  const { node } = tools
  const asked = decodeBase64(readSolanaRequest(row.request).transaction)
  const given = row.account === null ? asked : withFeePayer(asked, row.sender)
  const draft = readSolanaDraft(given)
  const genesis = await node.genesisHash()
  const other = otherCluster(row.caip2, genesis)
  if (other !== undefined) {
    return { failure: failure(other) }
  }
  const isOurs = draft.blockhash === NO_BLOCKHASH
  const latest = await node.latestBlockhash()
  if (!isOurs && draft.nonceAccount === undefined && !(await node.isBlockhashValid(draft.blockhash))) {
    return { failure: failure(`blockhash ${draft.blockhash}, which the caller has set, has expired or never was`) }
  }
  const tried = await tryOut(tools, row, isOurs ? withBlockhash(given, latest.blockhash) : given)
  if (tried === 'waits' || 'failure' in tried) return tried
  const { form, units } = tried
  const terms: SolanaTerms = {
    blockhash: isOurs ? latest.blockhash : draft.blockhash,
    lastValidBlockHeight: latest.lastValidBlockHeight + (isOurs ? 0 : UNCONFIRMED_BLOCKS),
    slot: latest.slot,
  }
  const budget = await chooseBudget(tools, draft, form, { units, number })
  return { form, draft, budget, terms, number }
}

interface Form {
  readonly form: Bytes
  readonly draft: SolanaDraft
  readonly budget: ComputeBudget
  readonly terms: SolanaTerms
  readonly number: number
}

/** INVARIANT: no two sends have one signature: the chain would include one transaction for both. */
async function signOnce(
  { sealing, clock, chain }: SolanaTools,
  tx: Transaction,
  row: SendRow,
  { form, draft, budget, terms, number }: Form,
): Promise<CompletedSend | 'waits'> {
  for (let twin = 0; twin < MAX_TWINS; twin++) {
    const { unitLimit } = budget
    // One unit more makes another transaction of it.
    const varied = unitLimit === undefined ? budget : { ...budget, unitLimit: unitLimit + twin }
    const unsigned = draft.signedBy.length > 0 ? form : withComputeBudget(form, varied)
    const prefunds = row.account === null ? [] : prefundsOf(unsigned)
    if (prefunds.length > 0 && (await isRentOnTheWay(tx, row, prefunds))) return 'waits'
    const signed = await sign({ tx, organizationId: row.organization_id, unseal: sealing.unseal }, row, unsigned)
    if (typeof signed === 'string') return { failure: failure(signed) }
    const dear = await raiseGas(tx, row, { chain, cost: solanaFee(signed) + sumOfPrefunds(prefunds), now: clock() })
    if (dear !== undefined) return { failure: failure(dear) }
    const signature = solanaSignatureOf(signed)
    if (!(await isSentElsewhere(tx, row, signature))) {
      const attempt: SendAttemptRow = {
        send_id: row.id,
        organization_id: row.organization_id,
        number,
        hash: signature,
        signed_transaction: encodeBase64(signed),
        terms: JSON.stringify(terms),
        created_at: clock(),
      }
      await insertAttempt(tx, attempt)
      await updateSend(tx, row, { hash: signature, updated_at: clock() })
      return { attempt }
    }
    if (unitLimit === undefined || draft.budget.unitLimit !== undefined || draft.signedBy.length > 0) break
  }
  if (draft.blockhash === NO_BLOCKHASH) return 'waits'
  return { failure: failure('this very transaction is sent already, and is included once') }
}

/** Whether one of these signers is paid rent for another send: two that create one account would both be paid for it. */
async function isRentOnTheWay(
  tx: Transaction,
  { id, caip2, sender }: SendRow,
  prefunds: readonly Prefund[],
): Promise<boolean> {
  const paid = new Set(prefunds.map(({ to }) => to))
  const others = (await listSigned(tx, { caip2, address: sender })).filter((each) => each.id !== id)
  return others.some(({ signed_transaction }) =>
    prefundsOf(decodeBase64(signed_transaction)).some(({ to }) => paid.has(to)),
  )
}

/** Signs with each key, or says whose is gone. */
async function sign(
  context: Parameters<typeof withSigningKey>[0],
  { request, account }: SendRow,
  unsigned: Bytes,
): Promise<Bytes | string> {
  let signed = unsigned
  for (const signWith of readSolanaRequest(request).signWiths) {
    const signer = await lookForSigner(context, signWith)
    if (signer === undefined) return `the key of ${signWith} is gone`
    signed = await withSigningKey(context, signer, (key) => signTransaction('TRANSACTION_TYPE_SOLANA', signed, key))
  }
  if (account === null) return signed
  return withRelayerKey(context, 'solana', (key) => signTransaction('TRANSACTION_TYPE_SOLANA', signed, key))
}

/** What the transaction does not set itself. The price is left out where paying it would be too much for the payer. */
async function chooseBudget(
  { node, chain }: Pick<SolanaTools, 'node' | 'chain'>,
  draft: SolanaDraft,
  form: Bytes,
  { units, number }: { readonly units: number | undefined; readonly number: number },
): Promise<ComputeBudget> {
  if (draft.signedBy.length > 0) return {}
  const limit = units === undefined ? {} : { unitLimit: withMargin(units) }
  if (draft.budget.unitPrice !== undefined) return limit
  const asked = choosePrice(await node.recentUnitPrices(draft.writable), { number, times: chain.feeMultiple })
  const unitLimit = draft.budget.unitLimit ?? limit.unitLimit ?? MAX_COMPUTE_UNITS
  // INVARIANT: with what its signatures cost, and the units that tell it from its like, it costs no more than the chain's cap.
  const most = unitPriceWithin(
    chain.maxLamports - solanaFee(withComputeBudget(form, { ...limit, unitPrice: 0n })),
    unitLimit + MAX_TWINS,
  )
  const unitPrice = least(asked, most)
  if (unitPrice === 0n) return limit
  const priced = { ...limit, unitPrice }
  const run = await node.simulate(encodeBase64(withComputeBudget(form, priced)))
  return run.error === null ? priced : limit
}

/** The middle of what was paid of late, and twice as much each time that it was not enough, up to a multiple of the middle. */
function choosePrice(
  recent: readonly number[],
  { number, times }: { readonly number: number; readonly times: number },
): bigint {
  const middle = usualUnitPriceOf(recent) ?? 0n
  const most = least(MAX_UNIT_PRICE, mostOfUnitPrice(middle, times))
  if (number === 1) return least(middle, most)
  const raised = (middle > MIN_RAISED_PRICE ? middle : MIN_RAISED_PRICE) * 2n ** BigInt(Math.min(number - 2, 20))
  return least(raised, most)
}

function least(one: bigint, ...others: readonly bigint[]): bigint {
  let found = one
  for (const value of others) if (value < found) found = value
  return found
}
