import {
  type AddressFormat,
  addressOf,
  type Curve,
  checkAddressFormat,
  type StandAloneKey,
} from '../../../chain/index.ts'
import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { privateKeyPlace } from '../../keys/index.ts'
import { requireDistinct } from '../require.ts'
import { insertTagMembers } from '../tags/store.ts'
import { insertPrivateKey } from './store.ts'

/** Throws the refusal of address formats that keys of the curve do not have, or that are given twice. */
export function checkAddressFormats(curve: Curve, addressFormats: readonly string[]): void {
  const refusal = addressFormats.map((format) => checkAddressFormat(curve, format)).find(Boolean)
  if (refusal !== undefined) throw apiError('requestInvalid', refusal)
  requireDistinct('addressFormats', addressFormats)
}

/** Seals a key and keeps it with its addresses and tags. */
export async function addPrivateKey(
  context: HandlerContext,
  params: {
    readonly privateKeyName: string
    readonly curve: Curve
    readonly key: StandAloneKey
    readonly addressFormats: readonly AddressFormat[]
    readonly privateKeyTags: readonly string[]
    readonly imported: boolean
  },
): Promise<{ privateKeyId: string; addresses: { format: AddressFormat; address: string }[] }> {
  const { tx, organizationId, now } = context
  const { curve, privateKeyName, privateKeyTags, addressFormats } = params
  const { privateKey, publicKey } = params.key
  const id = context.newId()
  const addresses = addressFormats.map((format) => ({ format, address: addressOf(curve, publicKey, format) }))
  const sealed = context.seal(privateKey, privateKeyPlace(id))
  await insertPrivateKey(
    tx,
    {
      id,
      organization_id: organizationId,
      name: privateKeyName,
      curve,
      public_key: publicKey,
      sealed_private_key: sealed,
      exported: 0,
      imported: params.imported ? 1 : 0,
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
