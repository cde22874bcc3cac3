import { createQueryClient, type QueryClient } from '../../src/client/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { type ChangeInput, kinds, type Resource, resolveValue, type Value } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import type { TestService } from '../service/harness.ts'

/** A client of the root user that can only read, over a real socket. */
export function rootReader({ url, organizationId, root }: TestService): QueryClient {
  const stamper = createApiKeyStamper({ privateKey: new Secret(root.privateKey) })
  return createQueryClient({ baseUrl: url, organizationId, stamper })
}

/** Policies name wallets and tags, users carry tags. */
const ORDER = ['feature', 'tag', 'user', 'wallet', 'policy'] as const

/** Creates resources one kind after another, by the catalogue's own templates, as the root user. Gives the new ids. */
export async function createAll(service: TestService, resources: readonly Resource[]): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  for (const kind of ORDER) {
    const create = kinds[kind].create!
    const changes = resources.filter((one) => one.kind === kind).map((one) => asCreation(one, resources))
    const groups = create.carries === 'one' ? changes.map((change) => [change]) : changes.length > 0 ? [changes] : []
    for (const group of groups) {
      const parameters = resolveValue(create.parameters(group), ids)
      const activity = await service.root.submit(create.type as ActivityType, parameters as object)
      if (activity.status !== 'ACTIVITY_STATUS_COMPLETED')
        throw new Error(`expected it to complete, got ${activity.status}`)
      for (const { address, at } of create.produces?.(group) ?? []) ids[address] = String(lookUp(activity.result, at))
    }
  }
  return ids
}

function asCreation(resource: Resource, resources: readonly Resource[]): ChangeInput {
  const children = resources.filter(({ parent }) => parent === resource.address)
  return { desired: resource, actual: undefined, fields: Object.keys(resource.fields), children }
}

function lookUp(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((at, key) => (at as Record<string | number, unknown>)[key], value)
}

/** The value with live ids in place of every reference. */
export function withIds(value: Value | undefined, ids: Record<string, string>): Value | undefined {
  return value === undefined ? undefined : resolveValue(value, ids)
}
