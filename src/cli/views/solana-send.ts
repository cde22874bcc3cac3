/** The effect of a Solana transaction, read from its bytes: shown before it is approved. */
import {
  COMPUTE_BUDGET_PROGRAM,
  readSendFacts,
  readSolanaDraft,
  readSolanaPayment,
  type SendIntent,
  SOLANA_SIGNATURE_FEE,
  solanaFee,
  solanaSendBytes,
  tokenAccountOf,
} from '../../chain/index.ts'
import { printable } from '../../diagnostics/index.ts'
import type { Json } from '../../protocol/index.ts'
import type { World } from '../../scenarios/index.ts'
import {
  type Directory,
  type LamportFee,
  type NamedAddress,
  nameAddress,
  printAmount,
  printToken,
  type SendDescription,
} from '../../sending/index.ts'
import type { Style } from '../io.ts'
import { feeForApprover, named, paidText } from './send-words.ts'

/** Plain JSON; an amount of a token that no definition names is in its smallest unit. */
export interface SolanaDescription {
  readonly pays: readonly {
    readonly receiver: NamedAddress
    readonly amount: SendDescription['amount']
    readonly token?: NamedAddress
    /** The account of the receiver that holds the token, where the transaction makes sure that it is the receiver's. */
    readonly account?: string
  }[]
  /** Calls that the organization's interfaces tell. */
  readonly calls: readonly { readonly program: string; readonly function: string; readonly arguments: Json }[]
  /** The programs that the transaction calls, payments included. */
  readonly programs: readonly string[]
  /** How many instructions are neither payments nor told by an interface, nor set what units cost. */
  readonly unknown: number
  /** The most that it costs its payer; without `atMostLamports` the service chooses. */
  readonly fee: LamportFee
}

interface Transfer {
  readonly to: string
  readonly amount: bigint
  readonly token_mint?: string
}

interface Instruction {
  readonly program_key: string
  readonly parsed_instruction_data?: { readonly instruction_name: string; readonly program_call_args: object }
}

interface SolanaTransaction {
  readonly transfers: readonly Transfer[]
  readonly spl_transfers: readonly Transfer[]
  readonly instructions: readonly Instruction[]
  readonly program_keys: readonly string[]
}

/** Reads what the policies see of a send on Solana, and nothing else. */
export function describeSolanaSend(
  intent: SendIntent,
  { interfaces, directory }: { readonly interfaces: World['interfaces']; readonly directory: Directory },
): SolanaDescription {
  const { solana } = readSendFacts('ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', intent, { interfaces })
  const { transfers, spl_transfers, instructions, program_keys } = solana!['tx'] as SolanaTransaction
  const calls = instructions.flatMap(({ program_key: program, parsed_instruction_data: parsed }) =>
    parsed === undefined
      ? []
      : [{ program, function: parsed.instruction_name, arguments: toJson(parsed.program_call_args) }],
  )
  const budget = instructions.filter(({ program_key }) => program_key === COMPUTE_BUDGET_PROGRAM)
  const known = transfers.length + spl_transfers.length + calls.length + budget.length
  const bytes = solanaSendBytes(intent)
  const payment = readSolanaPayment(bytes)
  const fee = feeOf(bytes)
  if (payment?.token !== undefined) {
    const { to, amount, token } = payment
    const account = tokenAccountOf(to, token)
    return {
      pays: [{ receiver: nameAddress(to, '', directory), ...describeToken(amount, token.mint, directory), account }],
      calls,
      programs: program_keys,
      unknown: 0,
      fee,
    }
  }
  return {
    pays: [
      ...transfers.map(({ amount, to }) => ({
        receiver: nameAddress(to, '', directory),
        amount: { text: printAmount(amount, 'solana'), atomic: String(amount), atomicUnit: 'lamports' },
      })),
      ...spl_transfers.map(({ amount, token_mint: token, to }) => ({
        receiver: nameAddress(to, '', directory),
        ...describeToken(amount, token || 'unknown', directory),
      })),
    ],
    calls,
    programs: program_keys,
    unknown: Math.max(0, instructions.length - known),
    fee,
  }
}

/** In the unit of the definitions, where they name the mint. */
function describeToken(amount: bigint, mint: string, { assets }: Directory) {
  const [name, asset] = Object.entries(assets).find(([, { address }]) => address === mint) ?? []
  const [atomic, atomicUnit] = [String(amount), 'atomic units']
  return {
    amount: { text: asset ? printToken(amount, asset) : atomic, atomic, atomicUnit },
    token: { ...(name === undefined ? {} : { name }), address: mint },
  }
}

function feeOf(bytes: ReturnType<typeof solanaSendBytes>): LamportFee {
  const { unitPrice } = readSolanaDraft(bytes).budget
  const signatureLamports = SOLANA_SIGNATURE_FEE.toString()
  return { signatureLamports, ...(unitPrice === undefined ? {} : { atMostLamports: solanaFee(bytes).toString() }) }
}

/** The effect of a send, shown to an approver beside its parameters. */
export function solanaRows(
  { pays, calls, programs, unknown, fee }: SolanaDescription,
  style: Style,
): readonly string[][] {
  const paid = ({ amount, token }: SolanaDescription['pays'][number]) =>
    token !== undefined && token.name === undefined
      ? `${amount.atomic} units of the token ${token.address}`
      : paidText(amount)
  return [
    ...pays.flatMap((one) => [
      [
        'pays',
        `${paid(one)} to ${named(one.receiver)}${one.account === undefined ? '' : `, into its account ${one.account}`}`,
      ],
      ...(one.token?.name === undefined ? [] : [['token', named(one.token)]]),
    ]),
    ...calls.map((call) => [
      'calls',
      `${call.function}(${printable(JSON.stringify(call.arguments))}) of ${call.program}`,
    ]),
    ['programs', programs.join(', ')],
    ['fee', feeForApprover(fee)],
    ...(unknown === 0
      ? []
      : [
          ['unknown', style.warning(`no interface tells ${unknown} of its instructions: know them before you approve`)],
        ]),
  ]
}

function toJson(value: object): Json {
  return JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? each.toString() : each))) as Json
}
