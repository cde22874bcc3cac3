/** A parent of many sub-organizations that one template makes: its definitions, its lock, and the answers of an API in which it lives unchanged. */
import { ORGANIZATION } from './plan-client.ts'
import { idFor, type Made, publicKeyOf } from './plan-made.ts'

/** Ten resources a sub-organization: itself, its name, its quorum, two users with a key of one, a tag, three policies. */
const POLICIES = {
  spends: { consensus: "approvers.any(user, user.id == '%')", condition: "activity.kind == 'SIGN_TRANSACTION'" },
  logs: { consensus: "approvers.any(user, user.id == '%')", condition: "activity.kind == 'CREATE_API_KEYS'" },
  exports: { consensus: "approvers.any(user, user.id == '%')", condition: "activity.kind == 'EXPORT_WALLET'" },
}

/** Makes it; the same on every run. */
export function makeFleet(count: number): Made {
  const names = Array.from({ length: count }, (_, n) => `customer-${String(n).padStart(4, '0')}`)
  const publicKey = publicKeyOf(0)
  const rules = Object.entries(POLICIES).map(
    ([name, { consensus, condition }]) =>
      `  ${name}:\n    effect: allow\n    consensus: ${consensus.replace('%', '${user.owner}')}\n    condition: ${condition}\n    notes: Of its owner.\n`,
  )
  const operator = `  operator:\n    apiKeys:\n      automation: { curve: P256, publicKey: ${publicKey} }\n`
  const quorum = 'rootQuorum: { threshold: 1, users: [operator] }\n'
  const each = `each:\n${names.map((name) => `  ${name}: { email: ${name}@acme.test }\n`).join('')}`
  const ownRows = ['user.operator', 'apiKey.operator.automation']
  const rows = [...ownRows, 'user.owner', 'tag.customer', ...Object.keys(POLICIES).map((name) => `policy.${name}`)]
  const lockOf = (id: string, addresses: readonly string[], organization: string) =>
    `${id}:\n${addresses
      .toSorted()
      .map((address) => `  ${address}: ${idFor(`${organization} ${address}`)}\n`)
      .join('')}`
  const idOf = (name: string) => idFor(`acme subOrganization.${name}`)
  const lock = [
    lockOf(ORGANIZATION, [...ownRows, ...names.map((name) => `subOrganization.${name}`)], 'acme'),
    ...names.map((name) => lockOf(idOf(name), rows, name)),
  ]

  const configs = (organization: string) => ({
    configs: { quorum: { threshold: 1, userIds: [idFor(`${organization} user.operator`)] }, features: [] },
  })
  const operatorOf = (organization: string) => ({
    userId: idFor(`${organization} user.operator`),
    userName: 'operator',
    userTags: [],
    authenticators: [],
    oauthProviders: [],
    mfaPolicies: [],
    apiKeys: [
      {
        apiKeyId: idFor(`${organization} apiKey.operator.automation`),
        apiKeyName: 'automation',
        credential: { type: 'CREDENTIAL_TYPE_API_KEY_P256', publicKey },
      },
    ],
  })
  const operatorId = idFor('acme user.operator')
  const answers: Record<string, unknown> = {
    whoami: { organizationId: ORGANIZATION, organizationName: 'Acme', userId: operatorId, username: 'operator' },
    get_organization_configs: configs('acme'),
    list_users: { users: [operatorOf('acme')] },
  }
  for (const name of names) {
    const id = idOf(name)
    const tagId = idFor(`${name} tag.customer`)
    const userId = idFor(`${name} user.owner`)
    const owner = { userId, userName: 'owner', userEmail: `${name}@acme.test`, userTags: [tagId] }
    const none = { authenticators: [], oauthProviders: [], mfaPolicies: [], apiKeys: [] }
    answers[`list_suborgs ${name}`] = { organizationIds: [id] }
    answers[`get_organization_configs ${id}`] = configs(name)
    answers[`list_user_tags ${id}`] = { userTags: [{ tagId, tagName: 'customer', tagType: 'TAG_TYPE_USER' }] }
    answers[`list_users ${id}`] = { users: [operatorOf(name), { ...owner, ...none }] }
    answers[`list_policies ${id}`] = {
      policies: Object.entries(POLICIES).map(([policyName, { consensus, condition }]) => ({
        policyId: idFor(`${name} policy.${policyName}`),
        policyName,
        effect: 'EFFECT_ALLOW',
        consensus: consensus.replace('%', userId),
        condition,
        notes: 'Of its owner.',
      })),
    }
  }
  return {
    files: {
      'organization.yaml': `organization: acme\nid: ${ORGANIZATION}\n${quorum}users:\n${operator}`,
      'customers/customers.yaml': each,
      'customers/customer.yaml': `${quorum}tags:\n  customer: {}\nusers:\n${operator}  owner:\n    email: \${var.email}\n    tags: [customer]\npolicies:\n${rules.join('')}`,
      'quorate.lock.yaml': lock.join(''),
    },
    changed: { 'customers/customers.yaml': each.replace('customer-0000@acme.test', 'other@acme.test') },
    api: {
      answers: Object.fromEntries(Object.entries(answers).map(([query, answer]) => [query, JSON.stringify(answer)])),
      publicKey,
    },
  }
}
