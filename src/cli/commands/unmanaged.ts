import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { reader } from '../../operations/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { findPlaceOf } from '../place-of.ts'
import { planAndShow } from '../planning.ts'
import { renderUnmanaged, unmanagedRows } from '../views/unmanaged.ts'

/** Lists what is live and in no definition: left alone, and yet able to act. */
export async function unmanaged(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const folder = args[0] ?? '.'
  const place = await findPlaceOf(input, folder)
  const planned = await planAndShow(input, { folder, place, client: reader(place) })
  if (!planned) return EXIT.error
  const rows = unmanagedRows(planned.plan)
  if (json) writeJson(io, { organizationId: place.organizationId, unmanaged: rows })
  else if (rows.length === 0) io.out('Everything that is live is in the definitions.\n')
  else io.out(renderUnmanaged(rows, io.style))
  return EXIT.done
}
