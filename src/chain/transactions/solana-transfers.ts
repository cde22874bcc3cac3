/**
 * The instructions that count as transfers (docs/protocol/policies.md#fields): called directly, of the System Program, of
 * Token and of Token-2022. Programs ignore data and accounts behind those that they use, and so do these readers.
 */
import { ByteReader } from './byte-reader.ts'
import { type Facts, refuse } from './refuse.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAMS } from './solana-programs.ts'

export interface TransferCall {
  readonly program: string
  /** Addresses; those of lookup tables as the literal that stands for them. */
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

interface TransferRow {
  readonly list: 'transfers' | 'spl_transfers'
  readonly programs: readonly string[]
  readonly name: string
  /** How the data begins; the amount follows, eight bytes little-endian. */
  readonly tag: readonly number[]
  /** Where the accounts stand. */
  readonly from: number
  readonly to: number
  readonly mint?: number
  /** Behind the owner stand the signers, if the owner is a multisig. */
  readonly owner?: number
}

const tokenTransfer = { list: 'spl_transfers', programs: Object.values(TOKEN_PROGRAMS), from: 0 } as const
const checked = { ...tokenTransfer, mint: 1, to: 2, owner: 3 } as const

/** Which transfers of the System Program are "supported" is not published; these are those that only move SOL. */
const rows: readonly TransferRow[] = [
  { list: 'transfers', programs: [SYSTEM_PROGRAM], name: 'Transfer', tag: [2, 0, 0, 0], from: 0, to: 1 },
  { list: 'transfers', programs: [SYSTEM_PROGRAM], name: 'TransferWithSeed', tag: [11, 0, 0, 0], from: 0, to: 2 },
  { ...tokenTransfer, name: 'Transfer', tag: [3], to: 1, owner: 2 },
  { ...checked, name: 'TransferChecked', tag: [12] },
  { ...checked, name: 'TransferCheckedWithFee', tag: [26, 1], programs: [TOKEN_PROGRAMS['token-2022']] },
]

/** Finds which transfer an instruction is, if it is one. */
export function readTransfer(
  call: TransferCall,
): { readonly list: TransferRow['list']; readonly facts: Facts } | undefined {
  const row = rows.find(
    ({ programs, tag }) => programs.includes(call.program) && tag.every((byte, index) => call.data[index] === byte),
  )
  if (row === undefined) return undefined
  const account = (index: number) => {
    if (index >= call.accounts.length) refuse(`the accounts of \`${row.name}\` are too few`)
    return call.accounts[index]!
  }
  const { list, from, to, mint, owner } = row
  const amount = new ByteReader(call.data.subarray(row.tag.length)).unsigned(8, `the amount of \`${row.name}\``)
  const facts = { from: account(from), to: account(to), amount }
  if (owner === undefined) return { list, facts }
  const signers = call.accounts.slice(owner + 1)
  // A plain Transfer does not name the mint.
  return {
    list,
    facts: { ...facts, owner: account(owner), signers, token_mint: mint === undefined ? '' : account(mint) },
  }
}
