import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { QUORUM_KEY_SHARES, TVC_LIMITS, tvcNotOfSet } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireDistinct } from '../require.ts'
import { checkApprovals } from '../tvc-deployments/manifest.ts'
import { readTvcKey, readTvcKeys } from '../tvc-operators/operator-key.ts'
import { addProvisioningShare, checkNotPosted, readSealedShare, requireProvisioned } from './provisioning.ts'
import { reEncrypt } from './re-encrypt.ts'
import { tvcQuorumKeyShareTable, tvcQuorumKeyTable } from './store.ts'

/** The seed is made, shared and forgotten: enough of the holders give it back, and nobody else. */
const create: TypedHandler<Wire.CreateTvcQuorumKeyIntent, Wire.CreateTvcQuorumKeyResult> = {
  async validate({ tx, organizationId }, { threshold, operatorEncryptKeys }) {
    const { least, most } = QUORUM_KEY_SHARES
    const { length } = operatorEncryptKeys
    if (length < least || length > most)
      throw apiError('invalidField', 'operatorEncryptKeys', `must have ${least} to ${most} keys, got ${length}`)
    if (threshold < least || threshold > length)
      throw apiError('invalidField', 'threshold', `must be from ${least} to the number of keys, ${length}`)
    requireDistinct('operatorEncryptKeys', keysOf(operatorEncryptKeys))
    if ((await tvcQuorumKeyTable.count(tx, organizationId)) >= TVC_LIMITS.quorumKeys)
      throw apiError('maxReached', 'organization', 'TVC quorum keys', TVC_LIMITS.quorumKeys)
  },
  async execute(context, { threshold, operatorEncryptKeys }) {
    const { tx, organizationId, now } = context
    const encryptKeys = keysOf(operatorEncryptKeys)
    const seed = context.work.once('quorumKey', () => context.randomBytes(32))
    const { publicKey, encryptedShares } = context.work.run('createQuorumKey', {
      secret: new Uint8Array(seed),
      input: { threshold, encryptKeys },
      weight: 2 * encryptKeys.length,
    })
    const quorumKeyId = context.newId()
    const times = { organization_id: organizationId, created_at: now, updated_at: now }
    await tvcQuorumKeyTable.insert(tx, [{ id: quorumKeyId, public_key: publicKey, threshold, ...times }])
    const shares = encryptKeys.map((encrypt_public_key, at) => ({
      id: context.newId(),
      quorum_key_id: quorumKeyId,
      encrypt_public_key,
      encrypted_share: encryptedShares[at]!,
      ...times,
    }))
    await tvcQuorumKeyShareTable.insert(tx, shares)
    return { quorumKeyId, quorumPublicKey: publicKey, shareIds: shares.map(({ id }) => id) }
  },
}

/** A share that its holder has opened and sealed to an enclave, and their word for the manifest. */
const post: TypedHandler<Wire.PostTvcQuorumKeyShareIntent, Wire.PostTvcQuorumKeyShareResult> = {
  async validate(context, intent) {
    await readPosted(context, intent)
  },
  execute: async (context, intent) => addProvisioningShare(context, await readPosted(context, intent)),
}

export const tvcQuorumKeyHandlers = {
  ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY: create,
  ACTIVITY_TYPE_POST_TVC_QUORUM_KEY_SHARE: post,
  ACTIVITY_TYPE_RE_ENCRYPT_TVC_QUORUM_KEY_SHARE: reEncrypt,
} satisfies HandlerRows

function keysOf(operatorEncryptKeys: readonly string[]): string[] {
  return operatorEncryptKeys.map((key) => readTvcKey('operatorEncryptKeys', key))
}

async function readPosted(context: HandlerContext, intent: Wire.PostTvcQuorumKeyShareIntent) {
  const { deploymentId, shareApprovalBundle } = intent
  const { operatorId, reEncryptedShareHex, signature } = shareApprovalBundle
  const ephemeralKey = readTvcKeys('ephemeralPublicKeyHex', intent.ephemeralPublicKeyHex)
  const sealedShare = readSealedShare('reEncryptedShareHex', reEncryptedShareHex)
  const { deployment, holders } = await requireProvisioned(context, deploymentId)
  const operator = holders.find(({ id }) => id === operatorId)
  if (!operator) throw tvcNotOfSet('share', operatorId)
  await checkNotPosted(context, { deploymentId, operatorId, ephemeralKey })
  checkApprovals(context, deployment.manifest, [{ operator, signature }])
  return { deploymentId, operatorId, ephemeralKey, sealedShare, signature: signature.toLowerCase() }
}
