import { prepare, type Transaction } from '../store/index.ts'

const find = prepare((tx, of: { tokenId: string }) =>
  tx.selectFrom('used_verification_tokens').select('token_id').where('token_id', '=', of.tokenId),
)

/** Whether a verification token was used. */
export async function isTokenUsed(tx: Transaction, tokenId: string): Promise<boolean> {
  return (await find(tx, { tokenId })).length > 0
}

/** Keeps that a verification token was used, and forgets those that have expired: nobody could use them anyway. */
export async function insertUsedToken(
  tx: Transaction,
  token: {
    readonly tokenId: string
    readonly organizationId: string
    readonly expiresAt: number
    readonly now: number
  },
): Promise<void> {
  await tx.deleteFrom('used_verification_tokens').where('expires_at', '<=', token.now).execute()
  await tx
    .insertInto('used_verification_tokens')
    .values({ token_id: token.tokenId, organization_id: token.organizationId, expires_at: token.expiresAt })
    .execute()
}
