import { GAS_STATION } from '../../../src/service/nodes/gas-station.ts'
import type { Anvil } from './anvil.ts'
import { compile } from './contracts/compile.ts'

/** Where the test's ledger stands. */
export const LEDGER = '0x000000000000000000000000000000000001ed6e'

let contracts: ReturnType<typeof compile<'Delegate' | 'Station' | 'Ledger'>> | undefined

/** Puts a gas station and its delegate where the published ones are, and a ledger. */
export async function placeGasStation(anvil: Anvil): Promise<void> {
  contracts ??= compile('GasStation.sol', ['Delegate', 'Station', 'Ledger'])
  const { Delegate, Station, Ledger } = contracts
  const delegate = GAS_STATION.delegate.slice(2).padStart(64, '0')
  await place(anvil, GAS_STATION.delegate, Delegate.creation)
  await place(anvil, GAS_STATION.station, `${Station.creation}${delegate}`)
  await place(anvil, LEDGER, Ledger.creation)
}

/** What a creation answers is the code that it would leave. */
async function place(anvil: Anvil, address: string, data: string): Promise<void> {
  await anvil.rpc('anvil_setCode', address, await anvil.rpc('eth_call', { data }, 'latest'))
}
