import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newUuid, randomBytes } from '../../../src/crypto/index.ts'
import { ApiError } from '../../../src/protocol/index.ts'
import { type Caller, type Reach, resolveCaller } from '../../../src/service/engine/caller.ts'
import { type Database, insertFirstOrganization, openDatabase } from '../../../src/service/store/index.ts'
import type { Stamp } from '../../../src/stamp/index.ts'

const PARENT = '00000000-0000-4000-8000-00000000000a'
const CHILD = '00000000-0000-4000-8000-00000000000b'
const SIBLING = '00000000-0000-4000-8000-00000000000c'
const STRANGER = '00000000-0000-4000-8000-00000000000d'

/** Who has which key: `both` is in parent and child, `twice` in two children. */
const KEYS: Record<string, readonly string[]> = {
  [PARENT]: ['parent', 'both'],
  [CHILD]: ['child', 'both', 'twice'],
  [SIBLING]: ['sibling', 'twice'],
  [STRANGER]: ['stranger'],
}

let database: Database
beforeEach(async () => {
  database = openDatabase(':memory:', { now: 1 })
})
afterEach(() => database.close())

async function resolve(publicKey: string, target: string, reach: Reach): Promise<Caller | string> {
  const stamp: Stamp = { kind: 'api-key', scheme: 'SIGNATURE_SCHEME_TK_API_P256', publicKey, signature: '' }
  return database.write(async (tx) => {
    for (const [id, keys] of Object.entries(KEYS)) {
      for (const [i, key] of keys.entries()) {
        const apiKey = { id: newUuid(randomBytes), name: key, publicKey: key }
        if (i === 0) {
          await insertFirstOrganization(tx, { id, name: id, user: { id: `user-of-${id}`, name: key }, apiKey }, 1)
          if (id === CHILD || id === SIBLING)
            await tx
              .updateTable('organizations')
              .set({ parent_id: PARENT, position: id === CHILD ? 1 : 2 })
              .where('id', '=', id)
              .execute()
          continue
        }
        const { id: keyId, name, publicKey } = apiKey
        await tx
          .insertInto('api_keys')
          .values({
            ...{ id: keyId, organization_id: id, user_id: `user-of-${id}`, name, public_key: publicKey },
            ...{ credential_type: 'CREDENTIAL_TYPE_API_KEY_P256', expiration_seconds: null },
            ...{ created_at: 1, updated_at: 1, position: 1 + i },
          })
          .execute()
      }
    }
    try {
      return await resolveCaller(tx, { stamp, body: new Uint8Array() }, target, { reach, now: 2 })
    } catch (error) {
      if (error instanceof ApiError) return error.turnkeyErrorCode
      throw error
    }
  })
}

describe('caller', () => {
  test.each<{ key: string; target: string; reach: Reach; expected: string | { home: string; runsIn: string } }>([
    { key: 'parent', target: PARENT, reach: 'submit', expected: { home: PARENT, runsIn: PARENT } },
    { key: 'child', target: CHILD, reach: 'submit', expected: { home: CHILD, runsIn: CHILD } },
    { key: 'parent', target: CHILD, reach: 'query', expected: { home: PARENT, runsIn: CHILD } },
    { key: 'parent', target: CHILD, reach: 'submit', expected: 'ORGANIZATION_MISMATCH' },
    { key: 'parent', target: CHILD, reach: 'submit-below', expected: 'ORGANIZATION_MISMATCH' },
    { key: 'child', target: PARENT, reach: 'query', expected: { home: CHILD, runsIn: CHILD } },
    { key: 'child', target: PARENT, reach: 'submit-below', expected: { home: CHILD, runsIn: CHILD } },
    { key: 'child', target: PARENT, reach: 'submit', expected: 'ORGANIZATION_MISMATCH' },
    { key: 'child', target: SIBLING, reach: 'query', expected: 'PUBLIC_KEY_NOT_FOUND' },
    { key: 'both', target: CHILD, reach: 'submit', expected: { home: CHILD, runsIn: CHILD } },
    { key: 'both', target: PARENT, reach: 'submit', expected: { home: PARENT, runsIn: PARENT } },
    { key: 'twice', target: PARENT, reach: 'query', expected: 'CREDENTIAL_CONFLICT' },
    { key: 'stranger', target: PARENT, reach: 'query', expected: 'PUBLIC_KEY_NOT_FOUND' },
    { key: 'stranger', target: CHILD, reach: 'submit', expected: 'PUBLIC_KEY_NOT_FOUND' },
    { key: 'parent', target: newUuid(randomBytes), reach: 'query', expected: 'ORGANIZATION_NOT_FOUND' },
  ])('caller: the key of $key for a $reach of $target', async ({ key, target, reach, expected }) => {
    const found = await resolve(key, target, reach)
    const seen = typeof found === 'string' ? found : { home: found.homeId, runsIn: found.organizationId }
    expect(seen).toEqual(expected)
  })
})
