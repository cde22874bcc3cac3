import { apiError, type Wire } from '../../../protocol/index.ts'
import { weightOfExpressions } from '../../engine/index.ts'
import { readExpirationSeconds } from '../../login/index.ts'
import { MAX_SESSION_PROFILES, sessionProfileTaken } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { sessionProfileTable } from './store.ts'

/** `create_session_profile`: it is made once, and never changed (docs/protocol/sessions.md#session-profiles). */
const createSessionProfile: TypedHandler<Wire.CreateSessionProfileIntent, Wire.CreateSessionProfileResult> = {
  async validate({ tx, organizationId, work }, { sessionProfileName: name, scope, expirationSeconds }) {
    readExpirationSeconds(expirationSeconds)
    const input = [{ condition: scope }]
    const { refusal } = work.run('checkPolicies', { input, weight: weightOfExpressions([scope]) })
    if (refusal !== undefined) throw apiError('invalidField', 'scope', `must be an expression: ${refusal}`)
    const present = await sessionProfileTable.list(tx, organizationId)
    if (present.some((profile) => profile.name === name)) throw sessionProfileTaken(name)
    if (present.length >= MAX_SESSION_PROFILES)
      throw apiError('maxReached', 'organization', 'session profiles', MAX_SESSION_PROFILES)
  },
  async execute({ tx, organizationId, now, newId }, { sessionProfileName, scope, expirationSeconds, notes }) {
    const id = newId()
    await sessionProfileTable.insert(tx, [
      {
        id,
        organization_id: organizationId,
        name: sessionProfileName,
        scope,
        expiration_seconds: readExpirationSeconds(expirationSeconds) ?? null,
        notes: notes ?? '',
        created_at: now,
        updated_at: now,
      },
    ])
    return { sessionProfileId: id }
  },
}

export const sessionProfileHandlers = {
  ACTIVITY_TYPE_CREATE_SESSION_PROFILE: createSessionProfile,
} satisfies HandlerRows
