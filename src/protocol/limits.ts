import { apiError } from './api-error.ts'
import type { Pagination } from './generated/wire.gen.ts'

/** How many of each resource there may be (docs/protocol/limits.md#resources). */
export interface ResourceLimits {
  readonly subOrganizations: number
  readonly wallets: number
  readonly privateKeys: number
  readonly users: number
  readonly policies: number
  readonly invitations: number
  readonly tags: number
  readonly authenticatorsPerUser: number
  readonly longLivedApiKeysPerUser: number
  /** Reaching it refuses nothing: the eleventh evicts an expired one, otherwise the oldest. */
  readonly expiringApiKeysPerUser: number
  readonly oauthProvidersPerUser: number
}

const shared = {
  wallets: 100,
  privateKeys: 1000,
  users: 100,
  policies: 100,
  invitations: 100,
  authenticatorsPerUser: 10,
  longLivedApiKeysPerUser: 10,
  expiringApiKeysPerUser: 10,
  oauthProvidersPerUser: 10,
}

/** The limits of a parent and of a sub-organization. Accounts of a wallet are not limited. */
export const resourceLimits: Readonly<Record<'parent' | 'subOrganization', ResourceLimits>> = {
  parent: { ...shared, subOrganizations: Number.POSITIVE_INFINITY, tags: 100 },
  subOrganization: { ...shared, subOrganizations: 0, tags: 10 },
}

/** Largest request body in bytes: an interface of 400 kB, escaped as JSON, must fit (unstated in the sources). */
export const MAX_BODY_BYTES = 1_048_576

/**
 * How much one request may ask for. The API publishes no such numbers; these are generous against anything that clients
 * send, and keep the work that a body of 1 MiB can cause to seconds of a thread that nobody waits for. What is published
 * (16 signers, 50 calls, 32 secrets) stands with the fields and is checked as well.
 */
export const REQUEST_LIMITS = {
  /** Objects, lists, texts, numbers and words in a body: a thousand accounts are five thousand; decoding takes a microsecond each. */
  values: 100_000,
  /** Elements of one list: accounts, payloads, policies, ids. The toolkit sends a hundred; the most of a resource is a thousand. */
  listElements: 1_000,
  /** Characters of a name or a label, which stand again in every answer about what has it. Those with a published bound have 256. */
  nameCharacters: 1_024,
  /** Levels of all derivation paths together: usual paths have five, and each level is a multiplication on a curve. */
  pathLevels: 10_000,
  /** Addresses that are computed for new private keys: one in each format that a key is given. */
  addresses: 2_000,
  /** Passkeys that are registered by one request: each is verified by what its device signed. */
  passkeys: 300,
  /** Bytes of an approval or a rejection that names a fingerprint: it has nothing else to say. */
  voteBytes: 16_384,
  /** Bytes of all votes on one activity that repeat its submission: each is kept and shown as it was signed. */
  votesBytes: 4_194_304,
  /** Bytes of the activities in one page, which then is shorter than was asked: the next is asked for as ever. */
  pageBytes: 4_194_304,
  /** Instructions of a Solana transaction: its 1,232 bytes on the chain have room for fewer than four hundred. */
  instructions: 1_000,
} as const

/**
 * Bytes of texts that an organization's lists may hold, each by itself: an answer has them all, where the wire has no paging. A
 * request counts with all of its bytes. Contract interfaces are read again for each transaction that calls a contract.
 */
export const STORED_BYTES = { list: 8_388_608, interfaces: 4_194_304 } as const

/** How old, and how far ahead, the `timestampMs` of a first submission may be (docs/protocol/activities.md#liveness). */
export const LIVENESS = { pastMs: 3_600_000, futureMs: 300_000 } as const

/** How long approvals count from the opening of their window (docs/protocol/activities.md#the-approval-window). */
export const APPROVAL_WINDOW_MS = 86_400_000

/** Sizes of a page (docs/protocol/requests.md#pages-and-filters). */
export const PAGE = { least: 1, most: 100, default: 10 } as const

/** One page of a list: `before` and `after` are ids of objects, which are not in the page themselves. */
export interface PageRequest {
  readonly limit: number
  readonly before?: string
  readonly after?: string
}

/** Reads `paginationOptions`; empty text counts as absent. Throws `ApiError` for a limit outside 1–100. */
export function readPagination(options: Pagination | undefined): PageRequest {
  const { limit = '', before = '', after = '' } = options ?? {}
  const size = limit === '' ? PAGE.default : /^[0-9]{1,9}$/.test(limit) ? Number(limit) : Number.NaN
  if (!(size >= PAGE.least && size <= PAGE.most))
    throw apiError('invalidField', 'paginationOptions.limit', `must be from ${PAGE.least} to ${PAGE.most}`)
  return { limit: size, ...(before === '' ? {} : { before }), ...(after === '' ? {} : { after }) }
}
