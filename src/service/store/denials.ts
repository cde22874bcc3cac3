import type { Transaction } from './transaction.ts'

/** The user whose denied requests are counted, and the day since the epoch. */
export interface DenialDay {
  readonly organizationId: string
  readonly userId: string
  readonly day: number
}

/** Reads how many denied requests of a user were kept on a day. */
export async function countKeptDenials(tx: Transaction, { organizationId, userId, day }: DenialDay): Promise<number> {
  const row = await tx
    .selectFrom('denials')
    .select('kept')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('day', '=', day)
    .executeTakeFirst()
  return row?.kept ?? 0
}

/** Counts one more denied request, and whether it was kept. */
export async function countDenial(
  tx: Transaction,
  { organizationId, userId, day }: DenialDay,
  isKept: boolean,
): Promise<void> {
  const [kept, not_kept] = isKept ? [1, 0] : [0, 1]
  await tx
    .insertInto('denials')
    .values({ organization_id: organizationId, user_id: userId, day, kept, not_kept })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'user_id', 'day']).doUpdateSet(({ ref }) => ({
        kept: (eb) => eb(ref('denials.kept'), '+', kept),
        not_kept: (eb) => eb(ref('denials.not_kept'), '+', not_kept),
      })),
    )
    .execute()
}

/** Whether a denied request of the same bytes by the same user is kept that was decided in the same way. */
export async function hasKeptDenial(
  tx: Transaction,
  of: {
    readonly organizationId: string
    readonly userId: string
    readonly fingerprint: string
    readonly failure: string
  },
): Promise<boolean> {
  // Denied requests stand under their fingerprint, a space and their id (`fingerprintOfDenied`); `!` follows the space.
  const row = await tx
    .selectFrom('activities')
    .innerJoin('votes', 'votes.activity_id', 'activities.id')
    .select('activities.id')
    .where('activities.organization_id', '=', of.organizationId)
    .where('activities.fingerprint', '>', `${of.fingerprint} `)
    .where('activities.fingerprint', '<', `${of.fingerprint}!`)
    .where('activities.failure', '=', of.failure)
    .where('votes.user_id', '=', of.userId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
