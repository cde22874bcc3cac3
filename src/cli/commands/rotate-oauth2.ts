import { createHash, randomBytes as nodeRandom } from 'node:crypto'
import { randomBytes, sealEnvelope, uncompressP256 } from '../../crypto/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { decodeHex, encodeHex, encodeUtf8 } from '../../encoding/index.ts'
import { readPrivate } from '../../local/index.ts'
import {
  findOauth2Credential,
  type Oauth2Part,
  type Oauth2Rotation,
  type ProviderLogin,
  rotateOauth2,
  submitter,
} from '../../operations/index.ts'
import { runCommand } from '../../stamp/index.ts'
import { Secret } from '../../telemetry/index.ts'
import { findPlace } from '../background/connect.ts'
import { readKnownService } from '../background/index.ts'
import type { CommandInput } from '../command.ts'
import { keepOrder } from '../command-orders.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { textOf, usage } from '../rotation/index.ts'
import { line } from '../screen.ts'
import { renderOauth2Rotation } from '../views/rotation-of-secret.ts'

/** How long a command that prints the secret may take. */
const COMMAND_MS = 60_000

/** Where each provider has somebody log in, and what it must be asked for so that its user endpoint answers. */
const LOGINS: Readonly<Record<string, { readonly url: string; readonly scope: string }>> = {
  OAUTH2_PROVIDER_X: { url: 'https://x.com/i/oauth2/authorize', scope: 'users.read tweet.read' },
  OAUTH2_PROVIDER_DISCORD: { url: 'https://discord.com/oauth2/authorize', scope: 'identify' },
}

/** What each activity does, for those who vote on it. */
const DOES: Readonly<Record<Oauth2Part, (credential: string) => string>> = {
  update: (credential) => `gives OAuth 2.0 credential ${credential} its new client secret`,
  login: (credential) => `checks a login with OAuth 2.0 credential ${credential}`,
  putBack: (credential) => `gives OAuth 2.0 credential ${credential} its former client secret back`,
}

/** Puts a new client secret into an OAuth 2.0 credential, and checks a login with it. */
export async function rotateOauth2Secret(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, args, settings } = input
  const redirectUri = textOf(options, 'redirectUri')
  const secret = await readSecret(input)
  if (secret === undefined && redirectUri === undefined)
    throw usage('neither a new secret nor a login to check is given', 'give --from-file, --from-env or --from-command')
  const place = await findPlace(input, { acts: true })
  const client = submitter(place)
  const credential = await findOauth2Credential(client, args[0]!)
  const sealed = secret === undefined ? undefined : sealTo(serviceKeyOf(input, place), secret)
  const login = redirectUri === undefined ? undefined : loginAt(input, credential, redirectUri)
  if (!json) io.say(line`OAuth 2.0 credential ${credential.oauth2CredentialId}, client ${credential.clientId}\n`)
  if (sealed !== undefined)
    await assertConfirmed(input, { question: 'Replace its client secret?', otherwise: 'nothing was submitted' })
  const rotation = await rotateOauth2(credential, sealed, {
    client,
    now: place.now,
    submitted: (part, activityId) =>
      keepOrder(settings.dataDir, {
        activityId,
        command: 'rotate oauth2',
        what: DOES[part](credential.oauth2CredentialId),
      }),
    ...(login ? { logIn: () => logIn(input, login) } : {}),
  })
  const isThere = rotation.state === 'checked' || rotation.state === 'updated' || rotation.state === 'waiting'
  const written = sealed !== undefined && isThere ? { encryptedClientSecret: sealed } : {}
  if (json) writeJson(io, { ...rotation, ...written })
  else io.out(renderOauth2Rotation({ ...rotation, ...written }, io.style))
  return exitOf(rotation)
}

function exitOf({ state }: Oauth2Rotation): ExitCode {
  if (state === 'waiting') return EXIT.waiting
  return state === 'checked' || state === 'updated' ? EXIT.done : EXIT.error
}

