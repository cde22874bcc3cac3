import { sha256 } from '../../../crypto/index.ts'
import { encodeBase64Url, encodeHex } from '../../../encoding/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { checkCredentialBundle, checkLoginKey, issueCredentialBundle, issueSession } from '../../login/index.ts'
import { readRootQuorum, type UserRow } from '../../store/index.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { findOrganization } from '../organizations/store.ts'
import { requireUser } from '../require.ts'
import { findUsersByContact } from '../users/store.ts'
import { insertReadOnlySession } from './store.ts'

/** `stamp_login`: the user whose stamp the request has is who is logged in (docs/protocol/sessions.md#logging-in). */
const stampLogin: TypedHandler<Wire.StampLoginIntent, Wire.StampLoginResult> = {
  async validate(context, intent) {
    const user = await requireUser(context, context.submitterId)
    await checkLoginKey(context, user, { kind: 'CREDENTIAL_TYPE_LOGIN', ...intent })
  },
  facts: async ({ submitterId }) => ({ targetUserId: submitterId }),
  async execute(context, intent) {
    return { session: await issueSession(context, await requireUser(context, context.submitterId), intent) }
  },
}

/** A session whose key the service makes, in both versions: the user by an id, an address, or the submitter. */
interface ReadWriteSession extends Wire.CreateReadWriteSessionIntentV2 {
  readonly email?: string
}

const createReadWriteSession: TypedHandler<ReadWriteSession, Wire.CreateReadWriteSessionResultV2> = {
  async validate(context, intent) {
    await findUserOf(context, intent)
    checkCredentialBundle(intent)
  },
  facts: async (context, intent) => ({ targetUserId: (await findUserOf(context, intent)).id }),
  async execute(context, intent) {
    const user = await findUserOf(context, intent)
    const { targetPublicKey, apiKeyName: name, expirationSeconds, invalidateExisting } = intent
    const { apiKeyId, credentialBundle } = await issueCredentialBundle(context, user, {
      kind: 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
      targetPublicKey,
      name,
      expirationSeconds,
      invalidateExisting,
    })
    return { ...(await toWireSubject(context, user)), apiKeyId, credentialBundle }
  },
}

/**
 * Unstated: who may name another user. Members of the root quorum alone; and an address that several users have names nobody
 * (docs/protocol/sessions.md#read-write-sessions).
 */
async function findUserOf(context: HandlerContext, { userId, email }: ReadWriteSession): Promise<UserRow> {
  const { tx, organizationId, submitterId } = context
  const user =
    email === undefined
      ? await requireUser(context, userId ? userId.toLowerCase() : submitterId)
      : await findByEmail(context, email)
  if (user.id !== submitterId && !(await readRootQuorum(tx, organizationId)).userIds.includes(submitterId))
    throw apiError('notAuthorized')
  return user
}

async function findByEmail({ tx, organizationId, submitterId }: HandlerContext, email: string): Promise<UserRow> {
  const contact = { column: 'email', type: 'EMAIL', contact: email.toLowerCase() } as const
  const users = await findUsersByContact(tx, contact, { organizationId })
  const own = users.find(({ id }) => id === submitterId)
  if (own) return own
  const [user, another] = users
  if (!user || another) throw apiError('notFound', 'user with the email', email)
  return user
}

/** How long a read-only session lasts. */
const READ_ONLY_SECONDS = 3_600

/** `create_read_only_session`: 32 random bytes, kept by their hash (docs/protocol/sessions.md#read-only-sessions). */
const createReadOnlySession: TypedHandler<object, Wire.CreateReadOnlySessionResult> = {
  facts: async ({ submitterId }) => ({ targetUserId: submitterId }),
  async execute(context) {
    const { tx, now } = context
    const user = await requireUser(context, context.submitterId)
    const session = encodeBase64Url(context.randomBytes(32))
    const expiresAt = now + READ_ONLY_SECONDS * 1000
    await insertReadOnlySession(tx, {
      token_hash: encodeHex(sha256(session)),
      organization_id: user.organization_id,
      user_id: user.id,
      created_at: now,
      expires_at: expiresAt,
    })
    return { ...(await toWireSubject(context, user)), session, sessionExpiry: String(Math.floor(expiresAt / 1000)) }
  },
}

/** The user who is logged in, in the form of the older session activities. */
async function toWireSubject({ tx }: HandlerContext, user: UserRow) {
  const organization = await findOrganization(tx, user.organization_id)
  return {
    organizationId: user.organization_id,
    organizationName: organization!.name,
    userId: user.id,
    username: user.name,
  }
}

export const sessionHandlers = {
  ACTIVITY_TYPE_STAMP_LOGIN: stampLogin,
  ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION: createReadOnlySession,
  ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: mapIntent(
    createReadWriteSession,
    (intent: Wire.CreateReadWriteSessionIntent) => intent,
  ),
  ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2: createReadWriteSession,
} satisfies HandlerRows
