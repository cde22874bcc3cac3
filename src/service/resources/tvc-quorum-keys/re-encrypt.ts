/**
 * A share whose holder's keys are here goes from the holder's key to an enclave's. It is sealed to the key of the attestation, which must
 * be of an enclave that runs the approved manifest (docs/protocol/tvc.md#shares-of-quorum-keys).
 */
import { signBytes } from '../../../chain/index.ts'
import { CryptoError, openEnvelope, sealEnvelope, sha256 } from '../../../crypto/index.ts'
import {
  type Bytes,
  concatBytes,
  decodeBase64,
  decodeHex,
  EncodingError,
  encodeHex,
  encodeUtf8,
  equalBytes,
} from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { AttestationRefused, readAttestation } from '../../enclaves/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { tvcAttestationRefused, tvcNotOfSet, tvcOperatorElsewhere } from '../../readings.ts'
import { lookForSigner, type SealedSigner, withSigningKey } from '../../signing/index.ts'
import type { TypedHandler } from '../handler-table.ts'
import { manifestHash } from '../tvc-deployments/manifest.ts'
import type { TvcDeploymentRow } from '../tvc-deployments/store.ts'
import { readTvcKey, readTvcKeys, splitTvcKey } from '../tvc-operators/operator-key.ts'
import { addProvisioningShare, checkNotPosted, requireProvisioned } from './provisioning.ts'
import { findQuorumKeyShare } from './store.ts'

export const reEncrypt: TypedHandler<Wire.ReEncryptTvcQuorumKeyShareIntent, Wire.ReEncryptTvcQuorumKeyShareResult> = {
  async validate(context, intent) {
    await readRequest(context, intent)
  },
  async execute(context, intent) {
    const { deployment, operatorId, ephemeralKey, encryptedShare, signers } = await readRequest(context, intent)
    const holder = { signer: signers.encrypt, publicKey: decodeHex(splitTvcKey(signers.publicKey).encryptKey) }
    const share = await openShare(context, holder, decodeHex(encryptedShare))
    try {
      const sealed = sealEnvelope(decodeHex(splitTvcKey(ephemeralKey).encryptKey), share, context.randomBytes)
      const signature = await approveManifest(context, signers.sign, deployment)
      const sealedShare = encodeHex(sealed)
      return addProvisioningShare(context, {
        deploymentId: deployment.id,
        operatorId,
        ephemeralKey,
        sealedShare,
        signature,
      })
    } finally {
      share.fill(0)
    }
  },
}

async function readRequest(context: HandlerContext, intent: Wire.ReEncryptTvcQuorumKeyShareIntent) {
  const { tx, organizationId } = context
  const { deploymentId } = intent
  const encryptKey = readTvcKey('operatorEncryptKey', intent.operatorEncryptKey)
  const publicKey = encryptKey + readTvcKey('operatorSignKey', intent.operatorSignKey)
  const { deployment, app, holders } = await requireProvisioned(context, deploymentId)
  if (intent.appQuorumKey.toLowerCase() !== app.quorum_public_key)
    throw apiError('invalidField', 'appQuorumKey', 'must be the quorum key of the app')
  if (!equalBytes(readBase64('manifestB64', intent.manifestB64), encodeUtf8(deployment.manifest)))
    throw apiError('invalidField', 'manifestB64', 'must be the manifest of the deployment')
  const operator = holders.find((each) => each.public_key === publicKey)
  if (!operator) throw tvcNotOfSet('share', publicKey)
  const encrypt = await lookForSigner(context, encryptKey)
  const sign = await lookForSigner(context, publicKey.slice(encryptKey.length))
  if (!encrypt || !sign) throw tvcOperatorElsewhere(operator.id)
  const encryptedShare = await findQuorumKeyShare(tx, organizationId, { publicKey: app.quorum_public_key, encryptKey })
  if (encryptedShare === undefined) throw apiError('notFound', 'TVC quorum key share of operator', operator.id)
  const ephemeralKey = readEphemeralKey(context, intent, deployment)
  await checkNotPosted(context, { deploymentId, operatorId: operator.id, ephemeralKey })
  return { deployment, operatorId: operator.id, ephemeralKey, encryptedShare, signers: { publicKey, encrypt, sign } }
}

/** The key of the enclave that runs the manifest. What it has measured is not compared: manifests of this service name no measurements. */
function readEphemeralKey(
  { now }: HandlerContext,
  { attestationDocB64 }: Wire.ReEncryptTvcQuorumKeyShareIntent,
  { manifest }: TvcDeploymentRow,
): string {
  const { enclave } = JSON.parse(manifest) as { readonly enclave: { readonly awsRootCertificate: string } }
  try {
    const document = readBase64('attestationDocB64', attestationDocB64)
    const { publicKey, userData } = readAttestation(document, { root: enclave.awsRootCertificate, now })
    if (!equalBytes(userData, manifestHash(manifest))) throw new AttestationRefused('it is of another manifest')
    return readTvcKeys('attestationDocB64', encodeHex(publicKey))
  } catch (error) {
    if (error instanceof AttestationRefused) throw tvcAttestationRefused(error.message)
    throw error
  }
}

async function openShare(
  context: HandlerContext,
  { signer, publicKey }: { readonly signer: SealedSigner; readonly publicKey: Bytes },
  encryptedShare: Bytes,
): Promise<Bytes> {
  return withSigningKey(context, signer, ({ privateKey }) => {
    try {
      return openEnvelope({ privateKey, publicKey }, encryptedShare)
    } catch (error) {
      if (error instanceof CryptoError)
        throw new Error('a share of a quorum key does not open with the key it was sealed to')
      throw error
    }
  })
}

async function approveManifest(
  context: HandlerContext,
  signer: SealedSigner,
  { manifest }: TvcDeploymentRow,
): Promise<string> {
  const { r, s } = await withSigningKey(context, signer, (key) => signBytes(key, sha256(manifestHash(manifest))))
  return encodeHex(concatBytes(r, s))
}

function readBase64(field: string, text: string): Bytes {
  try {
    return decodeBase64(text)
  } catch (error) {
    if (error instanceof EncodingError) throw apiError('invalidField', field, 'must be base64')
    throw error
  }
}
