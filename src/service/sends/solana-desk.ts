/**
 * Lets an operator have identified what an address of Solana has sent that a restored store does not have. INVARIANT: what is
 * written is final by every node; a send that a transaction of the cluster has paid is told as included, and never signed anew.
 */
import { NO_BLOCKHASH, readSolanaDraft, readSolanaPayment } from '../../chain/index.ts'
import { decodeBase64 } from '../../encoding/index.ts'
import { otherCluster, type SolanaRun } from '../nodes/index.ts'
import { isShown, type LaneRequest, type SeenLane, type SeenNonce } from '../operator/index.ts'
import type { Lane } from '../resources/sends/lanes-store.ts'
import { listForeignSolana, putForeignSolana } from '../resources/sends/solana-lanes-store.ts'
import { listAttempts, listOpenSends, type SendRow } from '../resources/sends/store.ts'
import { changeSend } from './family.ts'
import { seeHeldSends, writeWords } from './held-sends.ts'
import { explainRun } from './solana-failure.ts'
import { findRestoredLane, isUnclaimed, paysAsSolana, type UnknownTransaction } from './solana-lane.ts'
import { readSolanaRequest, readSolanaTerms } from './solana-request.ts'
import type { SolanaTools } from './solana-tools.ts'

/** A transaction, with what is written of it once it is identified. */
interface Identified extends SeenNonce {
  readonly hash: string
  readonly block: number
  readonly bytes?: string | undefined
  /** The send that it is, while that is still to be told as included. */
  readonly adopts?: SendRow
  /** What it has done, of one that is to be told as included. */
  readonly run?: SolanaRun
}

/** An open send, and whether a signed form of it may still be included. */
interface OpenSend {
  readonly row: SendRow
  readonly isAlive: boolean
}

export async function lookAtSolanaLane(
  tools: SolanaTools,
  lane: Lane,
  request: LaneRequest,
): Promise<SeenLane | undefined> {
  const { kind, others } = request
  const { database, node } = tools
  const elsewhere = otherCluster(lane.caip2, await node.genesisHash())
  if (elsewhere !== undefined) throw new Error(elsewhere)
  const restored = await findRestoredLane(tools, lane, new Map())
  const unclaimed = (await database.read((tx) => listForeignSolana(tx, lane))).filter(isUnclaimed)
  const open = await listOpen(tools, lane)
  const found = [
    ...unclaimed.map(({ signature, slot, bytes }): Identified => identify(open, others, { signature, slot, bytes })),
    ...(restored?.unknown ?? []).map(
      (one): Identified =>
        one.confirmationStatus === 'finalized'
          ? identify(open, others, one)
          : { ...seen(one), is: 'unsettled' as const },
    ),
  ]
  // What was found before and nothing here asks for is of interest to nobody any more.
  const known = new Set(unclaimed.map(({ signature }) => signature))
  const nonces: Identified[] = []
  for (const one of found.filter(({ is, hash }) => is !== 'foreign' || !known.has(hash))) {
    const run = one.adopts === undefined ? undefined : await node.transaction(one.hash)
    const isUntold = one.adopts !== undefined && run === undefined
    nonces.push(isUntold ? { ...one, is: 'untold' } : { ...one, ...(run && { run }) })
  }
  const doubt = restored?.doubt
  const left = open.filter(({ isAlive }) => !isAlive).map(({ row }) => row)
  const sends = seeHeldSends(left, request, ({ request: asked }) => shownOf(readSolanaRequest(asked).transaction))
  if (nonces.length === 0 && doubt === undefined && sends.length === 0) return undefined
  const isLeft = (one: Identified) =>
    isUnidentified(one) || !isShown(request.shown, { caip2: lane.caip2, address: lane.sender, nonces: [one] })
  if (kind === 'reconcile-lanes') for (const one of nonces) if (!isLeft(one)) await write(tools, lane, one)
  const isOpen = kind === 'list-lanes' ? (restored?.unknown.length ?? 0) > 0 : nonces.some(isLeft)
  const isHeld = isOpen || doubt !== undefined
  if (kind === 'reconcile-lanes' && !isHeld) await writeWords(tools, left, sends)
  return {
    ...{ caip2: lane.caip2, address: lane.sender, nonces: nonces.map(toSeen), sends },
    ...{ isHeld, ...(doubt !== undefined && { reason: doubt }) },
  }
}

