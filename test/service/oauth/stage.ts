import { createHash } from 'node:crypto'
import { complete, fresh } from '../handlers/steps.ts'
import type { TestService } from '../harness.ts'

/** The nonce that binds a token to a public key, as clients compute it from the text that they send. */
export function nonceOf(publicKey: string): string {
  return createHash('sha256').update(publicKey, 'ascii').digest('hex')
}

/** A sub-organization with one root user, who has these identities and nothing else. */
export async function makePerson(
  service: TestService,
  oidcTokens: readonly string[],
  overrides: object = {},
): Promise<{ readonly organizationId: string; readonly userId: string }> {
  const oauthProviders = oidcTokens.map((oidcToken) => ({ providerName: fresh('provider'), oidcToken }))
  const rootUser = { userName: fresh('person'), apiKeys: [], authenticators: [], oauthProviders, ...overrides }
  const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', {
    subOrganizationName: fresh('home'),
    rootUsers: [rootUser],
    rootQuorumThreshold: 1,
  })
  return { organizationId: made.subOrganizationId, userId: made.rootUserIds![0]! }
}
