import { apiError, type Wire } from '../../../protocol/index.ts'
import { listAppProofs } from '../../proofs/index.ts'
import { findActivityById } from '../../store/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'

/** The proofs of one activity; none where it was submitted without `generateAppProofs`, or is not done. */
const list: QueryOf<'list_app_proofs'> = async ({ tx, organizationId }, { activityId }) => {
  if (!(await findActivityById(tx, organizationId, activityId))) throw apiError('notFound', 'activity', activityId)
  const [row] = await listAppProofs(tx, organizationId, [activityId])
  return { appProofs: row ? (JSON.parse(row.proofs) as Wire.AppProof[]) : [] }
}

/** This service runs in no enclave, so there is no boot to prove (docs/protocol/proofs.md#boot-proofs). */
const get: QueryOf<'get_boot_proof'> = async (_, { ephemeralKey }) => {
  throw apiError('notFound', 'boot proof', ephemeralKey)
}

const getLatest: QueryOf<'get_latest_boot_proof'> = async (_, { appName }) => {
  throw apiError('notFound', 'boot proof', appName)
}

export const appProofQueries = {
  list_app_proofs: list,
  get_boot_proof: get,
  get_latest_boot_proof: getLatest,
} satisfies QueryRows
