/**
 * Definitions need not name everybody who votes, nor what they vote with: passkeys, for one, are added by their owners. So that no policy
 * is called useless because of somebody who is only not defined, those are taken to exist whom policies ask for.
 */
import { apiKeyFacts, type Credential, type User } from '../authority/index.ts'
import { compilePolicy, type PolicyText, type Reads, readsOf } from '../policy/index.ts'
import type { PolicySet } from './compare.ts'

type People = PolicySet['organization']

/** So many alike are assumed at most; policies that count to more are rare. */
const MOST_ALIKE = 8

/** The users that are defined, with a credential of every sort that policies ask for, and others with each id, tag, address and name that is asked for. */
export function assumedPeople({ policies, organization: { users } }: PolicySet): People {
  const trees = policies.map((one) => compilePolicy(one).consensus?.tree)
  const { chains } = readsOf(...trees)
  const asked = (chain: string) => textsOf(chains.get(chain))
  const known = new Set(users.flatMap(({ id, name, email, tags }) => [id, name, email, ...tags]))
  const unknown = (field: string) => asked(`approvers.${field}`).filter((text) => !known.has(text))
  const alike = Math.min(MOST_ALIKE, 1 + largestIn(trees))
  const tags = unknown('tags')
  const wearing = tags.length === 0 ? [] : [...tags.map((tag) => [tag]), asked('approvers.tags')]
  const strangers = [
    ...wearing.flatMap((some) => Array.from({ length: alike }, (_, at) => ({ tags: some, id: `${some} ${at}` }))),
    ...(['id', 'email', 'name'] as const).flatMap((field) =>
      unknown(field === 'name' ? 'alias' : field).flatMap((text) =>
        [[], asked('approvers.tags')].map((some) => ({ id: `${field} ${text} ${some}`, tags: some, [field]: text })),
      ),
    ),
  ].map((one): User => ({ name: one.id, credentials: [], mfaPolicies: [], ...one }))
  const everybody = [...users, ...strangers].map((user) => ({ ...user, credentials: credentialsOf(user, chains) }))
  // Nobody: a quorum that is never met.
  return { users: everybody, rootQuorum: { userIds: [], threshold: 1 } }
}

/** Whether a consensus reads more of people than whether something equals a text, so that people who are not defined may meet it. */
export function restsOnUnknownPeople(policy: PolicyText): boolean {
  const { chains } = readsOf(compilePolicy(policy).consensus?.tree)
  return [...chains].some(([chain, use]) => /^(approvers|credentials)\b/.test(chain) && use === 'otherwise')
}

function credentialsOf({ id, credentials }: User, chains: Reads['chains']): readonly Credential[] {
  const key = apiKeyFacts({ id: `${id} key`, userId: id, type: 'P256', publicKey: `${id} key` })
  const asked = (['type', 'id', 'public_key', 'credential_id'] as const).flatMap((field) =>
    textsOf(chains.get(`credentials.${field}`)).map((text) => ({
      ...key,
      id: `${id} ${field} ${text}`,
      [field]: text,
    })),
  )
  return [...credentials, ...[key, ...asked].map((facts) => ({ name: facts.id, facts }))]
}

function textsOf(use: ReturnType<Reads['chains']['get']>): readonly string[] {
  return use === undefined || use === 'otherwise' ? [] : [...use]
}

/** The largest number in trees, whatever their nodes. */
function largestIn(tree: unknown): number {
  if (typeof tree === 'bigint') return Number(tree)
  return typeof tree === 'object' && tree !== null ? Math.max(0, ...Object.values(tree).map(largestIn)) : 0
}
