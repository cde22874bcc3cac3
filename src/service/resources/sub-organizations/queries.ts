import { apiError, readPagination, type Wire } from '../../../protocol/index.ts'
import type { QueryContext } from '../../engine/index.ts'
import { findOrganization } from '../organizations/store.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { listSubOrganizationIds, type SubOrganizationFilter } from './store.ts'

/** How the value of each `filterType` is read (docs/protocol/requests.md#pages-and-filters). */
type ReadFilter = (value: string, context: QueryContext) => Promise<SubOrganizationFilter>

const by =
  (column: Exclude<SubOrganizationFilter['by'], 'OIDC'>): ReadFilter =>
  async (value) => ({ by: column, value })

const FILTERS: Readonly<Record<string, ReadFilter>> = {
  CREDENTIAL_ID: by('CREDENTIAL_ID'),
  NAME: by('NAME'),
  USERNAME: by('USERNAME'),
  EMAIL: by('EMAIL'),
  PHONE_NUMBER: by('PHONE_NUMBER'),
  PUBLIC_KEY: by('PUBLIC_KEY'),
  WALLET_ACCOUNT_ADDRESS: by('WALLET_ACCOUNT_ADDRESS'),
  OIDC_TOKEN: async (token, { identityOf }) => ({ by: 'OIDC', value: await identityOf(token) }),
  OIDC_CLAIMS: async (text) => ({ by: 'OIDC', value: readClaims(text) }),
}

/** Contacts that their users have proved to have. */
const VERIFIED_FILTERS: Readonly<Record<string, ReadFilter>> = {
  EMAIL: by('VERIFIED_EMAIL'),
  PHONE_NUMBER: by('VERIFIED_PHONE_NUMBER'),
}

const listSubOrganizations: QueryOf<'list_suborgs'> = (context, request) => list(context, request, FILTERS)

/** Unstated: what is listed when nothing is looked for. Every sub-organization in which some contact is proved. */
const listVerifiedSubOrganizations: QueryOf<'list_verified_suborgs'> = (context, request) =>
  list(context, request, VERIFIED_FILTERS, { by: 'VERIFIED', value: '' })

export const subOrganizationQueries = {
  list_suborgs: listSubOrganizations,
  list_verified_suborgs: listVerifiedSubOrganizations,
} satisfies QueryRows

/** Newest first; `before` and `after` are ids of sub-organizations. No match is an empty list. */
async function list(
  context: QueryContext,
  request: Wire.GetSubOrgIdsRequest,
  filters: Readonly<Record<string, ReadFilter>>,
  unfiltered?: SubOrganizationFilter,
): Promise<Wire.GetSubOrgIdsResponse> {
  const { tx, organizationId } = context
  const page = readPagination(request.paginationOptions)
  for (const cursor of [page.before, page.after]) await checkCursor(context, cursor)
  const filter = (await readFilter(context, request, filters)) ?? unfiltered
  const ids = await listSubOrganizationIds(tx, organizationId, { ...page, ...(filter ? { filter } : {}) })
  return { organizationIds: ids }
}

async function readFilter(
  context: QueryContext,
  { filterType, filterValue }: Wire.GetSubOrgIdsRequest,
  filters: Readonly<Record<string, ReadFilter>>,
): Promise<SubOrganizationFilter | undefined> {
  if (!filterType) {
    if (filterValue) throw apiError('missingField', 'filterType')
    return undefined
  }
  const read = Object.hasOwn(filters, filterType) ? filters[filterType] : undefined
  if (!read) throw apiError('invalidField', 'filterType', `must be one of ${Object.keys(filters).join(', ')}`)
  if (!filterValue) throw apiError('missingField', 'filterValue')
  return read(filterValue, context)
}

function readClaims(text: string) {
  try {
    const { iss, aud, sub } = JSON.parse(text) as Record<string, unknown>
    if (typeof iss === 'string' && typeof aud === 'string' && typeof sub === 'string') {
      return { issuer: iss, audience: aud, subject: sub }
    }
  } catch {
    // Said below.
  }
  throw apiError('invalidField', 'filterValue', 'must be a JSON object with the texts iss, aud and sub')
}

/** Unstated: an unknown cursor is refused (docs/protocol/requests.md#pages-and-filters). */
async function checkCursor({ tx, organizationId }: QueryContext, cursor: string | undefined): Promise<void> {
  if (cursor === undefined) return
  const organization = await findOrganization(tx, cursor)
  if (organization?.parent_id !== organizationId) throw apiError('unknownCursor', cursor)
}
