import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import type { Chains } from '../chains/index.ts'
import type { SealedPlace, Sealing } from '../keys/index.ts'
import type { MessageRules } from '../messages/index.ts'
import type { Voucher } from '../oidc/index.ts'

/** Identities at issuers. */
export interface OauthTools {
  /** Signs an OIDC token as the issuer that the service is, for a moment in milliseconds since the epoch. */
  readonly issueToken: (
    claims: {
      readonly audience: string
      readonly subject: string
      readonly nonce: string
      readonly encryptedBearerToken?: string
    },
    now: number,
  ) => string
  /** The issuer of Google's tokens, by which a parent may link its users (docs/protocol/oauth.md#social-linking). */
  readonly linkingIssuer: string
  /** Who stands for what an issuer says of e-mail addresses (docs/protocol/oauth.md#addresses-that-a-token-proves). */
  readonly vouches: (issuer: string) => Voucher | undefined
}

/** The tools that all handlers have, whatever the request. */
export interface HandlerTools {
  /** Random bytes, from the injected source. */
  readonly randomBytes: (length: number) => Uint8Array
  /** A new random UUID (version 4). */
  readonly newId: () => string
  /** Seals bytes at rest, bound to the row they stand in, and wipes them; opens them again, for the caller to wipe. */
  readonly seal: (plain: Uint8Array, place: SealedPlace) => Uint8Array
  readonly unseal: (sealed: Uint8Array, place: SealedPlace) => Uint8Array
  /** The chains that are served. INVARIANT: no node is asked while the transaction is open. */
  readonly chains: Chains
  readonly oauth: OauthTools
  readonly messages: MessageRules
  /** Codes that one source address may ask an authentication proxy for, in the time of `AUTH_PROXY_CODES`. */
  readonly codesPerAddress: number
  /** Who signs what enclaves say of themselves: DER, in hex. */
  readonly enclaveRoot: string
}

/** Makes the tools of the handlers of one service. */
export function createHandlerTools({
  randomBytes,
  sealing,
  chains,
  oauth,
  messages,
  codesPerAddress,
  enclaveRoot,
}: {
  readonly randomBytes: RandomBytes
  readonly sealing: Sealing
  readonly chains: Chains
  readonly oauth: OauthTools
  readonly messages: MessageRules
  readonly codesPerAddress: number
  readonly enclaveRoot: string
}): HandlerTools {
  const { seal, unseal } = sealing
  const newId = () => newUuid(randomBytes)
  return { randomBytes, newId, seal, unseal, chains, oauth, messages, codesPerAddress, enclaveRoot }
}
