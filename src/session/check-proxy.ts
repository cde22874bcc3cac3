import { asksProxy, createSubmitClient } from '../client/index.ts'
import { newUuid, type RandomBytes } from '../crypto/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { createApiKeyStamper } from '../stamp/index.ts'
import { proveContact } from './by-code.ts'
import { createLoginProxy } from './login-proxy.ts'
import { createSessionKey, type SessionKey } from './proof.ts'
import { explainFault } from './proxy-advice.ts'
import { type LoginPlace, stampLogin } from './stamped-login.ts'

/** What one step of the walk found. */
export interface ProxyFinding {
  readonly step: string
  readonly state: 'good' | 'bad' | 'not tried'
  readonly found: string
  /** What to do about it. */
  readonly next?: string | undefined
}

/** A walk through an authentication proxy, as a client would go. */
export interface ProxyWalk extends Omit<LoginPlace, 'organizationId'> {
  readonly url: string
  readonly configId: string
  readonly randomBytes: RandomBytes
  /** The origin of a page that should be able to ask. @default none: no browser is played */
  readonly origin?: string | undefined
  /** Whether a sub-organization may be signed up, and deleted again. */
  readonly signUp: boolean
  /** An address to have a code sent to. @default none */
  readonly contact?: string | undefined
  readonly askCode: (again: string | undefined) => Promise<string | undefined>
  /** Told each finding as it comes. */
  readonly tell: (finding: ProxyFinding) => void
}

/**
 * Walks through an authentication proxy: configuration, refusals, CORS, sign-up, look-up, login, and a code. What it signs up
 * it deletes. A step that needs one before it that failed is not tried. Throws nothing that a proxy or an API answers.
 */
export async function checkProxy(walk: ProxyWalk): Promise<readonly ProxyFinding[]> {
  const findings: ProxyFinding[] = []
  const note = (step: string, state: ProxyFinding['state'], found: string, next?: string) => {
    findings.push({ step, state, found, ...(next === undefined ? {} : { next }) })
    walk.tell(findings.at(-1)!)
  }
  const attempt = async <Value>(
    step: string,
    work: () => Promise<readonly [Value, string]>,
  ): Promise<Value | undefined> => {
    try {
      const [value, found] = await work()
      note(step, 'good', found)
      return value
    } catch (error) {
      const { found, next, captcha } = explainFault(error, walk.url)
      // A captcha is no fault of the proxy, and a user who has logged in otherwise meets none.
      note(step, captcha ? 'not tried' : 'bad', found, next)
      return undefined
    }
  }
  const ask = asksProxy(walk)
  const parentId = await attempt('configuration', async () => {
    const { organizationId, enabledProviders } = await ask('/v1/wallet_kit_config', {})
    if (typeof organizationId !== 'string' || !Array.isArray(enabledProviders)) throw unlike('wallet_kit_config')
    await ask('/v1/wallet_kit_client_params', {})
    return [organizationId, `organization ${organizationId}, ways in: ${enabledProviders.join(', ') || 'none'}`]
  })
  // Without the configuration every further step would fail for the same reason.
  const unknown = parentId === undefined ? 'the configuration is not known' : undefined
  const steps = {
    refusals: [unknown, () => attempt('refusals', () => checkRefusals(walk))],
    browsers: [
      unknown ?? (walk.origin === undefined ? 'no --origin was given' : undefined),
      () => attempt('browsers', () => checkBrowser(walk, walk.origin!)),
    ],
    'sign-up': [
      unknown ?? (walk.signUp ? undefined : 'it makes a sub-organization, and deletes it: give --yes'),
      () => checkSignUp(walk, parentId!, attempt),
    ],
    code: [
      unknown ?? (walk.contact === undefined ? 'no --email was given' : undefined),
      () => attempt('code', () => checkCode(walk, walk.contact!)),
    ],
  } as const
  for (const [step, [why, work]] of Object.entries(steps)) {
    if (why === undefined) await work()
    else note(step, 'not tried', why)
  }
  return findings
}

type Attempt = <Value>(step: string, work: () => Promise<readonly [Value, string]>) => Promise<Value | undefined>

