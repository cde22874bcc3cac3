import type { SendOrder } from '../../activities/index.ts'
import { actingVoter, contextOf, missingFactors } from '../authority/index.ts'
import { isSameAddress, type SendIntent } from '../chain/index.ts'
import type { PolicyContext } from '../policy/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { type Actual, organizationOf } from '../resources/index.ts'
import { explainRequest, type World } from '../scenarios/index.ts'
import { readFacts } from './describe.ts'
import type { SendForecast } from './meaning.ts'
import { type Directory, senderOf } from './order.ts'

/** The outcome of a send if the acting user submits it now: the live policies, by the service's own evaluator. */
export function forecastSend(
  order: SendOrder,
  {
    actual,
    world,
    directory,
    now,
  }: {
    readonly actual: Actual
    readonly world: World
    readonly directory: Directory
    readonly now: number
  },
): SendForecast {
  const { type, parameters } = order
  const intent = parameters as JsonObject & SendIntent
  const { batch: _, ...facts } = readFacts(type, intent, { interfaces: world.interfaces })
  const organization = organizationOf(actual.resources)
  const me = actingVoter(organization, actual.actor)
  const context = contextOf(
    { type, parameters: intent, nowMs: now, facts: { ...walletFacts(senderOf(order), directory), ...facts } },
    {
      approvers: me === undefined ? [] : [me.approver],
      credentials: me === undefined ? [] : [me.credential],
      rootQuorum: organization.rootQuorum,
    },
  )
  const factors = me && missingFactors(me, context)
  return { explanation: explainRequest(world, context), ...(factors ? { factors } : {}) }
}

function walletFacts(from: string, { wallets }: Directory): Partial<PolicyContext> {
  const holds = (address: string) => isSameAddress(address, from)
  const held = wallets.find(({ accounts }) => accounts.some(({ address }) => holds(address)))
  if (held === undefined) return {}
  const { walletId: id, walletName: label, imported, exported } = held.wallet
  return { wallet: { id, label, imported, exported }, wallet_account: { address: from } }
}
