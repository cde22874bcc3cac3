import type { Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { userInQuorum } from '../../readings.ts'
import { type Rows, readRootQuorum, whenRead } from '../../store/index.ts'
import { consumeVerificationToken, verifyVerificationToken } from '../../verification/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireUser, requireUsers, requireUserTags } from '../require.ts'
import { deleteTagsOfMember, insertTagMembers } from '../tags/store.ts'
import { checkProves, keepVerifiedContact } from './contacts.ts'
import { deleteUsers as deleteUserRows, type UserChange, updateUser as updateUserRow } from './store.ts'
import { checkWaysIn } from './ways-in.ts'

type UserIdResult = { readonly userId: string }

/**
 * `update_user`. An absent field stays, and so does one with empty text; a list of tags that is there replaces the
 * user's, an empty one takes all away. Unstated: that an absent list and an empty one differ; the schema marks the list
 * as optional.
 */
const updateUser: TypedHandler<Wire.UpdateUserIntent, UserIdResult> = {
  async validate(context, { userId, userTagIds = [] }) {
    await requireUser(context, userId)
    await requireUserTags(context, 'userTagIds', userTagIds)
  },
  async execute(context, { userId, userName, userEmail, userPhoneNumber, userTagIds }) {
    const { tx, organizationId } = context
    await change(context, userId, {
      ...(userName ? { name: userName } : {}),
      ...(userEmail ? { email: userEmail } : {}),
      ...(userPhoneNumber ? { phone_number: userPhoneNumber } : {}),
    })
    if (userTagIds) {
      await deleteTagsOfMember(tx, organizationId, userId)
      await insertTagMembers(
        tx,
        organizationId,
        userTagIds.map((tagId) => ({ tagId, memberId: userId })),
      )
    }
    return { userId }
  },
}

const updateUserName: TypedHandler<Wire.UpdateUserNameIntent, UserIdResult> = {
  validate: (context, { userId }) => whenRead(requireUser(context, userId), () => undefined),
  execute: (context, { userId, userName }) => change(context, userId, { name: userName }),
}

const updateUserEmail: TypedHandler<Wire.UpdateUserEmailIntent, UserIdResult> = {
  validate: (context, { userId, userEmail = '', verificationToken }) =>
    checkContact(context, userId, { contact: 'email', value: userEmail, verificationToken }),
  async execute(context, { userId, userEmail = '', verificationToken }) {
    await useProof(context, userId, { contact: 'email', value: userEmail, verificationToken })
    return change(context, userId, { email: userEmail || null })
  },
}

const updateUserPhoneNumber: TypedHandler<Wire.UpdateUserPhoneNumberIntent, UserIdResult> = {
  validate: (context, { userId, userPhoneNumber = '', verificationToken }) =>
    checkContact(context, userId, { contact: 'phone_number', value: userPhoneNumber, verificationToken }),
  async execute(context, { userId, userPhoneNumber = '', verificationToken }) {
    await useProof(context, userId, { contact: 'phone_number', value: userPhoneNumber, verificationToken })
    return change(context, userId, { phone_number: userPhoneNumber || null })
  },
}

const deleteUsers: TypedHandler<Wire.DeleteUsersIntent, Wire.DeleteUsersResult> = {
  async validate(context, { userIds }) {
    await requireUsers(context, 'userIds', userIds)
    const quorum = await readRootQuorum(context.tx, context.organizationId)
    const member = userIds.find((id) => quorum.userIds.includes(id))
    if (member !== undefined) throw userInQuorum(member)
  },
  async execute({ tx, organizationId }, { userIds }) {
    await deleteUserRows(tx, organizationId, userIds)
    return { userIds }
  },
}

export const userHandlers = {
  ACTIVITY_TYPE_UPDATE_USER: updateUser,
  ACTIVITY_TYPE_UPDATE_USER_NAME: updateUserName,
  ACTIVITY_TYPE_UPDATE_USER_EMAIL: updateUserEmail,
  ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER: updateUserPhoneNumber,
  ACTIVITY_TYPE_DELETE_USERS: deleteUsers,
} satisfies HandlerRows

interface ContactChange {
  readonly contact: 'email' | 'phone_number'
  readonly value: string
  readonly verificationToken: string | undefined
}

/** An empty contact removes it (its published check says so). A token must prove the very contact that is set. */
async function checkContact(context: HandlerContext, userId: string, change: ContactChange): Promise<void> {
  const user = await requireUser(context, userId)
  await readProof(context, change)
  if (change.value === '') await checkWaysIn(context, [user], { contact: change.contact })
}

async function readProof(context: HandlerContext, { contact: column, value, verificationToken }: ContactChange) {
  if (!verificationToken) return undefined
  const claims = await verifyVerificationToken(context, verificationToken)
  checkProves(claims, { column, value })
  return claims
}

/** Marks the verification token as used, and records that the contact was proved. */
async function useProof(context: HandlerContext, userId: string, change: ContactChange): Promise<void> {
  const claims = await readProof(context, change)
  if (!claims) return
  await consumeVerificationToken(context, claims)
  await keepVerifiedContact(context, userId, claims)
}

function change(context: HandlerContext, userId: string, fields: UserChange): Rows<UserIdResult> {
  const updating = updateUserRow(context.tx, context.organizationId, userId, { ...fields, now: context.now })
  return whenRead(updating, () => ({ userId }))
}
