/**
 * Traces go to where OpenTelemetry's own variables say, as OTLP over HTTP (opentelemetry.io/docs/specs/otel/protocol/exporter). None is
 * kept where none of them names a receiver, and nothing of it is loaded then.
 */
import { EXIT, type ExitCode } from '../diagnostics/index.ts'
import { inSpan, keepTraces } from '../telemetry/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Commands that stay: what they do begins with requests and steps of others, and each of those is a trace. */
const STAYING = new Set(['serve', 'proxy', 'worker', 'background'])

/** How long a receiver that does not answer holds up a command that is done. */
const MOST_MS = 2_000

/**
 * Runs a command with its traces: all that it causes, here and elsewhere, is below one span, which is below that of `TRACEPARENT`
 * where a pipeline sets it.
 */
export async function runTraced(
  name: string,
  environment: Environment,
  run: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const stays = STAYING.has(name)
  const provider = await startTracing(environment['OTEL_SERVICE_NAME'] || (stays ? `quorate-${name}` : 'quorate'))
  try {
    if (stays) return await run()
    const headers = { traceparent: environment['TRACEPARENT'], tracestate: environment['TRACESTATE'] }
    return await inSpan(
      `quorate ${name}`,
      async (span) => {
        const exit = await run()
        span.set({ 'process.exit.code': exit })
        if (exit === EXIT.error) span.fail(`exit ${exit}`)
        return exit
      },
      { headers },
    )
  } finally {
    // What the receiver does not take is lost, and says so by nobody: a command is judged by what it did.
    await provider.forceFlush({ timeoutMillis: MOST_MS }).catch(() => {})
  }
}

async function startTracing(serviceName: string) {
  const [api, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }, resources, otlp, sdk] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/sdk-trace'),
    ])
  const resource = resources
    .defaultResource()
    .merge(resources.detectResources({ detectors: [resources.envDetector] }))
    .merge(resources.resourceFromAttributes({ 'service.name': serviceName }))
  const exporter = new otlp.OTLPTraceExporter({ timeoutMillis: MOST_MS })
  const provider = new sdk.TracerProvider({ resource, spanProcessors: [new sdk.BatchSpanProcessor({ exporter })] })
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  api.trace.setGlobalTracerProvider(provider)
  keepTraces(api)
  return provider
}
