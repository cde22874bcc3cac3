import type { Expression } from '../ast.ts'
import type { Type } from '../types.ts'
import { findingAt, type Met, nodesOf, textComparison } from './clauses.ts'
import type { AddressChain, AddressFault, LintInput, LintRule } from './rule.ts'

/** Fields of Ethereum that hold an address; `''` in one of them is a meaning of its own. */
const ETHEREUM: ReadonlySet<string> = new Set(['from', 'to', 'address'])

/** Fields of other chains that hold an address, or a list of them, by the struct that they are of. */
const FIELDS: Readonly<Record<string, readonly [AddressChain, ...string[]]>> = {
  SolanaTransaction: ['solana', 'account_keys', 'program_keys'],
  Instruction: ['solana', 'program_key'],
  Account: ['solana', 'account_key'],
  Transfer: ['solana', 'from', 'to'],
  SPLTransfer: ['solana', 'from', 'to', 'owner', 'signers', 'token_mint'],
  AddressTableLookup: ['solana', 'address_table_key'],
  TronContract: ['tron', 'owner_address', 'to_address', 'contract_address', 'receiver_address'],
  TronKey: ['tron', 'address'],
}

/** What an account from a lookup table reads as. */
const LOOKED_UP = 'ADDRESS_TABLE_LOOKUP'

export const malformedAddress: LintRule = {
  name: 'malformed-address',
  severity: 'error',
  summary: 'an address is compared with a text that no address is',
  why: `The comparison is false for every request, or, where a digit of an address on Ethereum is wrong, for every one that is meant: mixed
case is a checksum (EIP-55). An ALLOW allows nothing that it should; a DENY denies nothing. Addresses on Solana are 32 bytes in base58,
and those on Tron have a checksum too.`,
  solve: 'look the address up again and write the whole of it',
  bad: `known:
  effect: deny
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == '0x52908400098527886e0f7030069857d2e4169ee'`,
  good: `known:
  effect: deny
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == '0x52908400098527886e0f7030069857d2e4169ee7'`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const compared = comparedTexts(met.node)
      const chain = compared && chainOf(compared.value, met)
      if (compared === undefined || chain === undefined) return []
      return compared.texts.flatMap((node) => {
        const fault = faultOf(node.value, chain, input)
        return fault ? [findingAt({ ...met, node }, fault.message, { help: fault.help })] : []
      })
    }),
}

type Text = Expression & { kind: 'string' }

/** A comparison with texts; also whether a list of the request holds one. */
function comparedTexts(node: Expression): { readonly value: Expression; readonly texts: readonly Text[] } | undefined {
  const comparison = textComparison(node)
  if (comparison !== undefined) return comparison
  if (node.kind === 'compare' && node.operator === 'in' && node.left.kind === 'string')
    return { value: node.right, texts: [node.left] }
  const [only] = node.kind === 'method' && node.name.text === 'contains' ? node.args : []
  return node.kind === 'method' && only?.kind === 'string' ? { value: node.target, texts: [only] } : undefined
}

/** `any`: an account of a wallet may be of any chain. */
function chainOf(value: Expression, { expression: { types }, around }: Met): AddressChain | 'any' | undefined {
  if (value.kind === 'name') {
    const binds = around.find((one) => one.kind === 'quantifier' && one.variable.text === value.name)
    return binds?.kind === 'quantifier' && binds.target.kind === 'member' ? otherChain(binds.target, types) : undefined
  }
  if (value.kind !== 'member') return undefined
  const type = types.get(value)
  if (type?.kind !== 'string' || type.letters === 'exact') return otherChain(value, types)
  if (!ETHEREUM.has(value.name.text)) return undefined
  return type.letters === 'hex' ? 'ethereum' : type.letters === 'address' ? 'any' : undefined
}

function otherChain(
  { target, name }: Expression & { kind: 'member' },
  types: ReadonlyMap<Expression, Type>,
): AddressChain | undefined {
  const struct = types.get(target)
  const [chain, ...fields] = struct?.kind === 'struct' ? (FIELDS[struct.name] ?? []) : []
  return fields.includes(name.text) ? chain : undefined
}

function faultOf(text: string, chain: AddressChain | 'any', { addressFault }: LintInput): AddressFault | undefined {
  // Of what nobody sees in a text, the loader tells.
  if (text === '' || text === LOOKED_UP || /[^ -~]/.test(text)) return undefined
  if (chain === 'any' && /^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return addressFault?.('tron', text)
  if (chain === 'solana' || chain === 'tron') return addressFault?.(chain, text)
  // Of those that begin with 0x, some of other chains have 64 digits.
  if (chain === 'any' && (!/^0x/i.test(text) || /^0x[0-9a-f]{64}$/i.test(text))) return undefined
  if (/^0x[0-9a-f]{40}$/i.test(text)) return addressFault?.('ethereum', text)
  const help = `an address is 0x and 40 hex digits, and this has ${text.length} characters`
  return { message: `\`${text}\` is no address`, help }
}
