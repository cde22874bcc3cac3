import { apiError, type ResourceLimits, resourceLimits } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { findOrganization } from './organizations/store.ts'

/** The limits that an organization's own list may reach, and what the refusal calls them. */
const THINGS = {
  subOrganizations: 'sub-organizations',
  users: 'users',
  policies: 'policies',
  wallets: 'wallets',
  tags: 'tags',
  privateKeys: 'private keys',
  invitations: 'invitations',
} as const satisfies Partial<Record<keyof ResourceLimits, string>>

/** Throws code 8 when the organization would have more of a resource than it may (docs/protocol/limits.md#resources). */
export async function checkLimit(
  context: HandlerContext,
  resource: keyof typeof THINGS,
  count: { readonly present: number; readonly added: number },
): Promise<void> {
  const organization = await findOrganization(context.tx, context.organizationId)
  const limits = resourceLimits[organization?.parent_id == null ? 'parent' : 'subOrganization']
  if (count.present + count.added > limits[resource])
    throw apiError('maxReached', 'organization', THINGS[resource], limits[resource])
}
