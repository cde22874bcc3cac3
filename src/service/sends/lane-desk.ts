/**
 * Lets an operator have the nonces identified that a lane holds still for, from the chain alone. INVARIANT: what is written is
 * settled and agreed upon by every node; a send that a transaction of the chain has paid is told as included, and never signed.
 */
import { type Namespace, namespaceOf } from '../../chain/index.ts'
import { type Chain, type Chains, isFinal } from '../chains/index.ts'
import { boundedNode, createEthereumNode, createSolanaNode, NodeUnreachable, otherChain } from '../nodes/index.ts'
import {
  isShown,
  LANES_WITHIN_MS,
  type LaneDesk,
  type LaneRequest,
  type SeenLane,
  type SeenLanes,
  type SeenNonce,
} from '../operator/index.ts'
import {
  findSendOfHash,
  type Lane,
  listLanes,
  listUnclaimed,
  putForeign,
  putNextNonce,
} from '../resources/sends/lanes-store.ts'
import { listAttempts, listOpenSends, type SendRow } from '../resources/sends/store.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { failure } from './failure.ts'
import { changeSend, type SendTools } from './family.ts'
import { seeHeldSends, writeWords } from './held-sends.ts'
import { isWitnessed } from './included.ts'
import { findUnknown, type Payment, paysAs } from './lane.ts'
import { findBlockOfNonce, findNonceUser } from './nonce-user.ts'
import { readSendRequest } from './request.ts'
import { lookAtSolanaLane } from './solana-desk.ts'

/** Nonces of one lane that are looked up at once: each takes some twenty questions to its node. */
const MOST_NONCES = 200

/** A nonce, with what is written of it once it is identified. */
interface Identified extends SeenNonce {
  readonly nonce: number
  readonly payment?: Payment
  readonly reverted?: boolean
  /** The send that it is, while that is still to be told as included. */
  readonly adopts?: SendRow
}

type LookAtLane = (lane: Lane, request: LaneRequest) => Promise<SeenLane | undefined>

/** By the namespace of a chain's CAIP-2 id. */
const LOOKS: Readonly<Record<Namespace, (tools: SendTools, chain: Chain) => LookAtLane>> = {
  eip155(tools, chain) {
    const ethereum = { ...tools, chain, node: createEthereumNode(chain.node) }
    return (lane, request) => lookAtLane(ethereum, lane, request)
  },
  solana(tools, chain) {
    const solana = { ...tools, chain, node: createSolanaNode(chain.node) }
    return (lane, request) => lookAtSolanaLane(solana, lane, request)
  },
}

/** Creates the operator's desk for the lanes of all chains. It ends in its time, whatever nodes say. */
export function createLaneDesk(tools: SendTools, { all }: Chains, wake: () => void): LaneDesk {
  return {
    async look(request) {
      const { kind, withinMs = LANES_WITHIN_MS } = request
      const untilMs = performance.now() + withinMs
      const seen: SeenLanes[] = []
      for (const chain of all) seen.push(await lookAtChain(tools, withinTime(chain, untilMs), request))
      if (kind === 'reconcile-lanes') wake()
      return { lanes: seen.flatMap(({ lanes }) => lanes), unread: seen.flatMap(({ unread }) => unread) }
    },
  }
}

function withinTime(chain: Chain, untilMs: number): Chain {
  const { node, witnesses } = chain
  return { ...chain, node: boundedNode(node, untilMs), witnesses: witnesses.map((each) => boundedNode(each, untilMs)) }
}

/** So many lanes in a row that a node leaves without an answer, and its others are not looked at. */
const MOST_UNANSWERED = 2

const NEVER_SHOWN = 'what it holds still for was not shown before'

async function lookAtChain(tools: SendTools, chain: Chain, request: LaneRequest): Promise<SeenLanes> {
  const { caip2 } = chain
  const lookAt = LOOKS[namespaceOf(caip2)!](tools, chain)
  const lanes: SeenLane[] = []
  const unread: SeenLanes['unread'][number][] = []
  let unanswered = 0
  for (const lane of await tools.database.read((tx) => listLanes(tx, caip2))) {
    if (unanswered >= MOST_UNANSWERED) {
      unread.push({ caip2, address: lane.sender, reason: 'its node did not answer for others' })
      continue
    }
    try {
      const isNew =
        request.kind === 'reconcile-lanes' && !isShown(request.shown, { caip2, address: lane.sender, nonces: [] })
      const seen = await lookAt(lane, isNew ? { ...request, kind: 'list-lanes' } : request)
      if (seen !== undefined && isNew) unread.push({ caip2, address: lane.sender, reason: NEVER_SHOWN })
      else if (seen !== undefined) lanes.push(seen)
      unanswered = 0
    } catch (error) {
      if (error instanceof NodeUnreachable) unanswered++
      unread.push({ caip2, address: lane.sender, reason: String((error as Error).message) })
    }
  }
  return { lanes, unread }
}

