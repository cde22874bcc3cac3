/** Webhooks that the service of this machine has given up, in whichever store it keeps its rows. */
import { existsSync } from 'node:fs'
import type { GivenUpWebhooks } from '../service/index.ts'
import type { CommandInput } from './command.ts'
import { readDatabase } from './database-options.ts'
import { line } from './screen.ts'
import { serviceFolder } from './service-folder.ts'

/** What failed longer ago is no warning. */
export const GIVEN_UP_MATTERS_MS = 7 * 24 * 3_600_000

type LastGivenUp = NonNullable<GivenUpWebhooks['last']>

/** Those of the last seven days, or undefined: where there are none, and where they cannot be read, which `doctor` says. */
export async function readLatelyGivenUp(input: CommandInput): Promise<Required<GivenUpWebhooks> | undefined> {
  try {
    const database = readDatabase(input)
    // Nothing is loaded for those who have no service on this machine.
    if (!database && !existsSync(serviceFolder(input))) return undefined
    const { readPostgresStanding, readWebhooksGivenUp } = await import('../service/index.ts')
    const found = database ? (await readPostgresStanding(database)).givenUp : readWebhooksGivenUp(serviceFolder(input))
    const { count = 0, last } = found ?? {}
    return last && Date.now() - last.failedAt <= GIVEN_UP_MATTERS_MS ? { count, last } : undefined
  } catch {
    return undefined
  }
}

/** `1 given up, the last one at 2026-01-02T03:04:05.678Z: hooks.example.com, answered 404`. */
export function givenUpText(count: number, { failedAt, host, reason }: LastGivenUp): string {
  return line`${String(count)} given up, the last one at ${new Date(failedAt).toISOString()}: ${host}, ${reason}`
}
