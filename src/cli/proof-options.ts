/** The ways in which a person proves who they are, which `login` and votes share. */
import { randomBytes } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import {
  createLoginProxy,
  type LoginPlace,
  type PasskeyPurpose,
  type Proof,
  proveByCode,
  proveByOidc,
  proveByPasskey,
} from '../session/index.ts'
import { loadKeyText } from '../stamp/index.ts'
import { type Api, waitingOf } from './background/connect.ts'
import { type KnownService, readKnownService } from './background/index.ts'
import type { CommandInput } from './command.ts'
import { line } from './screen.ts'

/** Each by the option that asks for it. */
const WAYS = ['passkey', 'email', 'phone', 'oidc'] as const

export type Way = (typeof WAYS)[number]

/** The way that the options ask for. Throws `cli/usage` for more than one. */
export function readWay({ options }: Pick<CommandInput, 'options'>): Way | undefined {
  const ways = WAYS.filter((way) => options[way] !== undefined)
  if (ways.length > 1) throw usage(`one way to prove who you are, got ${ways.map((way) => `--${way}`).join(' and ')}`)
  if (options['device'] && ways[0] !== 'oidc') throw usage('--device with --oidc, the provider')
  return ways[0]
}

/** Where and by which keys answers are checked. */
export function placeOf(input: CommandInput, api: Api): LoginPlace & { readonly keys: KnownService } {
  const { options, settings } = input
  const { baseUrl, organizationId, now } = api
  const keys = readKnownService(textOf(options, 'serviceKeys'), api, settings.dataDir)
  return { baseUrl, organizationId, keys, now, waiting: waitingOf(input, baseUrl) }
}

/** Shows the address of a page, which the person opens. */
export function showPage({ io }: Pick<CommandInput, 'io'>): (url: string) => void {
  return (url) => io.say(line`Open this page in your browser:\n  ${url}\n`)
}

/** Has the person prove who they are. Throws `cli/usage`, `session/…`, and what the proxy refuses with. */
export async function prove(
  input: CommandInput,
  {
    way,
    place,
    purpose,
  }: { readonly way: Way; readonly place: ReturnType<typeof placeOf>; readonly purpose: PasskeyPurpose },
): Promise<Proof> {
  const { io, options } = input
  const common = { ...place, randomBytes, show: showPage(input) }
  if (way === 'passkey') return proveByPasskey({ ...common, purpose })
  if (way === 'oidc') return atProvider(input, common)
  const url = textOf(options, 'proxyUrl') ?? place.keys.authProxyUrl
  const configId = textOf(options, 'proxyConfigId') ?? place.keys.authProxyConfigId
  if (url === undefined || configId === undefined) {
    throw usage('--proxy-url and --proxy-config-id: codes are sent by the authentication proxy')
  }
  const contact = textOf(options, way)!
  const askCode = (again: string | undefined) => {
    if (again !== undefined) io.say(line`${again}\n`)
    return io.askText(line`The code that was sent to ${contact}:`)
  }
  const otpType = way === 'email' ? 'OTP_TYPE_EMAIL' : 'OTP_TYPE_SMS'
  return proveByCode({ ...common, proxy: createLoginProxy({ url, configId }), otpType, contact, askCode })
}

async function atProvider(
  { io, options }: CommandInput,
  common: Pick<Parameters<typeof proveByOidc>[0], 'randomBytes' | 'show'>,
): Promise<Proof> {
  const [issuer, clientId] = [textOf(options, 'oidc')!, textOf(options, 'clientId')]
  if (clientId === undefined) throw usage('--client-id, the id of the client at the provider')
  const file = textOf(options, 'clientSecretFile')
  const clientSecret = file === undefined ? undefined : (await loadKeyText({ kind: 'file', path: file })).text
  const showCode = options['device']
    ? (page: string, code: string) =>
        io.say(line`Open this page on any device:\n  ${page}\nand type this code there:\n  ${code}\n`)
    : undefined
  return proveByOidc({ ...common, issuer, clientId, clientSecret, showCode })
}

/** The text of an option; undefined where it was not given. */
export function textOf(options: CommandInput['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

function usage(expected: string): QuorateError {
  return new QuorateError('cli/usage', `expected ${expected}`, {
    next: 'correct the options: `--help` lists them; nothing was submitted and nothing was kept',
  })
}
