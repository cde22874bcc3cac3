/** What a service has sent, as its owner reads it in the outbox of the data folder. */
import { encryptOtpCodeToBundle } from '@turnkey/crypto'
import { vi } from 'vitest'
import { generateP256KeyPair, signEs256 } from '../../../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../../src/encoding/index.ts'
import type { Wire } from '../../../src/protocol/index.ts'
import { listWrittenMessages, type Message } from '../../../src/service/messages/index.ts'
import { complete } from '../handlers/steps.ts'
import type { TestClient, TestService } from '../harness.ts'

/** Does something that sends one message, and gives the message. */
export async function messageOf<Result>(
  service: TestService,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly message: Message }> {
  const seen = new Set(listWrittenMessages(service.dataDir).map(({ id }) => id))
  const result = await work()
  const [written] = await vi.waitFor(
    () => {
      const found = listWrittenMessages(service.dataDir, seen)
      if (found.length === 0) throw new Error('no message was sent')
      return found
    },
    { interval: 10 },
  )
  return { result, message: written!.message }
}

/** The code in a message with the service's own texts. */
export function codeIn({ text }: Message): string {
  const [, inMail, inSms] = /is:\s+([0-9A-Z]{6,9})\n| is ([0-9A-Z]{6,9})\./.exec(text) ?? []
  const code = inMail ?? inSms
  if (code === undefined) throw new Error(`expected a code in ${text}`)
  return code
}

/** A code that was asked for and sent. */
export interface SentCode {
  readonly otpId: string
  readonly bundle: string
  readonly code: string
}

/** Asks for a code in the newest form, and reads it. */
export async function requestCode(
  service: TestService,
  parameters: object,
  { client = service.root, organizationId = service.organizationId } = {},
): Promise<SentCode> {
  const intent = { otpType: 'OTP_TYPE_EMAIL', appName: 'Acme', ...parameters }
  const { result, message } = await messageOf(service, () =>
    complete(client, 'ACTIVITY_TYPE_INIT_OTP_V3', intent, organizationId),
  )
  return { otpId: result.otpId, bundle: result.otpEncryptionTargetBundle, code: codeIn(message) }
}

/** Encrypts a code as the published client does, with the client's key. */
export function encryptCode(
  service: TestService,
  { bundle }: SentCode,
  code: string,
  publicKey: string,
): Promise<string> {
  return encryptOtpCodeToBundle(code, bundle, publicKey, service.service.bootstrap.tlsFetcherPublicKey)
}

/** A proved contact: the token, and the key that it is bound to. */
export interface Proof {
  readonly token: string
  readonly key: ReturnType<typeof generateP256KeyPair>
}

/** Proves a contact in the newest form. */
export async function prove(
  service: TestService,
  parameters: object,
  where: { client?: TestClient; organizationId?: string } = {},
): Promise<Proof> {
  const sent = await requestCode(service, parameters, where)
  const key = generateP256KeyPair()
  const encryptedOtpBundle = await encryptCode(service, sent, sent.code, key.publicKey)
  const intent = { otpId: sent.otpId, encryptedOtpBundle }
  const { client = service.root, organizationId } = where
  const { verificationToken } = await complete(client, 'ACTIVITY_TYPE_VERIFY_OTP_V2', intent, organizationId)
  return { token: verificationToken, key }
}

export function claimsOf(token: string): Record<string, string> {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, string>
}

/** Signs a message with the key of a proof. */
export function sign({ key }: Pick<Proof, 'key'>, message: object | string): Wire.ClientSignature {
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  const signature = encodeHex(signEs256(key.privateKey, encodeUtf8(text)))
  return { publicKey: key.publicKey, scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message: text, signature }
}

/** The parameters of a login by a proof. */
export function loginBy(proof: Proof, publicKey: string, change: object = {}) {
  const message = { login: { publicKey }, tokenId: claimsOf(proof.token)['id'], type: 'USAGE_TYPE_LOGIN' }
  return { verificationToken: proof.token, publicKey, clientSignature: sign(proof, { ...message, ...change }) }
}

/** The parameters of a sign-up by a proof. */
export function signUpBy(proof: Proof, rootUser: Record<string, unknown>, message: object = {}) {
  const user = { userName: 'Ann', apiKeys: [], authenticators: [], oauthProviders: [], ...rootUser }
  const { apiKeys, authenticators, oauthProviders } = user
  const signupV2 = {
    apiKeys,
    authenticators,
    oauthProviders,
    ...(rootUser['userEmail'] === undefined ? {} : { email: rootUser['userEmail'] }),
    ...(rootUser['userPhoneNumber'] === undefined ? {} : { phoneNumber: rootUser['userPhoneNumber'] }),
  }
  const signed = { signupV2, tokenId: claimsOf(proof.token)['id'], type: 'USAGE_TYPE_SIGNUP', ...message }
  return {
    subOrganizationName: 'Ann',
    rootUsers: [user],
    rootQuorumThreshold: 1,
    verificationToken: proof.token,
    clientSignature: sign(proof, signed),
  }
}
