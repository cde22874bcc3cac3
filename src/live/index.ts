/**
 * Live: an organization as it is, read over the API, all or nothing. Never a smaller world than there is: a failed page, a
 * short list or a contradiction is an error. It cannot write, by type: it takes a `QueryClient`.
 */
export { type Author, authorsOf, type CastVote, CHANGING_TYPES, type Changed, textsIn } from './authors.ts'
export { codes, type LiveCode } from './codes.ts'
export { type Creator, creatorsOf, idsMadeBy } from './creators.ts'
export { LiveError } from './error.ts'
export type { ReadScope } from './optional-kinds.ts'
export { PAGE_LIMIT, readPages } from './pages.ts'
export { actorIn, kindsMentioned, readActual, readInside } from './read-actual.ts'
export {
  inside,
  listSubOrganizationIds,
  listSubOrganizations,
  nameOfSubOrganization,
  readSubOrganizations,
  type WantedSubOrganization,
} from './sub-organizations.ts'
export { readWalletAccounts } from './wallet-accounts.ts'
