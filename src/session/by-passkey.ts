import { sha256 } from '../crypto/index.ts'
import { encodeBase64Url, encodeHex, encodeUtf8 } from '../encoding/index.ts'
import { askPasskey, type BrowserOptions, member } from './passkey-page.ts'
import { createSessionKey } from './proof.ts'
import type { LoginPlace, Proof } from './stamped-login.ts'

/** The relying party of passkeys that are made and used on this machine: they belong to pages at `localhost`. */
const RP_ID = 'localhost'

/** What a passkey is asked for, as its page says it. */
export interface PasskeyPurpose {
  readonly title: string
  /** What the request does: `makes a session`. */
  readonly does: string
}

/** Has a passkey of the user stamp in the browser; the page opens for each stamp. The stamper throws `session/…`. */
export function proveByPasskey(
  asked: Pick<LoginPlace, 'baseUrl' | 'organizationId'> & BrowserOptions & { readonly purpose: PasskeyPurpose },
): Proof {
  const { baseUrl, organizationId, purpose } = asked
  const stamper = {
    publicKey: 'passkey',
    async stamp(body: Uint8Array) {
      const answer = await askPasskey(
        {
          title: purpose.title,
          about: [
            `Organization ${organizationId} at ${baseUrl}.`,
            `Your passkey signs one request, which ${purpose.does}.`,
          ],
          button: 'Use your passkey',
          method: 'get',
          publicKey: {
            // The authenticator signs the digest as text (docs/protocol/stamps.md#passkey-stamps).
            challenge: encodeBase64Url(encodeUtf8(encodeHex(sha256(body)))),
            rpId: RP_ID,
            userVerification: 'preferred',
          },
        },
        asked,
      )
      const names = ['credentialId', 'clientDataJson', 'authenticatorData', 'signature']
      const stamp = Object.fromEntries(names.map((name) => [name, member(answer, name)]))
      return { name: 'X-Stamp-Webauthn' as const, value: JSON.stringify(stamp) }
    },
  }
  return { key: createSessionKey(asked.randomBytes), stamper }
}

/** A passkey that was made: what definitions say of it, under the name of an authenticator of the user. */
export interface NewPasskey {
  readonly credentialId: string
  readonly challenge: string
  readonly attestation: {
    readonly clientDataJson: string
    readonly attestationObject: string
    readonly transports: readonly string[]
  }
}

/** Has a passkey made in the person's browser. Nothing is submitted: an administrator registers it. Throws `session/…`. */
export async function registerPasskey(userName: string, options: BrowserOptions): Promise<NewPasskey> {
  const challenge = encodeBase64Url(options.randomBytes(32))
  const answer = await askPasskey(
    {
      title: 'Make a passkey for quorate',
      about: [
        `It is for ${userName}, and is used on this machine.`,
        'The terminal then shows what definitions say of it.',
      ],
      button: 'Make the passkey',
      method: 'create',
      publicKey: {
        challenge,
        rp: { id: RP_ID, name: 'quorate' },
        user: { id: encodeBase64Url(options.randomBytes(16)), name: userName, displayName: userName },
        pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
        // Nobody types its id: the browser must find it.
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
        attestation: 'none',
      },
    },
    options,
  )
  const { transports = [] } = answer
  return {
    credentialId: member(answer, 'credentialId'),
    challenge,
    attestation: {
      clientDataJson: member(answer, 'clientDataJson'),
      attestationObject: member(answer, 'attestationObject'),
      transports: typeof transports === 'string' ? [transports] : transports,
    },
  }
}
