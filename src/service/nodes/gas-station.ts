/**
 * The contracts through which an account's calls are carried out together, or are paid by somebody else
 * (docs/protocol/sends.md#gas-station): the account runs the delegate's code (EIP-7702), and the station passes on to
 * it what the account has signed.
 */
import {
  ChainError,
  DOMAIN_QUERY,
  decodeDomain,
  type ExecutionDomain,
  encodeGetNonce,
  type SmartContractInterface,
} from '../../chain/index.ts'
import type { EthereumNode } from './ethereum.ts'
import { NodeRefusal } from './node.ts'

export interface GasStation {
  /** Address that executions are sent to, hex with `0x`. */
  readonly station: string
  /** Address of the code that accounts are delegated to. */
  readonly delegate: string
}

/** Version 1.1 of the published contracts, which has the same addresses on all chains. */
export const GAS_STATION: GasStation = {
  station: '0x1cBBD58E521e1133F09E2Ba207e3e75c4DB404D5',
  delegate: '0x2a31eF110e4Cdb9C332aA1d8633510214299c48B',
}

/** The contract takes no more calls at once, though the API does. */
export const MAX_BATCHED_CALLS = 20

/** Seconds that an execution may take to be included, unless the caller says until when. */
export const EXECUTION_LASTS_S = 3_600n

/**
 * Where a delegated account keeps its count of executions: the hash of `TKGasDelegate.state` less one, its last byte 0. The
 * station says it of delegated accounts alone, and one that is delegated once more goes on where it was.
 */
const NONCE_SLOT = '0x34d5be385818fa5c8c4e7f9d5a028251d28ebab8aaf203a072d1dde2d49a1100'

/** Whether an account runs the delegate's code. */
export async function isDelegated(node: EthereumNode, account: string, { delegate }: GasStation): Promise<boolean> {
  // EIP-7702: "set the code of authority to be 0xef0100 || address".
  return (await node.code(account)).toLowerCase() === `0xef0100${delegate.slice(2).toLowerCase()}`
}

/** Reads the nonce of an account's next execution. */
export async function executionNonce(node: EthereumNode, account: string, gasStation: GasStation): Promise<bigint> {
  if (!(await isDelegated(node, account, gasStation))) {
    return BigInt.asUintN(128, await node.storage(account, NONCE_SLOT))
  }
  return BigInt(await node.call({ to: gasStation.station, data: encodeGetNonce(account) }))
}

/** Reads what the delegate's signatures are made for; nothing where it does not say it (EIP-5267). */
export async function executionDomain(
  node: EthereumNode,
  { delegate }: GasStation,
): Promise<ExecutionDomain | undefined> {
  try {
    return decodeDomain(await node.call({ to: delegate, data: DOMAIN_QUERY }))
  } catch (error) {
    if (error instanceof NodeRefusal || error instanceof ChainError) return undefined
    throw error
  }
}

/** Says what is missing on the chain: a call of an address without code succeeds, and does nothing. */
export async function missingContract(
  node: EthereumNode,
  { station, delegate }: GasStation,
): Promise<string | undefined> {
  for (const [name, address] of Object.entries({ 'gas station': station, 'delegate of the gas station': delegate })) {
    if ((await node.code(address)) === '0x') return `there is no ${name} at ${address} on this chain`
  }
  return undefined
}

const REFUSALS = ['BatchSizeInvalid', 'DeadlineExceeded', 'ExecutionFailed', 'InvalidNonce', 'NotDelegated', 'NotSelf']

/** What these contracts say when they do not carry something out; a delegated account answers as its delegate does. */
export function executionInterfaces(account: string, { station }: GasStation): readonly SmartContractInterface[] {
  const json = JSON.stringify(REFUSALS.map((name) => ({ type: 'error', name, inputs: [] })))
  return [station, account].map((address) => ({ address, type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', json }))
}

/** Those that pass a call on and may be silent about why it failed. */
export function executionRelays(account: string, { station }: GasStation): readonly string[] {
  return [account, station].map((address) => address.toLowerCase())
}
