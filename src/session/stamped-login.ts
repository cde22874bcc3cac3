import { ClientError, type ClientOptions, createSubmitClient } from '../client/index.ts'
import { createP256Signer } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { encodeBase64Url, encodeUtf8 } from '../encoding/index.ts'
import type { Stamper } from '../stamp/index.ts'
import type { Session } from './kept.ts'
import { type PinnedKeys, proveSession, type SessionKey } from './proof.ts'

/** Where somebody logs in. */
export interface LoginPlace {
  readonly baseUrl: string
  /** The organization that the user lives in, or its parent. */
  readonly organizationId: string
  readonly keys: PinnedKeys
  /** The time of the API, milliseconds since the epoch. */
  readonly now: () => number
  /** How long its reads may be held back, and who is told. @default six attempts, and nobody */
  readonly waiting?: Pick<ClientOptions, 'logger' | 'deadline'>
}

/** What proves who somebody is: it stamps requests, beside the key that a session of theirs would have. */
export interface Proof {
  readonly key: SessionKey
  readonly stamper: Stamper
}

/**
 * Logs in by `stamp_login`: what stamps the request says who somebody is, and the session is that of the key. Throws
 * `session/…`, or what the API refuses with.
 */
export async function stampLogin(
  { baseUrl, organizationId, keys, now, waiting }: LoginPlace,
  { key, stamper }: Proof,
): Promise<Session> {
  const body = JSON.stringify({
    type: 'ACTIVITY_TYPE_STAMP_LOGIN',
    timestampMs: String(now()),
    organizationId,
    parameters: { publicKey: key.publicKey },
  })
  const client = createSubmitClient({ baseUrl, organizationId, stamper })
  const { status, result } = await client.submit('/public/v1/submit/stamp_login', body).catch((error: unknown) => {
    if (!(error instanceof ClientError) || error.submitted === 'unknown') throw error
    const said = error.facts['API message'] ?? error.message
    throw new QuorateError('session/refused', `the API did not log in: ${said}`, {
      facts: error.facts,
      next: 'ask an administrator whether this way in is registered with your user, and whether the organization allows it; nothing was kept',
      cause: error,
    })
  })
  const token = result.stampLoginResult?.session
  if (token === undefined) {
    throw new QuorateError('session/refused', `the login is ${status.replace('ACTIVITY_STATUS_', '')}`, {
      next: 'ask an administrator why this login needs more than what you proved; nothing was kept',
    })
  }
  return proveSession(token, { baseUrl, key, keys, ...waiting })
}

/** What a token proves of the person who holds the key that it names. */
export type TokenKind = 'VERIFICATION_TOKEN' | 'OIDC'

/** Stamps by a token and the key that it is bound to (docs/protocol/stamps.md#attested-stamps). */
export function createAttestedStamper(key: SessionKey, token: string, kind: TokenKind): Stamper {
  const signer = createP256Signer(key.privateKey.reveal())
  return {
    publicKey: key.publicKey,
    async stamp(body) {
      const stamp = {
        publicKeyAttestation: token,
        scheme: `STAMP_ATTESTED_SCHEME_P256_${kind}`,
        publicKey: key.publicKey,
        signature: signer.sign(body),
      }
      return { name: 'X-Stamp-Attested', value: encodeBase64Url(encodeUtf8(JSON.stringify(stamp))) }
    },
  }
}
