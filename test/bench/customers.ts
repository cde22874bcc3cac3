import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import type { prepareOrganization } from './submit.ts'

/**
 * Makes so many sub-organizations, each with a root user who has the same key, and requests that go to some of them in turn.
 * @param asked how many these are; they lie evenly among the others. @default all
 */
export async function makeCustomers(
  send: Awaited<ReturnType<typeof prepareOrganization>>['send'],
  count: number,
  asked = count,
) {
  const key = generateP256KeyPair()
  const stamper = createApiKeyStamper({ privateKey: new Secret(key.privateKey) })
  const apiKeys = [{ apiKeyName: 'k', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const rootUsers = [{ userName: 'ann', apiKeys, authenticators: [], oauthProviders: [] }]
  const made: { readonly organizationId: string; readonly userId: string }[] = []
  while (made.length < count) {
    const some = Array.from({ length: Math.min(16, count - made.length) }, async (_, i) => {
      const { createSubOrganizationResultV7: result } = (await send('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
        subOrganizationName: `customer ${made.length + i}`,
        rootUsers,
        rootQuorumThreshold: 1,
      })) as unknown as { createSubOrganizationResultV7: { subOrganizationId: string; rootUserIds: string[] } }
      return { organizationId: result.subOrganizationId, userId: result.rootUserIds[0]! }
    })
    made.push(...(await Promise.all(some)))
  }
  const some = made.filter((_, i) => i % (count / asked) === 0)
  let next = 0
  return {
    async requestsOf(many: number): Promise<[string, string][]> {
      const requests: [string, string][] = []
      for (let i = 0; i < many; i++) {
        const { organizationId, userId } = some[next++ % some.length]!
        const body = JSON.stringify({
          type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
          timestampMs: String(Date.now() + (next % 100_000)),
          organizationId,
          parameters: { userId, userName: `ann ${next}` },
        })
        requests.push([body, (await stamper.stamp(encodeUtf8(body))).value])
      }
      return requests
    },
  }
}
