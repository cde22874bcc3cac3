import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { rateOf, submitter } from '../../operations/index.ts'
import { openSessions, type Session } from '../../session/index.ts'
import { type Api, findApi, waitingOf } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Ends the session at the API, where it can be reached, and forgets its key here in any case. */
export async function logout(input: CommandInput): Promise<ExitCode> {
  const { io, json, settings } = input
  const api = await findApi(input, { acts: true })
  const sessions = openSessions(settings.sessions)
  const session = await findOrForget(sessions, api)
  if (!session) {
    if (json) writeJson(io, { loggedOut: false })
    else io.say(line`Nobody is logged in to ${api.organizationId} at ${api.baseUrl}.\n`)
    return EXIT.done
  }
  const why = session.expiresAt > api.now() ? await endAtApi(input, api, session) : undefined
  await sessions.forget(api)
  if (json) writeJson(io, { loggedOut: true, user: session.userName, endedAtApi: why === undefined })
  else io.out(line`Logged out ${session.userName}; the key is forgotten here.\n`)
  if (why === undefined) return EXIT.done
  const until = new Date(session.expiresAt).toISOString()
  io.say(line`The API would still take the key, which nobody has now, until ${until}: ${why}\n`)
  return EXIT.error
}

/** A session that cannot be read is forgotten as well: that is what was asked for. */
async function findOrForget(sessions: ReturnType<typeof openSessions>, api: Api): Promise<Session | undefined> {
  try {
    return await sessions.find(api)
  } catch (error) {
    if (!(error instanceof QuorateError) || error.code !== 'session/damaged') throw error
    await sessions.forget(api)
    return undefined
  }
}

/** Deletes the key of the session with the key itself; gives the reason where that did not come about. */
async function endAtApi(input: CommandInput, api: Api, session: Session): Promise<string | undefined> {
  const { userId, publicKey, privateKey } = session
  const { baseUrl, organizationId } = api
  const key = { privateKey, publicKey, curve: 'p256' } as const
  const client = submitter({
    baseUrl,
    organizationId,
    key,
    rate: rateOf(input.settings, baseUrl),
    ...waitingOf(input, baseUrl),
  })
  try {
    const { apiKeys } = await client.query('get_api_keys', { userId })
    const own = apiKeys.find(({ credential }) => credential.publicKey === publicKey)
    if (!own) return undefined
    const body = JSON.stringify({
      type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
      timestampMs: String(api.now()),
      organizationId,
      parameters: { userId, apiKeyIds: [own.apiKeyId] },
    })
    const { status } = await client.submit('/public/v1/submit/delete_api_keys', body)
    return status === 'ACTIVITY_STATUS_COMPLETED' ? undefined : `its deletion is ${status}`
  } catch (error) {
    if (!(error instanceof QuorateError)) throw error
    // A key that the API does not take any more has ended.
    return error.code === 'client/unauthenticated' ? undefined : error.message
  }
}
