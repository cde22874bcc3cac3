import type { SendOrder } from '../../activities/index.ts'
import {
  isOnCurve,
  readSolanaDraft,
  readSolanaPayment,
  type SendIntent,
  SOLANA_SIGNATURE_FEE,
  type SolanaPayment,
  solanaFee,
  solanaSendBytes,
  tokenAccountOf,
} from '../chain/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { printAmount, printToken } from './amount.ts'
import { nameAddress, type SendDescription } from './description.ts'
import { chainOf, type Directory } from './order.ts'

/** Says what a payment on Solana will do, from the bytes of its transaction. */
export function describeSolanaPayment(
  order: Pick<SendOrder, 'parameters' | 'to' | 'feeCeiling'>,
  directory: Directory,
): SendDescription {
  const bytes = solanaSendBytes(order.parameters as JsonObject & SendIntent)
  const payment = readSolanaPayment(bytes)
  // INVARIANT: what is shown is what is signed: nothing is said of a transaction that does more than it can say.
  if (payment === undefined) throw new TypeError('the transaction of this send is no payment')
  const { to, token } = payment
  const signatureLamports = SOLANA_SIGNATURE_FEE.toString()
  const { unitLimit, unitPrice } = readSolanaDraft(bytes).budget
  const isBounded = unitLimit !== undefined && unitPrice !== undefined
  return {
    receiver: nameAddress(to, order.to, directory),
    ...describeAmount(payment, { directory, caip2: chainOf(order) }),
    ...(token === undefined ? {} : { tokenAccount: tokenAccountOf(to, token) }),
    ...(isOnCurve(to) ? {} : { keyless: true }),
    fee: {
      signatureLamports,
      ...(isBounded ? { atMostLamports: solanaFee(bytes).toString() } : {}),
      ...(order.feeCeiling === undefined ? {} : { ceiling: order.feeCeiling }),
    },
  }
}

function describeAmount(
  { amount, token }: SolanaPayment,
  { directory, caip2 }: { readonly directory: Directory; readonly caip2: string },
): Pick<SendDescription, 'amount' | 'token'> {
  const atomic = amount.toString()
  if (token === undefined) {
    return { amount: { text: printAmount(amount, 'solana'), atomic, atomicUnit: 'lamports' } }
  }
  const { mint, decimals } = token
  const [name, asset] =
    Object.entries(directory.assets).find(([, { chain, address }]) => chain === caip2 && address === mint) ?? []
  return {
    amount: {
      text: printToken(amount, { decimals, symbol: asset?.symbol ?? mint }),
      atomic,
      atomicUnit: 'atomic units',
    },
    token: { ...(name === undefined ? {} : { name }), address: mint },
  }
}