async function lookAtLane(tools: EthereumTools, lane: Lane, request: LaneRequest): Promise<SeenLane | undefined> {
  const { kind, others } = request
  const { chain, node, database } = tools
  const elsewhere = otherChain(chain.caip2, await node.chainId())
  if (elsewhere !== undefined) throw new Error(elsewhere)
  const next = await node.pendingCount(lane.sender)
  const unknown = await database.read((tx) => findUnknown(tx, { chain, lane, next }))
  const open = await database.read((tx) => listOpenSends(tx, lane.caip2))
  const unsigned = open.filter(({ sender, nonce }) => sender === lane.sender && nonce === null)
  const free = new Set(unsigned)
  const isOther = new Set(others.map((hash) => hash.toLowerCase()))
  const claim = (hash: string, payment: Payment): Pick<Identified, 'is' | 'adopts' | 'sendId' | 'activityId'> => {
    if (isOther.has(hash)) return { is: 'other' }
    // Of several that ask for the same, the first was sent first.
    const adopts = [...free].find((row) => paysAs(row, payment))
    if (adopts === undefined) return { is: 'foreign' }
    free.delete(adopts)
    return { is: 'send', adopts, sendId: adopts.id, activityId: adopts.activity_id }
  }
  const nonces: Identified[] = []
  for (const { hash, nonce, block, ...payment } of await database.read((tx) => listUnclaimed(tx, lane))) {
    const claimed = claim(hash!, payment)
    // What nothing here asks for is of interest to nobody any more.
    if (claimed.is === 'foreign') continue
    nonces.push({
      nonce,
      hash: hash!,
      block,
      ...paymentOf(payment),
      payment,
      ...claimed,
      ...(await outcome(tools, hash!)),
    })
  }
  const end = unknown === undefined ? 0 : Math.min(unknown.end, unknown.from + MOST_NONCES)
  let reason: string | undefined
  for (let nonce = unknown?.from ?? 0; nonce < end && reason === undefined; nonce++) {
    try {
      nonces.push(await identify(tools, lane, { nonce, claim }))
    } catch (error) {
      // What was identified before counts; of what comes after nothing is known.
      if (!(error instanceof NodeUnreachable) || nonces.length === 0) throw error
      reason = `what used nonce ${nonce} and those after it is not known: ${error.message}`
    }
  }
  const left = [...free].filter(isNonceChosenHere)
  const sends = seeHeldSends(left, request, showRequest)
  if (nonces.length === 0 && sends.length === 0) return undefined
  let isHeld = unknown !== undefined
  if (kind === 'reconcile-lanes') {
    isHeld = await write(tools, lane, { nonces, unknown, shown: request.shown })
    if (!isHeld) await writeWords(tools, left, sends)
  }
  return {
    ...{ caip2: lane.caip2, address: lane.sender, nonces: nonces.map(toSeen), sends, isHeld },
    ...(reason !== undefined && { reason }),
  }
}

async function outcome({ node }: EthereumTools, hash: string): Promise<Pick<Identified, 'reverted'>> {
  return { reverted: (await node.receipt(hash))?.succeeded === false }
}

/** Finds what used a nonce, as far as every node says the same of a block that is settled. */
async function identify(
  tools: EthereumTools,
  lane: Lane,
  {
    nonce,
    claim,
  }: {
    readonly nonce: number
    readonly claim: (hash: string, payment: Payment) => Pick<Identified, 'is'>
  },
): Promise<Identified> {
  const { chain, node, database } = tools
  const latest = await node.blockNumber()
  if ((await node.minedCount(lane.sender, latest)) <= BigInt(nonce)) return { nonce, is: 'waits' }
  const asked = { address: lane.sender, nonce: BigInt(nonce) }
  const user = await findNonceUser(node, asked)
  if (user === undefined) return identifyAuthorization(chain, node, { asked, latest })
  const { hash, blockNumber } = user
  const payment = await node.payment(hash)
  if (payment === undefined) return { nonce, is: 'untold' }
  const found = { nonce, hash, block: Number(blockNumber), ...paymentOf(payment), payment }
  const own = await database.read((tx) => findSendOfHash(tx, lane, hash))
  const isSettled = isFinal(chain, { number: blockNumber, latest }) && (await isWitnessed(tools, user))
  if (!isSettled) return { ...found, is: 'unsettled' }
  // It was signed here, and given up since.
  if (own !== undefined) return { ...found, is: 'send', sendId: own.id, activityId: own.activity_id }
  return { ...found, ...claim(hash, payment), ...(await outcome(tools, hash)) }
}

