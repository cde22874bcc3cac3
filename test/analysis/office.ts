/** An organization of three people for tests of moves, whose root quorum is Alice unless another is given. */
import { indirectPowersOf } from '../../src/analysis/index.ts'
import type { Resource } from '../../src/resources/index.ts'
import { actualOf, bootstrap, idFor, key, live } from '../plan/organization.ts'

export const NOW = Date.parse('2026-06-30T12:00:00Z')
export const NAMES = ['alice', 'bob', 'carol'] as const
export const OPS = idFor('tag.ops')
export const CFO = idFor('tag.cfo')
export const tagged = (tag: string) => `approvers.any(u, u.tags.contains('${tag}'))`
export const is = (name: string) => `approvers.any(u, u.id == '${idFor(`user.${name}`)}')`

export const office = (
  tags: Readonly<Record<string, readonly string[]>>,
  policies: readonly Resource[],
  extra: readonly Resource[] = [],
) => [
  bootstrap()[0]!,
  ...(policies.some(({ kind }) => kind === 'rootQuorum')
    ? []
    : [live('rootQuorum', { threshold: 1, users: [idFor('user.alice')] })]),
  live('tag.ops'),
  live('tag.cfo'),
  live('wallet.cold'),
  ...NAMES.flatMap((name) => [
    live(`user.${name}`, { tags: tags[name] ?? [], email: `${name}@acme.test` }),
    live(`apiKey.${name}.k`, key(name)),
  ]),
  ...policies,
  ...extra,
]
export const told = (resources: readonly Resource[]) =>
  indirectPowersOf(actualOf(resources), { nowMs: NOW, powers: ['sign'] })
