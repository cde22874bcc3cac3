import { prepare, type Transaction } from '../store/index.ts'

export interface UsedVerificationTokenRow {
  token_id: string
  /** The organization that issued it. */
  organization_id: string
  /** The organization that it signed up, whose user it has not logged in since; null once it has no use. */
  signed_up_id: string | null
  /** It is forgotten then. */
  expires_at: number
}

declare module '../store/schema.ts' {
  interface Schema {
    used_verification_tokens: UsedVerificationTokenRow
  }
}

const find = prepare((tx, of: { tokenId: string }) =>
  tx.selectFrom('used_verification_tokens').select('signed_up_id').where('token_id', '=', of.tokenId),
)

/** How a token was used; undefined where it was not. */
export async function findUseOfToken(
  tx: Transaction,
  tokenId: string,
): Promise<{ readonly signed_up_id: string | null } | undefined> {
  const [use] = await find(tx, { tokenId })
  return use
}

/** Whether a token was used. */
export async function isTokenUsed(tx: Transaction, tokenId: string): Promise<boolean> {
  return (await find(tx, { tokenId })).length > 0
}

/** Keeps that a verification token was used, and forgets those that have expired: nobody could use them anyway. */
export async function insertUsedToken(
  tx: Transaction,
  token: {
    readonly tokenId: string
    readonly organizationId: string
    /** The organization that it signed up. */
    readonly signedUpId?: string | undefined
    readonly expiresAt: number
    readonly now: number
  },
): Promise<void> {
  await tx.deleteFrom('used_verification_tokens').where('expires_at', '<=', token.now).execute()
  await tx
    .insertInto('used_verification_tokens')
    .values({
      token_id: token.tokenId,
      organization_id: token.organizationId,
      signed_up_id: token.signedUpId ?? null,
      expires_at: token.expiresAt,
    })
    .execute()
}

/** Keeps that a token which signed somebody up has logged them in. */
export async function endUseOfToken(tx: Transaction, tokenId: string): Promise<void> {
  await tx.updateTable('used_verification_tokens').set({ signed_up_id: null }).where('token_id', '=', tokenId).execute()
}
