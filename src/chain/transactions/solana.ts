/** Solana transactions → `solana.tx` (docs/protocol/policies.md#fields). */
import { encodeHex } from '../../encoding/index.ts'
import { type Idl, parseIdl } from './idl.ts'
import { decodeInstruction } from './idl-instruction.ts'
import { findInterface, type SmartContractInterface, usable } from './interfaces.ts'
import type { Facts } from './refuse.ts'
import { type CompiledInstruction, readSolanaMessage, type SolanaMessage } from './solana-message.ts'
import { readTransfer } from './solana-transfers.ts'

/** The text in place of an account that comes from a lookup table, so that the transaction does not name it. */
const FROM_TABLE = 'ADDRESS_TABLE_LOOKUP'

interface Account {
  readonly account_key: string
  readonly signer: boolean
  readonly writable: boolean
}

/** An account of a lookup table: the position of the table, and that of the account in it. */
interface Looked {
  readonly table: number
  readonly index: number
  readonly writable: boolean
}

export function readSolana(bytes: Uint8Array, interfaces: readonly SmartContractInterface[]): Facts {
  const message = readSolanaMessage(bytes)
  const looked = lookedUp(message)
  const accounts = [
    ...message.keys.map((key, index) => staticAccount(message, key, index)),
    ...looked.map(tableAccount),
  ]
  const called = new Set(message.instructions.map(({ program }) => program))
  const idls = interfaceCache(interfaces)
  const transfers = message.instructions.map(({ program, accounts: indexes, data }) =>
    readTransfer({
      program: message.keys[program]!,
      accounts: indexes.map((index) => accounts[index]!.account_key),
      data,
    }),
  )
  return {
    account_keys: accounts.map(({ account_key }) => account_key),
    program_keys: message.keys.filter((_, index) => called.has(index)),
    instructions: message.instructions.map((each) => instructionFacts(message, each, accounts, looked, idls)),
    transfers: transfers.flatMap((each) => (each?.list === 'transfers' ? [each.facts] : [])),
    spl_transfers: transfers.flatMap((each) => (each?.list === 'spl_transfers' ? [each.facts] : [])),
    recent_blockhash: message.blockhash,
    address_table_lookups: lookupFacts(message, looked),
  }
}

/** Which accounts sign and which may be written follows from where they stand. */
function staticAccount(message: SolanaMessage, key: string, index: number): Account {
  const signer = index < message.signers
  const writable = signer
    ? index < message.signers - message.readonlySigners
    : index < message.keys.length - message.readonlyOthers
  return { account_key: key, signer, writable }
}

function tableAccount({ writable }: Looked): Account {
  return { account_key: FROM_TABLE, signer: false, writable }
}

/** Behind the accounts of the message: the writable ones of all tables, then the read-only ones of all tables. */
function lookedUp({ lookups }: SolanaMessage): readonly Looked[] {
  const each = (writable: boolean) =>
    lookups.flatMap((lookup, table) =>
      (writable ? lookup.writable : lookup.readonly).map((index) => ({ table, index, writable })),
    )
  return [...each(true), ...each(false)]
}

function instructionFacts(
  message: SolanaMessage,
  { program, accounts: indexes, data }: CompiledInstruction,
  accounts: readonly Account[],
  looked: readonly Looked[],
  idls: (program: string) => Idl | undefined,
): Facts {
  const programKey = message.keys[program]!
  const used = indexes.map((index) => accounts[index]!)
  const idl = idls(programKey)
  const parsed =
    idl &&
    decodeInstruction(idl, {
      program: programKey,
      accounts: used.map(({ account_key }) => account_key),
      data,
    })
  const usedOfTables = looked.filter((_, index) => indexes.includes(message.keys.length + index))
  return {
    program_key: programKey,
    accounts: used,
    instruction_data_hex: encodeHex(data),
    address_table_lookups: lookupFacts(message, usedOfTables),
    ...(parsed === undefined ? {} : { parsed_instruction_data: parsed }),
  }
}

/** The tables that those accounts come from, each with the positions in it. */
function lookupFacts({ lookups }: SolanaMessage, looked: readonly Looked[]): readonly Facts[] {
  return lookups.flatMap(({ key }, table) => {
    const own = looked.filter((each) => each.table === table)
    const indexes = (writable: boolean) =>
      own.filter((each) => each.writable === writable).map(({ index }) => BigInt(index))
    return own.length === 0
      ? []
      : [{ address_table_key: key, writable_indexes: indexes(true), readonly_indexes: indexes(false) }]
  })
}

/** Parses each program's IDL once a transaction. */
function interfaceCache(interfaces: readonly SmartContractInterface[]): (program: string) => Idl | undefined {
  const parsed = new Map<string, Idl | undefined>()
  return (program) => {
    if (!parsed.has(program)) {
      const uploaded = findInterface(interfaces, 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA', program)
      parsed.set(program, uploaded && usable(uploaded, parseIdl))
    }
    return parsed.get(program)
  }
}
