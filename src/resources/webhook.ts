import { suggest } from '../diagnostics/index.ts'
import { isLoopback } from '../local/index.ts'
import { isWebhookEventType, WEBHOOK_EVENTS } from '../webhook/index.ts'
import type { FieldProblem, ResourceKind } from './kind.ts'
import type { Resource, Value } from './model.ts'
import { isPlainRecord, listOf } from './value.ts'
import { recordsOf } from './wire/record.ts'
import * as wire from './wire/webhook.ts'

const EVENTS = Object.keys(WEBHOOK_EVENTS)

/** Limits that the service holds to (docs/protocol/webhooks.md#limits). */
const MOST_URL = 2048
const MOST_FILTERS = 8000

/** Whether a host is this machine, or a neighbour by a name without a dot (as containers have): what a service for development reaches by plain http. */
const isInDevelopment = (host: string) => isLoopback(host) || /^[^.:]+$/.test(host)
const PLAIN: FieldProblem = {
  field: 'url',
  code: 'resources/plain-http',
  severity: 'warning',
  message: 'the API refuses an address that is not https',
  help: 'write https; only a service of your own takes http, to a host that `quorate serve --allow-webhook-host` names',
}

function checkUrl(url: string): FieldProblem | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const seen =
    !parsed || !/^https?:$/.test(parsed.protocol)
      ? `\`${url}\``
      : parsed.username !== '' || parsed.password !== ''
        ? 'one with a user name or password in it'
        : url.length > MOST_URL
          ? `${url.length} characters`
          : undefined
  if (seen === undefined) return parsed?.protocol === 'http:' && !isInDevelopment(parsed.hostname) ? PLAIN : undefined
  const message = `expected an https address of at most ${MOST_URL} characters, got ${seen}`
  return { field: 'url', code: 'resources/bad-url', message }
}

function checkWebhook({ fields: { url, subscriptions } }: Resource): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const wrong = typeof url === 'string' ? checkUrl(url) : undefined
  if (wrong) problems.push(wrong)
  const seen = new Set<Value>()
  listOf(subscriptions).forEach((one, index) => {
    if (!isPlainRecord(one)) return
    const { event, filters } = one
    const problem = (message: string, help?: string, at: readonly (string | number)[] = [index]) =>
      problems.push({
        field: 'subscriptions',
        at,
        code: 'resources/bad-subscription',
        message,
        ...(help ? { help } : {}),
      })
    if (typeof event !== 'string') return
    if (!isWebhookEventType(event)) {
      const [near] = suggest(event, EVENTS)
      const help = near ? `did you mean \`${near}\`?` : `the events are ${EVENTS.join(', ')}`
      problem(`\`${event}\` is no event that an endpoint can be told of`, help, [index, 'event'])
    } else if (seen.has(event)) problem(`\`${event}\` is subscribed to twice`)
    seen.add(event)
    const size = filters === undefined ? 0 : wire.filtersText(filters).length
    if (size > MOST_FILTERS) {
      const message = `expected filters of at most ${MOST_FILTERS} characters of JSON, got ${size}`
      problem(message, undefined, [index, 'filters'])
    }
  })
  return problems
}

/** An address that is told of what happens in the organization. */
export const webhook: ResourceKind = {
  kind: 'webhook',
  one: 'webhook endpoint',
  many: 'webhook endpoints',
  form: { key: 'webhooks', shape: 'map', renamable: true },
  fields: {
    name: { compare: 'exact', meaning: 'Its name.' },
    url: {
      compare: 'exact',
      meaning: 'The https address that events are posted to.',
      required: true,
      schema: { type: 'string' },
    },
    subscriptions: {
      compare: 'set',
      meaning: 'What it is told of: an event, or an event with filters. Left out: nothing, or what it is told of now.',
      immutable: 'the API changes no subscription; define another endpoint beside it and mark this one `delete: true`',
      schema: {
        type: 'array',
        maxItems: 10,
        items: {
          type: ['string', 'object'],
          if: { type: 'object' },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: {
            additionalProperties: false,
            required: ['event'],
            properties: {
              event: { type: 'string', description: `One of ${EVENTS.join(', ')}.` },
              filters: { type: 'object', description: 'Which of these events; as the service defines it.' },
              isActive: { type: 'boolean', description: 'Whether it is told at present. Left out: it is.' },
            },
          },
        },
      },
      normal: (value) => (Array.isArray(value) ? value.map(wire.normalSubscription) : value),
    },
    isActive: {
      compare: 'exact',
      meaning:
        'Whether anything is delivered; `false` pauses it. Never written: it is, or stays as it is; taken out again: it is.',
      cleared: true,
      schema: { type: 'boolean' },
    },
  },
  referable: true,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_WEBHOOK_ENDPOINT', 'UPDATE_WEBHOOK_ENDPOINT', 'DELETE_WEBHOOK_ENDPOINT'],
  identity: ({ name }) => name,
  check: checkWebhook,
  read: {
    query: 'list_webhook_endpoints',
    from: (answer) => recordsOf(answer, 'webhookEndpoints').map(wire.fromWire),
  },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT',
    carries: 'one',
    parameters: ([change]) => wire.toIntent(change!.desired!),
    produces: ([change]) => [{ address: change!.desired!.address, at: ['createWebhookEndpointResult', 'endpointId'] }],
  },
  // An endpoint is made active.
  afterCreation: ({ fields }) => (fields['isActive'] === false ? ['isActive'] : []),
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT',
    carries: 'one',
    parameters: ([change]) => {
      const { desired, actual, fields } = change!
      return wire.toUpdateIntent(actual?.id ?? { $ref: desired!.address }, desired!, fields)
    },
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT',
    carries: 'one',
    parameters: ([change]) => ({ endpointId: change!.actual!.id! }),
  },
  power: () => 'neutral',
}
