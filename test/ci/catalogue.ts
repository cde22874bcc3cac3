/** Messages of every activity of the catalogue, for tests of what a user may do at all. */
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { sampleOf } from '../service/handlers/sample.ts'
import { newKey } from '../service/handlers/steps.ts'

/** Refused by the policies, or before they were asked: for what it names, or because nobody can. */
export const NOT_DONE = [400, 403, 404, 409, 501]

/** The least message of a type, with ids of what there is where it names something, so that policies come to be asked. */
export function messageOf(type: ActivityType, ids: Readonly<Record<string, string>>): object {
  const key = generateP256KeyPair().publicKey
  const walk = (value: unknown, member: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => walk(one, member.replace(/s$/, '')))
    if (typeof value === 'object' && value !== null) {
      const known = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, name)]))
      return 'userName' in known && 'apiKeys' in known ? { ...known, apiKeys: [newKey()] } : known
    }
    if (/publicKey$/i.test(member)) return key
    if (/(name|label)$/i.test(member) && typeof value === 'string') return `${member}-${type.toLowerCase()}`
    return ids[member] ?? value
  }
  return walk(sampleOf(activities[type].intent), '') as object
}
