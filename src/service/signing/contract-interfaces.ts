import type { SendFacts, SmartContractInterface, TransactionFacts } from '../../chain/index.ts'
import { type HandlerContext, weightOfBytes } from '../engine/index.ts'
import { listInterfaces } from '../resources/smart-contract-interfaces/store.ts'
import type { SendToRead } from '../work/index.ts'
import { orRefuse } from './refusals.ts'

/**
 * Reads what the organization has uploaded about contracts, oldest first, by which calls are decoded for policies.
 * @default addresses all that there are; each may have 400 kB
 */
export async function readContractInterfaces(
  { tx, organizationId }: Pick<HandlerContext, 'tx' | 'organizationId'>,
  addresses?: readonly string[],
): Promise<readonly SmartContractInterface[]> {
  const rows = await listInterfaces(tx, organizationId, addresses)
  return rows.map(({ address, type, interface: json }) => ({
    address,
    type: type as SmartContractInterface['type'],
    json,
  }))
}

/**
 * Reads the facts of a transaction, or of several, with the calls in it decoded: `read` sees first no interface, and then
 * those of the contracts that are called. Others are left where they are.
 */
export async function readDecoded(
  context: Pick<HandlerContext, 'tx' | 'organizationId'>,
  read: (interfaces: readonly SmartContractInterface[]) => SendFacts,
): Promise<SendFacts> {
  const undecoded = read([])
  const called = [undecoded, ...(undecoded.batch ?? [])].flatMap(calledContracts)
  const interfaces = await readContractInterfaces(context, called)
  return interfaces.length === 0 ? undecoded : read(interfaces)
}

/** The facts of a request to send. Throws the API's refusal of one that cannot be read. */
export function readSendRequest(context: HandlerContext, type: SendToRead['type'], intent: object): Promise<SendFacts> {
  return readDecoded(context, (interfaces) => readSend(context, { type, intent, interfaces }))
}

/** The same, by no more than what the request says. */
export function readSend({ work }: Pick<HandlerContext, 'work'>, input: SendToRead): SendFacts {
  const texts = input.interfaces.map(({ json }) => json)
  const weight = weightOfBytes(JSON.stringify(input.intent), texts)
  return orRefuse(() => work.run('readSend', { input, weight }))
}

/**
 * The contracts that uploaded interfaces may be about: only Ethereum and Solana have them
 * (docs/protocol/policies.md#contract-interfaces).
 */
function calledContracts({ eth, solana }: TransactionFacts): readonly string[] {
  const { to } = { ...(eth?.['tx'] as { readonly to?: string } | undefined) }
  const { program_keys } = { ...(solana?.['tx'] as { readonly program_keys?: readonly string[] } | undefined) }
  return [...(to ? [to] : []), ...(program_keys ?? [])]
}
