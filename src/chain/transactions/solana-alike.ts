/** Whether two Solana transactions do the same, and so would pay twice if both were included. */
import { encodeHex } from '../../encoding/index.ts'
import { readSolanaMessage, type SolanaMessage } from './solana-message.ts'
import { COMPUTE_BUDGET_PROGRAM } from './solana-programs.ts'

/**
 * Whether a transaction is a form of what was asked for: the same signers, and the same instructions with the same accounts and
 * data. A blockhash, instructions to the Compute Budget program and, where somebody else pays (`sponsored`), what the payer
 * puts on signers in advance make no other payment of it. Throws `ChainError` for what is no transaction.
 */
export function isFormOf(asked: Uint8Array, made: Uint8Array, { sponsored }: { readonly sponsored: boolean }): boolean {
  const [one, other] = [readSolanaMessage(asked), readSolanaMessage(made)]
  if (signersOf(one) !== signersOf(other)) return false
  return effectsOf(one, sponsored) === effectsOf(other, sponsored)
}

const signersOf = ({ keys, signers }: SolanaMessage) => keys.slice(0, signers).join()

function effectsOf(message: SolanaMessage, sponsored: boolean): string {
  const names = namesOf(message)
  const effects = message.instructions
    .filter(({ program, accounts }) => {
      const isInAdvance = sponsored && accounts.includes(0)
      return message.keys[program] !== COMPUTE_BUDGET_PROGRAM && !isInAdvance
    })
    .map(({ program, accounts, data }) => [names[program], accounts.map((place) => names[place]), encodeHex(data)])
  return JSON.stringify(effects)
}

/** Accounts by their place: those of lookup tables stand behind the others, the writable ones of all tables first. */
function namesOf({ keys, lookups }: SolanaMessage): readonly string[] {
  const looked = (kind: 'writable' | 'readonly') =>
    lookups.flatMap(({ key, [kind]: places }) => places.map((place) => `${key} ${place}`))
  return [...keys, ...looked('writable'), ...looked('readonly')]
}
