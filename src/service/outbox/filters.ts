import type { EventFacts } from './event.ts'

/** The members of a filter that choose anything; others are kept and choose nothing. */
const MEMBERS = [
  'activityTypes',
  'activityStatuses',
  'organizationIds',
  'addresses',
  'caip2',
] as const satisfies readonly (keyof EventFacts)[]

/**
 * Whether a subscription wants an event by its filter. Unstated: the grammar of filters; this one is the service's own, and
 * applied where its operator says so (docs/protocol/webhooks.md#filters). Each member that is given as a list of texts must have
 * the event's own. What is no object chooses nothing away.
 */
export function passesFilter(filtersJson: string | undefined, facts: EventFacts): boolean {
  if (!filtersJson) return true
  const filter: unknown = JSON.parse(filtersJson)
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) return true
  return MEMBERS.every((member) => {
    const wanted: unknown = (filter as Readonly<Record<string, unknown>>)[member]
    return !Array.isArray(wanted) || wanted.includes(facts[member])
  })
}
