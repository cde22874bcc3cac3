/**
 * What a send will do, read from the parameters that will be signed and from nothing else: what a person meant by them
 * has no say here.
 */
import type { SendOrder } from '../../activities/index.ts'
import { ChainError, readSendFacts, type SendIntent, transferInterface } from '../chain/index.ts'
import type { Json, JsonObject } from '../protocol/index.ts'
import type { World } from '../scenarios/index.ts'
import { printAmount, printToken } from './amount.ts'
import { describeSolanaPayment } from './describe-solana.ts'
import { type ContractCall, nameAddress, type SendDescription } from './description.ts'
import type { Directory } from './order.ts'
import { usage } from './usage.ts'

export function describeSend(
  order: Pick<SendOrder, 'type' | 'parameters' | 'to' | 'feeCeiling'>,
  { directory, interfaces }: { readonly directory: Directory; readonly interfaces: World['interfaces'] },
): SendDescription {
  if (order.type === 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2') return describeSolanaPayment(order, directory)
  const { type, parameters, to: meant, feeCeiling } = order
  const intent = parameters as JsonObject & SendIntent
  const { to = '', value = '0', data, caip2 } = intent
  const fee = { ...describeFee(intent), ...(feeCeiling === undefined ? {} : { ceiling: feeCeiling }) }
  const named = (address: string) => nameAddress(address, meant, directory)
  const ether = { text: printAmount(BigInt(value), 'eip155'), atomic: value, atomicUnit: 'wei' }
  if (data === undefined) return { receiver: named(to), amount: ether, fee }
  const token = Object.entries(directory.assets).find(
    ([, { chain, address }]) => chain === caip2 && address.toLowerCase() === to.toLowerCase(),
  )
  if (token !== undefined && value === '0') {
    const [name, asset] = token
    const { address } = asset
    // What the standard says counts here, whatever the organization says of the contract.
    const { name: called, args } = readCall(type, intent, [transferInterface(address)])
    if (called === 'transfer') {
      const atomic = args['value'] as bigint
      const amount = {
        text: printToken(atomic, asset),
        atomic: String(atomic),
        atomicUnit: 'atomic units',
      }
      return { receiver: named(String(args['to'])), amount, token: { name, address }, fee }
    }
  }
  const { name, args } = readCall(type, intent, interfaces)
  const call: ContractCall =
    name === ''
      ? { kind: 'opaque', selector: data.slice(0, 10), bytes: (data.length - 2) / 2 }
      : { kind: 'decoded', function: name, arguments: toJson(args) as JsonObject }
  return { receiver: named(to), amount: ether, call, fee }
}

function readCall(type: string, intent: SendIntent, interfaces: World['interfaces']) {
  const { tx } = readFacts(type, intent, { interfaces }).eth as {
    readonly tx: { readonly function_name: string; readonly contract_call_args?: Readonly<Record<string, unknown>> }
  }
  return { name: tx.function_name, args: tx.contract_call_args ?? {} }
}

/** The roots that policies will read. Throws `cli/usage` for a transaction that the service would refuse. */
export function readFacts(...given: Parameters<typeof readSendFacts>): ReturnType<typeof readSendFacts> {
  try {
    return readSendFacts(...given)
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw usage(`this cannot be sent: ${error.message}`, 'correct it; the service would refuse it in these words')
  }
}

function describeFee({ maxFeePerGas, gasLimit }: SendIntent): SendDescription['fee'] {
  return {
    ...(maxFeePerGas === undefined ? {} : { maxFeePerGas }),
    ...(gasLimit === undefined ? {} : { gasLimit }),
    ...(maxFeePerGas === undefined || gasLimit === undefined
      ? {}
      : { atMostWei: String(BigInt(maxFeePerGas) * BigInt(gasLimit)) }),
  }
}

/** Values of an ABI as JSON: numbers are decimals, since they may be larger than JSON's. */
function toJson(value: unknown): Json {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value as Json
  const { int, text, tuple } = value as { int?: bigint; text?: string; tuple?: readonly unknown[] }
  if (int !== undefined) return int.toString()
  if (text !== undefined) return text
  if (tuple !== undefined) return tuple.map(toJson)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toJson(each)]))
}
