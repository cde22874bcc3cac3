/** MoonPay: a URL of its widget, signed with the secret key (dev.moonpay.com, "signed URLs"). */
import { hmacSha256 } from '../../crypto/index.ts'
import { encodeBase64, encodeUtf8 } from '../../encoding/index.ts'
import { apiError } from '../../protocol/index.ts'
import type { OnRampKeys } from './keys.ts'
import type { Order } from './order.ts'

/** The URL at which somebody buys, signed; and the signature of the URL that a client has made, where it asks for one. */
export function beginAtMoonpay(
  keys: OnRampKeys,
  { order, widget, transactionId }: { readonly order: Order; readonly widget: string; readonly transactionId: string },
): { readonly url: string; readonly urlSignature?: string } {
  const wishes = {
    apiKey: keys.publishable,
    currencyCode: order.asset,
    walletAddress: order.walletAddress,
    baseCurrencyCode: order.fiatCurrency?.toLowerCase(),
    baseCurrencyAmount: order.fiatAmount,
    paymentMethod: order.paymentMethod,
    externalTransactionId: transactionId,
  }
  const query = Object.entries(wishes).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  const search = `?${query.join('&')}`
  const url = `${widget}${search}&signature=${encodeURIComponent(signatureOf(keys.secret, search))}`
  const { urlForSignature } = order
  if (urlForSignature === undefined) return { url }
  return { url, urlSignature: signatureOf(keys.secret, readClientsUrl(urlForSignature, keys.publishable)) }
}

/** Where the transactions of an order are listed. */
export function moonpayStatusUrl(keys: OnRampKeys, api: string, transactionId: string): string {
  return `${api}/v1/transactions/ext/${transactionId}?apiKey=${encodeURIComponent(keys.publishable)}`
}

/** A signature vouches for whatever the query says: it is given for the widget of this very account alone. */
function readClientsUrl(text: string, apiKey: string): string {
  const url = URL.parse(text)
  const isMoonpays = url?.protocol === 'https:' && /^(?:buy|sell)(?:-sandbox)?\.moonpay\.com$/.test(url.host)
  if (!isMoonpays || url.searchParams.get('apiKey') !== apiKey)
    throw apiError(
      'invalidField',
      'urlForSignature',
      "must be a URL of MoonPay's widget with the `apiKey` of the credential",
    )
  return url.search
}

function signatureOf(secret: string, search: string): string {
  return encodeBase64(hmacSha256(encodeUtf8(secret), search))
}
