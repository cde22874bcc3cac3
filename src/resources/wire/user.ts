import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import * as apiKey from './api-key.ts'
import * as authenticator from './authenticator.ts'
import { takeOptionalText, takeText, takeTexts, type WireRecord } from './record.ts'

/** A user out of the list of users; their credentials are resources of their own. */
export function fromWire(record: WireRecord): Resource {
  const name = takeText(record, 'userName', 'user')
  const email = takeOptionalText(record, 'userEmail', 'user')
  const phone = takeOptionalText(record, 'userPhoneNumber', 'user')
  return {
    address: formatAddress('user', name),
    kind: 'user',
    name,
    id: takeText(record, 'userId', 'user'),
    fields: {
      name,
      ...(email === undefined ? {} : { email }),
      ...(phone === undefined ? {} : { phone }),
      tags: takeTexts(record, 'userTags', 'user'),
    },
  }
}

/** One entry of `create_users` (V4), API keys and passkeys included. */
export function toIntent(user: Resource, credentials: readonly Resource[]): Value {
  const { email, phone, tags } = user.fields
  return {
    userName: user.name,
    ...(email === undefined || email === null ? {} : { userEmail: email }),
    ...(phone === undefined || phone === null ? {} : { userPhoneNumber: phone }),
    apiKeys: credentials.filter(({ kind }) => kind === 'apiKey').map(apiKey.toIntent),
    authenticators: credentials.filter(({ kind }) => kind === 'authenticator').map(authenticator.toIntent),
    oauthProviders: [],
    userTags: tags ?? [],
  }
}

/**
 * The parameters of `update_user`: what differs and nothing else. The list of tags replaces the live one. It cannot take
 * an address away (an empty text leaves it alone): that is `toSingleIntent`.
 */
export function toUpdateIntent(userId: string, user: Resource, fields: readonly string[]): Value {
  const { email, phone, tags } = user.fields
  return {
    userId,
    ...(fields.includes('name') ? { userName: user.name } : {}),
    ...(fields.includes('email') ? { userEmail: email! } : {}),
    ...(fields.includes('phone') ? { userPhoneNumber: phone! } : {}),
    ...(fields.includes('tags') ? { userTagIds: tags! } : {}),
  }
}

/** The parameters of `update_user_name`, `update_user_email` and `update_user_phone_number`; an empty text takes away. */
export function toSingleIntent(userId: string, user: Resource, field: 'name' | 'email' | 'phone'): Value {
  if (field === 'name') return { userId, userName: user.name }
  const value = user.fields[field] ?? ''
  return field === 'email' ? { userId, userEmail: value } : { userId, userPhoneNumber: value }
}
