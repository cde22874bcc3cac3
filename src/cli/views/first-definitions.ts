import { stringify } from 'yaml'
import { HEAD } from '../../import/index.ts'
import { type Actual, formatAddress } from '../../resources/index.ts'

/** A user's live e-mail address and phone number: left out, they would be taken away. */
function contactsOf({ resources }: Actual, user: string): Readonly<Record<string, unknown>> {
  const fields = resources.find(({ kind, name }) => kind === 'user' && name === user)?.fields ?? {}
  return Object.fromEntries(['email', 'phone'].flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])))
}

/** The live API keys of a user. Those of a quorum member must all be declared: an undeclared one is a way in. */
function keysOf({ resources }: Actual, user: string): Readonly<Record<string, object>> {
  const keys = resources.filter(({ kind, parent }) => kind === 'apiKey' && parent === formatAddress('user', user))
  return Object.fromEntries(
    keys.map(({ name, fields }) => [name, { curve: fields['curve'], publicKey: fields['publicKey'] }]),
  )
}

/**
 * The text of first definitions: what already is live of the root quorum, so that the first plan has no change, and
 * comments that show what else can be written.
 */
export function firstDefinitions(actual: Actual): string {
  const named = new Map(actual.resources.flatMap(({ kind, id, name }) => (kind === 'user' && id ? [[id, name]] : [])))
  const quorum = actual.resources.find(({ kind }) => kind === 'rootQuorum')
  const memberIds = (quorum?.fields['users'] ?? []) as readonly string[]
  const members = memberIds.map((id) => named.get(id) ?? id)
  const definitions = {
    organization: actual.organizationName,
    id: actual.organizationId,
    rootQuorum: { threshold: quorum?.fields['threshold'] ?? 1, users: members },
    users: Object.fromEntries(
      members.map((name) => [name, { ...contactsOf(actual, name), apiKeys: keysOf(actual, name) }]),
    ),
  }
  return `# Definitions of one organization. Only what is written here is managed; everything else is left alone.
${HEAD}${stringify(definitions)}
# tags:
#   treasury: {}
#
# policies:
#   treasury-signs:
#     effect: allow
#     consensus: approvers.filter(user, user.tags.contains('\${tag.treasury}')).count() >= 2
#     condition: activity.action == 'SIGN'
#
# wallets:
#   treasury:
#     accounts:
#       - { path: "m/44'/60'/0'/0/0", curve: secp256k1, format: ethereum }
`
}
