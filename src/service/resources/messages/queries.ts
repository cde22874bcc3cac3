import { apiError, readPagination } from '../../../protocol/index.ts'
import { normalizeContact } from '../../verification/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { findEmailEvent, listEmailEvents as listRows } from './store.ts'
import { toWireEmailEvent } from './wire.ts'

/** Events of the e-mails to one address, newest first. */
const listEmailEvents: QueryOf<'list_email_events'> = async (context, { email, eventType, paginationOptions }) => {
  const { tx, organizationId } = context
  const { limit, before, after } = readPagination(paginationOptions)
  const positionOf = async (id: string | undefined) => {
    if (id === undefined) return undefined
    const position = await findEmailEvent(tx, organizationId, id)
    if (position === undefined) throw apiError('unknownCursor', id)
    return position
  }
  const address = normalizeContact('OTP_TYPE_EMAIL', email)
  const pages = { before: await positionOf(before), after: await positionOf(after) }
  const rows = await listRows(tx, organizationId, { address, eventType, limit, ...pages })
  return { emailEvents: rows.map(toWireEmailEvent) }
}

export const messageQueries = { list_email_events: listEmailEvents } satisfies QueryRows
