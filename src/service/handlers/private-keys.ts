import { addressOf, checkAddressFormat, createPrivateKey } from '../../chain/index.ts'
import { apiError, type Wire } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/handler.ts'
import { privateKeyPlace } from '../signing/sealed-places.ts'
import { countRows } from '../store/count.ts'
import {
  deletePrivateKeys as deleteKeyRows,
  disablePrivateKey as disableKeyRow,
  insertPrivateKey,
} from '../store/private-keys.ts'
import { insertTagMembers } from '../store/tags.ts'
import { checkLimit } from './limits.ts'
import { requireDistinct, requirePrivateKeys, requirePrivateKeyTags } from './require.ts'
import { type HandlerRows, mapResult, type TypedHandler } from './table.ts'

type Intent = Wire.CreatePrivateKeysIntentV2

const createPrivateKeys: TypedHandler<Intent, Wire.CreatePrivateKeysResultV2> = {
  async validate(context, { privateKeys }) {
    for (const { curve, addressFormats, privateKeyTags } of privateKeys) {
      const refusal = addressFormats.map((format) => checkAddressFormat(curve, format)).find(Boolean)
      if (refusal !== undefined) throw apiError('requestInvalid', refusal)
      requireDistinct('addressFormats', addressFormats)
      await requirePrivateKeyTags(context, 'privateKeyTags', privateKeyTags)
    }
    const present = await countRows(context.tx, 'private_keys', context.organizationId)
    await checkLimit(context, 'privateKeys', { present, added: privateKeys.length })
  },
  async execute(context, { privateKeys }) {
    const made: Wire.PrivateKeyResult[] = []
    for (const params of privateKeys) made.push(await addPrivateKey(context, params))
    return { privateKeys: made }
  },
}

/** Obsolete, and not to be undone: the key stays in every list, and nothing may be signed with it any more. */
const disablePrivateKey: TypedHandler<Wire.DisablePrivateKeyIntent, Wire.DisablePrivateKeyResult> = {
  async validate(context, { privateKeyId }) {
    await requirePrivateKeys(context, 'privateKeyId', [privateKeyId])
  },
  async execute({ tx, organizationId, now }, { privateKeyId }) {
    await disableKeyRow(tx, organizationId, privateKeyId, now)
    return { privateKeyId }
  },
}

/** All or nothing, as for wallets, whose refusal this is too (facts: chain §10). */
const deletePrivateKeys: TypedHandler<Wire.DeletePrivateKeysIntent, Wire.DeletePrivateKeysResult> = {
  async validate(context, { privateKeyIds, deleteWithoutExport = false }) {
    const keys = await requirePrivateKeys(context, 'privateKeyIds', privateKeyIds)
    if (!deleteWithoutExport && keys.some(({ exported }) => exported === 0)) throw apiError('walletAccountNotExported')
  },
  async execute({ tx, organizationId }, { privateKeyIds }) {
    await deleteKeyRows(tx, organizationId, privateKeyIds)
    return { privateKeyIds }
  },
}

export const privateKeyHandlers = {
  // The first version differs in what it answers with: ids alone (facts: chain §4).
  ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: mapResult(createPrivateKeys, ({ privateKeys }) => ({
    privateKeyIds: privateKeys.map(({ privateKeyId }) => privateKeyId!),
  })),
  ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: createPrivateKeys,
  ACTIVITY_TYPE_DISABLE_PRIVATE_KEY: disablePrivateKey,
  ACTIVITY_TYPE_DELETE_PRIVATE_KEYS: deletePrivateKeys,
} satisfies HandlerRows

async function addPrivateKey(context: HandlerContext, params: Wire.PrivateKeyParams): Promise<Wire.PrivateKeyResult> {
  const { tx, organizationId, now } = context
  const { curve, privateKeyName, privateKeyTags, addressFormats } = params
  const id = context.newId()
  const { privateKey, publicKey } = createPrivateKey(curve, context.randomBytes)
  const addresses = addressFormats.map((format) => ({ format, address: addressOf(curve, publicKey, format) }))
  await insertPrivateKey(
    tx,
    {
      id,
      organization_id: organizationId,
      name: privateKeyName,
      curve,
      public_key: publicKey,
      sealed_private_key: context.seal(privateKey, privateKeyPlace(id)),
      exported: 0,
      imported: 0,
      disabled: 0,
      created_at: now,
      updated_at: now,
    },
    addresses,
  )
  const members = privateKeyTags.map((tagId) => ({ tagId, memberId: id }))
  await insertTagMembers(tx, organizationId, members)
  return { privateKeyId: id, addresses }
}
