/**
 * The manifest of a deployment, as QuorumOS has it in its second version: JSON with sorted members and without white space,
 * numbers as texts, bytes as hex. Operators approve the SHA-256 of these bytes (docs/protocol/tvc.md#manifests).
 */
import { sha256 } from '../../../crypto/index.ts'
import { type Bytes, canonicalJson, encodeUtf8 } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { splitTvcKey } from '../tvc-operators/operator-key.ts'
import type { TvcOperatorRow, TvcOperatorSet } from '../tvc-operators/store.ts'

export interface ManifestParts {
  readonly app: { readonly id: string; readonly quorum_public_key: string; readonly enable_egress: number }
  readonly manifestSet: TvcOperatorSet
  readonly shareSet: TvcOperatorSet
  readonly intent: Wire.CreateTvcDeploymentIntent
  readonly nonce: number
  /** DER, in hex: the root certificate of the attestations of enclaves. */
  readonly enclaveRoot: string
}

/** Writes the manifest. No image of QuorumOS is known here, so that none is measured: its registers are empty. */
export function writeManifest({ app, manifestSet, shareSet, intent, nonce, enclaveRoot }: ManifestParts): string {
  const server = (port: number) => ({ type: 'server', port: String(port), host: '0.0.0.0' })
  const ports = new Set([intent.publicIngressPort, intent.healthCheckPort])
  const egress = app.enable_egress === 1 ? [{ type: 'client', port: '0' }] : []
  return canonicalJson({
    version: 'v2',
    namespace: { name: app.id, nonce: String(nonce), quorumKey: app.quorum_public_key },
    pivot: {
      hash: digestOf(intent.expectedPivotDigest),
      restart: 'Always',
      bridgeConfig: [...[...ports].map(server), ...egress],
      debugMode: intent.debugMode ?? false,
      args: intent.pivotArgs,
    },
    manifestSet: partOf(manifestSet),
    shareSet: partOf(shareSet),
    enclave: { pcr0: '', pcr1: '', pcr2: '', pcr3: '', awsRootCertificate: enclaveRoot, qosCommit: intent.qosVersion },
  })
}

/** The 64 hex digits of a SHA-256 that may have `sha256:` before them; undefined for any other text, such as one with `0x`. */
export function readDigest(text: string): string | undefined {
  const digits = text.replace(/^sha256:/, '').toLowerCase()
  return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined
}

/** The hash of a manifest, which an approval signs. */
export function manifestHash(manifest: string): Bytes {
  return sha256(encodeUtf8(manifest))
}

/** Throws the refusal of a signature (hex of `r ‖ s`) that is not by its operator, over the manifest. */
export function checkApprovals(
  { work }: Pick<HandlerContext, 'work'>,
  manifest: string,
  approvals: readonly { readonly operator: TvcOperatorRow; readonly signature: string }[],
): void {
  const { areValid } = work.run('verifyApprovals', {
    input: {
      manifest,
      approvals: approvals.map(({ operator, signature }) => ({
        signKey: splitTvcKey(operator.public_key).signKey,
        signature,
      })),
    },
    weight: approvals.length,
  })
  const other = areValid.indexOf(false)
  if (other === -1) return
  throw apiError('invalidField', 'signature', `must be of operator ${approvals[other]!.operator.id}, over the manifest`)
}

function digestOf(text: string): string {
  return readDigest(text)!
}

function partOf({ threshold, members }: TvcOperatorSet) {
  return {
    threshold: String(threshold),
    members: members.map(({ name, public_key }) => ({ alias: name, pubKey: public_key })),
  }
}
