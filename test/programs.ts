/** The programs that tests start as processes of their own, by their path in the repository. */
import { join } from 'node:path'

export const PROGRAMS = [
  'test/activities/store-process.ts',
  'test/cli/one-process.ts',
  'test/reliability/worker-process.ts',
  'test/service/serving.ts',
] as const
export type Program = (typeof PROGRAMS)[number]

const built = process.env['VITEST'] ? await import('./built.ts') : undefined

/** The file to start: what was bundled for the run of tests; in a soak, which builds nothing, the source. */
export function programFile(program: Program): string {
  return built ? built.builtProgram(program) : join(import.meta.dirname, '..', program)
}

/** What tells a process where programs of this run are kept compiled; nothing in a soak. */
export function compiledPrograms(): Readonly<Record<string, string>> {
  return built?.compileCache() ?? {}
}

/** The same of `quorate` itself. */
export function commandFile(): string {
  return built ? built.builtMain() : join(import.meta.dirname, '../src/cli/main.ts')
}
