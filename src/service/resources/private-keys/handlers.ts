import { apiError, REQUEST_LIMITS, type Wire } from '../../../protocol/index.ts'
import { type HandlerRows, mapResult, type TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { requirePrivateKeys, requirePrivateKeyTags } from '../require.ts'
import { addPrivateKeys, checkAddressFormats } from './new-private-keys.ts'
import { deletePrivateKeys as deleteKeyRows, disablePrivateKey as disableKeyRow, privateKeyTable } from './store.ts'

type Intent = Wire.CreatePrivateKeysIntentV2

const createPrivateKeys: TypedHandler<Intent, Wire.CreatePrivateKeysResultV2> = {
  async validate(context, { privateKeys }) {
    const addresses = addressesOf(privateKeys)
    if (addresses > REQUEST_LIMITS.addresses) {
      const most = `must have at most ${REQUEST_LIMITS.addresses} address formats together, got ${addresses}`
      throw apiError('invalidField', 'privateKeys', most)
    }
    for (const { curve, addressFormats, privateKeyTags } of privateKeys) {
      checkAddressFormats(curve, addressFormats)
      await requirePrivateKeyTags(context, 'privateKeyTags', privateKeyTags)
    }
    const present = await privateKeyTable.count(context.tx, context.organizationId)
    await checkLimit(context, 'privateKeys', { present, added: privateKeys.length })
  },
  async execute(context, { privateKeys }) {
    // Drawn once, so that what is prepared from it is found again.
    const drawn = context.work.once('privateKeys', () => context.randomBytes(32 * privateKeys.length))
    const input = privateKeys.map(({ curve, addressFormats }) => ({ curve, addressFormats }))
    const weight = privateKeys.length + addressesOf(privateKeys)
    const created = context.work.run('createPrivateKeys', { secret: new Uint8Array(drawn), input, weight })
    try {
      const added = privateKeys.map((params, at) => {
        const { publicKey, addresses } = created.keys[at]!
        const privateKey = created.privateKeys.slice(32 * at, 32 * (at + 1))
        return { ...params, key: { publicKey, privateKey }, addresses }
      })
      return { privateKeys: await addPrivateKeys(context, added, { imported: false }) }
    } finally {
      created.privateKeys.fill(0)
    }
  },
}

function addressesOf(privateKeys: Intent['privateKeys']): number {
  return privateKeys.reduce((sum, { addressFormats }) => sum + addressFormats.length, 0)
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

/** All or nothing, as for wallets, whose refusal this is too (docs/protocol/keys.md#deletion). */
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
  // The first version differs in what it answers with: ids alone (docs/protocol/keys.md#private-keys).
  ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: mapResult(createPrivateKeys, ({ privateKeys }) => ({
    privateKeyIds: privateKeys.map(({ privateKeyId }) => privateKeyId!),
  })),
  ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: createPrivateKeys,
  ACTIVITY_TYPE_DISABLE_PRIVATE_KEY: disablePrivateKey,
  ACTIVITY_TYPE_DELETE_PRIVATE_KEYS: deletePrivateKeys,
} satisfies HandlerRows
