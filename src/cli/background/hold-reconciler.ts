import { messageOf, QuorateError } from '../../diagnostics/index.ts'
import type { Cut } from '../../incident/index.ts'
import { type Place, pauseWatch, taskQueueOf } from '../../operations/index.ts'
import { atTemporal } from '../../worker/index.ts'
import type { CommandInput } from '../command.ts'
import { findRunningTemporal } from './temporal.ts'

/** How long Temporal is waited for. */
const MOST_MS = 10_000

/**
 * Pauses the reconciler of the organization, so that it does not put back what an incident takes away, and says why in its note.
 * Undefined where the organization is not watched, or no Temporal is named and none runs. Never throws.
 */
export async function holdReconciler(
  input: Pick<CommandInput, 'settings' | 'environment'>,
  { organizationId }: Pick<Place, 'organizationId'>,
  note: string,
): Promise<Cut | undefined> {
  const what = 'hold the reconciler'
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Temporal gave no answer in ${MOST_MS / 1000} s`)), MOST_MS)
  })
  try {
    return await Promise.race([hold(), late])
  } catch (error) {
    if (error instanceof QuorateError && error.code === 'cli/not-watched') return undefined
    const why = messageOf(error)
    return { what, outcome: 'unknown', why: `${why}; pause it with \`quorate watch pause\`` }
  } finally {
    clearTimeout(timer)
  }

  async function hold(): Promise<Cut | undefined> {
    const temporal = await findRunningTemporal(input)
    if (!temporal) return undefined
    try {
      const { dataDir } = input.settings
      const place = { client: temporal.client, organizationId, taskQueue: taskQueueOf(organizationId), dataDir }
      await atTemporal(temporal, () => pauseWatch(place, note))
      return { what, outcome: 'done' }
    } finally {
      await temporal.close()
    }
  }
}
