/** Rotates the client secret of an OAuth 2.0 credential: the new one is given, the credential updated, a login checked. */
import { ApplyError, readActivities } from '../../activities/index.ts'
import { ClientError, type QueryClient, type SubmitClient } from '../client/index.ts'
import { makeBody } from '../plan/index.ts'
import { type ActivityType, activities, isWaiting, type Json, WAITING_STATUSES, type Wire } from '../protocol/index.ts'

/** What a provider gives once somebody has logged in. */
export interface ProviderLogin {
  readonly authCode: string
  readonly redirectUri: string
  /** The verifier of PKCE (RFC 7636) whose challenge the provider was given. */
  readonly codeVerifier: string
  /** 64 hex digits. */
  readonly nonce: string
}

export interface Oauth2Door {
  readonly client: SubmitClient
  /** Milliseconds since the epoch, as the API has it. */
  readonly now: () => number
  /** Has somebody log in at the provider; undefined where that came to nothing. @default no login is checked */
  readonly logIn?: (() => Promise<ProviderLogin | undefined>) | undefined
  /** Told of each activity as it is submitted. @default nobody */
  readonly submitted?: (part: Oauth2Part, activityId: string) => void
}

export type Oauth2Part = 'update' | 'login' | 'putBack'

/** What came of it; plain JSON, without a secret or a token. */
export interface Oauth2Rotation {
  readonly oauth2CredentialId: string
  readonly provider: string
  readonly clientId: string
  /**
   * `checked`: a login worked with the secret that is there · `updated`: it is there, and no login was checked, or the provider did not answer ·
   * `waiting`: others must approve · `put back`: the login was refused, and the secret before is there again · `refused`: the
   * login was refused, and the secret that was refused is there · `failed`: nothing was changed.
   */
  readonly state: 'checked' | 'updated' | 'waiting' | 'put back' | 'refused' | 'failed'
  /** Ids of activities. */
  readonly activities: Readonly<Partial<Record<Oauth2Part, string>>>
  readonly fingerprint?: string
  readonly why?: string
}

const UPDATE = 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL'

/** Finds a credential by its id, or by its client's. Throws `rotate/no-such-key`. */
export async function findOauth2Credential(client: QueryClient, name: string): Promise<Wire.Oauth2Credential> {
  const { oauth2Credentials } = await client.query('list_oauth2_credentials', {})
  const found = oauth2Credentials.filter((one) => one.oauth2CredentialId === name || one.clientId === name)
  if (found.length === 1) return found[0]!
  const known = (found.length > 1 ? found : oauth2Credentials).map((one) => one.oauth2CredentialId)
  const many = `${found.length} OAuth 2.0 credentials are of the client \`${name}\``
  throw new ApplyError('rotate/no-such-key', found.length > 1 ? many : `there is no OAuth 2.0 credential \`${name}\``, {
    facts: { submitted: 'nothing' },
    next: `give the id of one: ${known.join(', ') || 'there is none'}`,
  })
}

/**
 * Updates a credential with a secret that is encrypted to the service's key, and checks a login. A login that the provider refuses
 * puts back the secret before, which the API answers as it was encrypted. Without a secret only the login is checked. Throws
 * `rotate/other-runs` while another update of the credential waits: approved later, it would undo this one.
 */
export async function rotateOauth2(
  credential: Wire.Oauth2Credential,
  encryptedClientSecret: string | undefined,
  door: Oauth2Door,
): Promise<Oauth2Rotation> {
  const { oauth2CredentialId, provider, clientId } = credential
  const of = { oauth2CredentialId, provider, clientId }
  if (encryptedClientSecret === undefined) return check({ ...of, activities: {} }, door)
  await assertNoneOpen(credential, door.client)
  const { id, status, fingerprint, failure } = await submit(door, 'update', { ...of, encryptedClientSecret })
  const updated = { ...of, activities: { update: id } }
  if (isWaiting(status)) return { ...updated, state: 'waiting', fingerprint }
  if (status !== 'ACTIVITY_STATUS_COMPLETED') return { ...updated, state: 'failed', why: failure?.message || status }
  const checked = await check(updated, door)
  if (checked.state !== 'refused') return checked
  const before = { ...of, encryptedClientSecret: credential.encryptedClientSecret }
  const back = await submit(door, 'putBack', before)
  const isBack = back.status === 'ACTIVITY_STATUS_COMPLETED'
  return { ...checked, state: isBack ? 'put back' : 'refused', activities: { ...checked.activities, putBack: back.id } }
}

async function check(updated: Omit<Oauth2Rotation, 'state'>, { logIn, ...door }: Oauth2Door): Promise<Oauth2Rotation> {
  const given = await logIn?.()
  if (!given) return { ...updated, state: 'updated', why: 'no login was checked' }
  const login = { oauth2CredentialId: updated.oauth2CredentialId, ...given }
  try {
    const { id, status, failure } = await submit(door, 'login', login)
    const tried = { ...updated, activities: { ...updated.activities, login: id } }
    if (status === 'ACTIVITY_STATUS_COMPLETED') return { ...tried, state: 'checked' }
    // Nobody has asked the provider yet.
    return { ...tried, state: 'updated', why: `no login was checked: ${failure?.message || status}` }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    if (OF_PROVIDER.has(error.refusal ?? '')) return { ...updated, state: 'refused', why: error.message }
    return { ...updated, state: 'updated', why: `no login was checked: ${error.message}` }
  }
}

/** Refusals of a login by which its client secret is wrong: by the provider, or because our service cannot open it. */
const OF_PROVIDER: ReadonlySet<string> = new Set(['AUTH_CODE_REFUSED', 'OAUTH2_PROVIDER_NOT_CONFIGURED'])

async function assertNoneOpen({ oauth2CredentialId: id }: Wire.Oauth2Credential, client: QueryClient): Promise<void> {
  for await (const one of readActivities(client, { types: [UPDATE], statuses: WAITING_STATUSES })) {
    if (one.intent.updateOauth2CredentialIntent?.oauth2CredentialId !== id) continue
    throw new ApplyError('rotate/other-runs', 'another update of this OAuth 2.0 credential waits for approval', {
      facts: { activity: one.id, submitted: 'nothing' },
      next: 'approve or reject it (`quorate approvals`), then rotate again',
    })
  }
}

async function submit(
  { client, now, submitted }: Oauth2Door,
  part: Oauth2Part,
  parameters: Json,
): Promise<Wire.Activity> {
  const type: ActivityType = part === 'login' ? 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE' : UPDATE
  const { organizationId } = client
  const body = makeBody({ type, organizationId, parameters, timestampMs: String(now()) })
  const activity = await client.submit(activities[type].path, body)
  submitted?.(part, activity.id)
  return activity
}
