/**
 * Runs transactions on a node's newest block, of which the node keeps nothing (ethereum/execution-apis, `eth_simulateV1`): balances are
 * read before them and after them in the same run, so that nothing comes between. A node that cannot is asked for the balances alone.
 */
import { decodeRevert, type SendIntent } from '../chain/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { askNode, isNodeOf, NodeRefused } from './ask-node.ts'
import { type Holding, MOST_READ, nothingKnown, type Ran, type ToBeSent } from './run-on-node.ts'

/** Where nobody has code: a function is put there for the run alone, which gives back the balance of the address that it is given. */
const READER = '0x9f5d1c3a7be04426a8d0c1e2f3a4b5c6d7e8f901'
/** `CALLDATALOAD(0) BALANCE`, as the word that is returned. */
const READER_CODE = '0x6000353160005260206000f3'
const BALANCE_OF = '0x70a08231'

/** A block of the run has no more gas than one of the chain. */
const IN_ONE_BLOCK = 100

interface Ask {
  readonly from?: string
  readonly to: string
  readonly input: string
  readonly value?: string
  readonly gas?: string
}

interface Answer {
  readonly status: string
  readonly returnData: string
  readonly gasUsed: string
}

export async function runOnEthereum(
  url: string,
  chain: string,
  { holdings, sends }: { readonly holdings: readonly Holding[]; readonly sends: readonly ToBeSent[] },
): Promise<Ran> {
  const [isOfChain, block] = await Promise.all([isNodeOf(url, chain), askNode<string>(url, 'eth_blockNumber', [])])
  if (!isOfChain) return nothingKnown('it is a node of another chain')
  const number = String(BigInt(block))
  const reads = holdings.map(readOf)
  const parts = [reads, ...inParts(sends.map(callOf)), reads]
  try {
    const blocks = parts.map((calls) => ({ calls, stateOverrides: { [READER]: { code: READER_CODE } } }))
    const asked = [{ blockStateCalls: blocks, validation: false }, block]
    const answers = (await askNode<readonly { readonly calls: readonly Answer[] }[]>(url, 'eth_simulateV1', asked)).map(
      ({ calls }) => calls,
    )
    if (answers.length !== parts.length || answers.some((calls, index) => calls.length !== parts[index]!.length))
      throw new TypeError('not what was asked')
    const ran = answers.slice(1, -1).flat()
    return {
      block: number,
      before: answers[0]!.map(readWord),
      after: answers.at(-1)!.map(readWord),
      gas: ran.map(({ gasUsed }) => BigInt(gasUsed)),
      failures: ran.map((answer, index) => whyFailed(answer, sends[index]!)),
    }
  } catch (error) {
    if (!(error instanceof NodeRefused)) throw error
    const before = await Promise.all(holdings.slice(0, MOST_READ).map((each) => readBalance(url, each, block)))
    const unknown = `it does not run them, and says: ${error.message}`
    return { block: number, before, after: [], failures: [], unknown }
  }
}

function inParts(calls: readonly Ask[]): readonly (readonly Ask[])[] {
  const parts: (readonly Ask[])[] = []
  for (let begin = 0; begin < calls.length; begin += IN_ONE_BLOCK) parts.push(calls.slice(begin, begin + IN_ONE_BLOCK))
  return parts
}

const wordOf = (address: string) => address.slice(2).toLowerCase().padStart(64, '0')

function readOf({ address, token }: Holding): Ask {
  return token === undefined
    ? { to: READER, input: `0x${wordOf(address)}` }
    : { to: token, input: `${BALANCE_OF}${wordOf(address)}` }
}

function callOf({ order }: ToBeSent): Ask {
  const { from, to = '', value = '0', data = '0x', gasLimit } = order.parameters as JsonObject & SendIntent
  const gas = gasLimit === undefined ? {} : { gas: hex(gasLimit) }
  return { from: String(from), to, value: hex(value), input: data, ...gas }
}

const hex = (decimal: string) => `0x${BigInt(decimal).toString(16)}`

/** A balance that a call has given back; undefined where that is no balance, as of an address without code. */
function readWord({ status, returnData }: Answer): bigint | undefined {
  return status === '0x1' && /^0x[0-9a-f]{64}$/i.test(returnData) ? BigInt(returnData) : undefined
}

async function readBalance(url: string, holding: Holding, block: string): Promise<bigint | undefined> {
  const { address, token } = holding
  try {
    if (token === undefined) return BigInt(await askNode<string>(url, 'eth_getBalance', [address, block]))
    const returnData = await askNode<string>(url, 'eth_call', [readOf(holding), block])
    return readWord({ status: '0x1', returnData, gasUsed: '0x0' })
  } catch {
    return undefined
  }
}

function whyFailed({ status, returnData }: Answer, { order }: ToBeSent): string | undefined {
  if (status === '0x1') return undefined
  const { to = '' } = order.parameters as JsonObject & SendIntent
  const reason = decodeRevert(to, returnData, [])
  switch (reason.kind) {
    case 'error-string':
    case 'panic':
      return `it would revert: ${reason.message}`
    case 'custom':
      return `it would revert with ${reason.name}`
    case 'unknown':
      return `it would revert with ${returnData.slice(0, 74)}`
    case 'bare':
      return 'it would revert without a reason'
    default:
      return reason satisfies never
  }
}
