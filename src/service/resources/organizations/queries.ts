import { apiError, type Wire } from '../../../protocol/index.ts'
import type { QueryContext } from '../../engine/index.ts'
import { type OrganizationRow, readRootQuorum } from '../../store/index.ts'
import { invitationTable } from '../invitations/store.ts'
import { toWireInvitation } from '../invitations/wire.ts'
import { findApiKeyIpAllowlist, findIpAllowlist } from '../ip-allowlists/store.ts'
import { toWireApiKeyIpAllowlist, toWireIpAllowlist } from '../ip-allowlists/wire.ts'
import { policyTable } from '../policies/store.ts'
import { toWirePolicy } from '../policies/wire.ts'
import { listPrivateKeys } from '../private-keys/store.ts'
import { toWirePrivateKeys } from '../private-keys/wire.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { listInterfaces } from '../smart-contract-interfaces/store.ts'
import { toWireInterfaceReference } from '../smart-contract-interfaces/wire.ts'
import { listTags } from '../tags/store.ts'
import { toWireTag } from '../tags/wire.ts'
import { listUsers } from '../users/store.ts'
import { toWireUsers } from '../users/wire.ts'
import { listWallets } from '../wallets/store.ts'
import { toWireWallet } from '../wallets/wire.ts'
import { listFeatures } from './features-store.ts'
import { findOrganization } from './store.ts'
import { toWireFeature } from './wire.ts'

/** Answers with where the caller lives, whatever organization the request names (docs/protocol/requests.md#queries). */
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
      policies: (await policyTable.list(tx, organizationId)).map(toWirePolicy),
      tags: (await listTags(tx, organizationId)).map(toWireTag),
      rootQuorum: await readRootQuorum(tx, organizationId),
      features: await readFeatures(tx, organizationId),
      wallets: (await listWallets(tx, organizationId)).map(toWireWallet),
      privateKeys: await toWirePrivateKeys(tx, organizationId, await listPrivateKeys(tx, organizationId)),
      invitations: (await invitationTable.list(tx, organizationId)).map(toWireInvitation),
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
