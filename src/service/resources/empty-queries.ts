/**
 * Lists that are empty in truth: what would be in them is made by activities that this service does not carry out, so
 * no organization can have any. Clients ask for them all the same, on every start. A test holds `madeBy` to the handlers:
 * the day one of these activities is carried out, its list must be read.
 */
import { type ActivityFamily, apiError, type JsonObject, type QueryName, readPagination } from '../../protocol/index.ts'
import type { QueryContext, QueryHandler } from '../engine/index.ts'
import { findActivityById } from '../store/index.ts'
import { checkUser } from './users/queries.ts'

interface EmptyList {
  /** The member of the response that holds the list. */
  readonly member: string
  readonly madeBy: readonly ActivityFamily[]
  /** The member of the request that names what the list is about; it must exist, where it is given. */
  readonly about?: 'userId' | 'activityId'
}

export const emptyLists = {
  list_fiat_on_ramp_credentials: { member: 'fiatOnRampCredentials', madeBy: ['CREATE_FIAT_ON_RAMP_CREDENTIAL'] },
  list_tvc_apps: { member: 'tvcApps', madeBy: ['CREATE_TVC_APP'] },
} as const satisfies Partial<Record<QueryName, EmptyList>>

/** Answers a query of the table above. */
export function answerEmpty({ member, about }: EmptyList): QueryHandler {
  return async (context, request) => {
    const { paginationOptions } = request as { paginationOptions?: JsonObject }
    readPagination(paginationOptions)
    if (about !== undefined) await checkSubject(context, about, request[about])
    return { [member]: [] }
  }
}

async function checkSubject(context: QueryContext, about: 'userId' | 'activityId', id: unknown): Promise<void> {
  if (typeof id !== 'string' || id === '') return
  if (about === 'userId') return checkUser(context, id)
  if (!(await findActivityById(context.tx, context.organizationId, id))) throw apiError('notFound', 'activity', id)
}
