/**
 * What `init_fiat_on_ramp` and `get_onramp_transaction_status` ask of a provider, outside of any transaction. A credential's
 * secrets are opened for one request and kept nowhere.
 */
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import { ApiError, type Wire } from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Sealing } from '../keys/index.ts'
import { type FetchDocument, NotAnswered } from '../oidc/index.ts'
import { onRampNotAnswering, onRampNotConfigured, onRampNotFound } from '../readings.ts'
import {
  type FiatOnRampCredentialRow,
  findCredentialFor,
  findCredentialOf,
  type OnRampTransactionRow,
} from '../resources/fiat-on-ramp/store.ts'
import type { Database } from '../store/index.ts'
import { askCoinbaseStatus, beginAtCoinbase, member, UnreadableKey } from './coinbase.ts'
import { openOnRampKeys, readOnRampKey } from './keys.ts'
import { beginAtMoonpay, moonpayStatusUrl } from './moonpay.ts'
import { readOrder } from './order.ts'
import { nameOf, type OnRampName, type OnRampUrls, placesOf } from './providers.ts'

/** A purchase that has been prepared, as it is kept with the activity. */
export interface BegunOnRamp {
  readonly transactionId: string
  readonly credentialId: string
  readonly url: string
  readonly urlSignature?: string
}

/** Purchases at providers. Both throw `ApiError`. */
export interface OnRamp {
  begin(intent: Wire.InitFiatOnRampIntent, organizationId: string): Promise<BegunOnRamp>
  /** Asks the provider how a purchase stands, in its own word; `NOT_STARTED` while it knows none. */
  status(transaction: OnRampTransactionRow): Promise<string>
}

/** Creates the on-ramp of one service. */
export function createOnRamp(tools: {
  readonly database: Database
  readonly sealing: Sealing
  readonly fetchDocument: FetchDocument
  readonly clock: () => number
  readonly randomBytes: RandomBytes
  readonly logger: Logger
  readonly urls: OnRampUrls
}): OnRamp {
  const { database, sealing, fetchDocument, randomBytes, logger, urls } = tools

  async function open(find: (tx: Parameters<typeof readOnRampKey>[0]) => Promise<FiatOnRampCredentialRow>) {
    const { row, key } = await database.read(async (tx) => {
      const row = await find(tx)
      return { row, key: await readOnRampKey(tx, sealing.unseal) }
    })
    return { row, keys: await openOnRampKeys(row, key) }
  }

  /** Asks a provider; what it refuses is the credential's fault, as far as anybody can tell. */
  async function ask<Result>(
    name: OnRampName,
    row: FiatOnRampCredentialRow,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ApiError) throw error
      if (error instanceof UnreadableKey)
        throw onRampNotConfigured(row.id, `its private API key is none: ${error.message}`)
      const status = error instanceof NotAnswered ? error.status : undefined
      const reason = error instanceof Error ? error.message : 'unknown'
      logger.warn('an on-ramp provider did not answer', { provider: name, reason })
      if (status === 401 || status === 403) throw onRampNotConfigured(row.id, `${name} does not take its API keys`)
      throw onRampNotAnswering(name)
    }
  }

  return {
    async begin(intent, organizationId) {
      const order = readOrder(intent)
      const isSandbox = intent.sandboxMode === true
      const { row, keys } = await open(async (tx) => {
        const found = await findCredentialFor(tx, organizationId, { provider: intent.onrampProvider, isSandbox })
        if (!found) throw onRampNotFound(intent.onrampProvider, isSandbox)
        return found
      })
      const transactionId = newUuid(randomBytes)
      const { widget, api } = placesOf(order.name, urls, isSandbox)
      const begun = await ask(order.name, row, async () =>
        order.name === 'moonpay'
          ? beginAtMoonpay(keys, { order, widget, transactionId })
          : beginAtCoinbase(tools, keys, { order, widget, api, transactionId }),
      )
      return { transactionId, credentialId: row.id, ...begun }
    },
    async status(transaction) {
      const { id, provider, sandbox_mode } = transaction
      const { row, keys } = await open(async (tx) => {
        const found = await findCredentialOf(tx, transaction)
        if (!found) throw onRampNotFound(provider as Wire.FiatOnRampProvider, sandbox_mode === 1)
        return found
      })
      const name = nameOf(provider as Wire.FiatOnRampProvider)
      const { api } = placesOf(name, urls, sandbox_mode === 1)
      return ask(name, row, async () => {
        const answer =
          name === 'moonpay'
            ? await fetchDocument(moonpayStatusUrl(keys, api, id)).catch(noneYet)
            : member(await askCoinbaseStatus(tools, keys, api, id).catch(noneYet), 'transactions')
        const [newest] = Array.isArray(answer) ? (answer as readonly unknown[]) : []
        const status = member(newest, 'status')
        return typeof status === 'string' && /^\w{1,64}$/.test(status) ? status : 'NOT_STARTED'
      })
    },
  }
}

/** A provider does not know a purchase that nobody has begun at its page. */
function noneYet(error: unknown): undefined {
  if (error instanceof NotAnswered && error.status === 404) return undefined
  throw error
}
