import { apiError, readPagination } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { findSecretPlace, listSecrets as listRows } from './store.ts'
import { toWireSecret } from './wire.ts'

/** Newest first; `before` and `after` are ids of secrets. What a secret holds leaves by an export alone. */
const listSecrets: QueryOf<'list_secrets'> = async ({ tx, organizationId }, { paginationOptions }) => {
  const { limit, ...cursors } = readPagination(paginationOptions)
  const placeOf = async (id: string | undefined) => {
    if (id === undefined) return undefined
    const place = await findSecretPlace(tx, organizationId, id)
    if (place === undefined) throw apiError('unknownCursor', id)
    return place
  }
  const before = await placeOf(cursors.before)
  const after = await placeOf(cursors.after)
  const rows = await listRows(tx, organizationId, {
    limit,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  })
  return { secrets: rows.map(toWireSecret) }
}

export const secretQueries = { list_secrets: listSecrets } satisfies QueryRows
