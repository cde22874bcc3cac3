/** The sets of operators that an app names or makes: who approves its manifests, and who holds the shares of its key. */
import { apiError, type Wire } from '../../../protocol/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { TVC_LIMITS } from '../../readings.ts'
import { requireDistinct } from '../require.ts'
import { readTvcKeys, splitTvcKey } from './operator-key.ts'
import {
  findTvcOperatorSets,
  findTvcOperators,
  insertTvcOperatorSet,
  type TvcOperatorRow,
  type TvcOperatorSet,
  tvcOperatorSetTable,
  tvcOperatorTable,
} from './store.ts'

/** The operator set of a request: an existing one by its id, or the parameters of a new one. */
export interface SetWanted {
  readonly role: 'manifestSet' | 'shareSet'
  readonly id: string | undefined
  readonly params: Wire.TvcOperatorSetParams | undefined
  /** The least threshold that serves. */
  readonly least: number
}

/** Throws the refusal of a set that is not there, or cannot be made; says how many operators it would add. */
export async function checkTvcOperatorSet(
  context: HandlerContext,
  wanted: SetWanted,
): Promise<{ readonly added: number }> {
  const { role, id, params, least } = wanted
  if (id && params) throw apiError('invalidField', `${role}Id`, `cannot be given together with \`${role}Params\``)
  if (id) {
    const set = await requireTvcOperatorSet(context, `${role}Id`, id)
    requireOwnKeys(`${role}Id`, set.members)
    if (set.threshold < least) throw apiError('invalidField', `${role}Id`, `must have a threshold of at least ${least}`)
    return { added: 0 }
  }
  if (!params) throw apiError('missingField', `${role}Params`)
  const { newOperators = [], existingOperatorIds = [], threshold } = params
  const count = newOperators.length + existingOperatorIds.length
  const { members } = TVC_LIMITS
  if (count === 0 || count > members)
    throw apiError('invalidField', `${role}Params`, `must have 1 to ${members} operators, got ${count}`)
  if (threshold < least || threshold > count) {
    const range = `must be from ${least} to the number of operators, ${count}`
    throw apiError('invalidField', `${role}Params.threshold`, range)
  }
  const existing = await requireTvcOperators(context, `${role}Params.existingOperatorIds`, existingOperatorIds)
  const made = newOperators.map(({ publicKey }) => ({
    public_key: readTvcKeys(`${role}Params.newOperators.publicKey`, publicKey),
  }))
  requireOwnKeys(`${role}Params.publicKey`, [...made, ...existing])
  return { added: newOperators.length }
}

/** Throws the refusal of more sets or operators than an organization may have. */
export async function checkTvcRoom(
  { tx, organizationId }: HandlerContext,
  added: { readonly operators: number; readonly sets: number },
): Promise<void> {
  const rows = [
    { table: tvcOperatorTable, most: TVC_LIMITS.operators, more: added.operators, what: 'TVC operators' },
    { table: tvcOperatorSetTable, most: TVC_LIMITS.sets, more: added.sets, what: 'TVC operator sets' },
  ] as const
  for (const { table, most, more, what } of rows) {
    if ((await table.count(tx, organizationId)) + more > most) throw apiError('maxReached', 'organization', what, most)
  }
}

/** Reads the set that a request names, or makes the set: new operators come before existing ones. */
export async function makeTvcOperatorSet(context: ExecutionContext, wanted: SetWanted): Promise<TvcOperatorSet> {
  const { role, id, params } = wanted
  if (id) return requireTvcOperatorSet(context, `${role}Id`, id)
  const { tx, organizationId, now } = context
  const { name, newOperators = [], existingOperatorIds = [], threshold } = params!
  const times = { organization_id: organizationId, created_at: now, updated_at: now }
  const made = newOperators.map((operator) => ({
    id: context.newId(),
    name: operator.name,
    public_key: operator.publicKey.toLowerCase(),
    hosted: 0,
    ...times,
  }))
  await tvcOperatorTable.insert(tx, made)
  const existing = await requireTvcOperators(context, `${role}Params.existingOperatorIds`, existingOperatorIds)
  const members: readonly TvcOperatorRow[] = [...made, ...existing]
  const set = { id: context.newId(), name, threshold, ...times }
  await insertTvcOperatorSet(
    tx,
    set,
    members.map((member) => member.id),
  )
  return { ...set, members }
}

/**
 * One person with the key that two operators sign with approves for both, and with the key that two are encrypted to opens the shares
 * of both: fewer people than the threshold would reach it.
 */
function requireOwnKeys(field: string, members: readonly Pick<TvcOperatorRow, 'public_key'>[]): void {
  const keys = members.map(({ public_key }) => Object.values(splitTvcKey(public_key)))
  requireDistinct(field, keys.flat())
}

async function requireTvcOperatorSet(
  { tx, organizationId }: HandlerContext,
  field: string,
  id: string,
): Promise<TvcOperatorSet> {
  const set = (await findTvcOperatorSets(tx, organizationId, [id])).get(id)
  if (!set) throw apiError('notFound', `operator set of \`${field}\``, id)
  return set
}

async function requireTvcOperators(
  { tx, organizationId }: HandlerContext,
  field: string,
  ids: readonly string[],
): Promise<TvcOperatorRow[]> {
  requireDistinct(field, ids)
  const rows = new Map((await findTvcOperators(tx, organizationId, ids)).map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = rows.get(id)
    if (!row) throw apiError('notFound', 'TVC operator', id)
    return row
  })
}
