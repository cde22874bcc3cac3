import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { reader } from '../../operations/index.ts'
import { openSessions } from '../../session/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Asks the API who is asking, with the key in use. */
export async function whoami(input: CommandInput): Promise<ExitCode> {
  const { io, json, settings } = input
  const place = await findPlace(input)
  const { userId, username, organizationId, organizationName } = await reader(place).query('whoami', {})
  const session = settings.key ? undefined : await openSessions(settings.sessions).find(place)
  const expiresAt = session && new Date(session.expiresAt).toISOString()
  const { publicKey } = place.key
  if (json)
    writeJson(io, { userId, username, organizationId, organizationName, publicKey, expiresAt: expiresAt ?? null })
  else {
    const until = expiresAt === undefined ? '' : `, logged in until ${expiresAt}`
    io.out(line`${username} (${userId}) of ${organizationName} (${organizationId}), key ${publicKey}${until}\n`)
  }
  return EXIT.done
}
