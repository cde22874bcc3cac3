/**
 * Traces from a command to what it causes: three processes of quorate, the Temporal server between them, and a receiver of OTLP. The
 * tree is put together from what the receiver was sent, and from nothing else.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { ACME, environmentOf, quorate, serve, testFolder, writeFiles } from './harness.ts'
import { startWorker } from './started-worker.ts'

interface Span {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: Readonly<Record<string, unknown>>
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<Span, 'service' | 'attributes'> & { readonly attributes: readonly Attribute[] })[]
    }[]
  }[]
}

const valuesOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** Takes spans as a collector does (opentelemetry.io/docs/specs/otlp/#otlphttp). */
async function receiver() {
  const spans: Span[] = []
  const texts: string[] = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    texts.push(text)
    for (const { resource, scopeSpans } of (JSON.parse(text) as Received).resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name'])
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, service, attributes: valuesOf(span.attributes) })
      }
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { spans, texts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('an apply is one trace, from the command through Temporal and the worker to the policies and the commit', async () => {
  const { spans, texts, url } = await receiver()
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '100' }
  const folder = testFolder()
  const serving = await serve(join(folder, 'service'), { env: traced })
  const { apiPrivateKey } = JSON.parse(readFileSync(join(serving.folder, 'bootstrap.json'), 'utf8'))
  const place = { url: serving.baseUrl, organizationId: serving.organizationId }
  const env = environmentOf(place, folder, apiPrivateKey, {
    ...(await testTemporalEnvironment()),
    QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY,
    ...traced,
  })
  await startWorker(env)

  const definitions = writeFiles(join(folder, 'defs'), {
    'acme.yaml': `${ACME}tags: { treasury: {} }\n`,
  })
  // A pipeline's own trace.
  const [traceId, pipeline] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const applied = await quorate(['apply', definitions, '--yes', '--json'], {
    env: { ...env, TRACEPARENT: `00-${traceId}-${pipeline}-01` },
  })
  expect(applied.exit, applied.stderr).toBe(0)
  const find = (service: string, name: string) =>
    spans.find((one) => one.traceId === traceId && one.service === service && one.name === name)
  const submit = 'POST /public/v1/submit/create_user_tag'
  await vi.waitFor(() => expect(find('quorate-serve', submit)).toBeDefined())
  await vi.waitFor(() => expect(find('quorate-worker', submit)).toBeDefined())

  const wayTo = (span: Span | undefined): readonly string[] => {
    if (span === undefined) return []
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
    return [...(parent ? wayTo(parent) : [span.parentSpanId ?? 'none']), `${span.service}: ${span.name}`]
  }
  const toSubmit = [
    pipeline,
    'quorate: quorate apply',
    'quorate: start apply',
    'quorate-worker: step submitRequest',
    `quorate-worker: ${submit}`,
    `quorate-serve: ${submit}`,
  ]
  const served = find('quorate-serve', submit)!
  expect(wayTo(served)).toEqual(toSubmit)
  const below = (parent: Span, name: string) =>
    spans.find((one) => one.parentSpanId === parent.spanId && one.name === name)
  expect(below(below(served, 'read')!, 'verify stamp')).toBeDefined()
  const transaction = below(served, 'transaction')!
  for (const name of ['decide', 'execute', 'commit']) expect(below(transaction, name), name).toBeDefined()
  expect(below(transaction, 'decide')!.attributes).toEqual({ 'quorate.outcome': 'OUTCOME_ALLOW' })
  expect(served.attributes).toMatchObject({
    'http.route': '/public/v1/submit/create_user_tag',
    'http.response.status_code': 200,
  })

  // What is read before it is planned is in the same trace, straight below the command.
  expect(wayTo(find('quorate-serve', 'POST /public/v1/query/list_users'))[1]).toBe('quorate: quorate apply')
  // Of what people wrote, and of keys, nothing is in it.
  expect(texts.join('')).not.toMatch(/treasury|acme/)
  expect(texts.join('')).not.toContain(apiPrivateKey)
})

test('a trace whose receiver is away changes nothing of a command but a short wait', async () => {
  const folder = testFolder()
  const definitions = writeFiles(join(folder, 'defs'), { 'acme.yaml': `${ACME}tags: { treasury: {} }\n` })
  const args = ['validate', definitions, '--json']
  const env = { ACME_ORGANIZATION_ID: '7c244a54-083f-4745-98d0-7111fa0c8852' }
  const plain = await quorate(args, { env })
  const traced = await quorate(args, { env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } })
  expect(traced).toEqual(plain)
})
