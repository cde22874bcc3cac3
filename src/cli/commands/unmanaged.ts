import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { allPlans } from '../../plan/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace, reader } from '../connect.ts'
import { writeJson } from '../io.ts'
import { planFolder } from '../planning.ts'
import { line } from '../screen.ts'

/** Lists what is live and in no definition: left alone, and yet able to act. */
export async function unmanaged(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const place = await findPlace(input)
  const planned = await planFolder(input, { folder: args[0] ?? '.', place, client: reader(place) })
  if (!planned) return EXIT.error
  const rows = allPlans(planned.plan).flatMap((one) =>
    one.unmanaged.map(({ address, ...row }) => ({
      address: one === planned.plan ? address : `${one.organization.name}/${address}`,
      ...row,
    })),
  )
  if (json) writeJson(io, { organizationId: place.organizationId, unmanaged: rows })
  else if (rows.length === 0) io.out('Everything that is live is in the definitions.\n')
  else {
    const width = Math.max(...rows.map(({ address }) => address.length))
    io.out(rows.map(({ address, id }) => line`${address.padEnd(width)}  ${io.style.dim(id)}\n`).join(''))
  }
  return EXIT.done
}
