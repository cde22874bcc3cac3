import { type ActivityRow, type ActivityType, apiError, findActivity, type JsonObject } from '../../protocol/index.ts'
import { openText } from '../keys/index.ts'
import type { ActivityRecordRow, Transaction } from '../store/index.ts'
import type { Handler, HandlerContext, NotExecuted } from './handler.ts'
import type { HandlerTools } from './handler-tools.ts'
import type { Case } from './judgement.ts'
import { preparedOf } from './prepared.ts'
import { intentPlace } from './sealed-requests.ts'
import type { Work } from './work.ts'

/** Puts together what policies judge and handlers carry out. */
export interface Cases {
  /** The case of a new activity. Throws `ApiError` (code 12) for a type that is not carried out. */
  readonly open: (row: ActivityRow, intent: JsonObject, request: Omit<HandlerContext, keyof HandlerTools>) => Case
  /** The case of a stored activity; nothing for a type that is not carried out. */
  readonly reopen: (
    tx: Transaction,
    activity: ActivityRecordRow,
    submitterId: string,
    request: { readonly now: number; readonly work: Work },
  ) => Case | undefined
}

/** Creates the cases of one service. */
export function createCases(
  handlers: Readonly<Record<ActivityType, Handler | NotExecuted>>,
  tools: HandlerTools,
): Cases {
  const open: Cases['open'] = (row, intent, request) => {
    const handler = handlers[row.type]
    if ('notExecuted' in handler) throw apiError('notImplemented', `activity ${row.type} (${handler.notExecuted})`)
    return { row, intent, handler, context: { ...tools, ...request } }
  }
  return {
    open,
    reopen(tx, activity, submitterId, { now, work }) {
      const row = findActivity(activity.type)?.row
      if (!row || 'notExecuted' in handlers[row.type]) return undefined
      const organizationId = activity.organization_id
      // Nothing that a parent does inside ever waits.
      const homeId = organizationId
      const request = { tx, organizationId, homeId, submitterId, now, work, ...preparedOf(activity) }
      const intent = openText(tools.unseal, activity.intent, intentPlace(activity.id))
      return open(row, JSON.parse(intent) as JsonObject, request)
    },
  }
}
