/**
 * Sub-organizations, as a user of their parent reads them (docs/protocol/organizations.md#the-tree): found by name, one
 * request each. They are listed as a whole only where that is asked for, since a parent may have any number of them.
 */
import { ClientError, type QueryClient, type RequestOptions } from '../client/index.ts'
import { formatAddress, type Resource, takeList, takeRecord, takeText } from '../resources/index.ts'
import { LiveError, readAnswer } from './error.ts'
import { PAGE_LIMIT } from './pages.ts'

/** A sub-organization to look for: by its name, and by the id that it had when it was last seen. */
export interface WantedSubOrganization {
  readonly name: string
  readonly id?: string
}

/** A client that asks the same, with the same credential and at the same rate, in another organization. */
export function inside(client: QueryClient, organizationId: string): QueryClient {
  return {
    ...client,
    organizationId,
    query: (name, request, options) => client.query(name, { ...request, organizationId }, options),
  }
}

/** Reads which of these live: every one of each name, and each known id under whatever name it has now. */
export async function readSubOrganizations(
  client: QueryClient,
  wanted: readonly WantedSubOrganization[],
  options: RequestOptions = {},
): Promise<readonly Resource[]> {
  const found = new Map<string, Resource>()
  for (const { name, id } of wanted) {
    const ids = await idsOf(client, name, options)
    for (const one of ids) found.set(one, toResource(one, name))
    if (id === undefined || found.has(id)) continue
    const now = await nameOfSubOrganization(client, id, options)
    if (now !== undefined) found.set(id, toResource(id, now))
  }
  return [...found.values()]
}

/** Lists the ids of all sub-organizations, a hundred a request, the newest first. */
export async function listSubOrganizationIds(
  client: QueryClient,
  options: RequestOptions = {},
): Promise<readonly string[]> {
  const ids = new Set<string>()
  for (let before: string | undefined, size = -1; ids.size !== size; ) {
    size = ids.size
    // Newest first, so that the next page is what came before the last one read.
    const paginationOptions = { limit: String(PAGE_LIMIT), ...(before === undefined ? {} : { before }) }
    const page = idsIn(await client.query('list_suborgs', { paginationOptions }, options))
    for (const id of page) ids.add(id)
    before = page.at(-1) ?? before
  }
  return [...ids]
}

/** Reads which sub-organizations there are, all of them, with their names: one request each. */
export async function listSubOrganizations(
  client: QueryClient,
  options: RequestOptions = {},
): Promise<readonly Resource[]> {
  const found: Resource[] = []
  for (const id of await listSubOrganizationIds(client, options)) {
    const name = await nameOfSubOrganization(client, id, options)
    if (name !== undefined) found.push(toResource(id, name))
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function toResource(id: string, name: string): Resource {
  const kind = 'subOrganization'
  return { address: formatAddress(kind, name), kind, name, id, fields: { name } }
}

async function idsOf(client: QueryClient, name: string, options: RequestOptions): Promise<readonly string[]> {
  const request = { filterType: 'NAME', filterValue: name, paginationOptions: { limit: String(PAGE_LIMIT) } }
  return idsIn(await client.query('list_suborgs', request, options))
}

function idsIn(answer: unknown): readonly string[] {
  return readAnswer('list_suborgs', () =>
    takeList(takeRecord(answer, 'the answer'), 'organizationIds', 'answer').map((id) =>
      takeText({ id }, 'id', 'sub-organization'),
    ),
  )
}

const GONE: readonly string[] = ['client/not-found', 'client/wrong-organization']

/** The name of a sub-organization; undefined for one that is gone. */
export async function nameOfSubOrganization(
  client: QueryClient,
  id: string,
  options: RequestOptions = {},
): Promise<string | undefined> {
  try {
    const answer = await inside(client, id).query('get_organization', {}, options)
    return readAnswer('get_organization', () => {
      const data = takeRecord(takeRecord(answer, 'the answer')['organizationData'], '`organizationData`')
      return takeText(data, 'name', 'organization')
    })
  } catch (cause) {
    // One that is gone looks like one that never was, and like somebody else's (docs/protocol/errors.md#texts).
    if (cause instanceof ClientError && GONE.includes(cause.code)) return undefined
    if (!(cause instanceof ClientError) || cause.code !== 'client/not-supported') throw cause
    throw new LiveError('live/unreadable-kind', 'the service does not tell the name of a sub-organization', {
      cause,
      facts: { organizationId: id },
      next: 'correct its id in the lock file, or remove the line: then it is looked for by its name',
    })
  }
}
