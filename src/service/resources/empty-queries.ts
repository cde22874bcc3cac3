import { type ActivityFamily, apiError, type JsonObject, readPagination } from '../../protocol/index.ts'
import type { QueryContext, QueryHandler } from '../engine/index.ts'
import { findActivityById } from '../store/index.ts'
import { checkUser } from './users/queries.ts'

/** A list that is empty, since nothing can make what would be in it. */
export interface EmptyList {
  /** The member of the response that holds the list. */
  readonly member: string
  readonly madeBy: readonly ActivityFamily[]
  /** The member of the request that names what the list is about; it must exist, where it is given. */
  readonly about?: 'userId' | 'activityId'
}

/** Answers a query of such a list. */
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
