import { join } from 'node:path'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { wrapKeyOfFolder } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'

/** Has a keeper wrap the master key of the service's folder. */
export async function wrapMasterKey(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, environment } = input
  const folder = serviceFolder(input)
  const to = String(args[0])
  const { from } = await wrapKeyOfFolder(folder, to, { environment })
  const file = join(folder, 'master.key')
  if (json) writeJson(io, { file, from, to })
  else {
    io.out(
      to === 'none'
        ? line`The master key stands plain in ${file}; ${from} kept it before.\n`
        : line`The master key in ${file} is wrapped by ${to}; ${from === 'none' ? 'it stood there plain' : from} before.\n`,
    )
    io.say('A service that runs goes on with the key that it has; its next start asks the new keeper.\n')
  }
  return EXIT.done
}
