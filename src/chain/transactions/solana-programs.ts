/** Addresses of the programs that every cluster has, and the limit that they keep. */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'
/** How the data of its `Transfer` begins: 2, in four bytes; eight of lamports follow. */
export const SYSTEM_TRANSFER = Uint8Array.of(2, 0, 0, 0)
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'
/** Keeps one account for each owner and token, at an address that follows from the two. */
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** The programs that tokens are of, by the names that people have for them. */
export const TOKEN_PROGRAMS = {
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'token-2022': 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
} as const
export type TokenProgram = keyof typeof TOKEN_PROGRAMS

/** Compute units that a transaction may use at most. */
export const MAX_COMPUTE_UNITS = 1_400_000
