/**
 * Runs a transaction on a node of Solana, which keeps nothing of it (Solana's documentation, "simulateTransaction"). It runs one by itself:
 * of several, the balances before them are told alone.
 */
import { readSolanaPayment, type SendIntent, solanaSendBytes, TOKEN_PROGRAMS, tokenAccountOf } from '../chain/index.ts'
import { decodeBase64, encodeBase58, encodeBase64 } from '../encoding/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { askNode, isNodeOf, NodeRefused } from './ask-node.ts'
import { type Holding, MOST_READ, nothingKnown, type Ran, type ToBeSent } from './run-on-node.ts'

interface Account {
  readonly lamports: number
  readonly owner?: string
  readonly data: readonly [string, string]
}
interface InContext<Value> {
  readonly context: { readonly slot: number }
  readonly value: Value
}
interface Simulated {
  readonly err: unknown
  readonly logs: readonly string[] | null
  readonly accounts: readonly (Account | null)[] | null
}

const confirmed = { commitment: 'confirmed' } as const
const base64 = { encoding: 'base64' } as const

export async function runOnSolana(
  url: string,
  chain: string,
  { holdings, sends }: { readonly holdings: readonly Holding[]; readonly sends: readonly ToBeSent[] },
): Promise<Ran> {
  if (!(await isNodeOf(url, chain))) return nothingKnown('it is a node of another chain')
  const places = holdings.map((holding) => placeOf(holding, sends))
  const before = await Promise.all(
    places.slice(0, MOST_READ).map(async (at, index) => {
      const { value } = await askNode<InContext<Account | null>>(url, 'getAccountInfo', [
        at,
        { ...confirmed, ...base64 },
      ])
      return readBalance(value, holdings[index]!)
    }),
  )
  const [send, ...others] = sends
  if (others.length > 0) {
    return { before, after: [], failures: [], unknown: 'a node of Solana runs one transaction by itself' }
  }
  const transaction = encodeBase64(bytesOf(send!))
  // Its blockhash is the service's to choose, and nobody has signed it yet.
  const how = { ...confirmed, ...base64, sigVerify: false, replaceRecentBlockhash: true }
  try {
    const { context, value } = await askNode<InContext<Simulated>>(url, 'simulateTransaction', [
      transaction,
      { ...how, accounts: { ...base64, addresses: places } },
    ])
    const { err, logs, accounts } = value
    const failure = err === null ? undefined : `it would fail: ${reasonOf(err, logs ?? [])}`
    return {
      block: String(context.slot),
      before,
      after: failure === undefined ? (accounts ?? []).map((each, index) => readBalance(each, holdings[index]!)) : [],
      isFeeTaken: true,
      failures: [failure],
    }
  } catch (error) {
    if (!(error instanceof NodeRefused)) throw error
    return { before, after: [], failures: [], unknown: `it does not run it, and says: ${error.message}` }
  }
}

function bytesOf({ order }: ToBeSent) {
  return solanaSendBytes(order.parameters as JsonObject & SendIntent)
}

/** The account that holds it: of a token, the one that payments of its owner come from and go to. */
function placeOf({ address, token: mint }: Holding, sends: readonly ToBeSent[]): string {
  if (mint === undefined) return address
  const paid = sends.map((send) => readSolanaPayment(bytesOf(send))?.token).find((token) => token?.mint === mint)
  return tokenAccountOf(address, paid!)
}

/** What an account has; of a token by its layout, a mint, an owner and an amount (SPL Token, "Account"). */
function readBalance(account: Account | null, { address, token }: Holding): bigint | undefined {
  if (account === null) return 0n
  if (token === undefined) return BigInt(account.lamports)
  if (account.lamports === 0) return 0n
  const data = Buffer.from(decodeBase64(account.data[0]))
  const isIts =
    data.length >= 165 &&
    encodeBase58(data.subarray(0, 32)) === token &&
    encodeBase58(data.subarray(32, 64)) === address
  const isOfProgram = account.owner === undefined || Object.values<string>(TOKEN_PROGRAMS).includes(account.owner)
  return isIts && isOfProgram ? data.readBigUInt64LE(64) : undefined
}

function reasonOf(err: unknown, logs: readonly string[]): string {
  const said = logs.find((each) => /insufficient|error:/i.test(each))?.replace(/^Program log: /, '')
  return `${typeof err === 'string' ? err : JSON.stringify(err)}${said === undefined ? '' : `, ${said}`}`
}
