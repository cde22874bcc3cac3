/** A chain whose node lies as a test says, and a service that sends there. */
import { setTimeout as pause } from 'node:timers/promises'
import { createService } from '../../../src/service/index.ts'
import { type Ask, type Fault, type FaultNode, startFaultNode } from '../../faults/fault-node.ts'
import { addTenants, complete, type Tenant } from '../handlers/steps.ts'
import { startTestService, type TestClient, type TestService } from '../harness.ts'
import { accountsOf, ETHEREUM, makeWallet } from '../signing/keys.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { type Ended, SEPOLIA, untilEnded } from './status.ts'

export const RECEIVER = '0x00000000000000000000000000000000000000b0'
export const CONFIRMATIONS = 4

/** Questions for the newest block, of which a look has at least one. */
const TURNS = 20

/** A chain, the node that the service asks, and the one that must agree. */
export interface LyingChain {
  readonly anvil: Anvil
  readonly node: FaultNode
  readonly witness: FaultNode
  /** The truth from now on, a block for each transaction, and what is in blocks is settled. */
  calm(): Promise<void>
  close(): Promise<void>
}

export async function startLyingChain(): Promise<LyingChain> {
  const anvil = await startAnvil()
  // A node that lags has blocks to lag by.
  await anvil.rpc('anvil_mine', `0x${CONFIRMATIONS.toString(16)}`)
  const [node, witness] = await Promise.all([startFaultNode(anvil.url), startFaultNode(anvil.url)])
  return {
    anvil,
    node,
    witness,
    async calm() {
      node.fault = () => undefined
      witness.fault = () => undefined
      await anvil.rpc('evm_setAutomine', true)
      await anvil.rpc('anvil_mine', `0x${CONFIRMATIONS.toString(16)}`)
    },
    async close() {
      await Promise.all([node.close(), witness.close()])
      await anvil.kill()
    },
  }
}

/** An organization that pays from one address. */
export interface Payer {
  readonly from: string
  /** The same one at another service. */
  at(service: TestService): Payer
  /** Resolves with the id by which the status is asked for. */
  submit(value: string): Promise<string>
  end(id: string): Promise<Ended>
  stateOf(id: string): Promise<Ended>
}

export interface Judged extends LyingChain {
  readonly service: TestService
  /** A new address with funds. */
  makeSender(): Promise<string>
  /** Resolves with the id by which the status is asked for. */
  submit(from: string, parameters?: object): Promise<string>
  end(id: string): Promise<Ended>
  stateOf(id: string): Promise<Ended>
  mine(blocks: number): Promise<unknown>
  /** How many transactions of an address are in blocks. */
  countOf(address: string): Promise<number>
  /** Other organizations of the service, each with an address that has funds, and has signed something that nobody has sent. */
  addPayers(count: number): Promise<readonly Payer[]>
  /** Another transaction of an address, that this service knows nothing of: its hash. */
  sendElsewhere(from: string): Promise<string>
  /** Resolves when the service has looked at its sends several times more. */
  turns(): Promise<void>
  /** Looks until something is so; throws once the service is closed. */
  until(isSo: () => Promise<boolean>): Promise<void>
}

/** Starts a service that sends on the chain; close it. @param create makes the service. @default the real one */
export async function startJudged(chain: LyingChain, create: typeof createService = createService): Promise<Judged> {
  const { anvil, node, witness } = chain
  const settings = { url: node.url, witnesses: [witness.url], pollMs: 25, confirmations: CONFIRMATIONS, bumpAfterMs: 1 }
  const service = await startTestService({ chains: { [SEPOLIA]: settings }, operator: true }, create)
  let isClosed = false
  const stateOf = (sendTransactionStatusId: string) =>
    service.root.query('get_send_transaction_status', { sendTransactionStatusId })
  const until = async (isSo: () => Promise<boolean> | boolean) => {
    while (!(await isSo())) {
      if (isClosed) throw new Error('the service is closed, and it is still not so')
      await pause(15)
    }
  }
  const looks = () => node.asked.get('eth_blockNumber') ?? 0
  return {
    ...chain,
    service,
    async makeSender() {
      const { address } = (await makeWallet(service.root, ETHEREUM)).accounts[0]!
      await anvil.fund(address, 100)
      return address
    },
    async submit(from, parameters = {}) {
      const intent = { from, caip2: SEPOLIA, to: RECEIVER, value: '1', ...parameters }
      return (await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent)).sendTransactionStatusId
    },
    end: (id) => untilEnded(service.root, id),
    addPayers: (count) => addPayers({ anvil, service }, count),
    stateOf,
    mine: (blocks) => anvil.rpc('anvil_mine', `0x${blocks.toString(16)}`),
    countOf: async (address) => Number(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest')),
    async sendElsewhere(from) {
      await anvil.rpc('anvil_impersonateAccount', from)
      const hash = await anvil.rpc<string>('eth_sendTransaction', { from, to: RECEIVER, gas: '0x5208', value: '0x7' })
      await anvil.rpc('anvil_stopImpersonatingAccount', from)
      return hash
    },
    async turns() {
      const before = looks()
      await until(() => looks() > before + TURNS)
    },
    until,
    async close() {
      isClosed = true
      await service.close()
    },
  }
}

/** Adds organizations to a service, each with an address that has funds, and has signed something that nobody has sent. */
export async function addPayers(
  { anvil, service }: { readonly anvil: Anvil; readonly service: TestService },
  count: number,
): Promise<readonly Payer[]> {
  const tenants = await addTenants(service, count)
  return Promise.all(
    tenants.map(async (tenant) => {
      const { client, organizationId } = tenant
      const created = { walletName: 'payer', accounts: accountsOf(ETHEREUM) }
      const from = (await complete(client, 'ACTIVITY_TYPE_CREATE_WALLET', created, organizationId)).addresses[0]!
      await anvil.fund(from, 100)
      const signed = { payload: 'ab'.repeat(32), encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', signWith: from }
      const parameters = { ...signed, hashFunction: 'HASH_FUNCTION_NO_OP' }
      await complete(client, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', parameters, organizationId)
      return payerOf(tenant, from)
    }),
  )
}

function payerOf({ client, organizationId }: Pick<Tenant, 'client' | 'organizationId'>, from: string): Payer {
  const own: Pick<TestClient, 'query'> = {
    query: (name, request) => client.query(name, { organizationId, ...request }),
  }
  return {
    from,
    at: (service) => payerOf({ client: service.client(client.privateKey), organizationId }, from),
    async submit(value) {
      const intent = { from, caip2: SEPOLIA, to: RECEIVER, value }
      const sent = await complete(client, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent, organizationId)
      return sent.sendTransactionStatusId
    },
    end: (id) => untilEnded(own, id),
    stateOf: (sendTransactionStatusId) => own.query('get_send_transaction_status', { sendTransactionStatusId }),
  }
}

/** A fault of the first so many questions of a method, then the truth. */
export function first(times: number, method: string, fault: Fault) {
  let asked = 0
  return (ask: Ask) => (ask.method === method && asked++ < times ? fault : undefined)
}

/** The first fault that any of them has. */
export const any =
  (...faults: readonly ((ask: Ask) => Fault)[]) =>
  (ask: Ask) =>
    faults.map((fault) => fault(ask)).find((fault) => fault !== undefined)
