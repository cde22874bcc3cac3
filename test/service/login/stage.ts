/** A service, with what a test of logins makes beside it: verification tokens as the service issues them, and attested stamps. */
import { createP256Signer, type generateP256KeyPair, newUuid, randomBytes } from '../../../src/crypto/index.ts'
import { encodeBase64Url, encodeUtf8 } from '../../../src/encoding/index.ts'
import { type ActivityType, activities, type JsonObject, type QueryName, queries } from '../../../src/protocol/index.ts'
import { createSealing } from '../../../src/service/keys/index.ts'
import { issueVerificationToken } from '../../../src/service/verification/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { openStoreOf } from '../../postgres.ts'
import { type Answer, type SubmitOverrides, startTestService, type TestService } from '../harness.ts'

export type Key = ReturnType<typeof generateP256KeyPair>
export type OtpType = 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS'

/** A request by something other than an API key. */
export interface Asked {
  submit(type: ActivityType, parameters: object, overrides?: SubmitOverrides): Promise<Answer>
  query(name: QueryName, request?: object): Promise<Answer>
}

export interface LoginStage {
  readonly service: TestService
  /** A verification token of a contact, bound to a key, as `verify_otp` would give it. */
  token(contact: string, publicKey?: string, of?: { organizationId?: string; type?: OtpType }): Promise<string>
  /** Speaks by attested stamps with this token and key. */
  attested(token: string, key: Key, scheme?: 'VERIFICATION_TOKEN' | 'OIDC'): Asked
  /** Speaks by these headers, which may rest on the body. */
  by(headers: (text: string) => Readonly<Record<string, string>>): Asked
  close(): Promise<void>
}

export async function startLoginStage(
  options: { readonly clock: () => number } & NonNullable<Parameters<typeof startTestService>[0]>,
): Promise<LoginStage> {
  const masterKey = new Secret(randomBytes(32))
  const service = await startTestService({ ...options, masterKey })
  const sealing = createSealing(masterKey, randomBytes)
  const by: LoginStage['by'] = (headers) => {
    const send = (path: string, text: string) => service.root.raw(path, text, { 'x-stamp': '', ...headers(text) })
    return {
      submit: (type, parameters, overrides) => {
        const { path, text } = service.body(type, parameters, overrides)
        return send(path, text)
      },
      query: (name, request) =>
        send(queries[name].path, JSON.stringify({ organizationId: service.organizationId, ...request })),
    }
  }
  return {
    service,
    by,
    attested: (token, key, scheme = 'VERIFICATION_TOKEN') =>
      by((text) => ({ 'x-stamp-attested': attestedStamp(text, token, key, scheme) })),
    async token(contact, publicKey, { organizationId = service.organizationId, type = 'OTP_TYPE_EMAIL' } = {}) {
      const database = await openStoreOf(service.dataDir, { now: options.clock() })
      try {
        return await database.read((tx) =>
          issueVerificationToken(
            { tx, organizationId, now: options.clock(), newId: () => newUuid(randomBytes), unseal: sealing.unseal },
            { verificationType: type, contact, publicKey },
          ),
        )
      } finally {
        await database.close()
      }
    },
    close: () => service.close(),
  }
}

/** The header of an attested stamp. */
export function attestedStamp(text: string, token: string, key: Key, scheme: string): string {
  const stamp: JsonObject = {
    publicKeyAttestation: token,
    scheme: `STAMP_ATTESTED_SCHEME_P256_${scheme}`,
    publicKey: key.publicKey,
    signature: createP256Signer(key.privateKey).sign(encodeUtf8(text)),
  }
  return encodeBase64Url(encodeUtf8(JSON.stringify(stamp)))
}

/** The activity of an answer. */
export function activityOf(answer: Answer) {
  if (answer.status !== 200) throw new Error(`refused with ${answer.status}: ${answer.text}`)
  return answer.body['activity'] as unknown as import('../../../src/protocol/index.ts').Wire.Activity
}

export const pathOf = (type: ActivityType) => activities[type].path