/** From a file of its owner alone, a variable, or what a command prints. Undefined where none is named. */
async function readSecret({ options, environment }: CommandInput): Promise<Secret | undefined> {
  const [file, variable, command] = ['fromFile', 'fromEnv', 'fromCommand'].map((name) => textOf(options, name))
  if ([file, variable, command].filter((one) => one !== undefined).length > 1)
    throw usage('the new secret is given more than once', 'give one of --from-file, --from-env and --from-command')
  const text = await (async () => {
    if (file !== undefined) return readPrivate(file)
    if (variable !== undefined) return environment[variable]
    if (command === undefined) return undefined
    const printed = await runCommand({
      command,
      timeoutMs: COMMAND_MS,
      expected: 'a secret',
      failed: (reason) => new QuorateError('cli/usage', `the command that prints the secret failed: ${reason}`),
    })
    return printed.toString('utf8')
  })()
  const isNamed = [file, variable, command].some((one) => one !== undefined)
  const secret = text?.replace(/\r?\n$/, '')
  if (isNamed && !secret) throw usage('the new secret is empty or not there', 'see where it is read from')
  return secret ? new Secret(secret) : undefined
}

/** The key that secrets are encrypted to: given, or told by the service of this machine. */
function serviceKeyOf({ options, settings }: CommandInput, place: { readonly embedded: boolean }): Uint8Array {
  const known = readKnownService(textOf(options, 'serviceKeys'), place, settings.dataDir)
  const hex = textOf(options, 'encryptionKey') ?? known.tlsFetcherEncryptionPublicKey
  const key = hex === undefined ? undefined : uncompressP256(hex)
  if (key !== undefined) return decodeHex(key)
  throw usage(
    'the key of the service, to which the secret is encrypted, is not known',
    'give --encryption-key HEX, or --service-keys with the `bootstrap.json` of the service',
  )
}

function sealTo(key: Uint8Array, secret: Secret): string {
  return encodeHex(sealEnvelope(key, encodeUtf8(secret.reveal()), randomBytes))
}

/** What a browser is sent to. */
interface LoginPage {
  readonly url: URL
  readonly redirectUri: string
  readonly codeVerifier: string
  readonly state: string
}

/** A login at the provider, by a code with PKCE (RFC 6749 §4.1.1, RFC 7636 §4.3). Throws `cli/usage` where its page is not known. */
function loginAt(
  { options }: CommandInput,
  { provider, clientId }: { readonly provider: string; readonly clientId: string },
  redirectUri: string,
): LoginPage {
  const login = LOGINS[provider]
  const page = textOf(options, 'loginPage') ?? login?.url
  if (page === undefined || !URL.canParse(page))
    throw usage(`where ${provider} logs people in is not known`, 'give --login-page URL')
  const codeVerifier = nodeRandom(32).toString('base64url')
  const state = nodeRandom(16).toString('base64url')
  const url = new URL(page)
  const query = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: login?.scope ?? '',
    state,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return { url, redirectUri, codeVerifier, state }
}

/** Has a person log in at the provider: what the browser is sent back to is pasted here. */
async function logIn(
  { io }: CommandInput,
  { url, redirectUri, codeVerifier, state }: LoginPage,
): Promise<ProviderLogin | undefined> {
  io.say(line`Log in at the provider:\n  ${url.href}\n`)
  const pasted = (await io.askText('Paste the address that the browser was sent back to:'))?.trim() ?? ''
  const back = URL.canParse(pasted) ? new URL(pasted).searchParams : undefined
  const authCode = back?.get('code')
  // RFC 6749 §10.12: an address that somebody else sent has another state.
  if (!authCode || back?.get('state') !== state) {
    io.say('The address has no code of this login: no login was checked.\n')
    return undefined
  }
  return { authCode, redirectUri, codeVerifier, nonce: nodeRandom(32).toString('hex') }
}
