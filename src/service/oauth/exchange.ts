import type { FetchDocument } from '../oidc/index.ts'
import type { Oauth2Provider } from './providers.ts'

/** What a provider says of the bearer of a code. */
export interface Bearer {
  readonly userId: string
  readonly accessToken: string
}

/** A provider whose answer is not what its row in the table promises. */
export class OddAnswer extends Error {}

/**
 * Exchanges a code at a provider and asks who its bearer is (RFC 6749 §4.1.3; RFC 7636 §4.5, the verifier of the code). The
 * client proves itself in the header (RFC 6749 §2.3.1). Throws `NotAnswered` where the provider refuses, and other errors where
 * it does not answer as it should.
 */
export async function exchangeCode(
  fetchDocument: FetchDocument,
  provider: Oauth2Provider,
  request: {
    readonly clientId: string
    readonly clientSecret: string
    readonly authCode: string
    readonly redirectUri: string
    readonly codeVerifier: string
  },
): Promise<Bearer> {
  const { clientId, clientSecret, authCode: code, redirectUri, codeVerifier } = request
  const client = Buffer.from(`${formEncode(clientId)}:${formEncode(clientSecret)}`).toString('base64')
  const grant = await fetchDocument(provider.tokenUrl, {
    headers: { authorization: `Basic ${client}` },
    form: {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: codeVerifier,
      client_id: clientId,
    },
  })
  const accessToken = read(grant, ['access_token'], /^[\x21-\x7e]{1,8192}$/)
  const user = await fetchDocument(provider.userUrl, { headers: { authorization: `Bearer ${accessToken}` } })
  return { accessToken, userId: read(user, provider.userId, /^[\w.-]{1,64}$/) }
}

/** RFC 6749 §2.3.1: both parts are encoded as a form's values before they are put together. */
function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

function read(document: unknown, path: readonly string[], form: RegExp): string {
  let value = document
  for (const name of path) {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    value = isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined
  }
  if (typeof value === 'string' && form.test(value)) return value
  throw new OddAnswer(`expected \`${path.join('.')}\` in the answer`)
}