async function checkSignUp(walk: ProxyWalk, parentId: string, attempt: Attempt): Promise<void> {
  const ask = asksProxy(walk)
  const key = createSessionKey(walk.randomBytes)
  const { publicKey } = key
  const home = await attempt('sign-up', async () => {
    const { organizationId } = await ask('/v1/signup_v2', {
      userName: 'proxy check',
      organizationName: `proxy check ${new Date(walk.now()).toISOString()}`,
      apiKeys: [{ apiKeyName: 'check', publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '600' }],
      authenticators: [],
      oauthProviders: [],
    })
    if (typeof organizationId !== 'string') throw unlike('signup_v2')
    return [organizationId, `made the sub-organization ${organizationId}`]
  })
  if (home === undefined) return
  await attempt('look-up', async () => {
    const { organizationId } = await ask('/v1/account', { filterType: 'PUBLIC_KEY', filterValue: publicKey })
    if (organizationId !== home)
      throw wrong(`the look-up by the key that signed up gave ${organizationId ?? 'nothing'}`)
    return [home, 'the key that signed up is found']
  })
  await attempt('login', async () => {
    const stamper = createApiKeyStamper(key)
    const session = await stampLogin(
      { ...walk, organizationId: parentId },
      { key: createSessionKey(walk.randomBytes), stamper },
    )
    if (session.organizationId !== home) throw wrong(`the session is of ${session.organizationId}`)
    return [session, `${session.userName} is logged in, and the API takes the key of the session`]
  })
  await attempt('clean-up', () => deleteHome(walk, home, key))
}

async function deleteHome({ baseUrl, now }: ProxyWalk, organizationId: string, key: SessionKey) {
  const client = createSubmitClient({ baseUrl, organizationId, stamper: createApiKeyStamper(key) })
  const body = JSON.stringify({
    type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION',
    timestampMs: String(now()),
    organizationId,
    parameters: { deleteWithoutExport: true },
  })
  const { status } = await client.submit('/public/v1/submit/delete_sub_organization', body)
  if (status !== 'ACTIVITY_STATUS_COMPLETED') throw wrong(`deleting ${organizationId} is ${status}`)
  return [organizationId, `deleted ${organizationId}`] as const
}

/** Without a configuration, and with one that is not there. */
async function checkRefusals({ url, randomBytes }: ProxyWalk) {
  const post = (headers: Record<string, string>) => send(url, { method: 'POST', headers, body: '{}' })
  const next = 'something before the proxy answers for it, or adds the header: let it pass requests on as they come'
  const without = await post({})
  if (without.status !== 400)
    throw wrong(`a request without a configuration id was answered ${without.status}, not 400`, next)
  const unknown = await post({ 'x-auth-proxy-config-id': newUuid(randomBytes) })
  if (unknown.status !== 404) throw wrong(`an unknown configuration id was answered ${unknown.status}, not 404`, next)
  return [undefined, 'a request without a configuration, or with an unknown one, is refused'] as const
}

/** As a browser asks: the preflight, whose answer is the same for all, and the request from a page of this origin. */
async function checkBrowser({ url, configId }: ProxyWalk, origin: string) {
  const name = 'x-auth-proxy-config-id'
  const preflight = await send(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': `content-type,${name}`,
    },
  })
  const passOn =
    'let the reverse proxy or load balancer in front of it pass OPTIONS requests and the headers of CORS on, and add none itself'
  if (!preflight.ok) throw wrong(`the preflight of a page is answered ${preflight.status}, not 2xx`, passOn)
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
  if (!allowed.includes(name) && allowed !== '*') {
    throw wrong(`the preflight of a page does not allow the header ${name}`, passOn)
  }
  const answer = await send(url, { method: 'POST', headers: { origin, [name]: configId }, body: '{}' })
  const shared = answer.headers.get('access-control-allow-origin')
  if (answer.status === 403)
    throw wrong(`a page of ${origin} may not ask`, 'list it in `origins` of `authProxy:`, exactly as browsers send it')
  if (shared !== origin && shared !== '*')
    throw wrong(`a page of ${origin} cannot read the answer: it is for ${shared ?? 'no page'}`, passOn)
  return [undefined, `a page of ${origin} may ask`] as const
}

async function checkCode(walk: ProxyWalk, contact: string) {
  const key = createSessionKey(walk.randomBytes)
  await proveContact({ ...walk, proxy: createLoginProxy(walk), otpType: 'OTP_TYPE_EMAIL', contact }, key)
  return [undefined, `${contact} got a code, and it was taken`] as const
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const at = `${url.replace(/\/+$/, '')}/v1/wallet_kit_config`
    return await fetch(at, { ...init, redirect: 'error', signal: AbortSignal.timeout(30_000) })
  } catch (cause) {
    throw new QuorateError('session/refused', `no answer came from ${url} any more`, {
      next: 'it has answered before: look into the log of the proxy',
      cause,
    })
  }
}

function unlike(endpoint: string): QuorateError {
  return wrong(`\`${endpoint}\` answered something else than a proxy does`)
}

function wrong(message: string, next?: string): QuorateError {
  return new QuorateError('session/refused', message, next === undefined ? {} : { next })
}
