import { toErrorJson } from '../../diagnostics/index.ts'
import { askPrivately, listenPrivately, type PrivateListener } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import { answerAtDesk, isWebhookRequest, type SeenDeliveries, type WebhookDesk, type WebhookRequest } from './desk.ts'
import { isLaneRequest, LANES_WITHIN_MS, type LaneDesk, type LaneRequest, type SeenLanes } from './lanes.ts'
import type { Operator, OperatorRequest, OperatorState } from './operator.ts'

/** One line of JSON each way. */
type Reply =
  | { readonly state: OperatorState }
  | { readonly deliveries: SeenDeliveries }
  | { readonly lanes: SeenLanes }
  | { readonly error: ReturnType<typeof toErrorJson> }

/** The name of the operator's socket in a data folder: never the public API's, and the folder's owner's alone. */
const NAME = 'operator'

/** Answers the operator of a data folder until closed. The caller holds the folder's lock. */
export function listenForOperator(dataDir: string, operator: Operator, desks: Desks): Promise<PrivateListener> {
  return listenPrivately(dataDir, NAME, async (text) => JSON.stringify(await answer(operator, desks, text)))
}

/** Who answers what is no request to the operator's control itself. */
interface Desks {
  readonly webhooks: WebhookDesk
  readonly lanes: LaneDesk
}

async function answer(operator: Operator, { webhooks, lanes }: Desks, text: string): Promise<Reply> {
  try {
    const request = JSON.parse(text) as AnyRequest
    if (isWebhookRequest(request)) return { deliveries: await answerAtDesk(webhooks, request) }
    if (isLaneRequest(request)) return { lanes: await lanes.look(request) }
    return { state: operator.answer(request) }
  } catch (error) {
    return { error: toErrorJson(error) }
  }
}

/**
 * Asks the service that serves a data folder. Throws `service/no-operator` when none listens, `service/operator-invalid`
 * when it refuses, `local/exposed` and `local/not-proved` where somebody else could answer, or does.
 */
export async function askOperator(dataDir: string, request: OperatorRequest): Promise<OperatorState> {
  return ((await ask(dataDir, request)) as { readonly state: OperatorState }).state
}

/** Asks it about its webhooks. Throws as `askOperator` does. */
export async function askAboutWebhooks(dataDir: string, request: WebhookRequest): Promise<SeenDeliveries> {
  return ((await ask(dataDir, request)) as { readonly deliveries: SeenDeliveries }).deliveries
}

/** Asks it about the nonces of its senders. Throws as `askOperator` does, and `service/operator-silent`. */
export async function askAboutLanes(dataDir: string, request: LaneRequest): Promise<SeenLanes> {
  const answerWithinMs = (request.withinMs ?? LANES_WITHIN_MS) + WRITTEN_WITHIN_MS
  return ((await ask(dataDir, request, { answerWithinMs })) as { readonly lanes: SeenLanes }).lanes
}

type AnyRequest = OperatorRequest | WebhookRequest | LaneRequest

/** What is identified is written, and told, once nodes are not asked any more. */
const WRITTEN_WITHIN_MS = 30_000

/** Who listens and does not take a request says so sooner. */
const LONG_MS = 2_000

async function ask(
  dataDir: string,
  request: AnyRequest,
  patience?: { readonly answerWithinMs: number },
): Promise<object> {
  const askedAt = performance.now()
  const text = await askPrivately(dataDir, NAME, JSON.stringify(request), patience)
  const waitedMs = performance.now() - askedAt
  if (text === undefined && patience !== undefined && waitedMs > LONG_MS) {
    throw new ServiceError(
      'service/operator-silent',
      `the service of the folder \`${dataDir}\` took the request, and ended or did not answer within ${Math.round(waitedMs / 1000)} s`,
      {
        facts: { folder: dataDir },
        next: 'what it had identified by then may be written, and nothing else is: see that it runs, and give the command again',
      },
    )
  }
  if (text === undefined) {
    throw new ServiceError('service/no-operator', `no service takes an operator's word for the folder \`${dataDir}\``, {
      facts: { folder: dataDir },
      next: 'start it with `quorate up` or `quorate serve`; with NODE_ENV=production only `quorate serve --operator` listens',
    })
  }
  const reply = JSON.parse(text) as Reply
  if (!('error' in reply)) return reply
  const { code, message, next } = reply.error
  throw new ServiceError(code as 'service/operator-invalid', message, next === undefined ? {} : { next })
}
