/** What a transaction on Solana does: it pays SOL, or pays a token. */
import { ChainError, encodeSolanaPayment, isOnCurve, type SolanaPayment, solanaBudgetWithin } from '../chain/index.ts'
import { encodeHex } from '../encoding/index.ts'
import type { Json } from '../protocol/index.ts'
import { parseAmount, parseAssetAmount } from './amount.ts'
import { assertPays, type CallRequest, expectedAmount, paysToken, type Receiver } from './call.ts'
import type { FeeRequest } from './fee-request.ts'
import type { Target } from './target.ts'
import { inField, usage } from './usage.ts'

/** Makes the parameters of a payment, and its amount for people. Throws `cli/usage`. */
export function makeSolanaPayment(
  { amount: written, data, maxFee, gas }: CallRequest & FeeRequest,
  {
    from,
    receiver,
    target: { caip2, token },
  }: { readonly from: string; readonly receiver: Receiver; readonly target: Target },
): { readonly parameters: Json; readonly amount: string } {
  if (data !== undefined) {
    const next = 'pay SOL or a token; other programs are called by clients that write the transaction themselves'
    throw usage('--data has no meaning on Solana', next, 'data')
  }
  if (gas !== undefined)
    throw usage('--gas has no meaning on Solana', 'give --max-fee, which bounds all of the fee there', 'gas')
  if (written === undefined) throw expectedAmount()
  if (token !== undefined) {
    if (receiver.address === token.asset.address) throw paysToken('mint', token, receiver)
    if (!isOnCurve(receiver.address)) throw isNobodys(receiver)
  }
  const { text, atomic } = inField('amount', () =>
    token === undefined ? parseAmount(written, 'solana') : parseAssetAmount(written, token),
  )
  assertPays({ atomic, text, receiver })
  const payment: SolanaPayment = {
    from,
    to: receiver.address,
    amount: atomic,
    ...(token === undefined
      ? {}
      : {
          token: { mint: token.asset.address, decimals: token.asset.decimals, program: token.asset.program ?? 'token' },
        }),
  }
  const transaction = encode(payment, maxFee)
  return { parameters: { unsignedTransaction: encodeHex(transaction), signWiths: [from], caip2 }, amount: text }
}

/**
 * The account of a token is itself at such an address: taken for an owner, it would be given an account of its own, out of
 * which nobody could ever pay.
 */
function isNobodys({ name }: Receiver): Error {
  return usage(
    `\`${name}\` is an address of a program, such as the account of a token: nobody has a key for it`,
    'name the owner of the account: the account is found from the owner and the token',
    'to',
  )
}

function encode(payment: SolanaPayment, maxFee: string | undefined) {
  try {
    return encodeSolanaPayment(payment, maxFee === undefined ? {} : budgetWithin(maxFee, payment))
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw usage(`this cannot be paid: ${error.message}`, 'correct it')
  }
}

function budgetWithin(maxFee: string, payment: SolanaPayment) {
  const budget = solanaBudgetWithin(inField('max-fee', () => parseAmount(maxFee, 'solana')).atomic, payment)
  if (budget !== undefined) return budget
  throw usage(`--max-fee \`${maxFee}\` is less than one signature costs`, 'give 0.000005SOL or more', 'max-fee')
}