/** The open sends of an address, the first accepted first. */
async function listOpen({ database, node }: SolanaTools, { caip2, sender }: Lane): Promise<OpenSend[]> {
  const rows = (await database.read((tx) => listOpenSends(tx, caip2))).filter((row) => row.sender === sender)
  const { blockHeight } = await node.finalized()
  const open: OpenSend[] = []
  for (const row of rows) {
    const [newest] = await database.read((tx) => listAttempts(tx, row))
    // What the caller has dated is never signed anew.
    const isDated = readSolanaDraft(decodeBase64(readSolanaRequest(row.request).transaction)).blockhash !== NO_BLOCKHASH
    const isAlive = newest !== undefined && (isDated || blockHeight <= readSolanaTerms(newest).lastValidBlockHeight)
    open.push({ row, isAlive })
  }
  return open
}

/** Finds which open send a transaction is; of several that ask for the same, the first was sent first. */
function identify(
  open: OpenSend[],
  others: readonly string[],
  one: Pick<UnknownTransaction, 'signature' | 'slot' | 'bytes'>,
): Identified {
  const { signature, bytes } = one
  if (bytes === undefined) return { ...seen(one), is: 'untold' }
  if (others.includes(signature)) return { ...seen(one), is: 'other' }
  const same = open.filter(({ row }) => paysAsSolana(row, bytes))
  const adopts = same.find(({ isAlive }) => !isAlive)?.row
  if (adopts === undefined) return { ...seen(one), is: same.length === 0 ? 'foreign' : 'unsettled' }
  open.splice(
    open.findIndex(({ row }) => row === adopts),
    1,
  )
  return { ...seen(one), is: 'send', adopts, sendId: adopts.id, activityId: adopts.activity_id }
}

function seen({ signature: hash, slot: block, bytes }: Pick<UnknownTransaction, 'signature' | 'slot' | 'bytes'>) {
  return { hash, block, bytes, ...(bytes !== undefined && shownOf(bytes)) }
}

function shownOf(transaction: string) {
  const payment = readSolanaPayment(decodeBase64(transaction))
  return payment && { receiver: payment.to, value: payment.amount.toString(), token: payment.token?.mint }
}

const isUnidentified = ({ is }: SeenNonce) => is === 'unsettled' || is === 'untold'

async function write(tools: SolanaTools, lane: Lane, one: Identified): Promise<void> {
  const { hash, block, bytes, adopts, sendId = null } = one
  const foreign = { signature: hash, slot: block, bytes: bytes!, send_id: sendId, is_other: one.is === 'other' ? 1 : 0 }
  const keep: Parameters<typeof changeSend>[3] = (tx) => putForeignSolana(tx, { ...lane, ...foreign })
  if (adopts === undefined) await tools.database.write(keep)
  else await adopt(tools, adopts, { ...foreign, run: one.run!, keep })
}

/** Tells a send as included that the cluster has from before this store. */
async function adopt(
  tools: SolanaTools,
  row: SendRow,
  made: {
    readonly signature: string
    readonly bytes: string
    readonly run: SolanaRun
    readonly keep: Parameters<typeof changeSend>[3]
  },
): Promise<void> {
  const { signature, bytes, run, keep } = made
  const failed = { source: 'execution', run, transaction: decodeBase64(bytes), error: run.error! } as const
  const failure = run.error === null ? null : JSON.stringify(await explainRun(tools, row, failed))
  await changeSend(tools, row, { status: 'INCLUDED', hash: signature, failure, unsettled_block: null }, keep)
}

function toSeen({ bytes: _, adopts: __, run: ___, ...shown }: Identified): SeenNonce {
  return shown
}
