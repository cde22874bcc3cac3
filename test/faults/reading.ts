/** A whole organization as the toolkit reads it, through any network, and the same answers again without a network. */
import { createHash } from 'node:crypto'
import { findByIntent } from '../../activities/intent.ts'
import type { QueryClient } from '../../src/client/index.ts'
import {
  type Creator,
  creatorsOf,
  listSubOrganizations,
  type ReadScope,
  readActual,
  readInside,
} from '../../src/live/index.ts'
import { type Actual, KINDS, type KindName } from '../../src/resources/index.ts'
import type { TestService } from '../service/harness.ts'
import { type Meddle, type Memory, type Passing, startBetween } from './between.ts'
import { SUB_ORGANIZATION } from './full-organization.ts'
import { impatientClient } from './impatient.ts'

/** All that is asked of an organization: its things, who made them, and whether something is pending. */
export interface World {
  readonly actual: Actual
  /** What is in its sub-organizations, as its own user reads it. */
  readonly inside: readonly Actual[]
  readonly creators: ReadonlyMap<string, Creator>
  readonly pending: unknown
}

export interface Reading {
  readonly read: PromiseSettledResult<World>
  readonly passed: readonly Passing[]
  readonly faults: number
}

/** Every kind, whether a definition mentions it or not. */
export const EVERYTHING: ReadScope = {
  everything: true,
  mentioned: new Set(KINDS),
  subOrganizations: [{ name: SUB_ORGANIZATION }],
}

/** What a sub-organization's definitions may mention, but for what is asked on demand alone. */
const INSIDE: ReadonlySet<KindName> = new Set<KindName>([
  'wallet',
  'privateKeyTag',
  'privateKey',
  'smartContractInterface',
  'webhook',
  'oauth2Credential',
])

/** Makes a function that reads the whole organization through a network that does what `meddle` says. */
export function createReader(service: TestService) {
  // Nothing changes while it is read, so what was answered once need not be asked of the service again.
  const memory: Memory = new Map()
  return async (
    meddle: Meddle,
    options: ReadScope & { readonly attemptMs?: number } = EVERYTHING,
  ): Promise<Reading> => {
    const { attemptMs = 5_000, ...reach } = options
    const between = await startBetween(service.url, meddle, memory)
    const { organizationId, root } = service
    const where = { baseUrl: between.url, organizationId, privateKey: root.privateKey, attemptMs }
    const [read] = await Promise.allSettled([readAll(impatientClient(where), reach)])
    await between.close()
    return { read, passed: between.passed, faults: between.faults }
  }
}

async function readAll(client: QueryClient, reach: ReadScope): Promise<World> {
  const actual = await readActual(client, reach)
  const inside: Actual[] = []
  for (const { id, name } of await listSubOrganizations(client)) {
    const { publicKey } = client
    const reach = { publicKey, reader: actual.actor, mentioned: INSIDE, sparing: true }
    inside.push(await readInside(client, { id: id!, name }, reach))
  }
  const creators = await creatorsOf(client, actual, {})
  const pending = await findByIntent(client, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'none', userIds: [] })
  return { actual, inside, creators, pending }
}

/** A reading as one short text: equal for equal worlds. */
export function said(read: PromiseSettledResult<World>): string {
  if (read.status === 'rejected') return String(read.reason)
  const { actual, inside, creators, pending } = read.value
  const all = JSON.stringify([actual, inside, [...creators], pending])
  return createHash('sha256').update(all).digest('hex')
}

export const nameOf = ({ path }: Passing) => path.split('/').at(-1)!
