/** What an activity would pay, read from its own intent: of a send, and of a transaction that is only signed. */
import { ChainError, isSendActivity, type SendIntent, solanaFee, solanaSendBytes } from '../../chain/index.ts'
import { QuorateError } from '../../diagnostics/index.ts'
import type { JsonObject, Wire } from '../../protocol/index.ts'
import type { Actual } from '../../resources/index.ts'
import { factsOfActivity, interfacesOf } from '../../scenarios/index.ts'
import { type Directory, describeSend, type SendDescription, type SendNames } from '../../sending/index.ts'
import { describeSolanaSend, type SolanaDescription } from './solana-send.ts'

export interface AskedPayments {
  readonly sends?: readonly SendDescription[]
  readonly solana?: SolanaDescription
  /** Why nothing is told of a transaction that would be signed. */
  readonly undecoded?: string
}

/** Where no definitions are given. */
export const NO_NAMES: SendNames = { addressBook: {}, assets: {} }

/** One payment for each call of a send or of a transaction to sign; for anything else nothing. */
export function describePayments(activity: Wire.Activity, actual: Actual, names: SendNames): AskedPayments {
  try {
    return describe(activity, actual, names)
  } catch (error) {
    if (!(error instanceof ChainError || error instanceof QuorateError)) throw error
    // One that cannot be read must not hide the others of a list.
    return undecoded('what it sends')
  }
}

function describe(activity: Wire.Activity, actual: Actual, names: SendNames): AskedPayments {
  const { intent } = activity
  const directory = { ...names, wallets: walletsOf(actual), privateKeys: [] }
  const interfaces = interfacesOf(actual.resources)
  const solana = intent.solSendTransactionIntentV2 ?? intent.solSendTransactionIntent
  if (solana) return { solana: describeSolanaSend(solana, { interfaces, directory }) }
  const signed = intent.signTransactionIntentV2 ?? intent.signTransactionIntent
  if (signed) return describeSigned(activity, signed, { actual, directory, interfaces })
  const raw = intent.ethSendRawTransactionIntent
  if (raw) return describeSigned(activity, { type: 'ETHEREUM' }, { actual, directory, interfaces })
  const { ethSendTransactionIntent: one, ethSendTransactionIntentV2: many } = intent
  const { calls = [], ...rest } = many ?? {}
  const transactions = one ? [one] : calls.map((call) => ({ ...rest, ...call }))
  if (transactions.length === 0) return {}
  return { sends: transactions.map((parameters) => describeCall(parameters, { directory, interfaces })) }
}

/** Whether `describePayments` may tell of it. */
export function mayPay({ type }: Pick<Wire.Activity, 'type'>): boolean {
  return isSendActivity(type) || type.startsWith('ACTIVITY_TYPE_SIGN_TRANSACTION')
}

type Given = Parameters<typeof describeSend>[1]

function describeCall(parameters: object, given: Given): SendDescription {
  const order = { type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', parameters: parameters as JsonObject, to: '' } as const
  return describeSend(order, given)
}

const undecoded = (what: string): AskedPayments => ({ undecoded: `${what} is not decoded: know it before you approve` })

/** Its facts are those that policies read; what it offers for its fee is in it. */
function describeSigned(
  activity: Wire.Activity,
  { unsignedTransaction, type }: { readonly unsignedTransaction?: string; readonly type: unknown },
  { actual, directory, interfaces }: Given & { readonly actual: Actual },
): AskedPayments {
  const { eth, solana } = factsOfActivity(activity, actual) ?? {}
  if (eth !== undefined) {
    const tx = (eth as { readonly tx: EthereumFacts }).tx
    if (tx.to === '') return undecoded('a transaction that creates a contract')
    if (tx.chain_id === undefined) return undecoded('a transaction that is valid on every chain')
    // What these pay besides, or set for the account, no line here tells.
    if (tx.type === 'TYPE_3' || tx.type === 'TYPE_4') return undecoded(`a transaction of ${tx.type}`)
    return { sends: [describeCall(intentOf(tx), { directory, interfaces })] }
  }
  if (solana !== undefined) {
    const described = describeSolanaSend({ unsignedTransaction } as SendIntent, { interfaces, directory })
    const atMostLamports = solanaFee(solanaSendBytes({ unsignedTransaction } as SendIntent)).toString()
    return { solana: { ...described, fee: { ...described.fee, atMostLamports } } }
  }
  return undecoded(`a transaction of ${String(type).replace('TRANSACTION_TYPE_', '')}`)
}

const NOBODY = `0x${'0'.repeat(40)}`

interface EthereumFacts {
  readonly type: string
  readonly to: string
  readonly value: bigint
  readonly data: string
  readonly gas: bigint
  readonly gas_price: bigint
  /** Where the signer is an address. */
  readonly from?: string
  /** Not in a transaction from before EIP-155. */
  readonly chain_id?: bigint
}

/** As a send would ask for it; who signs changes nothing of what it pays. */
function intentOf({ to, value, data, gas, gas_price, chain_id, from = NOBODY }: EthereumFacts): SendIntent {
  return {
    from,
    to,
    value: value.toString(),
    ...(data === '0x' || data === '' ? {} : { data }),
    gasLimit: gas.toString(),
    maxFeePerGas: gas_price.toString(),
    caip2: `eip155:${chain_id}`,
  } as SendIntent
}

/** The organization's own wallets: a payment to one of them is told by its name. */
function walletsOf({ resources }: Actual): Directory['wallets'] {
  const accounts = resources.flatMap(({ kind, parent, name, known }) =>
    kind === 'walletAccount' && known?.address !== undefined ? [{ parent, name, address: known.address }] : [],
  )
  return resources.flatMap(({ kind, id, name, address }) =>
    kind === 'wallet'
      ? [
          {
            wallet: { walletId: id ?? '', walletName: name, imported: false, exported: false },
            accounts: accounts.filter(({ parent }) => parent === address),
          },
        ]
      : [],
  )
}
