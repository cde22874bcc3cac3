import { randomBytes } from '../../crypto/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  createLoginProxy,
  logInByCode,
  logInByOidc,
  logInByPasskey,
  openSessions,
  registerPasskey,
  type Session,
} from '../../session/index.ts'
import { loadKeyText } from '../../stamp/index.ts'
import { type Api, findApi } from '../background/connect.ts'
import { readKnownService } from '../background/known-service.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** The ways to log in, by the option that asks for each; without any, it is the passkey. */
const WAYS = ['passkey', 'email', 'phone', 'oidc'] as const

/** Logs a person in and keeps their session. Only what proved good is kept. */
export async function login(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const ways = WAYS.filter((way) => options[way] !== undefined)
  if (ways.length > 1) throw usage(`one way to log in, got ${ways.map((way) => `--${way}`).join(' and ')}`)
  const show = (url: string) => io.say(line`Open this page in your browser:\n  ${url}\n`)
  const newPasskey = text(options, 'newPasskey')
  if (newPasskey !== undefined) {
    const passkey = await registerPasskey(newPasskey, { randomBytes, show })
    if (json) writeJson(io, passkey)
    else io.out(definitionOf(newPasskey, passkey))
    return EXIT.done
  }
  const api = await findApi(input)
  const session = await logIn(input, { way: ways[0] ?? 'passkey', api, show })
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

interface Asked {
  readonly way: (typeof WAYS)[number]
  readonly api: Api
  readonly show: (url: string) => void
}

async function logIn({ io, options, settings }: CommandInput, { way, api, show }: Asked): Promise<Session> {
  const { baseUrl, organizationId, now } = api
  const known = readKnownService(text(options, 'serviceKeys'), api, settings.dataDir)
  const common = { baseUrl, organizationId, keys: known, now, randomBytes, show }
  if (way === 'passkey') return logInByPasskey(common)
  if (way === 'oidc') return atProvider(options, common)
  const url = text(options, 'proxyUrl') ?? known.authProxyUrl
  const configId = text(options, 'proxyConfigId') ?? known.authProxyConfigId
  if (url === undefined || configId === undefined) {
    throw usage('--proxy-url and --proxy-config-id: this way in goes through the authentication proxy')
  }
  const proxy = createLoginProxy({ url, configId })
  const contact = text(options, way)!
  const otpType = way === 'email' ? 'OTP_TYPE_EMAIL' : 'OTP_TYPE_SMS'
  const askCode = (again: string | undefined) => {
    if (again !== undefined) io.say(line`${again}\n`)
    return io.askText(line`The code that was sent to ${contact}:`)
  }
  return logInByCode({ ...common, proxy, otpType, contact, askCode })
}

async function atProvider(
  options: CommandInput['options'],
  common: Omit<Parameters<typeof logInByOidc>[0], 'issuer' | 'clientId'>,
): Promise<Session> {
  const [issuer, clientId] = [text(options, 'oidc')!, text(options, 'clientId')]
  if (clientId === undefined) throw usage('--client-id, the id of the client at the provider')
  const file = text(options, 'clientSecretFile')
  const clientSecret = file === undefined ? undefined : (await loadKeyText({ kind: 'file', path: file })).text
  return logInByOidc({ ...common, issuer, clientId, clientSecret })
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

function text(options: CommandInput['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

function usage(expected: string): QuorateError {
  return new QuorateError('cli/usage', `expected ${expected}`, { next: 'run `quorate login --help`; nothing was kept' })
}
