/** Coinbase: a session token, asked for with a CDP API key (docs.cdp.coinbase.com, "session token authentication"). */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { decodeBase64, encodeBase64Url, encodeHex, encodeUtf8 } from '../../encoding/index.ts'
import type { DocumentRequest, FetchDocument } from '../oidc/index.ts'
import type { OnRampKeys } from './keys.ts'
import type { Order } from './order.ts'

/** How long a token for one request is good: what the provider's own library takes. */
const SECONDS = 120

interface Tools {
  readonly fetchDocument: FetchDocument
  readonly clock: () => number
  readonly randomBytes: (length: number) => Uint8Array
}

/** The key of a credential is not of a form that the provider gives out. */
export class UnreadableKey extends Error {}

/** The URL at which somebody buys, with a token that names the receiver; it is good for five minutes, and once. */
export async function beginAtCoinbase(
  tools: Tools,
  keys: OnRampKeys,
  { order, widget, api, transactionId }: { order: Order; widget: string; api: string; transactionId: string },
): Promise<{ readonly url: string }> {
  const json = {
    addresses: [{ address: order.walletAddress, blockchains: [order.network] }],
    assets: [order.asset],
  }
  const answer = await ask(tools, keys, { method: 'POST', url: `${api}/onramp/v1/token`, json })
  const token = member(answer, 'token')
  if (typeof token !== 'string' || token === '') throw new Error('expected `token` in the answer')
  const wishes = {
    sessionToken: token,
    defaultAsset: order.asset,
    defaultNetwork: order.network,
    fiatCurrency: order.fiatCurrency,
    presetFiatAmount: order.fiatAmount,
    defaultPaymentMethod: order.paymentMethod,
    partnerUserRef: transactionId,
  }
  const query = Object.entries(wishes).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return { url: `${widget}?${query.join('&')}` }
}

/** Asks for the newest transaction of an order; the answer as the provider gives it. */
export function askCoinbaseStatus(
  tools: Tools,
  keys: OnRampKeys,
  api: string,
  transactionId: string,
): Promise<unknown> {
  return ask(tools, keys, { method: 'GET', url: `${api}/onramp/v1/buy/user/${transactionId}/transactions` })
}

async function ask(
  { fetchDocument, clock, randomBytes }: Tools,
  keys: OnRampKeys,
  {
    method,
    url,
    json,
  }: { readonly method: 'GET' | 'POST'; readonly url: string; readonly json?: DocumentRequest['json'] },
): Promise<unknown> {
  const key = readKey(keys.privateKey ?? '')
  const { host, pathname } = new URL(url)
  const now = Math.floor(clock() / 1000)
  const head = {
    alg: key.asymmetricKeyType === 'ed25519' ? 'EdDSA' : 'ES256',
    kid: keys.secret,
    typ: 'JWT',
    nonce: encodeHex(randomBytes(16)),
  }
  const claims = { iss: 'cdp', sub: keys.secret, nbf: now, exp: now + SECONDS, uris: [`${method} ${host}${pathname}`] }
  const signed = [head, claims].map((part) => encodeBase64Url(encodeUtf8(JSON.stringify(part)))).join('.')
  const isEdwards = head.alg === 'EdDSA'
  const signature = sign(isEdwards ? null : 'sha256', encodeUtf8(signed), { key, dsaEncoding: 'ieee-p1363' })
  const authorization = `Bearer ${signed}.${encodeBase64Url(signature)}`
  return fetchDocument(url, { headers: { authorization }, ...(json === undefined ? {} : { json }) })
}

/** A key as the provider gives it out: PEM of P-256, or base64 of both halves on Ed25519. */
function readKey(text: string): KeyObject {
  const pem = text.replaceAll('\\n', '\n').trim()
  try {
    const key = pem.startsWith('-----BEGIN')
      ? createPrivateKey(pem)
      : createPrivateKey({ key: edwardsJwk(pem), format: 'jwk' })
    const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
    if (key.asymmetricKeyType === 'ed25519' || isP256) return key
  } catch {
    // Said below; the error may repeat the key.
  }
  throw new UnreadableKey('expected PEM of a P-256 key, or 64 bytes on Ed25519 in base64')
}

function edwardsJwk(text: string) {
  const bytes = decodeBase64(text)
  if (bytes.length !== 64) throw new UnreadableKey('expected 64 bytes')
  const [d, x] = [bytes.subarray(0, 32), bytes.subarray(32)].map(encodeBase64Url)
  return { kty: 'OKP', crv: 'Ed25519', d: d!, x: x! }
}

/** A member of an answer, if it is an object that has it. */
export function member(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}
