/** How the authentication proxy of the service on this machine stands, as its clients and its operator find it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { asksProxy, ClientError, type QueryClient } from '../client/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { readActual } from '../live/index.ts'
import { type ActivityType, fromTimestamp } from '../protocol/index.ts'
import { readerAt } from './background/connect.ts'
import { findBackground, readKnownService } from './background/index.ts'
import type { CommandInput } from './command.ts'
import { serviceFolder } from './service-folder.ts'

export interface AuthProxyState {
  readonly url: string
  readonly configId: string
  /** Of the organization; `off` where it has not enabled one. */
  readonly state: 'on' | 'off' | 'unreachable'
  /** What it answered, or why it did not, where it is not on. */
  readonly why?: string
  /** The ways in that it offers. */
  readonly methods?: readonly string[]
  /** The origins whose pages may ask; absent where the API was not asked. */
  readonly origins?: readonly string[]
  /** The last thing that the proxy asked for and that failed, in the organization itself. */
  readonly lastFailure?: { readonly at: string; readonly type: string; readonly message: string }
}

/** What a proxy asks for in its organization. */
const ASKED = [
  'ACTIVITY_TYPE_INIT_OTP',
  'ACTIVITY_TYPE_INIT_OTP_V2',
  'ACTIVITY_TYPE_INIT_OTP_V3',
  'ACTIVITY_TYPE_VERIFY_OTP',
  'ACTIVITY_TYPE_VERIFY_OTP_V2',
  'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE',
  'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7',
  'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
] as const satisfies readonly ActivityType[]

/** Undefined where no service of this machine has told of a proxy. Throws `cli/unreadable`. */
export async function readAuthProxyState(input: CommandInput): Promise<AuthProxyState | undefined> {
  const path = join(serviceFolder(input), 'bootstrap.json')
  // What was stopped is not missed.
  const runs = input.settings.baseUrl !== undefined || (await findBackground(input.settings.dataDir)) !== undefined
  if (!runs || !existsSync(path)) return undefined
  const { authProxyUrl: url, authProxyConfigId: configId } = readKnownService(path, { embedded: true }, '')
  if (url === undefined || configId === undefined) return undefined
  const place = { url, configId }
  try {
    const { enabledProviders } = await asksProxy(place)('/v1/wallet_kit_config', {})
    const methods = Array.isArray(enabledProviders) ? enabledProviders.map(String) : []
    return { ...place, state: 'on', methods, ...(await readSettings(input)) }
  } catch (error) {
    if (!(error instanceof QuorateError)) throw error
    const isOff = error instanceof ClientError && error.refusal === 'AUTH_PROXY_DISABLED'
    return { ...place, state: isOff ? 'off' : 'unreachable', why: error.message }
  }
}

/** What only the organization's users may read; nothing where no key is at hand. */
async function readSettings(input: CommandInput): Promise<Pick<AuthProxyState, 'origins' | 'lastFailure'>> {
  const { settings } = input
  const status = await findBackground(settings.dataDir)
  const { baseUrl = status?.baseUrl, organizationId = status?.organizationId } = settings
  if (baseUrl === undefined || organizationId === undefined) return {}
  try {
    const client = await readerAt(input, { baseUrl, organizationId })
    const { resources } = await readActual(client, { mentioned: new Set(['authProxy']) })
    const { fields, known } = resources.find(({ kind }) => kind === 'authProxy') ?? {}
    const origins = Array.isArray(fields?.['origins']) ? fields['origins'].map(String) : []
    return { origins, ...(await readLastFailure(client, known?.userId)) }
  } catch (error) {
    if (error instanceof QuorateError) return {}
    throw error
  }
}

async function readLastFailure(client: QueryClient, userId: string | undefined) {
  const { activities } = await client.query('list_activities', {
    filterByStatus: ['ACTIVITY_STATUS_FAILED'],
    filterByType: [...ASKED],
    paginationOptions: { limit: '100' },
  })
  const last = activities.find(({ votes }) => votes[0]?.userId === userId)
  if (!last) return {}
  const at = new Date(fromTimestamp(last.updatedAt)).toISOString()
  return { lastFailure: { at, type: last.type.replace('ACTIVITY_TYPE_', ''), message: last.failure?.message ?? '' } }
}

/** `any page may ask`, or which. */
export function originsText(origins: readonly string[]): string {
  return origins.includes('*') ? 'pages of any origin may ask' : `pages of ${origins.join(', ') || 'no origin'} may ask`
}
