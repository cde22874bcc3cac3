import { EXIT, type ExitCode, hasErrors } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { loadGivenFolder } from '../given.ts'
import { writeJson } from '../io.ts'
import { counted, line } from '../screen.ts'
import { sayDiagnostics, toDiagnosticJson } from '../views/diagnostics.ts'

/** Checks a folder of definitions without asking the API anything. */
export async function validate(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, settings } = input
  const folder = args[0] ?? '.'
  const { diagnostics, desired } = await loadGivenFolder(input, folder, settings.baseUrl === undefined)
  const failed = hasErrors(diagnostics)
  sayDiagnostics(input, diagnostics)
  const inside = desired?.subOrganizations ?? []
  const resources = [desired, ...inside].reduce((sum, one) => sum + (one?.resources.length ?? 0), 0)
  if (json) {
    const counts = { resources, ...(inside.length > 0 ? { subOrganizations: inside.length } : {}) }
    const data = { valid: !failed, ...counts, diagnostics: diagnostics.map(toDiagnosticJson) }
    writeJson(io, data)
  } else {
    const count = (['error', 'warning'] as const)
      .map((kind) => counted(diagnostics.filter(({ severity }) => severity === kind).length, kind))
      .join(', ')
    const also = inside.length > 0 ? `, ${counted(inside.length, 'sub-organization')} among them` : ''
    io.out(
      failed
        ? line`${folder} is not valid: ${count}\n`
        : line`${folder} is valid: ${counted(resources, 'resource')}${also}\n`,
    )
  }
  return failed ? EXIT.error : EXIT.done
}
