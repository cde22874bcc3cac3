import type { LoopbackListener } from '../loopback/index.ts'
import type { ActivityNews } from '../operations/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { type CameIn, startWebhookReceiver } from './webhook-receiver.ts'
import { createVerifier } from './webhook-verifier.ts'

/** Where a worker takes webhooks. */
const PATH = '/webhooks'

/** A service waits for ten seconds, and sends again what was not answered. */
const TAKES_MS = 8_000

/**
 * Takes webhooks of a service on a port of 127.0.0.1: what it has signed and has news of an activity is taken further, and nothing
 * else. Returns the listener with the whole URL.
 */
export async function listenForNews(
  { port, baseUrl }: { readonly port: number; readonly baseUrl: string },
  { take, logger }: { readonly take: (news: ActivityNews) => Promise<boolean>; readonly logger: Logger },
): Promise<LoopbackListener> {
  const verify = createVerifier({ baseUrl, now: Date.now })
  const listener = await startWebhookReceiver({ port, path: PATH }, async (came) => {
    const verdict = await verify(came)
    if (!verdict.ok) {
      logger.warn('a webhook is not verified', { reason: verdict.reason })
      return 400
    }
    const { id, type, organizationId } = read(came)
    const looks = await inTime(take({ organizationId, type }))
    if (looks) logger.info('a webhook has the organization looked at', { activityId: id, type })
    return 200
  })
  return { ...listener, url: `${listener.url}${PATH}` }
}

/** An activity stands at the top of its event; what is none has another type. */
function read({ body }: CameIn): ActivityNews & { readonly id: string } {
  const { id, type, organizationId } = Object(JSON.parse(Buffer.from(body).toString('utf8')))
  return { id: String(id), type: String(type), organizationId: String(organizationId) }
}

async function inTime<Value>(work: Promise<Value>): Promise<Value> {
  const late = AbortSignal.timeout(TAKES_MS)
  return Promise.race([
    work,
    new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(late.reason), { once: true })),
  ])
}
