/**
 * What `oauth2_authenticate` asks the world outside, before any transaction is open (docs/protocol/oauth.md#codes-of-x-and-discord).
 * The client's secret is opened for the exchange and kept nowhere; of the access token nothing is kept but what the client's
 * own key opens.
 */

import { CryptoError, openEnvelope, type RandomBytes, uncompressP256 } from '../../crypto/index.ts'
import { decodeHex, decodeUtf8, encodeUtf8, isHex } from '../../encoding/index.ts'
import { apiError, type Wire } from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { ExchangedCode } from '../engine/index.ts'
import { openServiceKey, type Sealing } from '../keys/index.ts'
import { sealCredential } from '../login/index.ts'
import { type FetchDocument, NotAnswered } from '../oidc/index.ts'
import {
  authCodeRefused,
  oauth2CredentialNotFound,
  oauth2ProviderNotAnswering,
  oauth2ProviderNotConfigured,
  unknownOauth2Provider,
} from '../readings.ts'
import { type Oauth2CredentialRow, oauth2CredentialTable } from '../resources/oauth2-credentials/store.ts'
import type { Database } from '../store/index.ts'
import { exchangeCode } from './exchange.ts'
import { findOauth2Provider, type ProviderUrls } from './providers.ts'

interface Tools {
  readonly database: Database
  readonly sealing: Sealing
  readonly randomBytes: RandomBytes
  readonly logger: Logger
  readonly fetchDocument: FetchDocument
  readonly providerUrls: ProviderUrls
}

/** Creates the function that exchanges a code, and says whose it was, for the activity to keep. Throws `ApiError`. */
export function createOauth2Exchange(tools: Tools) {
  return async (intent: Wire.Oauth2AuthenticateIntent, organizationId: string): Promise<ExchangedCode> => {
    const { oauth2CredentialId: id, authCode, redirectUri, codeVerifier, bearerTokenTargetPublicKey } = intent
    const target = bearerTokenTargetPublicKey ? readTarget(bearerTokenTargetPublicKey) : undefined
    const { credential, clientSecret } = await openCredential(tools, organizationId, id)
    const provider = findOauth2Provider(credential.provider, tools.providerUrls)
    if (!provider) throw unknownOauth2Provider(credential.provider)
    const request = { clientId: credential.client_id, clientSecret, authCode, redirectUri, codeVerifier }
    const { userId, accessToken } = await exchangeCode(tools.fetchDocument, provider, request).catch(
      (error: unknown) => {
        const isRefusal =
          error instanceof NotAnswered && error.status !== undefined && error.status >= 400 && error.status < 500
        if (isRefusal && error.status !== 429) throw authCodeRefused(provider.name)
        const reason = error instanceof Error ? error.message : 'unknown'
        tools.logger.warn('an OAuth 2.0 provider did not answer', { provider: provider.name, reason })
        throw oauth2ProviderNotAnswering(provider.name)
      },
    )
    const answers = { audience: credential.client_id, subject: `${provider.name}:${userId}` }
    if (!target) return answers
    return {
      ...answers,
      encryptedBearerToken: await sealCredential(target, encodeUtf8(accessToken), tools.randomBytes),
    }
  }
}

function readTarget(publicKey: string): Uint8Array {
  const key = uncompressP256(publicKey)
  if (key === undefined)
    throw apiError('invalidField', 'bearerTokenTargetPublicKey', 'must be a P-256 public key in hex')
  return decodeHex(key)
}

async function openCredential(
  { database, sealing }: Tools,
  organizationId: string,
  id: string,
): Promise<{ readonly credential: Oauth2CredentialRow; readonly clientSecret: string }> {
  const { credential, key } = await database.read(async (tx) => {
    const found = await oauth2CredentialTable.find(tx, organizationId, id)
    if (!found) throw oauth2CredentialNotFound(id)
    return { credential: found, key: await openServiceKey(tx, sealing.unseal, 'tls-fetcher-encryption') }
  })
  const privateKey = decodeHex(key.privateKey)
  try {
    const sealed = credential.encrypted_client_secret.replace(/^0x/i, '')
    if (!isHex(sealed)) throw oauth2ProviderNotConfigured(id)
    const secret = openEnvelope({ privateKey, publicKey: decodeHex(key.publicKey) }, decodeHex(sealed))
    return { credential, clientSecret: decodeUtf8(secret) }
  } catch (error) {
    throw error instanceof CryptoError ? oauth2ProviderNotConfigured(id) : error
  } finally {
    privateKey.fill(0)
  }
}
