import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import * as apiKey from './api-key.ts'
import { takeOptionalText, takeText, takeTexts, type WireRecord } from './record.ts'

/** A user out of the list of users; their API keys are resources of their own. */
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

/** One entry of `create_users` (V4), API keys included. */
export function toIntent(user: Resource, apiKeys: readonly Resource[]): Value {
  const { email, phone, tags } = user.fields
  return {
    userName: user.name,
    ...(email === undefined ? {} : { userEmail: email }),
    ...(phone === undefined ? {} : { userPhoneNumber: phone }),
    apiKeys: apiKeys.map(apiKey.toIntent),
    authenticators: [],
    oauthProviders: [],
    userTags: tags ?? [],
  }
}

/** The parameters of `update_user`: what differs and nothing else. The list of tags replaces the live one. */
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