/** A nonce that a block has used up without a transaction of the address: an authorization of it was in there. */
async function identifyAuthorization(
  chain: Chain,
  node: EthereumTools['node'],
  { asked, latest }: { readonly asked: { readonly address: string; readonly nonce: bigint }; readonly latest: bigint },
): Promise<Identified> {
  const nonce = Number(asked.nonce)
  const number = await findBlockOfNonce(node, asked)
  const mined = number === undefined ? undefined : await node.transactionsIn(number)
  const isOwn = mined?.some(({ from, nonce: used }) => from === asked.address && used === asked.nonce)
  if (number === undefined || mined === undefined || isOwn) return { nonce, is: 'untold' }
  const block = Number(number)
  return { nonce, block, is: isFinal(chain, { number, latest }) ? 'authorization' : 'unsettled' }
}

/** Writes what is identified, up to the first nonce that is not, or was not shown as that. Says whether the lane still holds still. */
async function write(
  tools: EthereumTools,
  lane: Lane,
  {
    nonces,
    unknown,
    shown,
  }: {
    readonly nonces: readonly Identified[]
    readonly unknown: { readonly from: number; readonly end: number } | undefined
    readonly shown: LaneRequest['shown']
  },
): Promise<boolean> {
  let known = unknown?.from
  for (const one of nonces) {
    if (one.is === 'waits' || one.is === 'unsettled' || one.is === 'untold') break
    if (!isShown(shown, { caip2: lane.caip2, address: lane.sender, nonces: [one] })) break
    const { nonce, hash = null, block = 0, payment, adopts, sendId = null } = one
    const kept = { ...{ receiver: '', value: '0', data: '0x' }, ...payment }
    const isOther = one.is === 'other' ? 1 : 0
    const isNew = unknown !== undefined && nonce >= unknown.from
    if (isNew) known = nonce + 1
    const keep = async (tx: Parameters<Parameters<typeof tools.database.write>[0]>[0]) => {
      await putForeign(tx, { ...lane, nonce, hash, block, ...kept, send_id: sendId, is_other: isOther })
      if (isNew) await putNextNonce(tx, lane, nonce + 1)
    }
    if (adopts === undefined) await tools.database.write(keep)
    else await adopt(tools, adopts, { ...one, hash: hash! }, keep)
  }
  return known !== undefined && known < unknown!.end
}

/** Tells a send as included that the chain has from before this store. */
async function adopt(
  tools: EthereumTools,
  row: SendRow,
  { nonce, hash, reverted }: Identified & { readonly hash: string },
  keep: Parameters<typeof changeSend>[3],
): Promise<void> {
  const signed = await tools.database.read((tx) => listAttempts(tx, row))
  if (signed.length > 0) throw new Error(`send ${row.id} was signed meanwhile`)
  const reason = reverted ? JSON.stringify(failure('execution reverted')) : null
  await changeSend(tools, row, { status: 'INCLUDED', nonce, hash, failure: reason, unsettled_block: null }, keep)
}

/** With a nonce that the caller has set it is one transaction at most, whatever became of it. */
const isNonceChosenHere = ({ request }: SendRow) => readSendRequest(request).nonce === undefined

function showRequest({ request }: SendRow) {
  const asked = readSendRequest(request)
  if (asked.kind === undefined) return paymentOf({ receiver: asked.to, value: asked.value, data: asked.data })
  const [first] = asked.kind === 'execution' ? asked.calls : []
  return first === undefined ? {} : paymentOf({ receiver: first.to, value: first.value, data: first.data })
}

const paymentOf = ({ receiver, value, data }: Payment) => ({ receiver, value, data })

function toSeen({ payment: _, adopts: __, reverted: ___, ...seen }: Identified): SeenNonce {
  return seen
}
