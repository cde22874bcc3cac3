/**
 * Import targets (docs/protocol/bundles.md#import-targets): a key pair made for one import of one user. A failed import
 * leaves it usable, a successful one takes it away. Unstated: it lasts 24 hours, and of each kind a user may have 32.
 */

import { CryptoError, hpkeOpen, uncompressP256 } from '../../crypto/index.ts'
import { decodeHex } from '../../encoding/index.ts'
import { ApiError, apiError, GRPC } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { createKeyPair, type SealedPlace } from '../keys/index.ts'
import {
  deleteImportTarget,
  deleteLapsedImportTargets,
  type ImportTargetRow,
  insertImportTarget,
  listImportTargets,
} from '../resources/imports/store.ts'
import { signBundle } from './bundle.ts'
import { type EncryptedBundle, readEncryptedBundle } from './encrypted-bundle.ts'

/** The kinds of import. */
export type ImportKind = 'wallet' | 'private-key' | 'secret'

const LIFETIME_MS = 24 * 60 * 60 * 1000
const MOST_TARGETS = 32

/** Throws unless the caller imports for itself, which no policy changes (docs/protocol/bundles.md#import-targets). */
export function checkOwnImport({ submitterId }: HandlerContext, userId: string): void {
  if (userId.toLowerCase() !== submitterId) throw apiError('notAuthorized')
}

/** Makes a target and returns the bundle that says so; lapsed ones and the oldest beyond the limit go. */
export async function makeImportTarget(context: HandlerContext, kind: ImportKind): Promise<string> {
  const { tx, organizationId, submitterId: userId, now } = context
  const { publicKey, privateKey } = createKeyPair(context.randomBytes)
  const targetPublic = uncompressP256(publicKey)!
  await deleteLapsedImportTargets(tx, organizationId, now - LIFETIME_MS)
  const present = await listImportTargets(tx, { organizationId, userId, kind, since: 0 })
  for (const { public_key } of present.slice(0, Math.max(0, present.length + 1 - MOST_TARGETS))) {
    await deleteImportTarget(tx, organizationId, public_key)
  }
  await insertImportTarget(tx, {
    public_key: targetPublic,
    organization_id: organizationId,
    user_id: userId,
    kind,
    sealed_private_key: context.seal(decodeHex(privateKey), placeOf(targetPublic)),
    // The order of those that are made at one time: the oldest go first.
    created_at: Math.max(now, (present.at(-1)?.created_at ?? 0) + 1),
  })
  return signBundle(context, { targetPublic, organizationId, userId })
}

/** The imported secret, which the caller must wipe. */
export interface ImportedSecret {
  readonly secret: Uint8Array
  /** Takes the target away: it has served. */
  readonly useUp: () => Promise<void>
}

/** A bundle as a request has it. */
export interface GivenBundle {
  readonly field: string
  readonly text: string
  /** The target that it was encrypted to, uncompressed, where the request says so. */
  readonly target?: string
}

/**
 * Opens a bundle with whichever of the submitter's targets it was encrypted to. Throws NotFound when there is none that could,
 * and the refusal of a bundle that opens with none of them.
 */
export async function openImportBundle(
  context: HandlerContext,
  kind: ImportKind,
  { field, text, target: named }: GivenBundle,
): Promise<ImportedSecret> {
  const { tx, organizationId, submitterId: userId, now } = context
  const message = readEncryptedBundle(text, field)
  const present = await listImportTargets(tx, { organizationId, userId, kind, since: now - LIFETIME_MS + 1 })
  const targets = named === undefined ? present : present.filter(({ public_key }) => public_key === named)
  if (targets.length === 0) throw new ApiError(GRPC.NotFound, 'import target not found: it was used, or was never made')
  for (const target of targets.toReversed()) {
    const secret = await tryOpen(context, target, message)
    if (secret) return { secret, useUp: () => deleteImportTarget(tx, organizationId, target.public_key) }
  }
  throw apiError('invalidField', field, 'does not open with any import target of this user')
}

async function tryOpen(context: HandlerContext, target: ImportTargetRow, message: EncryptedBundle) {
  const privateKey = context.unseal(target.sealed_private_key, placeOf(target.public_key))
  try {
    return await hpkeOpen({ privateKey, publicKey: decodeHex(target.public_key) }, message)
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    return undefined
  } finally {
    privateKey.fill(0)
  }
}

function placeOf(publicKey: string): SealedPlace {
  return { table: 'import_targets', id: publicKey, column: 'sealed_private_key' }
}
