/**
 * What completed activities have made, read from the members of intents and results that say so and from nothing else: a name that
 * somebody chose may be the id of another thing.
 */
import {
  type ActivityType,
  activities,
  findActivity,
  fromTimestamp,
  isJsonObject,
  type Json,
  type JsonObject,
  type Wire,
} from '../protocol/index.ts'
import type { OtherCredential } from './locate.ts'

/** Activities that give a user another way in, by family. */
const WAYS_IN =
  /^(CREATE_API_KEYS|CREATE_AUTHENTICATORS|CREATE_OAUTH_PROVIDERS|STAMP_LOGIN|CREATE_READ_WRITE_SESSION|CREATE_READ_ONLY_SESSION|EMAIL_AUTH|OTP_AUTH|OTP_LOGIN|OAUTH|OAUTH_LOGIN|RECOVER_USER)$/
/** Activities that make users with their credentials. */
const USERS = /^(CREATE_USERS|CREATE_API_ONLY_USERS)$/

const typesOf = (isOne: RegExp) =>
  Object.values(activities).flatMap(({ type, family }) => (isOne.test(family) ? [type] : []))
export const wayInTypes: readonly ActivityType[] = typesOf(WAYS_IN)
/** The same, with the making of whole users. */
export const wayInForOthersTypes: readonly ActivityType[] = [...wayInTypes, ...typesOf(USERS)]

/** Credentials that an activity has made. */
export interface MadeCredentials {
  readonly ids: readonly string[]
  /** In lower case; of keys that were given, those that live no more among them. */
  readonly publicKeys: readonly string[]
  /** Users who were made with all the credentials that they had then. */
  readonly userIds: readonly string[]
  /** Milliseconds since the epoch. */
  readonly atMs: number
}

/** Reads the credentials that a completed activity has made. */
export function credentialsMadeBy({ type, intent, result, updatedAt }: Wire.Activity): MadeCredentials {
  const row = findActivity(type)?.row
  const given = memberOf(intent, row?.intentKey)
  const got = memberOf(result, row?.resultKey)
  const owners = [given, ...recordsIn(given['users']), ...recordsIn(given['apiOnlyUsers'])]
  const keys = [given, ...owners.flatMap((one) => recordsIn(one['apiKeys']))]
  return {
    ids: IDS.flatMap((member) => textsOf(got[member])),
    publicKeys: keys.flatMap((one) => textsOf(one['publicKey'])).map((one) => one.toLowerCase()),
    userIds: row && USERS.test(row.family) ? textsOf(got['userIds']) : [],
    atMs: fromTimestamp(updatedAt),
  }
}

/** Members of results that hold ids of credentials. */
const IDS = ['apiKeyIds', 'apiKeyId', 'authenticatorIds', 'authenticatorId', 'providerIds']

/** Whether a user's credential is one of those. Of what came with a user, only keys are told; the rest is as old as the user. */
export function isAmong(
  { ids, publicKeys, userIds, atMs }: MadeCredentials,
  { id, publicKey, createdAt }: OtherCredential,
  userId: string,
): boolean {
  return (
    ids.includes(id) ||
    (publicKey !== undefined && publicKeys.includes(publicKey.toLowerCase())) ||
    (userIds.includes(userId) && Date.parse(createdAt) <= atMs)
  )
}

function memberOf(of: object, key: string | null | undefined): JsonObject {
  const member = key == null ? undefined : (of as JsonObject)[key]
  return isJsonObject(member) ? member : {}
}

function recordsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textsOf(value: Json | undefined): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
}
