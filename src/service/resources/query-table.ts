import type { QueryName, QueryTypes } from '../../protocol/index.ts'
import type { NotExecuted, QueryContext } from '../engine/index.ts'

/** How one query is answered, with its request and response as the catalogue types them. */
export type QueryOf<Name extends QueryName> = (
  context: QueryContext,
  request: QueryTypes[Name]['request'],
) => Promise<QueryTypes[Name]['response'] | (() => Promise<QueryTypes[Name]['response']>)>

/** Rows for some queries, each fitting its own request and response. */
export type QueryRows = { readonly [Name in QueryName]?: QueryOf<Name> | NotExecuted }
