/**
 * How much an organization's lists may hold. Most are answered whole: there is no paging for them on the wire, so that what
 * one answer has room for is bounded where it is stored.
 */
import { type ActivityFamily, apiError, findActivity, type JsonObject, STORED_BYTES } from '../../protocol/index.ts'
import { type Handler, type HandlerContext, textOfIntent } from '../engine/index.ts'
import { type Rows, type StoredList, whenRead } from '../store/index.ts'

/** The lists that the activities of a family may add texts to, or why what they add is bounded without. */
export type GrownLists = { readonly [Family in ActivityFamily]?: readonly StoredList[] | string }

/** Has the handlers of such activities refuse, with code 8, what a list has no room for. */
export function boundLists<Rows extends Readonly<Record<string, object>>>(rows: Rows, grown: GrownLists): Rows {
  const bounded = Object.entries(rows).map(([type, row]) => {
    const lists = grown[findActivity(type)!.row.family]
    return [type, typeof lists === 'object' && 'execute' in row ? bound(row as Handler, lists) : row]
  })
  return Object.fromEntries(bounded) as Rows
}

function bound(handler: Handler, lists: readonly StoredList[]): Handler {
  return {
    ...handler,
    validate(context, intent) {
      return whenRead(handler.validate?.(context, intent), () => checkRoom(context, intent, lists))
    },
  }
}

/** Throws the refusal of what the first of these lists has no room for. */
function checkRoom(context: HandlerContext, intent: JsonObject, [first, ...others]: readonly StoredList[]): Rows<void> {
  if (first === undefined) return
  const { table } = first
  return whenRead(first.countBytes(context.tx, context.organizationId), (present) => {
    const most = STORED_BYTES[table === 'smart_contract_interfaces' ? 'interfaces' : 'list']
    if (present + Buffer.byteLength(textOfIntent(intent)) > most)
      throw apiError('maxReached', 'organization', `bytes of ${table.replaceAll('_', ' ')}`, most)
    return checkRoom(context, intent, others)
  })
}
