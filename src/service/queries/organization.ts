import { apiError, type Wire } from '../../protocol/index.ts'
import type { QueryContext } from '../engine/query.ts'
import { listFeatures } from '../store/features.ts'
import { readRootQuorum } from '../store/index.ts'
import { listInvitations } from '../store/invitations.ts'
import { findApiKeyIpAllowlist, findIpAllowlist } from '../store/ip-allowlists.ts'
import { findOrganization } from '../store/organizations.ts'
import { listPolicies } from '../store/policies.ts'
import { listPrivateKeys } from '../store/private-keys.ts'
import type { OrganizationRow } from '../store/schema.ts'
import { listInterfaces } from '../store/smart-contract-interfaces.ts'
import { listTags } from '../store/tags.ts'
import { listUsers } from '../store/users.ts'
import { listWallets } from '../store/wallets.ts'
import { toWireInvitation } from '../wire/invitations.ts'
import { toWireApiKeyIpAllowlist, toWireIpAllowlist } from '../wire/ip-allowlists.ts'
import { toWireFeature } from '../wire/organizations.ts'
import { toWirePolicy } from '../wire/policies.ts'
import { toWirePrivateKeys } from '../wire/private-keys.ts'
import { toWireInterfaceReference } from '../wire/smart-contract-interfaces.ts'
import { toWireTag } from '../wire/tags.ts'
import { toWireUsers } from '../wire/users.ts'
import { toWireWallet } from '../wire/wallets.ts'
import type { QueryOf, QueryRows } from './table.ts'

/** Answers with where the caller lives, whatever organization the request names (facts: protocol §2). */
const whoami: QueryOf<'whoami'> = async ({ tx, caller }) => {
  const organization = await readOrganization(tx, caller.organizationId)
  const [user] = await listUsers(tx, caller.organizationId, [caller.userId])
  return {
    organizationId: organization.id,
    organizationName: organization.name,
    userId: caller.userId,
    username: user!.name,
  }
}

const getOrganizationConfigs: QueryOf<'get_organization_configs'> = async ({ tx, organizationId }) => ({
  configs: { features: await readFeatures(tx, organizationId), quorum: await readRootQuorum(tx, organizationId) },
})

const getOrganization: QueryOf<'get_organization'> = async ({ tx, organizationId }) => {
  const organization = await readOrganization(tx, organizationId)
  return {
    organizationData: {
      organizationId,
      name: organization.name,
      users: await toWireUsers(tx, organizationId, await listUsers(tx, organizationId)),
      policies: (await listPolicies(tx, organizationId)).map(toWirePolicy),
      tags: (await listTags(tx, organizationId)).map(toWireTag),
      rootQuorum: await readRootQuorum(tx, organizationId),
      features: await readFeatures(tx, organizationId),
      wallets: (await listWallets(tx, organizationId)).map(toWireWallet),
      privateKeys: await toWirePrivateKeys(tx, organizationId, await listPrivateKeys(tx, organizationId)),
      invitations: (await listInvitations(tx, organizationId)).map(toWireInvitation),
      smartContractInterfaceReferences: (await listInterfaces(tx, organizationId)).map(toWireInterfaceReference),
    },
  }
}

const getIpAllowlist: QueryOf<'get_ip_allowlist'> = async ({ tx, organizationId }, { publicKey }) => {
  if (!publicKey) return { allowlist: toWireIpAllowlist(organizationId, await findIpAllowlist(tx, organizationId)) }
  const list = await findApiKeyIpAllowlist(tx, organizationId, publicKey.toLowerCase())
  return { allowlist: toWireApiKeyIpAllowlist(organizationId, publicKey, list) }
}

export const organizationQueries = {
  whoami,
  get_organization_configs: getOrganizationConfigs,
  get_organization: getOrganization,
  get_ip_allowlist: getIpAllowlist,
} satisfies QueryRows

async function readOrganization(tx: QueryContext['tx'], organizationId: string): Promise<OrganizationRow> {
  const organization = await findOrganization(tx, organizationId)
  if (!organization) throw apiError('organizationNotFound')
  return organization
}

async function readFeatures(tx: QueryContext['tx'], organizationId: string): Promise<Wire.Feature[]> {
  return (await listFeatures(tx, organizationId)).map(toWireFeature)
}
