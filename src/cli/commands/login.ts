import { randomBytes } from '../../crypto/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { openSessions, registerPasskey, type Session, stampLogin } from '../../session/index.ts'
import { findApi } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { placeOf, prove, readWay, showPage, textOf } from '../proof-options.ts'
import { line } from '../screen.ts'

/** What a passkey is asked for. */
const PURPOSE = { title: 'Log in to quorate', does: 'makes a session' }

/** Logs a person in and keeps their session. Only what proved good is kept. */
export async function login(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const way = readWay(input) ?? 'passkey'
  const newPasskey = textOf(options, 'newPasskey')
  if (newPasskey !== undefined) {
    const passkey = await registerPasskey(newPasskey, { randomBytes, show: showPage(input) })
    if (json) writeJson(io, passkey)
    else io.out(definitionOf(newPasskey, passkey))
    return EXIT.done
  }
  const api = await findApi(input, { acts: true })
  const place = placeOf(input, api)
  const session = await stampLogin(place, await prove(input, { way, place, purpose: PURPOSE }))
  const where = await openSessions(settings.sessions).keep(session)
  if (json) {
    const { privateKey: _, ...known } = session
    writeJson(io, { ...known, expiresAt: new Date(session.expiresAt).toISOString(), keptIn: where })
  } else io.out(said(session, where))
  if (session.organizationId !== api.organizationId) {
    io.say(
      line`The user lives in a sub-organization: give --organization-id ${session.organizationId} to work in it.\n`,
    )
  }
  return EXIT.done
}

function said({ userName, organizationId, baseUrl, expiresAt }: Session, where: 'keychain' | 'file'): string {
  const kept = where === 'keychain' ? 'the keychain' : 'a file that only you can read'
  return line`Logged in as ${userName} of ${organizationId} at ${baseUrl}, until ${new Date(expiresAt).toISOString()}; the key is in ${kept}.\n`
}

/** How definitions write a passkey, to be put under its user. */
function definitionOf(
  name: string,
  { credentialId, challenge, attestation }: Awaited<ReturnType<typeof registerPasskey>>,
) {
  return [
    'authenticators:',
    `  ${JSON.stringify(name)}:`,
    `    credentialId: ${credentialId}`,
    `    challenge: ${challenge}`,
    '    attestation:',
    `      clientDataJson: ${attestation.clientDataJson}`,
    `      attestationObject: ${attestation.attestationObject}`,
    `      transports: ${JSON.stringify(attestation.transports)}`,
    '',
  ].join('\n')
}
