/**
 * App proofs (docs/protocol/proofs.md#app-proofs): what the service says that it has done, signed by a key of its own that it
 * uses for nothing else. They are no attestation: nothing says in which machine that key is.
 */
import { sha256, signEs256 } from '../../crypto/index.ts'
import { canonicalJson, encodeHex, encodeUtf8, type JsonObject } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { openServiceKey, type Sealing } from '../keys/index.ts'
import { listServiceKeys, type Transaction } from '../store/index.ts'

/** An address that an activity has made. */
export interface MadeAddress {
  readonly organizationId: string
  readonly walletId?: string
  readonly derivationPath?: string
  readonly address: string
}

/** How an activity was decided. */
export interface DecidedOutcome {
  readonly organizationId: string
  readonly outcome: string
  /** Whatever the decision rests on: the request, what each policy made of it, and the organizations. */
  readonly decision: JsonObject
  readonly organization: JsonObject
  /** Absent for a parent. */
  readonly parentOrganization: JsonObject | undefined
  readonly approvals: readonly JsonObject[]
}

/** Signs one proof for each address and one for the outcome. */
export async function signAppProofs(
  context: { readonly tx: Transaction; readonly unseal: Sealing['unseal']; readonly now: number },
  { made, decided }: { readonly made: readonly MadeAddress[]; readonly decided: DecidedOutcome },
): Promise<Wire.AppProof[]> {
  const { tx, unseal, now } = context
  const { privateKey, publicKey } = await openServiceKey(tx, unseal, 'app-proofs')
  const encryption = (await listServiceKeys(tx)).find(({ name }) => name === 'app-proofs-encryption')!
  const payloads = [
    ...made.map(({ organizationId, walletId, derivationPath, address }) => ({
      type: 'APP_PROOF_TYPE_ADDRESS_DERIVATION',
      timestampMs: String(now),
      addressDerivationProof: {
        organizationId,
        ...(walletId !== undefined && { walletId }),
        ...(derivationPath !== undefined && { derivationPath }),
        address,
      },
    })),
    {
      type: 'APP_PROOF_TYPE_POLICY_OUTCOME',
      timestampMs: String(now),
      policyOutcomeProof: {
        organizationId: decided.organizationId,
        outcome: decided.outcome,
        decisionContextDigest: digestOf(decided.decision),
        organizationDataDigest: digestOf(decided.organization),
        parentOrganizationDataDigest: decided.parentOrganization ? digestOf(decided.parentOrganization) : '',
        userRequestApprovals: decided.approvals,
      },
    },
  ]
  return payloads.map((payload) => {
    const proofPayload = JSON.stringify(payload)
    return {
      scheme: 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256',
      publicKey: `${encryption.public_key}${publicKey}`,
      proofPayload,
      signature: encodeHex(signEs256(privateKey, encodeUtf8(proofPayload))),
    }
  })
}

function digestOf(value: JsonObject): string {
  return encodeHex(sha256(canonicalJson(value)))
}
