import type { QueryClient } from '../../client/index.ts'
import { planRevert, type Traced } from '../../incident/index.ts'
import { readActual } from '../../live/index.ts'
import { listRecorded, type Place } from '../../operations/index.ts'
import { guardsThatStop, writePlan } from '../../plan/index.ts'
import type { CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import type { RevertView } from '../views/incident.ts'

interface Suspected {
  readonly place: Place
  readonly client: QueryClient
  readonly publicKey?: string | undefined
  readonly user?: { readonly id: string } | undefined
  readonly since: number | undefined
  readonly traces: readonly (Traced & { readonly organization: { readonly id: string } })[]
}

/** With `--revert`, writes a plan that takes back what the suspect did in its own organization. It is applied by people alone. */
export async function writeRevert(
  { options }: CommandInput,
  { place, client, publicKey, user, since, traces }: Suspected,
): Promise<RevertView | undefined> {
  const file = options['revert']
  if (typeof file !== 'string') return undefined
  const left = traces.find(({ organization }) => organization.id === place.organizationId)?.left ?? []
  const { activities, cut } = await listRecorded(client)
  const { plan, leaves } = planRevert(left, {
    actual: await readActual(client, { everything: true }),
    activities,
    suspect: { publicKey, userId: user?.id },
    since,
    baseUrl: place.baseUrl,
    now: new Date(place.now()).toISOString(),
    allow: (options['allow'] as readonly string[] | undefined) ?? [],
  })
  if (plan) writePrivate(file, writePlan(plan))
  const addressesOf = (wanted: string) => [
    ...new Set((plan?.changes ?? []).flatMap(({ action, address }) => (action === wanted ? [address] : []))),
  ]
  return {
    ...(plan ? { plan: file } : {}),
    deletes: addressesOf('delete'),
    restores: [...addressesOf('update'), ...addressesOf('create')],
    guards: plan ? guardsThatStop(plan).map(({ message, bypass }) => ({ message, bypass })) : [],
    leaves: cut === undefined ? leaves : [{ what: 'activities', why: cut }, ...leaves],
  }
}
