import { apiError } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { listTags } from '../tags/store.ts'
import { toWireTag } from '../tags/wire.ts'
import { listPrivateKeys } from './store.ts'
import { toWirePrivateKeys } from './wire.ts'

const getPrivateKey: QueryOf<'get_private_key'> = async ({ tx, organizationId }, { privateKeyId }) => {
  const keys = await listPrivateKeys(tx, organizationId, [privateKeyId])
  const [privateKey] = await toWirePrivateKeys(tx, organizationId, keys)
  if (!privateKey) throw apiError('notFound', 'private key', privateKeyId)
  return { privateKey }
}

const listAllPrivateKeys: QueryOf<'list_private_keys'> = async ({ tx, organizationId }) => ({
  privateKeys: await toWirePrivateKeys(tx, organizationId, await listPrivateKeys(tx, organizationId)),
})

const listPrivateKeyTags: QueryOf<'list_private_key_tags'> = async ({ tx, organizationId }) => ({
  privateKeyTags: (await listTags(tx, organizationId, 'TAG_TYPE_PRIVATE_KEY')).map(toWireTag),
})

export const privateKeyQueries = {
  get_private_key: getPrivateKey,
  list_private_keys: listAllPrivateKeys,
  list_private_key_tags: listPrivateKeyTags,
} satisfies QueryRows
