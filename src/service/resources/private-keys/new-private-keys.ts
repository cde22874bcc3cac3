import { type AddressFormat, type Curve, checkAddressFormat, type StandAloneKey } from '../../../chain/index.ts'
import { apiErrorAt } from '../../../protocol/index.ts'
import type { ExecutionContext } from '../../engine/index.ts'
import { privateKeyPlace } from '../../keys/index.ts'
import { requireDistinct } from '../require.ts'
import { insertTagMembers } from '../tags/store.ts'
import { insertPrivateKeys } from './store.ts'

/** Throws the refusal of address formats that keys of the curve do not have, or that are given twice. */
export function checkAddressFormats(curve: Curve, addressFormats: readonly string[]): void {
  const refusal = addressFormats.map((format) => checkAddressFormat(curve, format)).find(Boolean)
  if (refusal !== undefined) throw apiErrorAt('addressFormats', 'requestInvalid', refusal)
  requireDistinct('addressFormats', addressFormats)
}

export interface NewPrivateKey {
  readonly privateKeyName: string
  readonly curve: Curve
  readonly addressFormats: readonly AddressFormat[]
  readonly privateKeyTags: readonly string[]
}

/** Seals keys, which wipes them, and keeps them with their addresses and tags. */
export async function addPrivateKeys(
  context: ExecutionContext,
  added: readonly (NewPrivateKey & { readonly key: StandAloneKey; readonly addresses: readonly string[] })[],
  { imported }: { readonly imported: boolean },
): Promise<{ privateKeyId: string; addresses: { format: AddressFormat; address: string }[] }[]> {
  const { tx, organizationId, now } = context
  const made = added.map((one) => {
    const { curve, privateKeyName, addressFormats, key } = one
    const id = context.newId()
    const row = {
      id,
      organization_id: organizationId,
      name: privateKeyName,
      curve,
      public_key: key.publicKey,
      sealed_private_key: context.seal(key.privateKey, privateKeyPlace(id)),
      exported: 0,
      imported: imported ? 1 : 0,
      disabled: 0,
      created_at: now,
      updated_at: now,
    }
    const addresses = addressFormats.map((format, at) => ({ format, address: one.addresses[at]! }))
    return { row, addresses, members: one.privateKeyTags.map((tagId) => ({ tagId, memberId: id })) }
  })
  await insertPrivateKeys(tx, made)
  await insertTagMembers(
    tx,
    organizationId,
    made.flatMap(({ members }) => members),
  )
  for (const { address } of made.flatMap(({ addresses }) => addresses)) context.noteAddress({ organizationId, address })
  return made.map(({ row, addresses }) => ({ privateKeyId: row.id, addresses }))
}
